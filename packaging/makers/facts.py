"""Facts that all packages state about the project, and paths."""
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
# No mail reaches a reserved name: the publisher states who maintains the packages (docs/releasing.md). Where names of
# packages are addresses, a publisher sets its own here.
MAVEN_GROUP = os.environ.get("RESPITE_MAVEN_GROUP", "respite")
GO_MODULE = os.environ.get("RESPITE_GO_MODULE", "respite.example/respitetest")
MAINTAINER = os.environ.get("RESPITE_MAINTAINER", "The Respite authors <respite@localhost.localdomain>")
# The other names of the server; programs that expect Redis find the last four.
TOOL_NAMES = ("respite-check-aof", "respite-check-rdb", "respite-cli")
REDIS_NAMES = ("redis-server", "redis-sentinel", "redis-check-aof", "redis-check-rdb")


@dataclasses.dataclass(frozen=True)
class Architecture:
    """One kind of processor, with its name in each ecosystem."""
    name: str  # the name in Linux, Python, RPM and Rust
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
    """Seconds: the time of everything in packages, so that it does not depend on the time of the build."""
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
    """Returns the stripped server that all packages contain."""
    return DIST / f"respite-server-{version()}-linux-{architecture.name}"


def built():
    """Returns the architectures for which there is a program."""
    return [each for each in ARCHITECTURES.values() if program(each).exists()]
