//! Float registers. A result that is not finite raises badarith.

use crate::ctx::{Any, Ctx, Src, put};
use crate::ops::errors::raise;
use crate::{fusable, ops, save, then};
use heddle_runtime::process::Exception;
use heddle_term::{Header, Kind, Term, am, big};

macro_rules! arithmetic {
    ($($name:ident, $op:tt;)*) => {
        fusable! {
            $(
                // a, b, dst (indices of float registers)
                fn $name(ip, c, h, s, r; N) {
                    let value = (*c).f[*ip.add(1) as usize] $op (*c).f[*ip.add(2) as usize];
                    if !value.is_finite() {
                        return float_error(ip, c, h, s, r);
                    }
                    (*c).f[*ip.add(3) as usize] = value;
                    then!(N, ip, c, h, s, r; 4)
                }
            )*
        }
    };
}

arithmetic! {
    fadd, +;
    fsub, -;
    fmul, *;
    fdiv, /;
}

ops! {
    #[cold]
    fn float_error(ip, c, h, s, r) {
        let p = save!(c, h, s);
        p.exception = Exception { reason: am::BADARITH.into(), ..Exception::NONE };
        return raise(ip, c, h, s, r);
    }
}

fusable! {
    // a, dst
    fn fnegate(ip, c, h, s, r; N) {
        (*c).f[*ip.add(2) as usize] = -(*c).f[*ip.add(1) as usize];
        then!(N, ip, c, h, s, r; 3)
    }
    // a boxed float (register or literal), dst
    fn fload<S: Src>(ip, c, h, s, r; N) {
        let value = S::get(*ip.add(1), c, s);
        (*c).f[*ip.add(2) as usize] = f64::from_bits(*value.ptr().add(1));
        then!(N, ip, c, h, s, r; 3)
    }
    // float register, dst: two words are there
    fn fstore(ip, c, h, s, r; N) {
        *h = Header::new(Kind::Float, 1).raw();
        *h.add(1) = (*c).f[*ip.add(1) as usize].to_bits();
        put(*ip.add(2), c, s, Term::boxed(h));
        h = h.add(2);
        then!(N, ip, c, h, s, r; 3)
    }
    // float register to float register
    fn fcopy(ip, c, h, s, r; N) {
        (*c).f[*ip.add(2) as usize] = (*c).f[*ip.add(1) as usize];
        then!(N, ip, c, h, s, r; 3)
    }
    // a number, dst
    fn fconv(ip, c, h, s, r; N) {
        let value = Any::get(*ip.add(1), c, s);
        let converted = if value.is_small() { value.small_value() as f64 } else { to_float(c, value) };
        if converted.is_nan() {
            return float_error(ip, c, h, s, r);
        }
        (*c).f[*ip.add(2) as usize] = converted;
        then!(N, ip, c, h, s, r; 3)
    }
}

/// NaN if it is no number, or too large.
#[inline(never)]
fn to_float(_: *mut Ctx, value: Term) -> f64 {
    match value.as_float() {
        Some(f) => f,
        None => big::to_f64(value).filter(|f| f.is_finite()).unwrap_or(f64::NAN),
    }
}
