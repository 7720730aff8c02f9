//! Modules that only Heddle has (`heddle_...`). Their functions are natives, listed in tables like all others, and run without a file.
//! This module makes an entry of the module table for each, so that the code server, `function_exported` and `module_info` know them.
//! The files in `lib/heddle/src` hold their documentation and types; tools/compile-modules compiles them, and `erl` puts the folder of the
//! beam files at the end of the code path.
//!
//! To add a module: add its name to MODULES, its two rows to TABLE, and a file to `lib/heddle/src`. To add a function: add its native, and
//! its documentation to the file (the test program heddle_documentation compares the two).

use crate::code_natives;
use crate::ctx::FUNC_HEADER_CELLS;
use crate::native_code;
use heddle_runtime::code::{Function, Instance};
use heddle_runtime::exports;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::{Atom, Export, Term};
use std::sync::atomic::Ordering;

const MODULES: &[&str] = &["heddle_stats", "heddle_sched", "heddle_task"];

heddle_runtime::natives! { TABLE:
    "heddle_stats" => {
        "module_info"/0 => info::<0>,
        "module_info"/1 => info_about::<0>,
    }
    "heddle_sched" => {
        "module_info"/0 => info::<1>,
        "module_info"/1 => info_about::<1>,
    }
    "heddle_task" => {
        "module_info"/0 => info::<2>,
        "module_info"/1 => info_about::<2>,
    }
}

fn info<const MODULE: usize>(p: &mut Process, _: &[Term]) -> NativeResult {
    code_natives::get_module_info_1(p, &[Atom::new(MODULES[MODULE]).into()])
}

fn info_about<const MODULE: usize>(p: &mut Process, a: &[Term]) -> NativeResult {
    code_natives::get_module_info_2(p, &[Atom::new(MODULES[MODULE]).into(), a[0]])
}

/// Makes them loaded modules. Called once, after the natives have their code.
pub fn load() {
    MODULES.iter().for_each(|name| code_natives::publish(instance(Atom::new(name))));
}

fn instance(name: Atom) -> Instance {
    let mut natives: Vec<&'static Export> = Vec::new();
    exports::for_each(|export| {
        if export.mfa.module == name && export.native.load(Ordering::Acquire) != 0 {
            natives.push(export);
        }
    });
    natives.sort_by_key(|export| (export.mfa.function.name(), export.mfa.arity));
    let (mut code, mut functions, mut entries) = (Vec::new(), Vec::new(), Vec::new());
    for export in natives {
        let start = code.len() as u32;
        let entry = start + FUNC_HEADER_CELLS as u32;
        code.extend(native_code::cells(export, export.native.load(Ordering::Acquire)));
        functions.push(Function { start, entry, name: export.mfa.function, arity: export.mfa.arity });
        entries.push((export, entry));
    }
    // `module_info(exports)` shows the last one first.
    entries.reverse();
    Instance { functions, exports: entries, ..Instance::bare(name, code.into_boxed_slice()) }
}
