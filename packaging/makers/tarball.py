"""respite-VERSION-linux-ARCH.tar.gz: the program with its names, manual page, completions of shells, unit, licences, changes and contents."""
from . import archives, facts, staging


def make(architecture):
    name = f"respite-{facts.version()}-linux-{architecture.name}"
    root = staging.empty(f"tarball/{architecture.name}")
    top = root / name
    staging.programs(top, architecture, "bin")
    for other in facts.REDIS_NAMES:
        staging.link(top, f"redis-names/{other}", "../bin/respite-server")
    staging.put(top, "share/man/man1/respite-server.1", staging.manual())
    staging.completions(top, "share")
    staging.put(top, "lib/systemd/system/respite-server.service", staging.unit())
    staging.put(top, staging.CONFIGURATION, staging.text("packaging/respite.conf"))
    staging.documents(top, ".", architecture)
    target = facts.DIST / f"{name}.tar.gz"
    target.write_bytes(archives.compress(archives.tar(root)))
    return target
