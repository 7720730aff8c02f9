"""Test folders: what OTP's own `release_tests` copies and generates, compiled, with port programs and the like built."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from otp_source import fail, logged, source

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# A libei.a built on a newer C library than this machine's wants these.
ISOC23 = """#include <stdlib.h>
#include <stdio.h>
#include <stdarg.h>
#define WEAK __attribute__((weak))
WEAK long __isoc23_strtol(const char *s, char **e, int b) { return strtol(s, e, b); }
WEAK unsigned long __isoc23_strtoul(const char *s, char **e, int b) { return strtoul(s, e, b); }
WEAK int __isoc23_sscanf(const char *s, const char *f, ...)
{ va_list a; int r; va_start(a, f); r = vsscanf(s, f, a); va_end(a); return r; }
"""

# What follows -pa is for the emulator, not for the compiler.
ERLC = '''n=$#; path=
while [ $n -gt 0 ]; do
  if [ "$1" = -pa ]; then path="$path -pa $2"; shift 2; n=$((n-2)); else set -- "$@" "$1"; shift; n=$((n-1)); fi
done
exec ERL -noinput -mode minimal -boot start_clean $path -s erl_compile compile_cmdline -extra "$@"'''


def in_source(app):
    """Where OTP keeps an application's suites."""
    return "erts/emulator/test" if app == "emulator" else f"lib/{app}/test"


class Workshop:
    """Prepares test folders below `cache` with the compiler of the emulator `erl`."""

    def __init__(self, cache, erl):
        self.cache, self.erl = Path(cache), erl
        self.tests = self.cache / "tests"
        self.tests.mkdir(parents=True, exist_ok=True)

    def suites(self, app):
        return sorted(beam.stem for beam in self.folder(app).glob("*_SUITE.beam"))

    def has(self, app, suite):
        """Also a module of cases that only another suite names (mnesia's)."""
        return (self.folder(app) / f"{suite}.beam").exists()

    def folder(self, app):
        done = self.tests / f"{app}_test"
        if not (done / ".done").exists():
            print(f"conformance: preparing {app}", file=sys.stderr)
            self.prepare(app, done)
        return done

    def driver(self):
        """OTP's test_server folder: hooks that the suites name, make variables, and our driver."""
        folder = self.tests / "test_server"
        if (folder / ".done").exists():
            return folder
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(source(self.cache) / "lib/common_test/test_server", folder)
        shutil.copy(HERE / "conf_run.erl", folder)
        log = folder / "prepare.log"
        logged(["sh", "./configure", "--enable-shlib-thread-safety"], log, cwd=folder)
        (folder / "Emakefile").write_text("{'*',[debug_info]}.\n")
        # "cross" keeps the hook from making the data folders, which `natives` does
        (folder / "variables").write_text(
            '{cross,"yes"}.\n{\'CC\',"gcc"}.\n{make_command,"make"}.\n{rsh_name,"ssh"}.\n')
        self.make(log, folder)
        for module in ("ts_install_cth", "conf_run"):
            if not (folder / f"{module}.beam").exists():
                fail(f"{module} did not compile, see {log}")
        (folder / ".done").touch()
        return folder

    def plain(self):
        """Our driver that does without Common Test."""
        folder, sources = self.tests / "plain", sorted((HERE / "plain").glob("*.erl"))
        done = folder / ".done"
        if not done.exists() or any(s.stat().st_mtime > done.stat().st_mtime for s in sources):
            folder.mkdir(parents=True, exist_ok=True)
            for source_file in sources:
                shutil.copy(source_file, folder)
            (folder / "Emakefile").write_text("{'*',[]}.\n")
            self.make(folder / "prepare.log", folder)
            missing = [s.stem for s in sources if not (folder / f"{s.stem}.beam").exists()]
            if missing:
                fail(f"{missing[0]} did not compile, see {folder}/prepare.log")
            done.touch()
        return folder

    def complete(self, root):
        """Common Test copies scripts into its pages that a tree made of single packages only has links to: empty ones do."""
        for link in root.glob("lib/common_test-*/priv/*.js"):
            if link.is_symlink() and not link.exists() and ROOT / "build" in link.parents:
                target = link.parent / os.readlink(link)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.touch()

    @staticmethod
    def generated_headers(root, top, app):
        """Headers that OTP's build generates, from the finished tree: suites include them by a path within the sources."""
        for header in root.glob(f"lib/{app}-*/include/*.hrl"):
            ours = top / "lib" / app / "include" / header.name
            if not ours.exists():
                shutil.copy(header, ours)

    def make(self, log, folder, *more, **options):
        logged([self.erl, "-noinput", *more, "-make"], log, cwd=folder, **options)

    def prepare(self, app, folder):
        top, driver = source(self.cache), self.driver()
        root = Path(self.root())
        self.complete(root)
        self.generated_headers(root, top, app)
        shutil.rmtree(folder, ignore_errors=True)
        log = self.tests / f"prepare-{app}.log"
        log.unlink(missing_ok=True)
        if not (top / in_source(app)).is_dir():
            fail(f"OTP has no application {app} with tests")
        env = os.environ | {"ERL_TOP": str(top), "PATH": f"{self.tools(log)}:{os.environ['PATH']}", "ERL_LIBS": ""}
        logged(["make", "-s", f"TESTROOT={self.tests}", f"RELEASE_PATH={self.tests}", "release_tests_spec"], log,
               cwd=top / in_source(app), env=env)
        if not folder.is_dir():
            fail(f"no tests released for {app}, see {log}")
        if not (folder / "Emakefile").exists():
            (folder / "Emakefile").write_text('{\'*\',[debug_info,{i,"."}]}.\n')
        for beam in folder.glob("*.beam"):
            beam.unlink()
        self.make(log, folder, "-pa", str(driver), "-pa", str(folder), env=env)
        for file in folder.glob("*_SUITE.erl"):  # one file that does not compile stops -make
            if not file.with_suffix(".beam").exists():
                compile_one = f'compile:file("{file}",[report,debug_info,{{i,"{folder}"}},{{outdir,"{folder}"}}]),halt().'
                logged([self.erl, "-noinput", "-pa", str(folder), "-eval", compile_one], log, cwd=folder)
        self.natives(folder, driver, log, env)
        (folder / ".done").touch()

    def tools(self, log):
        """The Makefiles call erl, erlc and escript: they get ours."""
        tools = self.cache / "tools"
        tools.mkdir(exist_ok=True)
        erl = shlex.quote(self.erl)
        for name, line in (("erl", f'exec {erl} "$@"'), ("escript", "exit 0"),
                           ("erlc", ERLC.replace("ERL", erl))):
            (tools / name).write_text(f"#!/bin/sh\n{line}\n")
            (tools / name).chmod(0o755)
        (tools / "isoc23.c").write_text(ISOC23)
        logged(["gcc", "-c", "-fPIC", "-o", f"{tools}/isoc23.o", f"{tools}/isoc23.c"], log)
        return tools

    def natives(self, folder, driver, log, env):
        values = self.make_variables(driver)
        for template in sorted(folder.glob("**/Makefile.src")):
            text = template.read_text()
            for _ in range(4):  # values name other values
                text = re.sub(r"@(\w+)@", lambda m: values.get(m.group(1), m.group(0)), text)
            template.with_suffix("").write_text(text)
            for makefile in ("Makefile.first", "Makefile"):
                if (template.parent / makefile).exists() and \
                   logged(["make", "-k", "-C", str(template.parent), "-f", makefile], log, env=env):
                    print(f"conformance: make failed in {template.parent.relative_to(folder)} (see {log})", file=sys.stderr)

    def root(self):
        return subprocess.run([self.erl, "-noinput", "-eval", "io:put_chars(code:root_dir()),halt(0)."],
                              capture_output=True, text=True).stdout.strip()

    def make_variables(self, driver):
        values = dict(line.split(":", 1) for line in (driver / "conf_vars").read_text().splitlines() if ":" in line)
        root = self.root()
        erts = sorted(Path(root).glob("erts-*"))[-1]
        include = erts / "include"
        ei = (sorted(Path(root).glob("lib/erl_interface-*")) or [Path(root) / "lib/erl_interface"])[-1]
        libei = f"{ei}/lib/libei.a"
        values |= {
            "erl_include": f"{root}/usr/include", "erl_name": "erl", "EMULATOR": "beam", "emu_threads": "true",
            "type_marker": "", "DS": "/", "PS": ":", "cross": "no", "make_command": "make", "jinterface_classpath": "",
            "erl_interface_libpath": f"{ei}/lib", "erl_interface_sock_libs": "", "erl_interface_lib": libei,
            "erl_interface_eilib": libei, "erl_interface_lib_drv": libei, "erl_interface_eilib_drv": libei,
            "erl_interface_threadlib": f"{self.cache}/tools/isoc23.o -lpthread", "erl_interface_include": f"{ei}/include",
            "erl_interface_mk_include": f"{ei}/src/eidefs.mk", "erts_lib_include": str(include),
            "erts_lib_include_generated": str(include), "erts_lib_include_internal": f"{include}/internal",
            "erts_lib_include_internal_generated": f"{include}/internal", "erts_lib_path": f"{erts}/lib",
            "erts_lib_internal_path": f"{erts}/lib/internal", "erts_lib_make_ethread": f"{include}/internal/ethread.mk",
            "erts_lib_make_internal": f"{include}/internal/erts_internal.mk", "erts_lib_multi_threaded": "liberts_r.a",
            "erts_lib_single_threaded": "liberts.a", "IFEQ": "ifeq", "ELSE": "else", "ENDIF": "endif",
            "SHLIB_RULES": ".SUFFIXES:\n.SUFFIXES: @dll@ @obj@ .c\n\n.c@dll@:\n"
                           "\t@CC@ -c @SHLIB_CFLAGS@ $(SHLIB_EXTRA_CFLAGS) -I@erl_include@ @DEFS@ $<\n"
                           "\t@SHLIB_LD@ @CROSSLDFLAGS@ @SHLIB_LDFLAGS@ $(SHLIB_EXTRA_LDFLAGS) -o $@ $*@obj@ "
                           "@SHLIB_LDLIBS@ $(SHLIB_EXTRA_LDLIBS)",
        }
        return values
