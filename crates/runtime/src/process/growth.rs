//! The state of the heap growth policy.

/// What the heap growth policy (`heap_growth`) knows of a process.
#[derive(Default)]
pub struct HeapGrowth {
    /// One more than the step (`sizes`) that the block had before this policy enlarged it; 0 if the block is as large as what lives
    /// in it asks for.
    pub(crate) usual_step: u8,
    /// How often the block was full in the running slice since it got its size.
    pub(crate) filled: u8,
}

impl HeapGrowth {
    #[inline(always)]
    pub(crate) fn begin_slice(&mut self) {
        self.filled = 0;
    }
}
