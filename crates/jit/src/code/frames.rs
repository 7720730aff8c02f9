//! Removes the frames of functions that do not use theirs.
//!
//! Cranelift begins each function with `push rbp; mov rbp, rsp` and ends it with `mov rsp, rbp; pop rbp`. A segment never returns, so these
//! instructions do nothing but store, load, and make each segment wait for the one before it.

const BEGIN: [u8; 4] = [0x55, 0x48, 0x89, 0xe5];
const END: [u8; 4] = [0x48, 0x89, 0xec, 0x5d];
/// One instruction of four bytes that does nothing.
const NOTHING: [u8; 4] = [0x0f, 0x1f, 0x40, 0x00];

/// Removes the frame of a function with this many exits, if it uses no stack. Returns the offset of its first instruction.
pub fn remove(code: &mut [u8], exits: usize) -> usize {
    if !code.starts_with(&BEGIN) || changes_stack(&code[BEGIN.len()..]) {
        return 0;
    }
    // The bytes may also be part of a constant. Then there are too many, and the function keeps its frame.
    let ends: Vec<usize> = code.windows(END.len()).enumerate().filter(|(_, bytes)| *bytes == END).map(|(at, _)| at).collect();
    if ends.len() != exits {
        return 0;
    }
    code[..BEGIN.len()].copy_from_slice(&NOTHING);
    for at in ends {
        code[at..at + END.len()].copy_from_slice(&NOTHING);
    }
    BEGIN.len()
}

/// True if the code begins with `sub rsp, n`.
fn changes_stack(code: &[u8]) -> bool {
    code.starts_with(&[0x48, 0x83, 0xec]) || code.starts_with(&[0x48, 0x81, 0xec])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_goes_if_each_exit_has_its_end() {
        let mut code = [&BEGIN[..], &[0x90], &END, &[0xff, 0xe0], &END, &[0xff, 0xe1]].concat();
        assert_eq!(remove(&mut code.clone(), 1), 0);
        assert_eq!(remove(&mut code, 2), 4);
        assert!(!code.windows(4).any(|bytes| bytes == END));
    }

    #[test]
    fn a_frame_with_slots_stays() {
        let mut code = [&BEGIN[..], &[0x48, 0x83, 0xec, 0x10], &END, &[0xff, 0xe0]].concat();
        assert_eq!(remove(&mut code, 1), 0);
        assert_eq!(code[..4], BEGIN);
    }
}
