"""Source packages of the distribution release whose `erlang` is OTP 27: fetched with apt from the archive this machine
already uses, and unpacked."""

import glob
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

RELEASE = "trixie"


def unpack(cache, package, top):
    """The upstream archive of a source package, unpacked as the folder `top`, unless it is there already."""
    if top.is_dir():
        return top
    download = cache / "download" / package
    download.mkdir(parents=True, exist_ok=True)
    log = cache / "fetch.log"
    get = apt_get(cache)
    if logged([*get, "update", "-qq"], log) or \
       logged([*get, "source", "--download-only", "--tar-only", package], log, cwd=download):
        sys.exit(f"cannot fetch the source package {package}, see {log}")
    tars = sorted(t for t in download.glob("*.orig.tar.*") if t.suffix != ".asc")
    if not tars:
        sys.exit(f"no source archive in {download}")
    part = top.with_name(top.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    if logged(["tar", "xf", str(tars[-1]), "-C", str(part), "--strip-components=1"], log):
        sys.exit(f"cannot unpack {tars[-1]}, see {log}")
    part.rename(top)
    return top


def apt_get(cache):
    """An apt-get that knows RELEASE's source packages and leaves the machine's own apt alone."""
    apt = cache / "apt"
    for folder in ("state/lists/partial", "cache/archives/partial"):
        (apt / folder).mkdir(parents=True, exist_ok=True)
    uri, key = archive()
    (apt / "status").touch()
    (apt / "sources.list").write_text(f"deb-src {f'[signed-by={key}] ' if key else ''}{uri} {RELEASE} main\n")
    options = [f"Dir::Etc::sourcelist={apt}/sources.list", "Dir::Etc::sourceparts=/dev/null", f"Dir::State={apt}/state",
               f"Dir::State::Lists={apt}/state/lists", f"Dir::State::status={apt}/status", f"Dir::Cache={apt}/cache",
               "Debug::NoLocking=1", "APT::Sandbox::User=root"]
    return ["apt-get", *(word for option in options for word in ("-o", option))]


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
    sys.exit("no Debian archive in apt's configuration; unpack the sources into the cache folder instead")


def logged(command, log, **options):
    """Exit code of a command whose output goes to a file."""
    with open(log, "ab") as out:
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, **options).returncode
