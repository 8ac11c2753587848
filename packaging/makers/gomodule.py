"""The Go module, as a file tree that GOPROXY=file://… reads: dist/go."""
import json

from . import archives, facts, program, staging

SOURCES = facts.ROOT / "packaging/go"
PROGRAM = """package respitetest

import _ "embed"

//go:embed programs/linux_{0}.gz
var program []byte

func init() {{ packed = program }}
"""


def make():
    architectures = facts.built()
    files = {path.name: _named(path) for path in sorted(SOURCES.glob("*.go")) + [SOURCES / "README.md"]}
    files["go.mod"] = _named(SOURCES / "go.mod.in")
    files["LICENSE"] = staging.text("LICENSE")
    files["CHANGELOG.md"] = staging.text("CHANGELOG.md")
    for each in architectures:
        files[f"program_linux_{each.deb}.go"] = PROGRAM.format(each.deb).encode()
        files[f"programs/linux_{each.deb}.gz"] = archives.compress(facts.program(each).read_bytes())
        files[f"programs/NOTICE.linux_{each.deb}"] = program.notices(each).read_bytes()
        files[f"programs/linux_{each.deb}.spdx.json"] = program.bill(each).read_bytes()
    version = f"v{facts.version()}"
    place = facts.DIST / "go" / facts.GO_MODULE / "@v"
    prefix = f"{facts.GO_MODULE}@{version}/"
    archives.zip_file(place / f"{version}.zip", [(prefix + name, octets, 0o644) for name, octets in sorted(files.items())])
    (place / f"{version}.mod").write_bytes(files["go.mod"])
    (place / f"{version}.info").write_text(json.dumps({"Version": version, "Time": facts.date("%Y-%m-%dT%H:%M:%SZ")}),
                                           encoding="utf-8")
    (place / "list").write_text(f"{version}\n", encoding="utf-8")
    return place / f"{version}.zip"


def _named(path):
    return path.read_bytes().replace(b"@GO_MODULE@", facts.GO_MODULE.encode()).replace(b"@VERSION@", facts.version().encode())
