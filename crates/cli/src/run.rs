//! `heddle run FILE`: compiles a module in memory, or loads it, and calls its main/1.

use crate::erl;
use crate::listing::list_part;
use std::ffi::OsString;
use std::path::Path;

/// Runs in the boot process; the program gets a process of its own, so that it may stop the VM in any way.
const PROGRAM: &str = r#"
[File | Args] = init:get_plain_arguments(),
Error = fun(Format, Values) ->
    io:format(standard_error, "heddle run: " ++ Format ++ "~n", Values), halt(1)
end,
Dir = filename:dirname(File),
Load = fun(Module, Binary) ->
    _ = code:add_patha(Dir),
    case code:load_binary(Module, File, Binary) of
        {module, Module} -> Module;
        {error, Why} -> Error("~ts cannot be loaded: ~p", [File, Why])
    end
end,
Compile = fun() ->
    Leader = group_leader(),
    group_leader(whereis(standard_error), self()),
    Compiled = compile:file(filename:rootname(File, ".erl"), [binary, report, {i, Dir}]),
    group_leader(Leader, self()),
    case Compiled of
        {ok, Module, Binary} when is_binary(Binary) -> Load(Module, Binary);
        {ok, Module, Binary, _} when is_binary(Binary) -> Load(Module, Binary);
        _ -> halt(1)
    end
end,
spawn(fun() ->
    Module = case filename:extension(File) of
        ".beam" ->
            {ok, Beam} = file:read_file(File),
            case beam_lib:info(Beam) of
                {error, beam_lib, _} -> Error("~ts is not a BEAM file", [File]);
                Info -> Load(proplists:get_value(module, Info), Beam)
            end;
        _ -> Compile()
    end,
    case {erlang:function_exported(Module, main, 1), erlang:function_exported(Module, main, 0)} of
        {false, false} ->
            Error("~ts has no function main/1: export one that takes the list of arguments", [File]);
        {One, _} ->
            try if One -> Module:main(Args); true -> Module:main() end of
                _ -> halt(0)
            catch Class:Reason:Stack ->
                io:put_chars(standard_error, [<<"heddle run: main/1 ended with an ">>,
                    erl_error:format_exception(Class, Reason, Stack, #{column => 1}), $\n]),
                halt(1)
            end
    end
end).
"#;

const HELP: &str = "\
Usage: heddle [--otp DIR] run [+FLAGS] FILE.erl|FILE.beam [ARGUMENTS]

Compiles the module in memory, or loads the beam file, and calls main/1 with the list of ARGUMENTS, which are strings; or main/0 if there
is no main/1. The program's folder is in the code path and among the folders of include files. What the compiler says goes to standard
error.

The exit status is 0 when main returns, 1 if it fails or the file cannot be compiled; halt/1 decides otherwise.

  +FLAGS    flags of the emulator (`heddle help flags`), for example +S 1 or +hmem shared
  --help    this text

Examples:
  heddle run examples/ring.erl 100 1000
  heddle run +S 64 +hmem hybrid examples/hackbench.erl 10 4
";

/// `args`: emulator flags, the file, and the program's own arguments.
pub fn main(args: Vec<OsString>, otp: Option<OsString>) -> ! {
    let mut all: Vec<OsString> = ["-noshell", "-boot", "no_dot_erlang"].map(OsString::from).to_vec();
    let mut it = args.into_iter().peekable();
    while let Some(flag) = it.next_if(|a| a.as_encoded_bytes().starts_with(b"+")) {
        let next = it.peek().map(|n| n.to_string_lossy().into_owned());
        let name = flag.to_string_lossy()[1..].to_owned();
        let used = heddle_abi::flags::find(&name, next.as_deref()).is_ok_and(|f| f.used_next);
        all.push(flag);
        if used {
            all.extend(it.next());
        }
    }
    if it.peek().is_some_and(|a| a == "--help" || a == "-h") {
        list_part!("{HELP}");
        std::process::exit(0)
    }
    let Some(file) = it.next() else { erl::fail("heddle run: which file? Usage: heddle run [+FLAGS] FILE.erl [ARGUMENTS]") };
    let mut path = Path::new(&file).to_path_buf();
    if !path.exists() && path.extension().is_none() {
        path.set_extension("erl");
    }
    if !path.is_file() {
        erl::fail(&format!("heddle run: there is no file {}", Path::new(&file).display()));
    }
    if !path.extension().is_some_and(|e| e == "erl" || e == "beam") {
        erl::fail(&format!("heddle run: {}: expected FILE.erl or FILE.beam (scripts: heddle escript FILE)", path.display()));
    }
    all.extend(["-eval".into(), PROGRAM.into(), "-extra".into(), path.into_os_string()]);
    all.extend(it);
    erl::main(all, otp)
}
