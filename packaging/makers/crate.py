"""The crate respite-test and one with the program for each platform, as a local registry of cargo: dist/cargo."""
import json

from . import archives, facts, program, staging

SOURCES = facts.ROOT / "packaging/rust"


def make():
    for each in facts.built():
        digest = archives.digest(facts.program(each))
        files = {"Cargo.toml": staging.filled("rust/program/Cargo.toml.in", VERSION=facts.version(), ARCHITECTURE=each.name),
                 "src/lib.rs": staging.filled("rust/program/src/lib.rs.in", DIGEST=digest),
                 "respite-server": facts.program(each).read_bytes(), "NOTICE": program.notices(each).read_bytes(),
                 "respite.spdx.json": program.bill(each).read_bytes()}
        _publish(f"respite-server-linux-{each.name}", files, [])
    own = SOURCES / "respite-test"
    files = {path.relative_to(own).as_posix(): path.read_bytes() for path in own.rglob("*") if path.is_file()}
    del files["Cargo.toml.in"]
    files["Cargo.toml"] = staging.filled("rust/respite-test/Cargo.toml.in", VERSION=facts.version(), SUMMARY=facts.SUMMARY,
                                          PROGRAMS="\n".join(_dependency(each) for each in facts.built()))
    files["LICENSE"] = staging.text("LICENSE")
    return _publish("respite-test", files, [_row(each) for each in facts.built()])


def _target(architecture):
    return f'cfg(all(target_os = "linux", target_arch = "{architecture.name}"))'


def _dependency(architecture):
    """Returns the dependency on a platform's program as a section of Cargo.toml."""
    return (f"[target.'{_target(architecture)}'.dependencies]\n"
            f'respite-server-linux-{architecture.name} = "={facts.version()}"\n')


def _row(architecture):
    """Returns the dependency on a platform's program as a row of the index."""
    return {"name": f"respite-server-linux-{architecture.name}", "req": f"={facts.version()}", "features": [],
            "optional": False, "default_features": True, "target": _target(architecture), "kind": "normal"}


def _publish(name, files, dependencies):
    root = staging.empty(f"cargo/{name}")
    stem = f"{name}-{facts.version()}"
    for path, content in {**files, "CHANGELOG.md": staging.text("CHANGELOG.md")}.items():
        staging.put(root, f"{stem}/{path}", content if isinstance(content, bytes) else content.encode())
    target = facts.DIST / "cargo" / f"{stem}.crate"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(archives.compress(archives.tar(root)))
    row = {"name": name, "vers": facts.version(), "deps": dependencies, "cksum": archives.digest(target), "features": {},
           "yanked": False}
    # The path where cargo looks a name up: by its first four letters.
    index = facts.DIST / "cargo/index" / name[:2] / name[2:4] / name
    index.parent.mkdir(parents=True, exist_ok=True)
    index.write_text(json.dumps(row) + "\n", encoding="utf-8")
    return target
