"""OTP's source package, given what ./configure would write, as far as the release targets of the tests need it."""

import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from debian_source import logged, unpack  # noqa: E402, F401 (logged: for prepare.py)


def fail(message):
    sys.exit(f"conformance: {message}")


def source(cache):
    """The unpacked source tree."""
    top = unpack(cache, "erlang", cache / "otp")
    if not (top / ".configured").exists():
        configure(top)
    return top


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
