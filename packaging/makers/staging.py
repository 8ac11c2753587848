"""The files of an installed server, for .deb, .rpm, tarball and image."""
import gzip
import os
import shutil

from . import archives, facts, program

CONFIGURATION = "etc/respite/respite.conf"


def put(root, path, octets, mode=0o644):
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(octets)
    target.chmod(mode)


def link(root, path, to):
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.symlink_to(to)


def empty(name):
    folder = facts.WORK / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def filled(name, **values):
    """Returns a template of packaging/, with @NAME@ replaced."""
    text = (facts.ROOT / "packaging" / name).read_text(encoding="utf-8")
    for key, value in values.items():
        text = text.replace(f"@{key}@", str(value))
    return text


def manual():
    return filled("respite-server.1.in", PROJECT_VERSION=facts.version(), CMAKE_INSTALL_PREFIX="/usr").encode()


def unit():
    return filled("respite-server.service.in", CMAKE_INSTALL_FULL_BINDIR="/usr/bin", RESPITE_CONF="/" + CONFIGURATION).encode()


def text(name):
    return (facts.ROOT / name).read_bytes()


def programs(root, architecture, folder="usr/bin"):
    put(root, f"{folder}/respite-server", facts.program(architecture).read_bytes(), 0o755)
    for name in facts.TOOL_NAMES:
        link(root, f"{folder}/{name}", "respite-server")


def manuals(root):
    """Puts the manual page under each name; compressed, as distributions have it."""
    put(root, "usr/share/man/man1/respite-server.1.gz", gzip.compress(manual(), 9, mtime=0))
    for name in facts.TOOL_NAMES:
        link(root, f"usr/share/man/man1/{name}.1.gz", "respite-server.1.gz")


def completions(root, share="usr/share", zsh="zsh/site-functions"):
    """Puts the completions of bash, which looks for the name of the program, and of zsh."""
    folder = f"{share}/bash-completion/completions"
    put(root, f"{folder}/respite-server", text("packaging/completion/respite"))
    for name in facts.TOOL_NAMES:
        link(root, f"{folder}/{name}", "respite-server")
    put(root, f"{share}/{zsh}/_respite", text("packaging/completion/_respite"))


def system(root, architecture, units="lib/systemd/system", options="etc/default/respite-server", zsh="zsh/vendor-completions"):
    """Puts the files that .deb and .rpm have in common."""
    programs(root, architecture)
    manuals(root)
    completions(root, zsh=zsh)
    put(root, f"{units}/respite-server.service", unit())
    put(root, options, text("packaging/respite-server.default"))
    put(root, CONFIGURATION, text("packaging/respite.conf"))


def documents(root, folder, architecture):
    put(root, f"{folder}/CHANGELOG.md", text("CHANGELOG.md"))
    put(root, f"{folder}/LICENSE", text("LICENSE"))
    put(root, f"{folder}/NOTICE", program.notices(architecture).read_bytes())
    put(root, f"{folder}/respite.spdx.json", program.bill(architecture).read_bytes())


def settle(root):
    """Sets modes and times that do not depend on when and where the package is made."""
    for path, _ in reversed(archives.entries(root)):
        if not path.is_symlink():
            path.chmod(archives.mode_of(path))
        os.utime(path, (facts.epoch(), facts.epoch()), follow_symlinks=False)
    root.chmod(0o755)
