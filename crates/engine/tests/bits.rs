//! The conversions of the bit syntax against values computed by stock OTP 27.

use heddle_engine::ops::bits::floats::{from_half, read_float, to_half, write_float};
use heddle_engine::ops::bits::integers::{from_little, read_term, to_little, write_term};
use heddle_engine::ops::bits::matching::same_bits;
use heddle_engine::ops::bits::utf::{Utf, read_utf, write_utf};
use heddle_engine::ops::bits::{LITTLE, SIGNED, append};
use heddle_term::bits::BitsView;
use heddle_term::{Heap, big};

/// `data/bit_integers.txt`: value, bits, little, `<<7:3, Value:Bits, 0:_>>` in hex, what matching it gives, what signed gives.
#[test]
fn integers_as_stock() {
    let mut heap = Heap::new();
    for line in include_str!("data/bit_integers.txt").lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let number =
            |heap: &mut Heap, text: &str| big::from_text(heap, text.as_bytes(), 10).expect("digits").unwrap_or_else(|_| panic!("size"));
        let value = number(&mut heap, fields[0]);
        let bits: u64 = fields[1].parse().expect("bits");
        let flags = if fields[2] == "1" { LITTLE } else { 0 };
        let want: Vec<u8> = (0..fields[3].len() / 2).map(|i| u8::from_str_radix(&fields[3][2 * i..2 * i + 2], 16).expect("hex")).collect();
        let mut out = vec![0u8; want.len()];
        out[0] = 0xe0;
        // SAFETY: `out` has room for three bits and the value's.
        unsafe { write_term(out.as_mut_ptr(), 3, bits, value, flags) };
        assert_eq!(out, want, "{line}");
        for (signed, text) in [(0, fields[4]), (SIGNED, fields[5])] {
            // SAFETY: `want` holds three bits and the value's.
            let got = unsafe { read_term(&mut heap, want.as_ptr(), 3, bits, flags | signed) }.expect("size");
            assert_eq!(big::to_text(got, 10), text, "{line}");
        }
        // The same at a byte boundary.
        let mut aligned = vec![0u8; want.len() + 8];
        // SAFETY: one byte before the value, and eight bytes after the last place where it may start.
        unsafe { write_term(aligned.as_mut_ptr(), 8, bits, value, flags) };
        // SAFETY: as above.
        let got = unsafe { read_term(&mut heap, aligned.as_ptr(), 8, bits, flags) }.expect("size");
        assert_eq!(big::to_text(got, 10), fields[4], "{line}");
        // SAFETY: both hold the value's bits after the skipped ones.
        unsafe { assert!(same_bits(want.as_ptr(), 3, aligned[1..].as_ptr(), bits), "{line}") };
    }
    heap.clear();
}

#[test]
fn little_endian_reverses() {
    for bits in 1..=64 {
        for value in [1u64, 0x0123_4567_89ab_cdef, u64::MAX] {
            let value = value & (u64::MAX >> (64 - bits));
            assert_eq!(from_little(to_little(value, bits), bits), value, "{bits}");
        }
    }
}

#[test]
fn floats_as_stock() {
    let rows = [
        (0.0, 0x0, 0x0),
        (-0.0, 0x8000, 0x8000_0000),
        (1.0, 0x3c00, 0x3f80_0000),
        (-2.5, 0xc100, 0xc020_0000),
        (65504.0, 0x7bff, 0x477f_e000),
        (65519.0, 0x7bff, 0x477f_ef00),
        (65520.0, 0x7c00, 0x477f_f000u32),
        (1.0e6, 0x7c00, 0x4974_2400),
        (1.0e300, 0x7c00, 0x7f80_0000),
        (6.1035e-5, 0x400, 0x387f_ffd5),
        (6.0e-8, 0x1, 0x3380_d959),
        (2.9e-8, 0x0, 0x32f9_1bad),
        (5.96e-8, 0x1, 0x337f_fae5),
        (3.3333, 0x42ab, 0x4055_54ca),
        (1.0009765625, 0x3c01, 0x3f80_2000),
        (1.00048828125, 0x3c00, 0x3f80_1000),
        (1.00146484375, 0x3c02, 0x3f80_3000),
        (2.0e-5, 0x150, 0x37a7_c5ac),
        (-1.0e-10, 0x8000, 0xaedb_e6ff),
        (0.1, 0x2e66, 0x3dcc_cccd),
    ];
    for (value, half, single) in rows {
        assert_eq!(to_half(value), half, "{value}");
        let mut out = [0u8; 9];
        // SAFETY: `out` has room for the offset and the float.
        unsafe { write_float(out.as_mut_ptr(), 5, 32, value, 0) };
        let mut want = [0u8; 5];
        // SAFETY: four bytes are copied to five bits and 32.
        unsafe { heddle_term::bits::copy_bits(u32::to_be_bytes(single).as_ptr(), 0, want.as_mut_ptr(), 5, 32) };
        assert_eq!(out[..5], want, "{value}");
        let mut out = [0u8; 9];
        // SAFETY: as above, for 64 bits.
        unsafe { write_float(out.as_mut_ptr(), 1, 64, value, LITTLE) };
        // SAFETY: as above.
        assert_eq!(unsafe { read_float(out.as_ptr(), 1, 64, LITTLE) }, Some(value));
    }
    for half in (0..0x7c00).chain(0x8000..0xfc00) {
        assert_eq!(to_half(from_half(half)), half);
    }
    // SAFETY: two bytes for 16 bits.
    assert_eq!(unsafe { read_float([0x7c, 0].as_ptr(), 0, 16, 0) }, None);
    // SAFETY: four bytes for 32 bits.
    assert_eq!(unsafe { read_float([0x7f, 0xc0, 0, 0].as_ptr(), 0, 32, 0) }, None);
    // SAFETY: eight bytes for 24 bits.
    assert_eq!(unsafe { read_float([0; 8].as_ptr(), 0, 24, 0) }, None);
    // SAFETY: nothing is read.
    assert_eq!(unsafe { read_float([0; 8].as_ptr(), 0, 0, 0) }, Some(0.0));
}

#[test]
fn utf_round_trips_and_rejects() {
    for at in [0, 3] {
        for value in (0..0x11_0000u32).step_by(37).chain([0x7f, 0x80, 0x7ff, 0x800, 0xffff, 0x1_0000, 0x10_ffff]) {
            let Some(character) = char::from_u32(value) else { continue };
            for (kind, flags) in [(Utf::Utf8, 0), (Utf::Utf16, 0), (Utf::Utf16, LITTLE), (Utf::Utf32, 0), (Utf::Utf32, LITTLE)] {
                let mut out = [0u8; 12];
                // SAFETY: `out` has room for the offset and the longest code point; `value` is one.
                let bits = unsafe { write_utf(kind, out.as_mut_ptr(), at, value, flags) };
                // SAFETY: the bits were just written.
                assert_eq!(unsafe { read_utf(kind, out.as_ptr(), at, at + bits, flags) }, Some((value, bits)));
                // SAFETY: no bit after the end is read.
                assert_eq!(unsafe { read_utf(kind, out.as_ptr(), at, at + bits - 1, flags) }, None);
                if kind == Utf::Utf8 && at == 0 {
                    assert_eq!(&out[..bits as usize / 8], character.encode_utf8(&mut [0; 4]).as_bytes());
                }
            }
        }
    }
    for bad in [
        &[0x80u8][..],
        &[0xc1, 0x80],
        &[0xe0, 0x9f, 0x80],
        &[0xed, 0xa0, 0x80],
        &[0xf4, 0x90, 0x80, 0x80],
        &[0xf5, 0x80, 0x80, 0x80],
        &[0xc2, 0x20],
    ] {
        // SAFETY: the end is that of the bytes.
        assert_eq!(unsafe { read_utf(Utf::Utf8, bad.as_ptr(), 0, bad.len() as u64 * 8, 0) }, None, "{bad:?}");
    }
    // SAFETY: the end is that of the bytes.
    assert_eq!(unsafe { read_utf(Utf::Utf16, [0xd8, 0, 0, 0x41].as_ptr(), 0, 32, 0) }, None);
    // SAFETY: as above.
    assert_eq!(unsafe { read_utf(Utf::Utf16, [0xdc, 0].as_ptr(), 0, 16, 0) }, None);
    // SAFETY: as above.
    assert_eq!(unsafe { read_utf(Utf::Utf32, [0, 0x11, 0, 0].as_ptr(), 0, 32, 0) }, None);
}

#[test]
fn appends_in_place_once() {
    let mut heap = Heap::new();
    let empty = append::writable(&mut heap, 10).term;
    let put = |heap: &mut Heap, source, byte: u8| {
        let target = append::append(heap, source, 8).unwrap();
        // SAFETY: the append made room for a byte.
        unsafe { write_term(target.base, target.at, 8, heddle_term::Term::small(byte as i64), 0) };
        target.term
    };
    let a = put(&mut heap, empty, 1);
    let b = put(&mut heap, a, 2);
    // A second append to the same slice must not change the first.
    let other = put(&mut heap, a, 3);
    assert_eq!(BitsView::of(b).expect("bits").to_vec(), [1, 2]);
    assert_eq!(BitsView::of(other).expect("bits").to_vec(), [1, 3]);
    assert_eq!(b.slot(2), a.slot(2));
    assert!(other.slot(2) != a.slot(2));
    let mut long = b;
    for i in 0..1000u32 {
        long = put(&mut heap, long, i as u8);
    }
    let bytes = BitsView::of(long).expect("bits").to_vec();
    assert_eq!(bytes.len(), 1002);
    assert!(bytes[2..].iter().enumerate().all(|(i, &b)| b == i as u8));
    // Bits.
    let target = append::append(&mut heap, other, 3).unwrap();
    // SAFETY: the target has room for the bits.
    unsafe { write_term(target.base, target.at, 3, heddle_term::Term::small(5), 0) };
    let again = append::append(&mut heap, target.term, 5).unwrap();
    // SAFETY: the target has room for the bits.
    unsafe { write_term(again.base, again.at, 5, heddle_term::Term::small(9), 0) };
    assert_eq!(BitsView::of(again.term).expect("bits").to_vec(), [1, 3, 5 << 5 | 9]);
    assert_eq!(BitsView::of(target.term).expect("bits").to_vec(), [1, 3, 5 << 5]);
    heap.clear();
}
