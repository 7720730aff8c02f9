//! Asking the processor for a line of memory before it is needed: any address will do, and nothing that a program can see is read.

/// The line is going to be read.
#[inline(always)]
pub fn to_read(place: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: the instruction takes any address, and reads nothing that a program can see.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(place.cast())
    };
    #[cfg(any(not(target_arch = "x86_64"), miri))]
    let _ = place;
}

/// The line is going to be changed: no other core is to keep it.
#[inline(always)]
pub fn to_write(place: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: as above; processors that do not know the instruction pass it over.
    unsafe {
        std::arch::asm!("prefetchw [{place}]", place = in(reg) place, options(nostack, preserves_flags, readonly))
    };
    #[cfg(any(not(target_arch = "x86_64"), miri))]
    let _ = place;
}
