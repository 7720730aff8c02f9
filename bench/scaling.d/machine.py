"""The machine on which is measured, and what a measuring command does besides measuring."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path


def find_emulators(parser, args):
    """Sets `args.erl` and `args.stock` (given, else $HEDDLE_STOCK, else the `erl` on PATH) to absolute paths of programs, or ends with a message."""
    stock = args.stock or os.environ.get("HEDDLE_STOCK") or shutil.which("erl")
    if not stock:
        parser.error("no stock emulator: give --stock PATH, set HEDDLE_STOCK, or put erl on PATH")
    args.stock, args.erl = str(Path(stock).absolute()), str(Path(args.erl).absolute())
    for program in (args.erl, args.stock):
        if not os.access(program, os.X_OK):
            parser.error(f"{program} is not a program")


def compile_into(beams, stock, sources):
    """With the compiler beside the stock emulator; what was there before is gone."""
    shutil.rmtree(beams, ignore_errors=True)
    beams.mkdir(parents=True)
    compiler = str(Path(stock).with_name("erlc"))
    if not os.access(compiler, os.X_OK):
        compiler = shutil.which("erlc") or sys.exit("no erlc beside the stock erl")
    done = subprocess.run([compiler, "-o", str(beams), *map(str, sources)])
    if done.returncode != 0:
        sys.exit("the programs do not compile")


def progress(text):
    """What is being measured now, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def machine():
    names = [line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")] \
        if Path("/proc/cpuinfo").exists() else []
    load = os.getloadavg()[0]
    return {"cores": cores(), "cpu": names[0] if names else platform.machine(), "system": f"{platform.system()} {platform.release()}",
            "load_before": load, "load_after": load}


def cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
