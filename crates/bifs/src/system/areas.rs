//! What the VM's memory and tables hold, as text: `system_info(info)`, `i` of the break menu, and a section of crash dumps.

use super::allocators::{self, Part};
use super::crash_dump::code_sizes;
use heddle_memory::MemoryKind;
use heddle_runtime::{blocks, exports, names, proctab};
use heddle_term::{atom, literal};
use std::io::{Result, Write};

/// Writes the memory in bytes by what it is for, as far as that is known. `code` is the cells of loaded modules and their literals.
pub(super) fn memory(out: &mut impl Write) -> Result<()> {
    let code: usize = code_sizes().iter().map(|s| s.1 + s.2).sum::<usize>() + literal::used_bytes();
    let sum = |kinds: &[MemoryKind]| kinds.iter().map(|&kind| heddle_memory::sum(kind)).sum::<usize>();
    let total =
        sum(&[MemoryKind::Heap, MemoryKind::Message, MemoryKind::Binary, MemoryKind::Ets, MemoryKind::Rest]) + literal::used_bytes();
    let processes = blocks::used_bytes();
    let atoms = atom::name_bytes();
    writeln!(out, "=memory\ntotal: {total}\nprocesses: {processes}\nprocesses_used: {processes}")?;
    writeln!(out, "system: {}\natom: {atoms}\natom_used: {atoms}", total.saturating_sub(processes))?;
    writeln!(out, "binary: {}\ncode: {code}\nets: {}", sum(&[MemoryKind::Binary]), sum(&[MemoryKind::Ets]))
}

fn text() -> Result<Vec<u8>> {
    let out = &mut Vec::new();
    memory(out)?;
    let (mut known, mut loaded) = (0, 0);
    exports::for_each(|export| {
        known += 1;
        loaded += usize::from(exports::is_loaded(export));
    });
    writeln!(out, "=index_table:atom_tab\nlimit: {}\nentries: {}", atom::limit(), atom::count())?;
    writeln!(out, "=index_table:module_code\nentries: {}", code_sizes().len())?;
    writeln!(out, "=index_table:export_list\nentries: {known}\nloaded: {loaded}")?;
    writeln!(out, "=hash_table:process_reg\nobjs: {}", names::all().len())?;
    writeln!(out, "=process_table\nlimit: {}\nentries: {}", proctab::limit(), proctab::count())?;
    writeln!(out, "=port_table\nentries: {}", proctab::port_count())?;
    writeln!(out, "=ets_tables\nentries: {}", heddle_ets::registry::count())?;
    writeln!(out, "=allocated_areas\natom_space: {0} {0}", atom::name_bytes())?;
    writeln!(out, "loaded_code: {}", code_sizes().iter().map(|s| s.1 + s.2).sum::<usize>())?;
    writeln!(out, "literals: {}\nets_misc: {}", literal::used_bytes(), heddle_ets::own_words() * 8)?;
    for (kind, _) in allocators::NAMED {
        let areas = allocators::areas(kind);
        writeln!(out, "=allocator:{}", allocators::name(kind))?;
        for (part, name) in [(Part::Many, "mbcs"), (Part::Pool, "mbcs_pool"), (Part::Single, "sbcs")] {
            let of_part = || areas.iter().filter(|area| Part::of(area) == part);
            let (blocks, used) = of_part().fold((0, 0), |(n, bytes), area| (n + area.used_blocks, bytes + area.used_bytes()));
            let (carriers, carrier_bytes) = of_part().fold((0, 0), |(n, bytes), area| (n + 1, bytes + area.bytes()));
            writeln!(out, "{name} blocks: {blocks}\n{name} blocks size: {used}")?;
            writeln!(out, "{name} carriers: {carriers}\n{name} carriers size: {carrier_bytes}")?;
        }
    }
    Ok(std::mem::take(out))
}

/// `system_info(info)`.
pub fn areas() -> Vec<u8> {
    text().expect("memory takes what is written")
}
