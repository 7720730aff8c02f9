//! Every generic instruction a compiler may put in a `.beam` file: number, name, arity, the release that brought it in, and
//! whether we run it. This is the only place that spells them; the decoder, the verifier and the engine's loader read it.
//!
//! The numbers are part of the file format and are never reused. "R5" means R5 or older.

/// What becomes of an instruction found in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpState {
    /// We run it.
    Live,
    /// No compiler since OTP 24 emits it, and the stock loader rejects it too.
    Obsolete,
    /// Known and decoded, then refused by name: it belongs to a release after the one we implement.
    NotYetRun,
}

/// The facts about one generic instruction.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    pub op: Op,
    pub name: &'static str,
    pub arity: u8,
    /// First release whose compiler knew it.
    pub since: &'static str,
    pub state: OpState,
}

macro_rules! ops {
    ($($number:literal $variant:ident $name:literal / $arity:literal $since:literal $state:ident;)*) => {
        /// A generic instruction; the value is its number in the file.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Op {
            $($variant = $number,)*
        }

        /// All instructions in order of their numbers, starting with number 1.
        pub static OPS: [OpInfo; OP_COUNT] = [
            $(OpInfo { op: Op::$variant, name: $name, arity: $arity, since: $since, state: OpState::$state },)*
        ];

        const OP_COUNT: usize = [$($number),*].len();
    };
}

ops! {
    1 Label "label" / 1 "R5" Live;
    2 FuncInfo "func_info" / 3 "R5" Live;
    3 IntCodeEnd "int_code_end" / 0 "R5" Live;
    4 Call "call" / 2 "R5" Live;
    5 CallLast "call_last" / 3 "R5" Live;
    6 CallOnly "call_only" / 2 "R5" Live;
    7 CallExt "call_ext" / 2 "R5" Live;
    8 CallExtLast "call_ext_last" / 3 "R5" Live;
    9 Bif0 "bif0" / 2 "R5" Live;
    10 Bif1 "bif1" / 4 "R5" Live;
    11 Bif2 "bif2" / 5 "R5" Live;
    12 Allocate "allocate" / 2 "R5" Live;
    13 AllocateHeap "allocate_heap" / 3 "R5" Live;
    14 AllocateZero "allocate_zero" / 2 "R5" Obsolete;
    15 AllocateHeapZero "allocate_heap_zero" / 3 "R5" Obsolete;
    16 TestHeap "test_heap" / 2 "R5" Live;
    17 Init "init" / 1 "R5" Obsolete;
    18 Deallocate "deallocate" / 1 "R5" Live;
    19 Return "return" / 0 "R5" Live;
    20 Send "send" / 0 "R5" Live;
    21 RemoveMessage "remove_message" / 0 "R5" Live;
    22 Timeout "timeout" / 0 "R5" Live;
    23 LoopRec "loop_rec" / 2 "R5" Live;
    24 LoopRecEnd "loop_rec_end" / 1 "R5" Live;
    25 Wait "wait" / 1 "R5" Live;
    26 WaitTimeout "wait_timeout" / 2 "R5" Live;
    27 MPlus "m_plus" / 4 "R5" Obsolete;
    28 MMinus "m_minus" / 4 "R5" Obsolete;
    29 MTimes "m_times" / 4 "R5" Obsolete;
    30 MDiv "m_div" / 4 "R5" Obsolete;
    31 IntDiv "int_div" / 4 "R5" Obsolete;
    32 IntRem "int_rem" / 4 "R5" Obsolete;
    33 IntBand "int_band" / 4 "R5" Obsolete;
    34 IntBor "int_bor" / 4 "R5" Obsolete;
    35 IntBxor "int_bxor" / 4 "R5" Obsolete;
    36 IntBsl "int_bsl" / 4 "R5" Obsolete;
    37 IntBsr "int_bsr" / 4 "R5" Obsolete;
    38 IntBnot "int_bnot" / 3 "R5" Obsolete;
    39 IsLt "is_lt" / 3 "R5" Live;
    40 IsGe "is_ge" / 3 "R5" Live;
    41 IsEq "is_eq" / 3 "R5" Live;
    42 IsNe "is_ne" / 3 "R5" Live;
    43 IsEqExact "is_eq_exact" / 3 "R5" Live;
    44 IsNeExact "is_ne_exact" / 3 "R5" Live;
    45 IsInteger "is_integer" / 2 "R5" Live;
    46 IsFloat "is_float" / 2 "R5" Live;
    47 IsNumber "is_number" / 2 "R5" Live;
    48 IsAtom "is_atom" / 2 "R5" Live;
    49 IsPid "is_pid" / 2 "R5" Live;
    50 IsReference "is_reference" / 2 "R5" Live;
    51 IsPort "is_port" / 2 "R5" Live;
    52 IsNil "is_nil" / 2 "R5" Live;
    53 IsBinary "is_binary" / 2 "R5" Live;
    54 IsConstant "is_constant" / 2 "R5" Obsolete;
    55 IsList "is_list" / 2 "R5" Live;
    56 IsNonemptyList "is_nonempty_list" / 2 "R5" Live;
    57 IsTuple "is_tuple" / 2 "R5" Live;
    58 TestArity "test_arity" / 3 "R5" Live;
    59 SelectVal "select_val" / 3 "R5" Live;
    60 SelectTupleArity "select_tuple_arity" / 3 "R5" Live;
    61 Jump "jump" / 1 "R5" Live;
    62 Catch "catch" / 2 "R5" Live;
    63 CatchEnd "catch_end" / 1 "R5" Live;
    64 Move "move" / 2 "R5" Live;
    65 GetList "get_list" / 3 "R5" Live;
    66 GetTupleElement "get_tuple_element" / 3 "R5" Live;
    67 SetTupleElement "set_tuple_element" / 3 "R5" Live;
    68 PutString "put_string" / 3 "R5" Obsolete;
    69 PutList "put_list" / 3 "R5" Live;
    70 PutTuple "put_tuple" / 2 "R5" Obsolete;
    71 Put "put" / 1 "R5" Obsolete;
    72 Badmatch "badmatch" / 1 "R5" Live;
    73 IfEnd "if_end" / 0 "R5" Live;
    74 CaseEnd "case_end" / 1 "R5" Live;
    75 CallFun "call_fun" / 1 "R5" Live;
    76 MakeFun "make_fun" / 3 "R5" Obsolete;
    77 IsFunction "is_function" / 2 "R5" Live;
    78 CallExtOnly "call_ext_only" / 2 "R5" Live;
    79 BsStartMatch "bs_start_match" / 2 "R7" Obsolete;
    80 BsGetInteger "bs_get_integer" / 5 "R7" Obsolete;
    81 BsGetFloat "bs_get_float" / 5 "R7" Obsolete;
    82 BsGetBinary "bs_get_binary" / 5 "R7" Obsolete;
    83 BsSkipBits "bs_skip_bits" / 4 "R7" Obsolete;
    84 BsTestTail "bs_test_tail" / 2 "R7" Obsolete;
    85 BsSave "bs_save" / 1 "R7" Obsolete;
    86 BsRestore "bs_restore" / 1 "R7" Obsolete;
    87 BsInit "bs_init" / 2 "R7A" Obsolete;
    88 BsFinal "bs_final" / 2 "R7A" Obsolete;
    89 BsPutInteger "bs_put_integer" / 5 "R7A" Live;
    90 BsPutBinary "bs_put_binary" / 5 "R7A" Live;
    91 BsPutFloat "bs_put_float" / 5 "R7A" Live;
    92 BsPutString "bs_put_string" / 2 "R7A" Live;
    93 BsNeedBuf "bs_need_buf" / 1 "R7B" Obsolete;
    94 Fclearerror "fclearerror" / 0 "R8" Obsolete;
    95 Fcheckerror "fcheckerror" / 1 "R8" Obsolete;
    96 Fmove "fmove" / 2 "R8" Live;
    97 Fconv "fconv" / 2 "R8" Live;
    98 Fadd "fadd" / 4 "R8" Live;
    99 Fsub "fsub" / 4 "R8" Live;
    100 Fmul "fmul" / 4 "R8" Live;
    101 Fdiv "fdiv" / 4 "R8" Live;
    102 Fnegate "fnegate" / 3 "R8" Live;
    103 MakeFun2 "make_fun2" / 1 "R8" Obsolete;
    104 Try "try" / 2 "R10B" Live;
    105 TryEnd "try_end" / 1 "R10B" Live;
    106 TryCase "try_case" / 1 "R10B" Live;
    107 TryCaseEnd "try_case_end" / 1 "R10B" Live;
    108 Raise "raise" / 2 "R10B" Live;
    109 BsInit2 "bs_init2" / 6 "R10B" Live;
    110 BsBitsToBytes "bs_bits_to_bytes" / 3 "R10B" Obsolete;
    111 BsAdd "bs_add" / 5 "R10B" Live;
    112 Apply "apply" / 1 "R10B" Live;
    113 ApplyLast "apply_last" / 2 "R10B" Live;
    114 IsBoolean "is_boolean" / 2 "R10B" Live;
    115 IsFunction2 "is_function2" / 3 "R10B-6" Live;
    116 BsStartMatch2 "bs_start_match2" / 5 "R11B" Obsolete;
    117 BsGetInteger2 "bs_get_integer2" / 7 "R11B" Live;
    118 BsGetFloat2 "bs_get_float2" / 7 "R11B" Live;
    119 BsGetBinary2 "bs_get_binary2" / 7 "R11B" Live;
    120 BsSkipBits2 "bs_skip_bits2" / 5 "R11B" Live;
    121 BsTestTail2 "bs_test_tail2" / 3 "R11B" Live;
    122 BsSave2 "bs_save2" / 2 "R11B" Obsolete;
    123 BsRestore2 "bs_restore2" / 2 "R11B" Obsolete;
    124 GcBif1 "gc_bif1" / 5 "R11B" Live;
    125 GcBif2 "gc_bif2" / 6 "R11B" Live;
    126 BsFinal2 "bs_final2" / 2 "R11B" Obsolete;
    127 BsBitsToBytes2 "bs_bits_to_bytes2" / 2 "R11B" Obsolete;
    128 PutLiteral "put_literal" / 2 "R11B-4" Obsolete;
    129 IsBitstr "is_bitstr" / 2 "R11B-5" Live;
    130 BsContextToBinary "bs_context_to_binary" / 1 "R12B" Obsolete;
    131 BsTestUnit "bs_test_unit" / 3 "R12B" Live;
    132 BsMatchString "bs_match_string" / 4 "R12B" Live;
    133 BsInitWritable "bs_init_writable" / 0 "R12B" Live;
    134 BsAppend "bs_append" / 8 "R12B" Live;
    135 BsPrivateAppend "bs_private_append" / 6 "R12B" Live;
    136 Trim "trim" / 2 "R12B" Live;
    137 BsInitBits "bs_init_bits" / 6 "R12B" Live;
    138 BsGetUtf8 "bs_get_utf8" / 5 "R12B-5" Live;
    139 BsSkipUtf8 "bs_skip_utf8" / 4 "R12B-5" Live;
    140 BsGetUtf16 "bs_get_utf16" / 5 "R12B-5" Live;
    141 BsSkipUtf16 "bs_skip_utf16" / 4 "R12B-5" Live;
    142 BsGetUtf32 "bs_get_utf32" / 5 "R12B-5" Live;
    143 BsSkipUtf32 "bs_skip_utf32" / 4 "R12B-5" Live;
    144 BsUtf8Size "bs_utf8_size" / 3 "R12B-5" Live;
    145 BsPutUtf8 "bs_put_utf8" / 3 "R12B-5" Live;
    146 BsUtf16Size "bs_utf16_size" / 3 "R12B-5" Live;
    147 BsPutUtf16 "bs_put_utf16" / 3 "R12B-5" Live;
    148 BsPutUtf32 "bs_put_utf32" / 3 "R12B-5" Live;
    149 OnLoad "on_load" / 0 "R13B03" Live;
    150 RecvMark "recv_mark" / 1 "R14A" Obsolete;
    151 RecvSet "recv_set" / 1 "R14A" Obsolete;
    152 GcBif3 "gc_bif3" / 7 "R14A" Live;
    153 Line "line" / 1 "R15A" Live;
    154 PutMapAssoc "put_map_assoc" / 5 "R17" Live;
    155 PutMapExact "put_map_exact" / 5 "R17" Live;
    156 IsMap "is_map" / 2 "R17" Live;
    157 HasMapFields "has_map_fields" / 3 "R17" Live;
    158 GetMapElements "get_map_elements" / 3 "R17" Live;
    159 IsTaggedTuple "is_tagged_tuple" / 4 "OTP 20" Live;
    160 BuildStacktrace "build_stacktrace" / 0 "OTP 21" Live;
    161 RawRaise "raw_raise" / 0 "OTP 21" Live;
    162 GetHd "get_hd" / 2 "OTP 21" Live;
    163 GetTl "get_tl" / 2 "OTP 21" Live;
    164 PutTuple2 "put_tuple2" / 2 "OTP 22" Live;
    165 BsGetTail "bs_get_tail" / 3 "OTP 22" Live;
    166 BsStartMatch3 "bs_start_match3" / 4 "OTP 22" Live;
    167 BsGetPosition "bs_get_position" / 3 "OTP 22" Live;
    168 BsSetPosition "bs_set_position" / 2 "OTP 22" Live;
    169 Swap "swap" / 2 "OTP 23" Live;
    170 BsStartMatch4 "bs_start_match4" / 4 "OTP 23" Live;
    171 MakeFun3 "make_fun3" / 3 "OTP 24" Live;
    172 InitYregs "init_yregs" / 1 "OTP 24" Live;
    173 RecvMarkerBind "recv_marker_bind" / 2 "OTP 24" Live;
    174 RecvMarkerClear "recv_marker_clear" / 1 "OTP 24" Live;
    175 RecvMarkerReserve "recv_marker_reserve" / 1 "OTP 24" Live;
    176 RecvMarkerUse "recv_marker_use" / 1 "OTP 24" Live;
    177 BsCreateBin "bs_create_bin" / 6 "OTP 25" Live;
    178 CallFun2 "call_fun2" / 3 "OTP 25" Live;
    179 NifStart "nif_start" / 0 "OTP 25" Live;
    180 Badrecord "badrecord" / 1 "OTP 25" Live;
    181 UpdateRecord "update_record" / 5 "OTP 26" Live;
    182 BsMatch "bs_match" / 3 "OTP 26" Live;
    183 ExecutableLine "executable_line" / 2 "OTP 27" Live;
    184 DebugLine "debug_line" / 4 "OTP 28" NotYetRun;
    185 Bif3 "bif3" / 6 "OTP 29" NotYetRun;
    186 IsAnyNativeRecord "is_any_native_record" / 2 "OTP 29" NotYetRun;
    187 IsNativeRecord "is_native_record" / 4 "OTP 29" NotYetRun;
    188 GetRecordElements "get_record_elements" / 3 "OTP 29" NotYetRun;
    189 PutRecord "put_record" / 6 "OTP 29" NotYetRun;
    190 IsRecordAccessible "is_record_accessible" / 3 "OTP 29" NotYetRun;
    191 GetRecordField "get_record_field" / 5 "OTP 29" NotYetRun;
}

/// The highest number any release we know of uses.
pub const MAX_OPCODE: u8 = OP_COUNT as u8;

/// The instruction with this number, if there is one.
#[inline]
pub fn opcode(number: u8) -> Option<&'static OpInfo> {
    OPS.get((number as usize).wrapping_sub(1))
}

impl Op {
    #[inline]
    pub fn info(self) -> &'static OpInfo {
        &OPS[self as usize - 1]
    }

    pub fn name(self) -> &'static str {
        self.info().name
    }

    #[inline]
    pub fn arity(self) -> usize {
        self.info().arity as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_match_positions() {
        for (i, info) in OPS.iter().enumerate() {
            assert_eq!(info.op as usize, i + 1, "{}", info.name);
        }
        assert!(opcode(0).is_none());
        assert!(opcode(MAX_OPCODE + 1).is_none());
        assert_eq!(opcode(182).map(|o| (o.op, o.name, o.arity)), Some((Op::BsMatch, "bs_match", 3)));
        assert_eq!(Op::BsPutInteger.info().state, OpState::Live);
        assert_eq!(Op::Bif3.info().state, OpState::NotYetRun);
    }
}
