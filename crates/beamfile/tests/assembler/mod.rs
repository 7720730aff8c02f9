//! Makes small files by hand.

use heddle_abi::opcodes::Op;

/// Operands as `code` takes them.
#[derive(Clone)]
pub enum Arg {
    U(u64),
    I(i64),
    A(u64),
    X(u64),
    Y(u64),
    F(u64),
    Lit(u64),
    Tx(u64, u64),
    List(Vec<Arg>),
}
use Arg::*;

fn compact(tag: u8, number: u64, out: &mut Vec<u8>) {
    if number < 16 {
        out.push((number as u8) << 4 | tag);
    } else if number < 2048 {
        out.extend([((number >> 8) as u8) << 5 | 8 | tag, number as u8]);
    } else {
        let bytes = number.to_be_bytes();
        let skip = (bytes.iter().take_while(|&&byte| byte == 0).count()).min(6);
        let bytes = &bytes[skip - usize::from(skip > 0 && bytes[skip] > 127)..];
        out.push((bytes.len() as u8 - 2) << 5 | 0x18 | tag);
        out.extend(bytes);
    }
}

fn encode(arg: &Arg, out: &mut Vec<u8>) {
    match *arg {
        U(number) => compact(0, number, out),
        I(number) if (0..2048).contains(&number) => compact(1, number as u64, out),
        I(number) => {
            out.push(6 << 5 | 0x18 | 1);
            out.extend(number.to_be_bytes());
        }
        A(number) => compact(2, number, out),
        X(number) => compact(3, number, out),
        Y(number) => compact(4, number, out),
        F(number) => compact(5, number, out),
        Lit(number) => {
            out.push(0x47);
            compact(0, number, out);
        }
        Tx(register, type_index) => {
            out.push(0x57);
            compact(3, register, out);
            compact(0, type_index, out);
        }
        List(ref list) => {
            out.push(0x17);
            compact(0, list.len() as u64, out);
            list.iter().for_each(|arg| encode(arg, out));
        }
    }
}

pub fn code(labels: u32, functions: u32, instrs: &[(Op, &[Arg])]) -> Vec<u8> {
    let mut out: Vec<u8> = [16u32, 0, 191, labels, functions].iter().flat_map(|word| word.to_be_bytes()).collect();
    for (op, args) in instrs {
        out.push(*op as u8);
        args.iter().for_each(|arg| encode(arg, &mut out));
    }
    out
}

pub fn file(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    let mut out = b"FOR1\0\0\0\0BEAM".to_vec();
    for (id, data) in chunks {
        out.extend_from_slice(*id);
        out.extend((data.len() as u32).to_be_bytes());
        out.extend_from_slice(data);
        out.resize(out.len().next_multiple_of(4), 0);
    }
    let size = (out.len() as u32 - 8).to_be_bytes();
    out[4..8].copy_from_slice(&size);
    out
}
