"""Packages for npm: respite-server, and for each platform a package with the program, of which npm installs one."""
import json

from . import archives, facts, program, staging

SOURCES = facts.ROOT / "packaging/node"


def make_main():
    root = staging.empty("npm/main")
    for path, name in archives.entries(SOURCES):
        if path.is_file() and path.suffix != ".in":
            octets = path.read_bytes().replace(b"@VERSION@", facts.version().encode())
            staging.put(root, f"package/{name}", octets, archives.mode_of(path))
    # A program that was not made is not named, because npm would request it from the registry.
    programs = {f"respite-server-linux-{each.npm}": facts.version() for each in facts.built()}
    manifest = staging.filled("node/package.json.in", VERSION=facts.version(), SUMMARY=facts.SUMMARY, PROGRAMS=json.dumps(programs))
    staging.put(root, "package/package.json", manifest.encode())
    staging.put(root, "package/LICENSE", staging.text("LICENSE"))
    staging.put(root, "package/CHANGELOG.md", staging.text("CHANGELOG.md"))
    return _pack(root, "respite-server")


def make_platform(architecture):
    name = f"respite-server-linux-{architecture.npm}"
    root = staging.empty(f"npm/{architecture.name}")
    manifest = {"name": name, "version": facts.version(), "description": f"The program of respite-server for {architecture.name}",
                "license": facts.LICENCE, "os": ["linux"], "cpu": [architecture.npm]}
    staging.put(root, "package/package.json", (json.dumps(manifest, indent=2) + "\n").encode())
    staging.put(root, "package/bin/respite-server", facts.program(architecture).read_bytes(), 0o755)
    staging.documents(root, "package", architecture)
    return _pack(root, name)


def _pack(root, name):
    target = facts.DIST / f"{name}-{facts.version()}.tgz"
    target.write_bytes(archives.compress(archives.tar(root)))
    return target
