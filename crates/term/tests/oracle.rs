//! Values recorded from stock OTP 27 (`tests/data/record_stock.erl` makes the tables), compared line by line.

use heddle_term::etf::{self, DecodeOptions, EncodeOptions};
use heddle_term::text::{float, float_parse};
use heddle_term::{Heap, Term, big, hash, map, order};
use std::cmp::Ordering;

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect()
}

fn decode(heap: &mut Heap, hex: &str) -> Term {
    let bytes = bytes(hex);
    let decoded = etf::decode(heap, &bytes, &DecodeOptions::default()).unwrap_or_else(|e| panic!("{hex}: {e:?}"));
    assert_eq!(decoded.used, bytes.len());
    decoded.term
}

fn etf_has_map(term: Term) -> bool {
    // Good enough for the recorded terms: some map tag with more than one pair.
    let text = etf::encode(term, &EncodeOptions::default());
    text.windows(5).any(|w| w[0] == 116 && w[1] == 0 && w[4] > 1)
}

/// Collects failures so that one run shows them all.
struct Report(Vec<String>, usize);
impl Report {
    fn new() -> Report {
        Report(Vec::new(), 0)
    }
    fn check(&mut self, what: impl Fn() -> String, got: impl PartialEq<String> + std::fmt::Display, want: &str) {
        self.1 += 1;
        if got != want.to_string() {
            self.0.push(format!("{}: got {got}, stock {want}", what()));
        }
    }
    fn done(self) {
        assert!(self.0.is_empty(), "{} of {} differ:\n{}", self.0.len(), self.1, self.0[..self.0.len().min(40)].join("\n"));
        assert!(self.1 > 0);
    }
}

#[test]
fn phash_values() {
    let mut report = Report::new();
    for line in include_str!("data/terms.txt").lines() {
        let mut heap = Heap::new();
        let fields: Vec<&str> = line.split(' ').collect();
        let term = decode(&mut heap, fields[0]);
        let short = &fields[0][..fields[0].len().min(100)];
        report.check(|| format!("phash2 {short}"), hash::phash2(term, 1 << 32).to_string(), fields[1]);
        report.check(|| format!("phash {short}"), hash::phash(term, 1 << 32).to_string(), fields[2]);
        report.check(|| format!("phash2/1000 {short}"), hash::phash2(term, 1000).to_string(), fields[3]);
        heap.clear();
    }
    report.done();
}

#[test]
fn encodings() {
    let hex = |bytes: Vec<u8>| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
    let mut report = Report::new();
    for line in include_str!("data/etf_options.txt").lines() {
        let mut heap = Heap::new();
        let fields: Vec<&str> = line.split(' ').collect();
        let term = decode(&mut heap, fields[0]);
        let again = decode(&mut heap, &hex(etf::encode(term, &EncodeOptions::default())));
        assert!(order::exact_eq(term, again), "{line}");
        assert_eq!(hash::internal_hash(term), hash::internal_hash(again));
        let deterministic = EncodeOptions { deterministic: true, ..Default::default() };
        report.check(|| format!("deterministic {term:?}"), hex(etf::encode(term, &deterministic)), fields[1]);
        if !etf_has_map(term) {
            for (field, minor_version) in [(0, 2), (2, 0), (3, 1)] {
                let options = EncodeOptions { minor_version, ..Default::default() };
                report.check(|| format!("minor {minor_version} {term:?}"), hex(etf::encode(term, &options)), fields[field]);
            }
        }
        for field in &fields[1..] {
            let other = decode(&mut heap, field);
            assert!(fields[2] == *field || order::exact_eq(term, other), "{field}");
        }
        let packed = etf::encode(term, &EncodeOptions { compressed: Some(6), ..Default::default() });
        assert!(order::exact_eq(term, decode(&mut heap, &hex(packed.clone()))));
        if !etf_has_map(term) && packed.get(1) != Some(&80) {
            report.check(|| format!("not compressed {term:?}"), hex(packed), fields[4]);
        }
        heap.clear();
    }
    report.done();
}

#[test]
fn comparisons() {
    let mut heap = Heap::new();
    let (terms, matrix) = include_str!("data/cmp.txt").split_once("--\n").unwrap();
    let terms: Vec<Term> = terms.lines().map(|line| decode(&mut heap, line)).collect();
    let code = |order| match order {
        Ordering::Less => 0u8,
        Ordering::Equal => 1,
        Ordering::Greater => 2,
    };
    let mut report = Report::new();
    for (row, line) in matrix.lines().enumerate() {
        for (column, want) in line.bytes().enumerate() {
            let (a, b) = (terms[row], terms[column]);
            let want = want - b'A';
            let got = [code(order::cmp(a, b)), order::exact_eq(a, b) as u8, code(order::cmp_exact(a, b))];
            let stock = [want / 6, want / 3 % 2, want % 3];
            report.check(|| format!("{a:?} / {b:?}"), format!("{got:?}"), &format!("{stock:?}"));
            assert_eq!(order::eq(a, b), order::cmp(a, b).is_eq());
            if order::exact_eq(a, b) {
                assert_eq!(hash::internal_hash(a), hash::internal_hash(b));
            }
        }
    }
    report.done();
}

#[test]
fn float_text() {
    let mut report = Report::new();
    for line in include_str!("data/floats.txt").lines() {
        let f: Vec<&str> = line.split(' ').collect();
        let value = f64::from_bits(u64::from_str_radix(f[0], 16).unwrap());
        let decimals = |n, compact| float::decimals(value, n, compact).unwrap_or("badarg".into());
        report.check(|| "default".into(), float::scientific(value, 20), f[1]);
        report.check(|| "short".into(), float::short(value), f[2]);
        report.check(|| format!("decimals 3 {}", f[2]), decimals(3, false), f[3]);
        report.check(|| format!("compact 10 {}", f[2]), decimals(10, true), f[4]);
        report.check(|| format!("decimals 0 {}", f[2]), decimals(0, false), f[5]);
        report.check(|| "scientific 3".into(), float::scientific(value, 3), f[6]);
        report.check(|| format!("decimals 20 {}", f[2]), decimals(20, false), f[7]);
        assert_eq!(float_parse::parse(f[1].as_bytes()).map(f64::to_bits), Some(value.to_bits()));
        assert_eq!(float_parse::parse(f[2].as_bytes()).map(f64::to_bits), Some(value.to_bits()), "{}", f[2]);
    }
    report.done();
}

fn number(heap: &mut Heap, text: &str) -> Term {
    match float_parse::parse(text.as_bytes()) {
        Some(value) => heap.float(value),
        None => big::from_text(heap, text.as_bytes(), 10).unwrap_or_else(|| panic!("{text}")).unwrap(),
    }
}

#[test]
fn arithmetic() {
    let mut report = Report::new();
    for line in include_str!("data/arith.txt").lines() {
        let mut heap = Heap::new();
        let f: Vec<&str> = line.split(' ').collect();
        let (a, b) = (number(&mut heap, f[1]), number(&mut heap, f[2]));
        let op: fn(&mut Heap, Term, Term) -> Result<Term, big::ArithError> = match f[0] {
            "+" => big::add,
            "-" => big::sub,
            "*" => big::mul,
            "div" => big::div,
            "rem" => big::rem,
            "/" => big::divide,
            "band" => big::band,
            "bor" => big::bor,
            "bxor" => big::bxor,
            "bsl" => big::bsl,
            "bsr" => big::bsr,
            other => panic!("{other}"),
        };
        let got = match op(&mut heap, a, b) {
            Ok(value) => match value.as_float() {
                Some(value) => float::short(value),
                None => big::to_text(value, 10),
            },
            Err(big::ArithError::Badarith) => "badarith".into(),
            Err(big::ArithError::SystemLimit) => "system_limit".into(),
        };
        report.check(|| format!("{} {} {}", f[1], f[0], f[2]), got, f[3]);
        heap.clear();
    }
    report.done();
}

#[test]
fn conversions() {
    let mut report = Report::new();
    for line in include_str!("data/convert.txt").lines() {
        let mut heap = Heap::new();
        let f: Vec<&str> = line.split(' ').collect();
        match f[0] {
            "trunc" => {
                let value = f64::from_bits(u64::from_str_radix(f[1], 16).unwrap());
                let modes = [big::Rounding::Trunc, big::Rounding::Round, big::Rounding::Floor, big::Rounding::Ceil];
                for (mode, want) in modes.into_iter().zip(&f[2..]) {
                    let got = big::from_float(&mut heap, value, mode);
                    report.check(|| format!("{mode:?} {value}"), big::to_text(got, 10), want);
                }
            }
            "tofloat" => {
                let term = number(&mut heap, f[1]);
                let got = big::to_f64(term).map_or("none".into(), |v| format!("{:016x}", v.to_bits()));
                report.check(|| format!("float({})", f[1]), got, f[2]);
            }
            _ => {
                let term = number(&mut heap, f[1]);
                let base: u32 = f[2].parse().unwrap();
                report.check(|| format!("base {base} {}", f[1]), big::to_text(term, base), f[3]);
                let back = big::from_text(&mut heap, f[3].as_bytes(), base).unwrap().unwrap();
                assert!(order::exact_eq(term, back));
                for (len, big_endian) in [(400, true), (400, false), (9, true)] {
                    let bytes = big::to_bytes(term, len, big_endian);
                    let back = big::from_bytes(&mut heap, &bytes, big_endian, true);
                    assert!(len == 9 || order::exact_eq(term, back), "{}", f[1]);
                }
            }
        }
        heap.clear();
    }
    report.done();
}

#[test]
fn empty_map_is_shared() {
    assert_eq!(map::empty(), map::empty());
    assert_eq!(map::size(map::empty()), 0);
}

#[test]
fn display_text() {
    let mut report = Report::new();
    let data = include_bytes!("data/display.txt");
    let mut lines = data.split(|&b| b == b'\n');
    while let (Some(hex), Some(want)) = (lines.next(), lines.next()) {
        let mut heap = Heap::new();
        let hex = std::str::from_utf8(hex).unwrap();
        let term = decode(&mut heap, hex);
        // `erlang:display/1` ends its lines with CR LF.
        let want = want.strip_suffix(b"\r").unwrap();
        let got = heddle_term::text::display::display(term);
        report.check(|| hex.into(), got.escape_ascii().to_string(), &want.escape_ascii().to_string());
        heap.clear();
    }
    report.done();
}
