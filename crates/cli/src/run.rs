//! `heddle run FILE`: compiles a module in memory on this machine, or loads it, and calls its main/1.

use crate::erl;
use std::ffi::OsString;
use std::path::Path;

/// Runs in the boot process; the program gets a process of its own, so that it may stop the machine in any way it likes.
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
