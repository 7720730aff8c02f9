//! Panics of call-backs end the task, not the node. A panic of the runtime itself, where a call-back called into it, is a broken invariant
//! and ends the node, as everywhere else.
//!
//! A call-back that overflows the native stack, or a program built with `panic = "abort"`, ends the node as well.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};

thread_local! {
    /// True while the thread runs code of a call-back.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    /// The text and place of the panic under way, from the hook.
    static HEARD: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs a call-back. The error is the text of its panic, and the place.
pub(super) fn call_back<R>(f: impl FnOnce() -> R) -> Result<R, String> {
    let before = INSIDE.replace(true);
    let result = catch_unwind(AssertUnwindSafe(f));
    INSIDE.set(before);
    result.map_err(|payload| {
        let heard = HEARD.take();
        heard.unwrap_or_else(|| text(&*payload).into())
    })
}

/// Runs code of the runtime for a call-back.
pub(super) fn vm<R>(f: impl FnOnce() -> R) -> R {
    struct InVm(bool);
    impl Drop for InVm {
        fn drop(&mut self) {
            if std::thread::panicking() {
                // `report` did not take this panic, so its text is on standard error.
                std::process::abort();
            }
            INSIDE.set(self.0);
        }
    }
    let _in_vm = InVm(INSIDE.replace(false));
    f()
}

/// For the hook of panics: returns true if it is the panic of a call-back. The program gets its text, so the hook must not print it.
pub fn report(info: &PanicHookInfo<'_>) -> bool {
    let is_mine = INSIDE.get();
    if is_mine {
        let place = info.location().map_or(String::new(), |at| format!(" ({}:{})", at.file(), at.line()));
        HEARD.set(Some(format!("{}{place}", text(info.payload()))));
    }
    is_mine
}

fn text(payload: &(dyn Any + Send)) -> &str {
    payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("(no message)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_text_and_those_inside_do_not_hide_where_they_are() {
        assert_eq!(call_back(|| 1), Ok(1));
        let result: Result<(), String> = call_back(|| panic!("on purpose: {}", 7));
        assert_eq!(result, Err("on purpose: 7".into()));
        assert_eq!(call_back(|| (INSIDE.get(), vm(|| INSIDE.get()), INSIDE.get())), Ok((true, false, true)));
        assert!(!INSIDE.get());
    }
}
