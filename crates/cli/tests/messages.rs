//! `heddle messages` on the programs of `bench`: what is sent in them is foreseen. Needs the libraries of an OTP 27, to compile them.

mod place;

use std::path::PathBuf;
use std::process::{Command, Output};

fn heddle(otp: &PathBuf, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_heddle")).env("HEDDLE_OTP", otp).args(arguments).output().unwrap()
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The value of a field in a line of JSON, as it stands there.
fn field<'a>(line: &'a str, name: &str) -> &'a str {
    let start = line.find(&format!("\"{name}\": ")).unwrap_or_else(|| panic!("no {name} in {line}")) + name.len() + 4;
    let rest = &line[start..];
    match rest.strip_prefix('"') {
        Some(text) => &rest[..text.find('"').unwrap() + 2],
        None => &rest[..rest.find([',', '}']).unwrap()],
    }
}

/// Judges a program: how many messages, and the others as function, line and kind. A list comprehension has a tuple for the
/// error of a generator that is no list; those are left out.
fn judge(otp: &PathBuf, directory: &str, program: &str) -> (usize, Vec<String>) {
    let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let source = place::root().join("bench").join(directory).join(format!("{program}.erl"));
    text(&heddle(otp, &["erlc", "-o", out.to_str().unwrap(), source.to_str().unwrap()]));
    let beam = out.join(format!("{program}.beam"));
    let json = text(&heddle(otp, &["messages", "--json", beam.to_str().unwrap()]));
    let found: Vec<&str> = json.lines().filter(|line| line.contains("\"judgement\"")).collect();
    let (messages, local): (Vec<&str>, Vec<&str>) = found.iter().partition(|line| field(line, "judgement") == "\"message\"");
    let head = json.lines().nth(1).unwrap();
    assert_eq!(field(head, "constructions"), found.len().to_string());
    assert_eq!(field(head, "messages"), messages.len().to_string());
    let place = |line: &&str| {
        let function = field(line, "function").trim_matches('"');
        let (line, kind) = (field(line, "line"), field(line, "kind").trim_matches('"'));
        let is_error = kind == "tuple" && function.contains("-lc$");
        (!is_error).then(|| format!("{function} {line} {kind}"))
    };
    (messages.len(), local.iter().filter_map(place).collect())
}

#[test]
fn what_programs_send_is_foreseen() {
    let Some(otp) = place::otp() else { return };
    let check = |directory: &str, program: &str, messages: usize, local: &[&str]| {
        assert_eq!(judge(&otp, directory, program), (messages, local.iter().map(|place| place.to_string()).collect()), "{program}");
    };
    // Seed 001's. What keep keeps of the messages in a list of its own is never sent.
    check("programs/heaps", "procs", 15, &[]);
    check("programs/heaps", "garbage", 14, &[]);
    check("programs/heaps", "same", 14, &[]);
    check("programs/heaps", "keep", 14, &["loop/3 30 cons", "coordinator/3 39 cons"]);
    // Results that stay: of run and prepare, lists of pids or of answers; a fun for lists:foldl.
    check("scaling.d/programs", "bang", 8, &["run/1 15 tuple", "check/2 17 tuple", "-run/1-lc$^3/1-2-/1 12 cons"]);
    check("scaling.d/programs", "ring", 4, &["run/1 12 fun"]);
    check("scaling.d/programs", "pingpong", 4, &["run/1 9 cons", "check/2 14 cons"]);
    check("scaling.d/programs", "hackbench", 7, &["-run/1-lc$^0/1-0-/2 12 cons"]);
    check("programs", "msg_bang", 2, &["-work/0-lc$^1/1-1-/3 11 cons"]);
    check("programs", "msg_ring", 1, &[]);
    // The replies of this server are numbers; its tuples are taken apart by gen_server.
    let server = ["init/1 14 tuple", "handle_call/3 15 tuple", "handle_cast/2 16 tuple"];
    check("programs", "msg_gen_server", 1, &server);
}

#[test]
fn modules_of_otp_are_found() {
    let Some(otp) = place::otp() else { return };
    let shown = text(&heddle(&otp, &["messages", "gen_server", "lists"]));
    assert!(shown.contains("gen_server: ") && shown.contains("gen_server:cast_msg/1"), "{shown}");
    // Nothing in lists sends.
    assert!(shown.contains(" constructions, 0 judged messages") && shown.contains("lists:reverse/1"), "{shown}");
    let reasons: Vec<&str> = shown.lines().filter(|line| line.contains(" message ")).collect();
    assert!(reasons.len() > 10 && reasons.iter().all(|line| line.contains(" in line ")), "{reasons:?}");
}

#[test]
fn wrong_arguments_are_explained() {
    let otp = PathBuf::from("/");
    let problem = |arguments: &[&str]| {
        let output = heddle(&otp, arguments);
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(problem(&["messages"]).contains("a file or a module is wanted"));
    assert!(problem(&["messages", "--jsn", "lists"]).contains("unknown option --jsn (--json, --help)"));
    assert!(problem(&["messages", "no/such.beam"]).contains("no/such.beam: No such file"));
    let source = file!();
    let here = place::root().join(source);
    assert!(problem(&["messages", here.with_extension("beam").to_str().unwrap()]).contains("messages.beam: No such file"));
    assert!(text(&heddle(&otp, &["messages", "--help"])).starts_with("Usage: heddle messages"));
}
