"""The libraries of another architecture, from Debian's packages, which are unpacked but not installed."""
import os
import pathlib
import shutil
import subprocess

from . import facts

PACKAGES = ("libasio-dev", "liblua5.4-dev", "libssl-dev", "zlib1g-dev", "libjemalloc-dev", "liblzf-dev", "liblzf1",
            "libxxhash-dev", "nlohmann-json3-dev", "rapidjson-dev", "libedit-dev", "libbsd-dev", "libncurses-dev")
VERSIONS = "versions"
LISTS = "var/apt"


def folder(architecture):
    """Returns None if this machine's own libraries have that architecture."""
    if architecture.name == os.uname().machine:
        return None
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    target = cache / "respite/sysroots" / architecture.deb
    if not (target / VERSIONS).exists() or set(PACKAGES) - set(versions(target)):
        _fetch(architecture, target)
    return target


def versions(root):
    """Returns them by name of the package."""
    return dict(line.split() for line in (root / VERSIONS).read_text(encoding="utf-8").splitlines())


def _fetch(architecture, target):
    shutil.rmtree(target, ignore_errors=True)
    lists = target / LISTS
    for name in ("lists/partial", "archives/partial"):
        (lists / name).mkdir(parents=True)
    (lists / "status").touch()
    # Uses the sources and keys of this system, but not its list of installed packages.
    settings = {"APT::Architecture": architecture.deb, "APT::Architectures": architecture.deb, "Dir::State": lists,
                "Dir::State::status": lists / "status", "Dir::Cache": lists, "APT::Sandbox::User": "root"}
    options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
    facts.run("apt-get", "-qq", *options, "update")
    facts.run("apt-get", "-qq", *options, "download", *PACKAGES, cwd=lists)
    rows = []
    for package in sorted(lists.glob("*.deb")):
        facts.run("dpkg-deb", "-x", package, target)
        rows.append(subprocess.run(["dpkg-deb", "-W", "--showformat=${Package} ${Version}\n", package], capture_output=True,
                                   text=True, check=True).stdout)
    shutil.rmtree(lists)
    (target / VERSIONS).write_text("".join(rows), encoding="utf-8")
