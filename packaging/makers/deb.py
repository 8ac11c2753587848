"""respite_VERSION_ARCH.deb."""
import gzip
import subprocess

from . import archives, facts, program, staging

DOCUMENTS = "usr/share/doc/respite"


def make(architecture):
    root = staging.empty(f"deb/{architecture.name}")
    staging.system(root, architecture)
    _documents(root, architecture)
    _control(root, architecture)
    staging.settle(root)
    target = facts.DIST / f"respite_{facts.version()}_{architecture.deb}.deb"
    facts.run("dpkg-deb", "--root-owner-group", "-Zxz", "--build", root, target, stdout=subprocess.DEVNULL)
    return target


def _documents(root, architecture):
    staging.put(root, f"{DOCUMENTS}/changelog.gz", gzip.compress(_changelog().encode(), 9, mtime=0))
    staging.put(root, f"{DOCUMENTS}/CHANGELOG.md.gz", gzip.compress(staging.text("CHANGELOG.md"), 9, mtime=0))
    staging.put(root, f"{DOCUMENTS}/copyright", _copyright(architecture).encode())
    staging.put(root, f"{DOCUMENTS}/respite.spdx.json", program.bill(architecture).read_bytes())
    staging.put(root, "usr/share/lintian/overrides/respite", staging.text("packaging/deb/overrides"))


def _changelog():
    """Returns a changelog in Debian's format, which has an entry for each version of the package."""
    return (f"respite ({facts.version()}) unstable; urgency=medium\n\n  * Made from the sources of Respite {facts.version()}.\n"
            f"    Their changes are in CHANGELOG.md.gz.\n\n -- {facts.MAINTAINER}  {facts.date('%a, %d %b %Y %H:%M:%S +0000')}\n")


def _copyright(architecture):
    return (f"This package was made from the sources of Respite {facts.version()} by its own build, ./dev package.\n\n" +
            program.notices(architecture).read_text(encoding="utf-8"))


def _control(root, architecture):
    size = sum(path.stat().st_size for path, _ in archives.entries(root) if path.is_file() and not path.is_symlink())
    control = staging.filled("deb/control.in", VERSION=facts.version(), ARCHITECTURE=architecture.deb,
                             MAINTAINER=facts.MAINTAINER, SIZE=(size + 1023) // 1024, SUMMARY=facts.SUMMARY,
                             DESCRIPTION="".join(f" {line}\n" for line in facts.DESCRIPTION.splitlines()).rstrip("\n"))
    staging.put(root, "DEBIAN/control", control.encode())
    staging.put(root, "DEBIAN/conffiles", f"/etc/default/respite-server\n/{staging.CONFIGURATION}\n".encode())
    for name in ("postinst", "prerm", "postrm"):
        staging.put(root, f"DEBIAN/{name}", staging.text(f"packaging/deb/{name}"), 0o755)
    staging.put(root, "DEBIAN/md5sums", _sums(root).encode())


def _sums(root):
    return "".join(f"{archives.digest(path, 'md5')}  {name}\n" for path, name in archives.entries(root)
                   if path.is_file() and not path.is_symlink() and not name.startswith(("DEBIAN/", "etc/")))
