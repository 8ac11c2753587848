"""What all packages say of the project, and where things are."""
import dataclasses
import os
import pathlib
import re
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIST = pathlib.Path(os.environ.get("RESPITE_DIST") or ROOT / "dist")
WORK = ROOT / "build/packages"
NAME = "respite"
SUMMARY = "Redis compatible in-memory data server"
DESCRIPTION = (ROOT / "packaging/description.txt").read_text(encoding="utf-8")
LICENCE = "BSD-3-Clause"
# Nobody is reached at a reserved name: whoever publishes says who they are (docs/releasing.md).
# The names of the packages where names are places: who owns others puts them here.
MAVEN_GROUP = os.environ.get("RESPITE_MAVEN_GROUP", "respite")
GO_MODULE = os.environ.get("RESPITE_GO_MODULE", "respite.example/respitetest")
MAINTAINER = os.environ.get("RESPITE_MAINTAINER", "The Respite authors <respite@localhost.localdomain>")
# What the server is under other names; programs that expect Redis find the last four.
TOOL_NAMES = ("respite-check-aof", "respite-check-rdb", "respite-cli")
REDIS_NAMES = ("redis-server", "redis-sentinel", "redis-check-aof", "redis-check-rdb")


@dataclasses.dataclass(frozen=True)
class Architecture:
    """One kind of processor, with its name in each world."""
    name: str  # of Linux, Python, RPM and Rust
    preset: str
    deb: str  # also Go's and OCI's
    npm: str
    strip: str


ARCHITECTURES = {each.name: each for each in (
    Architecture("x86_64", "package", "amd64", "x64", "strip"),
    Architecture("aarch64", "package-aarch64", "arm64", "arm64", "aarch64-linux-gnu-strip"))}


def version():
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"project\(respite VERSION (\S+)", text)[1]


def epoch():
    """Seconds: the time of everything in packages, so that it does not depend on when they are made."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    return int(given or subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True,
                                       check=True).stdout)


def date(form):
    return time.strftime(form, time.gmtime(epoch()))


def environment():
    return dict(os.environ, SOURCE_DATE_EPOCH=str(epoch()), LC_ALL="C", TZ="UTC")


def run(*words, **options):
    subprocess.run([str(word) for word in words], check=True, env=environment(), **options)


def program(architecture):
    """The stripped server that all packages contain."""
    return DIST / f"respite-server-{version()}-linux-{architecture.name}"


def built():
    """The architectures for which there is a program."""
    return [each for each in ARCHITECTURES.values() if program(each).exists()]
