//! Integers against `num_bigint`: at the borders of small integers and of digits, and of a thousand bits.

use crate::{Heap, Term, big};
use heddle_model::{Random, Subject, run};
use num_bigint::BigInt;

/// A few numbers that operations combine; a result takes the place of the first operand.
struct Integers {
    heap: Heap,
    numbers: Vec<Term>,
    model: Vec<BigInt>,
}

const NUMBERS: u64 = 6;
/// A larger result is put back to its low bits.
const MAX_BITS: u64 = 2100;

#[derive(Clone, Copy, Debug)]
enum Operation {
    /// `2^power + offset`, negated or not.
    Set(u64, u64, i64, bool),
    Add(u64, u64),
    Subtract(u64, u64),
    Multiply(u64, u64),
    Divide(u64, u64),
    And(u64, u64),
    Or(u64, u64),
    Xor(u64, u64),
    Not(u64),
    Shift(u64, i64),
}

impl Integers {
    fn put(&mut self, at: u64, term: Term, value: BigInt) {
        assert_eq!(text(term), value.to_string());
        let small = i64::try_from(&value).ok().filter(|v| (-(1 << 59)..1 << 59).contains(v));
        assert_eq!(term.as_small(), small, "a number that fits is a small integer, another one is not");
        if value.bits() > MAX_BITS {
            return;
        }
        self.numbers[at as usize] = term;
        self.model[at as usize] = value;
    }
}

fn text(term: Term) -> String {
    crate::text::display::to_string(term)
}

impl Subject for Integers {
    type Operation = Operation;
    const THRESHOLDS: &'static [u64] = &[6];

    fn new() -> Self {
        Integers { heap: Heap::new(), numbers: vec![Term::small(0); NUMBERS as usize], model: vec![BigInt::ZERO; NUMBERS as usize] }
    }

    fn operation(random: &mut Random) -> Operation {
        let (a, b) = (random.below(NUMBERS), random.below(NUMBERS));
        match random.below(14) {
            0..3 => {
                let power = match random.below(3) {
                    0 => random.one(&[0, 3, 31, 32, 58, 59, 60, 61, 62, 63, 64, 65, 127, 128, 192]),
                    1 => random.below(70),
                    _ => random.below(1100),
                };
                Operation::Set(a, power, random.below(5) as i64 - 2, random.chance(50))
            }
            3 => Operation::Add(a, b),
            4 | 5 => Operation::Subtract(a, b),
            6 => Operation::Multiply(a, b),
            7 | 8 => Operation::Divide(a, b),
            9 => Operation::And(a, b),
            10 => Operation::Or(a, b),
            11 => Operation::Xor(a, b),
            12 => Operation::Not(a),
            _ => Operation::Shift(a, random.below(200) as i64 - 100),
        }
    }

    fn step(&mut self, operation: &Operation) {
        let heap = &mut self.heap;
        let (terms, model) = (&self.numbers, &self.model);
        let of = |a: u64, b: u64| (terms[a as usize], terms[b as usize], &model[a as usize], &model[b as usize]);
        let (at, term, value) = match *operation {
            Operation::Set(a, power, offset, negative) => {
                let value = (BigInt::from(1) << power) + offset;
                let value = if negative { -value } else { value };
                let one = big::bsl(heap, Term::small(1), Term::small(power as i64)).expect("small enough");
                let sum = big::add(heap, one, Term::small(offset)).expect("integers");
                (a, if negative { big::sub(heap, Term::small(0), sum).expect("integers") } else { sum }, value)
            }
            Operation::Add(a, b) => {
                let (x, y, m, n) = of(a, b);
                (a, big::add(heap, x, y).expect("integers"), m + n)
            }
            Operation::Subtract(a, b) => {
                let (x, y, m, n) = of(a, b);
                (a, big::sub(heap, x, y).expect("integers"), m - n)
            }
            Operation::Multiply(a, b) => {
                let (x, y, m, n) = of(a, b);
                (a, big::mul(heap, x, y).expect("integers"), m * n)
            }
            Operation::Divide(a, b) => {
                let (x, y, m, n) = of(a, b);
                if *n == BigInt::ZERO {
                    return;
                }
                let rest = big::rem(heap, x, y).expect("not by 0");
                assert_eq!(text(rest), (m % n).to_string());
                (a, big::div(heap, x, y).expect("not by 0"), m / n)
            }
            Operation::And(a, b) => {
                let (x, y, m, n) = of(a, b);
                (a, big::band(heap, x, y).expect("integers"), m & n)
            }
            Operation::Or(a, b) => {
                let (x, y, m, n) = of(a, b);
                (a, big::bor(heap, x, y).expect("integers"), m | n)
            }
            Operation::Xor(a, b) => {
                let (x, y, m, n) = of(a, b);
                (a, big::bxor(heap, x, y).expect("integers"), m ^ n)
            }
            Operation::Not(a) => (a, big::bnot(heap, terms[a as usize]).expect("an integer"), !&model[a as usize]),
            Operation::Shift(a, by) => {
                let (x, _, m, _) = of(a, a);
                let shifted = if by >= 0 { m << by as u64 } else { m >> -by as u64 };
                (a, big::bsl(heap, x, Term::small(by)).expect("small enough"), shifted)
            }
        };
        self.put(at, term, value);
    }

    fn check(&mut self) {
        for (x, m) in self.numbers.iter().zip(&self.model) {
            for (y, n) in self.numbers.iter().zip(&self.model) {
                assert_eq!(crate::order::cmp(*x, *y), m.cmp(n));
                assert_eq!(crate::order::exact_eq(*x, *y), m == n);
            }
        }
        let mut heap = Heap::new();
        self.numbers.iter_mut().for_each(|n| *n = heap.copy(*n));
        std::mem::replace(&mut self.heap, heap).clear();
    }

    fn end(&mut self) {
        self.heap.clear();
    }
}

#[test]
fn integers_compute_like_big_integers() {
    run::<Integers>();
}
