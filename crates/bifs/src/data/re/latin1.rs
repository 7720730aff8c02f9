//! Character tables: ISO 8859-1, as stock's. The library's own know only ASCII.

use pcre2_sys::pcre2_maketables_8;
use std::ptr::null_mut;
use std::sync::OnceLock;

// Layout of the library's tables: two case tables, the bit maps of the classes, and the bits of each character.
const LOWER: usize = 0;
const FLIP: usize = 256;
const MAPS: usize = 512;
const MAP_BYTES: usize = 32;
const BITS: usize = MAPS + 10 * MAP_BYTES;
const LENGTH: usize = BITS + 256;

// Numbers of the maps.
const MAP_UPPER: usize = 3;
const MAP_LOWER: usize = 4;
const MAP_WORD: usize = 5;
const MAP_GRAPH: usize = 6;
const MAP_PRINT: usize = 7;
const MAP_PUNCT: usize = 8;
const MAP_CNTRL: usize = 9;

const BIT_LETTER: u8 = 0x02;
const BIT_LOWER: u8 = 0x04;
const BIT_WORD: u8 = 0x10;

fn is_upper(c: u8) -> bool {
    matches!(c, 0xc0..=0xde) && c != 0xd7
}
/// The ordinals and micro are lower case without an upper one, as are sharp s and y with diaeresis.
fn is_lower(c: u8) -> bool {
    matches!(c, 0xaa | 0xb5 | 0xba | 0xdf..=0xff) && c != 0xf7
}

fn make() -> Vec<u8> {
    // SAFETY: the library allocates LENGTH bytes in its own layout; they are copied, and kept (it happens once).
    let mut tables = unsafe { std::slice::from_raw_parts(pcre2_maketables_8(null_mut()), LENGTH) }.to_vec();
    for c in 0x80..=0xffu8 {
        let (upper, lower) = (is_upper(c), is_lower(c));
        let maps: &[usize] = match (upper, lower) {
            (true, _) => &[MAP_UPPER, MAP_WORD, MAP_GRAPH, MAP_PRINT],
            (_, true) => &[MAP_LOWER, MAP_WORD, MAP_GRAPH, MAP_PRINT],
            _ if c < 0xa0 => &[MAP_CNTRL],
            _ => &[MAP_PUNCT, MAP_GRAPH, MAP_PRINT],
        };
        for map in maps {
            tables[MAPS + map * MAP_BYTES + c as usize / 8] |= 1 << (c % 8);
        }
        if upper {
            tables[LOWER + c as usize] = c + 0x20;
            tables[FLIP + c as usize] = c + 0x20;
        } else if c >= 0xe0 && is_upper(c - 0x20) {
            tables[FLIP + c as usize] = c - 0x20;
        }
        if upper || lower {
            tables[BITS + c as usize] |= BIT_LETTER | BIT_WORD | if lower { BIT_LOWER } else { 0 };
        }
    }
    tables
}

/// The tables. They are never freed: compiled patterns keep pointers to them.
pub fn tables() -> *const u8 {
    static TABLES: OnceLock<Vec<u8>> = OnceLock::new();
    TABLES.get_or_init(make).as_ptr()
}
