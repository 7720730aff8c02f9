"""OTP's source package: fetched with apt from the archive this machine already uses, unpacked, and given what ./configure
would write, as far as the release targets of the tests need it."""

import glob
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

# the distribution release whose `erlang` is OTP 27
RELEASE = "trixie"


def fail(message):
    sys.exit(f"conformance: {message}")


def logged(command, log, **options):
    """Exit code of a command whose output goes to a file."""
    with open(log, "ab") as out:
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, **options).returncode


def source(cache):
    """The unpacked source tree."""
    top = cache / "otp"
    if not top.is_dir():
        unpack(cache, top)
    if not (top / ".configured").exists():
        configure(top)
    return top


def archive():
    """URI and key file of a Debian archive in apt's configuration."""
    for name in sorted(glob.glob("/etc/apt/sources.list.d/*.sources")):
        for paragraph in re.split(r"\n\s*\n", Path(name).read_text()):
            fields = dict(re.findall(r"^(\w[\w-]*):[ \t]*(.*)$", paragraph, re.M))
            if "main" in fields.get("Components", "") and "debian" in name + fields.get("Signed-By", ""):
                return fields["URIs"].split()[0], fields.get("Signed-By")
    for name in ["/etc/apt/sources.list", *sorted(glob.glob("/etc/apt/sources.list.d/*.list"))]:
        if os.path.exists(name):
            found = re.search(r"^deb\s+(?:\[[^]]*\]\s+)?(\S+)\s+\S+\s+(?:.*\s)?main\b", Path(name).read_text(), re.M)
            if found:
                return found.group(1), None
    fail("no Debian archive in apt's configuration; unpack OTP 27's sources into the cache folder as `otp` instead")


def unpack(cache, top):
    apt = cache / "apt"
    for folder in ("state/lists/partial", "cache/archives/partial"):
        (apt / folder).mkdir(parents=True, exist_ok=True)
    uri, key = archive()
    (apt / "status").touch()
    (apt / "sources.list").write_text(f"deb-src {f'[signed-by={key}] ' if key else ''}{uri} {RELEASE} main\n")
    options = [f"Dir::Etc::sourcelist={apt}/sources.list", "Dir::Etc::sourceparts=/dev/null", f"Dir::State={apt}/state",
               f"Dir::State::Lists={apt}/state/lists", f"Dir::State::status={apt}/status", f"Dir::Cache={apt}/cache",
               "Debug::NoLocking=1", "APT::Sandbox::User=root"]
    get = ["apt-get", *(word for option in options for word in ("-o", option))]
    download = cache / "download"
    download.mkdir(exist_ok=True)
    log = cache / "fetch.log"
    if logged([*get, "update", "-qq"], log) or \
       logged([*get, "source", "--download-only", "--tar-only", "erlang"], log, cwd=download):
        fail(f"cannot fetch the source package of OTP, see {log}")
    tars = sorted(t for t in download.glob("*.orig.tar.*") if t.suffix != ".asc")
    if not tars:
        fail(f"no source archive in {download}")
    part = top.with_name("otp.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    if logged(["tar", "xf", str(tars[-1]), "-C", str(part), "--strip-components=1"], log):
        fail(f"cannot unpack {tars[-1]}, see {log}")
    part.rename(top)


def configure(top):
    def answer(*command):
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    target = answer(f"{top}/make/autoconf/config.sub", answer(f"{top}/make/autoconf/config.guess"))
    values = {"PERL": "perl", "INSTALL": "install -c", "INSTALL_DIR": "install -c -d", "INSTALL_DATA": "install -c -m 644",
              "INSTALL_PROGRAM": "install -c", "INSTALL_SCRIPT": "install -c", "CC": "gcc"}
    for template, result, mode in (("otp.mk.in", f"{target}/otp.mk", 0o644), ("output.mk.in", "output.mk", 0o644),
                                   ("make_emakefile.in", "make_emakefile", 0o755)):
        out = top / "make" / result
        out.parent.mkdir(exist_ok=True)
        out.write_text(re.sub(r"@(\w+)@", lambda m: values.get(m.group(1), ""), (top / "make" / template).read_text()))
        out.chmod(mode)
    (top / ".configured").write_text(target)
