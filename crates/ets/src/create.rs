//! Natives that make, name and delete tables.

use super::access::{self, Right, cause};
use super::owner;
use super::reap;
use super::registry;
use super::table::{Heir, Protection, Table, TableOptions, TableType};
use heddle_natives::args;
use heddle_runtime::Package;
use heddle_runtime::process::{FLAG_ETS, NativeResult, Process};
use heddle_runtime::qsbr::Online;
use heddle_term::{Atom, Term, am};

heddle_runtime::natives! { TABLE:
    "ets" => {
        "new"/2 => new,
        "rename"/2 => rename,
        "setopts"/2 => setopts,
        "whereis"/1 => whereis,
        "delete"/1 => delete,
        "internal_delete_all"/2 => delete_all,
    }
}

fn parse(options: Term) -> Option<TableOptions> {
    let mut out = TableOptions {
        kind: TableType::Set,
        protection: Protection::Protected,
        named: false,
        key_index: 0,
        heir: None,
        read_concurrency: false,
        write_concurrency: am::FALSE,
        locks: None,
        decentralized: false,
        compressed: false,
    };
    let mut decentralized = None;
    for option in args::list(options)? {
        if let Some(name) = option.as_atom() {
            match name.name() {
                "set" => out.kind = TableType::Set,
                "ordered_set" => {
                    out.kind = TableType::OrderedSet;
                    out.decentralized = true;
                }
                "bag" => out.kind = TableType::Bag,
                "duplicate_bag" => out.kind = TableType::DuplicateBag,
                "public" => out.protection = Protection::Public,
                "protected" => out.protection = Protection::Protected,
                "private" => out.protection = Protection::Private,
                "named_table" => out.named = true,
                "compressed" => out.compressed = true,
                _ => return None,
            }
            continue;
        }
        match *option.as_tuple()? {
            [name, value] => match name.as_atom()?.name() {
                "keypos" => out.key_index = args::count(value)?.checked_sub(1)?,
                "heir" if value.is_atom_of(Atom::new("none")) => out.heir = None,
                "read_concurrency" => out.read_concurrency = args::boolean(value)?,
                "write_concurrency" => concurrency(&mut out, value)?,
                "decentralized_counters" => decentralized = Some(args::boolean(value)?),
                _ => return None,
            },
            [name, pid, data] if name.is_atom_of(Atom::new("heir")) && pid.is_local_pid() => out.heir = Some((pid.payload(), data)),
            _ => return None,
        }
    }
    out.decentralized = decentralized.unwrap_or(out.decentralized);
    if out.kind == TableType::OrderedSet && out.locks.is_some() {
        return None;
    }
    // No other process writes to a private table.
    if out.protection == Protection::Private {
        (out.write_concurrency, out.locks) = (am::FALSE, None);
    }
    out.decentralized &= out.write_concurrency != am::FALSE;
    Some(out)
}

/// Most locks that a table may be given by `{debug_hash_fixed_number_of_locks, N}`.
const MAX_LOCKS: usize = 32768;

fn concurrency(out: &mut TableOptions, value: Term) -> Option<()> {
    out.locks = None;
    if let Some((name, count)) = args::option(value) {
        // The largest power of two that is not above it.
        out.locks = Some(1 << args::count(count).filter(|n| (1..=MAX_LOCKS).contains(n))?.ilog2());
        (out.write_concurrency, out.decentralized) = (am::TRUE, true);
        return (name.name() == "debug_hash_fixed_number_of_locks").then_some(());
    }
    let name = value.as_atom()?;
    match name.name() {
        "auto" => out.decentralized = true,
        "true" => out.decentralized &= out.kind == TableType::OrderedSet,
        "false" => {}
        _ => return None,
    }
    out.write_concurrency = name;
    Some(())
}

fn new(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(name) = a[0].as_atom() else { return Err(p.badarg()) };
    let Some(options) = parse(a[1]) else { return Err(p.badarg()) };
    let table = Table::create(name, p.pid(), &options);
    p.flags |= FLAG_ETS;
    if !registry::publish(&table) {
        return Err(cause(p, "already_exists"));
    }
    Ok(if table.named { a[0] } else { p.heap.magic_reference(table.id.words(), table) })
}

fn rename(p: &mut Process, a: &[Term]) -> NativeResult {
    let table = access::table(p, &a[0], Right::Write)?;
    let Some(name) = a[1].as_atom() else { return Err(p.badarg()) };
    if !registry::rename(&table.shared(), name) {
        return Err(p.badarg());
    }
    Ok(if table.named { a[1] } else { a[0] })
}

fn whereis(p: &mut Process, a: &[Term]) -> NativeResult {
    let table = match a[0].as_atom() {
        Some(name) => registry::named(name, Online::in_native(&a[0])).filter(|t| t.is_alive()),
        None if access::is_id(a[0]) => access::find(&a[0]),
        None => return Err(p.badarg()),
    };
    Ok(match table {
        Some(table) => table.reference(&mut p.heap),
        None => am::UNDEFINED.into(),
    })
}

fn delete(p: &mut Process, a: &[Term]) -> NativeResult {
    if let Some(answer) = reap::resumed(p, a) {
        return answer;
    }
    let table = access::table(p, &a[0], Right::Write)?;
    if !table.kill() {
        return Err(cause(p, "id"));
    }
    let (count, removed) = registry::remove(table);
    reap::free(p, a, count, removed, Term::bool(true))
}

fn delete_all(p: &mut Process, a: &[Term]) -> NativeResult {
    if let Some(answer) = reap::resumed(p, a) {
        return answer;
    }
    let table = access::table(p, &a[0], Right::Write)?;
    let (count, removed) = table.clear();
    reap::free(p, a, count, removed, Term::small(count as i64))
}

enum Setting {
    Heir(Option<(u64, Term)>),
    Protection(Protection),
}

fn setting(option: Term) -> Option<Setting> {
    match *option.as_tuple()? {
        [name, value] => match name.as_atom()?.name() {
            "heir" if value.is_atom_of(Atom::new("none")) => Some(Setting::Heir(None)),
            "protection" => Some(Setting::Protection(match value.as_atom()?.name() {
                "private" => Protection::Private,
                "protected" => Protection::Protected,
                "public" => Protection::Public,
                _ => return None,
            })),
            _ => None,
        },
        [name, pid, data] if name.is_atom_of(Atom::new("heir")) && pid.is_local_pid() => Some(Setting::Heir(Some((pid.payload(), data)))),
        _ => None,
    }
}

fn setopts(p: &mut Process, a: &[Term]) -> NativeResult {
    let table = access::table(p, &a[0], Right::Write)?;
    let options = if a[1].is_list() { args::list(a[1]) } else { Some(vec![a[1]]) };
    let settings: Option<Vec<Setting>> = options.and_then(|list| list.into_iter().map(setting).collect());
    let Some(settings) = settings else { return Err(p.badarg()) };
    let heirs = settings.iter().filter(|s| matches!(s, Setting::Heir(_))).count();
    if heirs > 1 || settings.len() - heirs > 1 {
        return Err(p.badarg());
    }
    if table.owner() != p.pid() {
        return Err(cause(p, "not_owner"));
    }
    for setting in settings {
        match setting {
            Setting::Protection(protection) => table.set_protection(protection),
            Setting::Heir(heir) => {
                let heir = heir.map(|(pid, data)| Heir { pid, data: Package::new(data) });
                *owner::heir(table) = heir;
            }
        }
    }
    Ok(Term::bool(true))
}
