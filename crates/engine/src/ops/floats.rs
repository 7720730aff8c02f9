//! Float registers. A result that is not finite raises badarith.

use crate::ctx::{Any, Ctx, Src, put};
use crate::ops::errors::raise;
use crate::{fusable, ops, save, then};
use heddle_runtime::process::Exception;
use heddle_term::{Header, Kind, Term, am, big};

/// Address of the float register that a cell names by its offset in bytes. Indexing would check the bound, and the panic of that check
/// would cost every operation a native frame.
#[inline(always)]
unsafe fn float(c: *mut Ctx, cell: u64) -> *mut f64 {
    debug_assert!((cell as usize) < crate::ctx::X_REGISTERS * 8);
    // SAFETY: the verifier proved the register's number.
    unsafe { (&raw mut (*c).f).cast::<u8>().add(cell as usize).cast() }
}

macro_rules! arithmetic {
    ($($name:ident, $op:tt;)*) => {
        fusable! {
            $(
                // a, b, dst (byte offsets of float registers)
                fn $name(ip, c, h, s, r; N) {
                    let value = *float(c, *ip.add(1)) $op *float(c, *ip.add(2));
                    if !value.is_finite() {
                        return float_error(ip, c, h, s, r);
                    }
                    *float(c, *ip.add(3)) = value;
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
        *float(c, *ip.add(2)) = -*float(c, *ip.add(1));
        then!(N, ip, c, h, s, r; 3)
    }
    // a boxed float (register or literal), dst
    fn fload<S: Src>(ip, c, h, s, r; N) {
        let value = S::get(*ip.add(1), c, s);
        *float(c, *ip.add(2)) = f64::from_bits(*value.ptr().add(1));
        then!(N, ip, c, h, s, r; 3)
    }
    // float register, dst: two words are there
    fn fstore(ip, c, h, s, r; N) {
        *h = Header::new(Kind::Float, 1).raw();
        *h.add(1) = (*float(c, *ip.add(1))).to_bits();
        put(*ip.add(2), c, s, Term::boxed(h));
        h = h.add(2);
        then!(N, ip, c, h, s, r; 3)
    }
    // float register to float register
    fn fcopy(ip, c, h, s, r; N) {
        *float(c, *ip.add(2)) = *float(c, *ip.add(1));
        then!(N, ip, c, h, s, r; 3)
    }
    // a number, dst
    fn fconv(ip, c, h, s, r; N) {
        let value = Any::get(*ip.add(1), c, s);
        let converted = if value.is_small() { value.small_value() as f64 } else { to_float(c, value) };
        if converted.is_nan() {
            return float_error(ip, c, h, s, r);
        }
        *float(c, *ip.add(2)) = converted;
        then!(N, ip, c, h, s, r; 3)
    }
}

/// The number as a float; NaN if it is not a number, or too large.
#[inline(never)]
fn to_float(_: *mut Ctx, value: Term) -> f64 {
    match value.as_float() {
        Some(f) => f,
        None => big::to_f64(value).filter(|f| f.is_finite()).unwrap_or(f64::NAN),
    }
}
