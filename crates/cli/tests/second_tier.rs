//! `+jit`: what it takes and does, and `heddle disassemble`. Needs the libraries of an OTP 27 as `task_example` does; without them it is skipped.

mod place;

use std::process::{Command, Output};

fn heddle(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_heddle")).args(args).env("HEDDLE_OTP", place::otp().unwrap()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

/// Functions that were compiled, once there are any or half a second has passed.
fn compiled(flags: &[&str]) -> u32 {
    let eval = "Work = fun() -> lists:foldl(fun(X, A) -> X + A end, 0, lists:seq(1, 50000)) end, \
                Get = fun() -> Work(), maps:get(functions, heddle_stats:jit()) end, \
                Until = fun F(0) -> Get(); F(N) -> case Get() of 0 -> timer:sleep(5), F(N - 1); Count -> Count end end, \
                io:format(\"~p\", [Until(100)]), halt().";
    let output = heddle(&[&["erl"], flags, &["-noshell", "-eval", eval]].concat());
    assert!(output.status.success(), "{flags:?}: {}", text(&output.stderr));
    text(&output.stdout).parse().unwrap()
}

#[test]
fn functions_that_are_called_often_are_compiled() {
    if place::otp().is_none() {
        return;
    }
    assert_eq!(compiled(&["+jit", "off"]), 0);
    assert!(compiled(&["+jit", "1000"]) > 0);
    assert!(compiled(&["+jit", "20000"]) > 0);
    assert!(compiled(&[]) > 0);
    assert!(compiled(&["+jit", "eager"]) > 1000);
    assert_eq!(compiled(&["+jit", "100", "+JMlimit", "0"]), 0);
}

#[test]
fn compiling_takes_a_limited_part_of_the_time() {
    if place::otp().is_none() {
        return;
    }
    // Many functions that are called often, and nothing else: there is more to compile than pays. Below 1000 calls there is no limit.
    let eval = "Clause = \"f~b(X) when X > 0 -> case X rem 7 of 0 -> [X, a]; 1 -> {X, b}; 2 -> <<X:16>>; Y -> Y + ~b end.\", \
                Forms = [begin {ok, Tokens, _} = erl_scan:string(lists:flatten(io_lib:format(Clause, [N, N]))), {ok, Form} = erl_parse:parse_form(Tokens), Form end \
                         || N <- lists:seq(1, 400)], \
                {ok, m, Code} = compile:forms([{attribute, 1, module, m}, {attribute, 1, compile, export_all} | Forms], [nowarn_export_all]), {module, m} = code:load_binary(m, \"\", Code), \
                Names = [list_to_atom(\"f\" ++ integer_to_list(N)) || N <- lists:seq(1, 400)], \
                [[m:F(X) || X <- lists:seq(1, 1200)] || F <- Names], timer:sleep(3000), \
                {Total, _} = statistics(runtime), #{compile_ns := Ns} = heddle_stats:jit(), io:format(\"~p ~p\", [Total, Ns div 1000000]), halt().";
    let times = |calls| {
        let output = heddle(&["erl", "+jit", calls, "-noshell", "-eval", eval]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let milliseconds: Vec<u32> = text(&output.stdout).split(' ').map(|number| number.parse().unwrap()).collect();
        (milliseconds[0], milliseconds[1])
    };
    let ((total, limited), (_, all)) = (times("1000"), times("999"));
    // The function that it began before the limit was reached comes to it.
    assert!(limited <= 20 + total / 20 + 20, "{limited} of {total} ms");
    assert!(all > 2 * limited, "{all} and {limited} ms");
}

/// A file or folder in the folder for temporary files, which goes with the value.
struct Temporary(std::path::PathBuf);

impl Temporary {
    fn new(name: &str) -> Temporary {
        Temporary(std::env::temp_dir().join(format!("heddle-{name}-{}", std::process::id())))
    }
    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0).or_else(|_| std::fs::remove_dir_all(&self.0));
    }
}

/// Functions of `lists` that took their code from the file, and the number of those that were compiled.
fn stored(file: &str) -> Output {
    let eval = "Work = fun() -> [lists:sum(lists:map(fun(X) -> X * 2 end, lists:seq(1, 9))) || _ <- lists:seq(1, 100)] end, Expected = lists:duplicate(100, 90), \
                Until = fun F(0) -> ok; F(N) -> Expected = Work(), case heddle_stats:jit() of #{stored := 0, functions := 0} -> timer:sleep(5), F(N - 1); _ -> ok end end, \
                Until(100), Expected = Work(), #{stored := S, functions := C} = heddle_stats:jit(), io:format(\"~p ~p\", [S > 2, C > 0]), halt().";
    heddle(&["erl", "+jit", "100", "+JMfile", file, "-noshell", "-eval", eval])
}

#[test]
fn code_that_was_made_before_is_used() {
    let Some(otp) = place::otp() else { return };
    let file = Temporary::new("stored.code");
    let ebin = std::fs::read_dir(std::path::Path::new(&otp).join("lib"))
        .unwrap()
        .flatten()
        .find(|entry| entry.file_name().to_string_lossy().starts_with("stdlib-"));
    let lists = ebin.unwrap().path().join("ebin/lists.beam");
    let made = heddle(&["precompile", "--output", file.path(), "--jobs", "2", lists.to_str().unwrap()]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    assert!(text(&made.stdout).contains(" functions of 1 modules, "), "{}", text(&made.stdout));
    let whole = std::fs::read(&file.0).unwrap();
    let output = stored(file.path());
    assert!(output.status.success() && text(&output.stdout).starts_with("true "), "{} {}", text(&output.stdout), text(&output.stderr));
    let none = stored("none");
    assert!(none.status.success() && text(&none.stdout) == "false true", "{} {}", text(&none.stdout), text(&none.stderr));
    let refused = |bytes: &[u8], why: &str| {
        std::fs::write(&file.0, bytes).unwrap();
        let output = stored(file.path());
        assert!(!output.status.success(), "{why}");
        assert!(text(&output.stderr).contains(&format!("heddle: +JMfile {}: {why}", file.path())), "{}", text(&output.stderr));
    };
    let changed = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    };
    refused(b"no such thing", "it is damaged");
    refused(&changed(7), "it is damaged");
    refused(&changed(8), "it was made by another build of Heddle");
    refused(&whole[..whole.len() - 1], "it is damaged");
    refused(&changed(100), "it is damaged");
    // Code of functions that is not what was written is not run: they are compiled.
    let mut damaged = whole.clone();
    let (index, rows) = (u64::from_le_bytes(whole[24..32].try_into().unwrap()) as usize, 1000);
    damaged[56 + index..whole.len() - rows].fill(0xcc);
    std::fs::write(&file.0, &damaged).unwrap();
    let output = stored(file.path());
    assert!(output.status.success() && text(&output.stdout) == "false true", "{} {}", text(&output.stdout), text(&output.stderr));
    std::fs::remove_file(&file.0).unwrap();
    let output = stored(file.path());
    assert!(!output.status.success() && text(&output.stderr).contains("No such file"), "{}", text(&output.stderr));
}

#[test]
fn atoms_that_only_the_file_knows_are_not_there() {
    let Some(otp) = place::otp() else { return };
    let file = Temporary::new("atoms.code");
    let made = heddle(&["precompile", "--output", file.path(), "mnesia"]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    assert!(std::fs::read(&file.0).unwrap().windows(12).any(|part| part == b"mnesia_frag_"), "{}", otp.display());
    // The keys of the map are in the order in which their atoms are made, which is not that of the file.
    let eval = "[Later, New, Sooner] = [list_to_atom(N) || N <- [\"mnesia_tm\", \"no_module_has_this_name\", \"mnesia_frag\"]], \
                Is = try list_to_existing_atom(\"mnesia_schema\") of A -> A catch error:badarg -> none end, \
                io:format(\"~p ~p ~w\", [erlang:system_info(atom_count), Is, maps:keys(#{Sooner => 1, New => 2, Later => 3})]), halt().";
    let with = |file: &str| -> (usize, String) {
        let output = heddle(&["erl", "+JMfile", file, "-noshell", "-eval", eval]);
        let said = text(&output.stdout);
        let (count, seen) = said.split_once(' ').unwrap_or_else(|| panic!("{said} {}", text(&output.stderr)));
        (count.parse().unwrap(), seen.to_owned())
    };
    let ((count, seen), (usual, expected)) = (with(file.path()), with("none"));
    assert_eq!(seen, "none [mnesia_tm,no_module_has_this_name,mnesia_frag]");
    assert_eq!(seen, expected);
    // The file has 2,600 atoms. What happens beside the test may make some.
    assert!(count.abs_diff(usual) < 300, "{count} {usual}");
}

#[test]
fn the_file_beside_the_program_is_used() {
    if place::otp().is_none() {
        return;
    }
    let folder = Temporary::new("beside");
    std::fs::create_dir(&folder.0).unwrap();
    let (program, file) = (folder.0.join("heddle"), folder.0.join("heddle.code"));
    std::fs::copy(env!("CARGO_BIN_EXE_heddle"), &program).unwrap();
    let run = |args: &[&str]| Command::new(&program).args(args).env("HEDDLE_OTP", place::otp().unwrap()).output().unwrap();
    let taken = || {
        let eval = "Call = fun() -> [lists:reverse([1, 2]) || _ <- lists:seq(1, 1000)], maps:get(stored, heddle_stats:jit()) end, \
                    Until = fun F(0) -> Call(); F(N) -> case Call() of 0 -> timer:sleep(5), F(N - 1); Count -> Count end end, \
                    io:format(\"~p\", [Until(100) > 0]), halt().";
        let output = run(&["erl", "-noshell", "-eval", eval]);
        text(&output.stdout) + &text(&output.stderr)
    };
    assert_eq!(taken(), "false");
    let made = run(&["precompile", "stdlib"]);
    assert!(made.status.success() && file.is_file(), "{}", text(&made.stderr));
    assert_eq!(taken(), "true");
    // One that does not fit is not used.
    std::fs::write(&file, "of another program").unwrap();
    assert_eq!(taken(), "false");
}

#[test]
fn precompile_says_what_is_wrong() {
    if place::otp().is_none() {
        return;
    }
    let file = Temporary::new("nothing.code");
    for (args, why) in [
        (["--output", file.path(), "no_such_application"], "no_such_application is no .beam file, no folder, and no application in "),
        (["--output", file.path(), "/no/such.beam"], "/no/such.beam: No such file"),
        (["--output", file.path(), "--fast"], "unknown option --fast (--output, --jobs, --help)"),
        (["--jobs", "0", "kernel"], "--jobs needs a number from 1 to 1024"),
        (["--output", "/no/such/folder/x", "erts"], "cannot write /no/such/folder/x: No such file"),
    ] {
        let output = heddle(&[&["precompile"], &args[..]].concat());
        let said = text(&output.stderr);
        assert!(!output.status.success() && said.contains(&format!("heddle precompile: {why}")), "{said}");
    }
}

#[test]
fn chaos_leaves_more_to_the_interpreter() {
    if place::otp().is_none() {
        return;
    }
    let left = |chaos: &[&str]| {
        let eval = "io:format(\"~p\", [lists:sum(maps:values(maps:get(left, heddle_stats:jit())))]), halt().";
        let output = heddle(&[&["erl", "+jit", "eager"], chaos, &["-noshell", "-eval", eval]].concat());
        assert!(output.status.success(), "{chaos:?}: {}", text(&output.stderr));
        text(&output.stdout).parse::<u32>().unwrap()
    };
    let (none, half, all) = (left(&["+JMchaos", "1:0"]), left(&["+JMchaos", "1:32768"]), left(&["+JMchaos", "1"]));
    assert!(none + 2000 < half && half + 2000 < all, "{none} {half} {all}");
}

#[test]
fn perf_is_told_of_compiled_functions() {
    if place::otp().is_none() {
        return;
    }
    let output = heddle(&["erl", "+jit", "eager", "+JPperf", "true", "-noshell", "-eval", "io:format(\"~s\", [os:getpid()]), halt()."]);
    let pid = text(&output.stdout);
    let (map, dump) = (format!("/tmp/perf-{pid}.map"), format!("/tmp/jit-{pid}.dump"));
    let names = std::fs::read_to_string(&map).unwrap();
    let records = std::fs::read(&dump).unwrap();
    std::fs::remove_file(map).unwrap();
    std::fs::remove_file(dump).unwrap();
    let nth = names.lines().find(|line| line.contains("$lists:nth/2")).unwrap();
    let (address, size) = nth.split_once(' ').map(|(address, rest)| (address, rest.split(' ').next().unwrap())).unwrap();
    let number = |hexadecimal: &str| u64::from_str_radix(hexadecimal, 16).unwrap();
    let word = |at: usize| u32::from_le_bytes(records[at..at + 4].try_into().unwrap());
    let long = |at: usize| u64::from_le_bytes(records[at..at + 8].try_into().unwrap());
    assert_eq!((word(0), word(4), word(8), word(20)), (0x4a69_5444, 1, 40, pid.parse().unwrap()));
    let (mut at, mut loads, mut lines, mut found) = (40, 0, 0, false);
    while at < records.len() {
        match word(at) {
            // Machine code: its address, size and name.
            0 => {
                loads += 1;
                let is_nth = records[at + 56..].starts_with(b"lists:nth/2\0") && long(at + 32) == number(address);
                found |= is_nth && long(at + 40) == number(size);
            }
            2 => lines += 1,
            kind => panic!("a record of kind {kind}"),
        }
        at += word(at + 4) as usize;
    }
    assert_eq!(at, records.len());
    assert_eq!(loads, names.lines().count());
    assert!(found && lines > 1000, "{found} {lines}");
}

#[test]
fn code_leaves_where_there_is_little_room() {
    if place::otp().is_none() {
        return;
    }
    // Each round does other things than the one before: what that needed is cold then.
    let eval = "Rounds = [fun() -> erl_scan:string(\"a() -> b + c, d(1, 2).\") end, fun() -> lists:sort([N rem 7 || N <- lists:seq(1, 99)]) end, \
                          fun() -> io_lib:format(\"~p\", [{lists:seq(1, 30), #{a => b}}]) end, fun() -> string:uppercase(\"abc def\") end, \
                          fun() -> gb_sets:to_list(gb_sets:from_list(lists:seq(1, 50))) end], \
                Work = fun W(0, _) -> []; W(N, F) -> [F() | W(N - 1, F)] end, \
                Once = fun() -> [lists:usort(Work(200, F)) || F <- Rounds] end, First = Once(), \
                Until = fun U(0) -> not_enough; U(N) -> First = Once(), timer:sleep(20), \
                                  case heddle_stats:jit() of #{thrown_away := T, code_bytes := B} when T >= 100, B =< 49152 -> enough; _ -> U(N - 1) end end, \
                io:format(\"~p\", [Until(300)]), halt().";
    let output = heddle(&["erl", "+jit", "10", "+JMlimit", "48K", "-noshell", "-eval", eval]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "enough");
}

#[test]
fn other_values_are_refused() {
    if place::otp().is_none() {
        return;
    }
    for value in ["on", "1", "-5", "20000000000"] {
        let output = heddle(&["erl", "+jit", value, "-noshell", "-eval", "halt()."]);
        assert!(!output.status.success(), "{value}");
        let said = text(&output.stderr);
        assert!(said.contains(&format!("+jit {value}: off, eager, or a number of calls from 2 to 1000000000")), "{said}");
    }
}

#[test]
fn false_is_another_word_for_off() {
    if place::otp().is_none() {
        return;
    }
    for value in ["off", "false"] {
        let output = heddle(&["erl", "+jit", value, "-noshell", "-eval", "io:format(\"~p\", [erlang:system_info(emu_flavor)]), halt()."]);
        assert_eq!(text(&output.stdout), "emu", "+jit {value}");
    }
}

#[test]
fn machine_code_is_shown_beside_the_instructions() {
    if place::otp().is_none() {
        return;
    }
    let shown = text(&heddle(&["disassemble", "lists:nth/2"]).stdout);
    assert!(shown.starts_with("lists:nth/2: 1 segments, "), "{shown}");
    assert!(shown.contains("is_nonempty_list") && shown.contains("return_call_unknown"), "{shown}");
    let clif = text(&heddle(&["disassemble", "--clif", "lists", "nth/2", "last/1"]).stdout);
    assert!(clif.contains("lists:last/1: ") && clif.contains("-> i64 tail"), "{clif}");
    let json = text(&heddle(&["disassemble", "--json", "lists:nth/2"]).stdout);
    assert!(json.starts_with("[\n{\"function\": \"lists:nth/2\", \"segments\": ["), "{json}");
    let problem = |args: &[&str]| {
        let output = heddle(args);
        assert!(!output.status.success(), "{args:?}");
        text(&output.stderr)
    };
    assert!(problem(&["disassemble"]).contains("a function is wanted: heddle disassemble MODULE:FUNCTION/ARITY"));
    assert!(problem(&["disassemble", "lists:nosuch/2"]).contains("the module has no function nosuch/2"));
    assert!(problem(&["disassemble", "lists:reverse/2"]).contains("its entry is another operation"));
    assert!(problem(&["disassemble", "nosuch:f/1"]).contains("no file nosuch.beam"));
    assert!(problem(&["disassemble", "--jsn", "lists:nth/2"]).contains("unknown option --jsn (--clif, --json, --help)"));
}

#[test]
fn modules_that_are_loaded_are_written_with_a_label_for_each_function() {
    if place::otp().is_none() {
        return;
    }
    let folder = Temporary::new("dump");
    let dir = &folder.0;
    std::fs::create_dir(dir).unwrap();
    let run = |flags: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
        command.arg("erl").args(flags).args(["-noshell", "-eval", "halt()."]).env("HEDDLE_OTP", place::otp().unwrap()).current_dir(dir);
        command.output().unwrap()
    };
    assert!(run(&[]).status.success());
    assert_eq!(std::fs::read_dir(dir).unwrap().count(), 0);
    assert!(run(&["+JDdump", "true"]).status.success());
    let written = std::fs::read_to_string(dir.join("lists.asm")).unwrap();
    assert!(written.contains("\nnth/2:\n# segment at cell "), "{}", &written[..1000]);
    assert!(written.contains("reverse/2:\n# left to the first tier: its entry is another operation"));
    assert!(text(&run_flag("+JDdump").stderr).contains("bad +JDdump flag broken"));
    assert!(text(&run_flag("+JMsingle").stderr).contains("bad +JMsingle flag broken"));
}

fn run_flag(flag: &str) -> Output {
    heddle(&["erl", flag, "broken", "-noshell", "-eval", "halt()."])
}

#[test]
fn the_flavour_of_the_emulator_is_that_of_its_second_tier() {
    if place::otp().is_none() {
        return;
    }
    let flavour = |value: &str| {
        text(&heddle(&["erl", "+jit", value, "-noshell", "-eval", "io:write(erlang:system_info(emu_flavor)), halt()."]).stdout)
    };
    assert_eq!([flavour("off"), flavour("eager"), flavour("5000")], ["emu", "jit", "jit"]);
}
