"""The wheel for PyPI: pip installs the program itself as the command respite-server."""
import base64
import hashlib

from . import archives, facts, program, staging

SOURCES = facts.ROOT / "packaging/python"
PLATFORMS = "manylinux_2_17_{0}.manylinux2014_{0}.musllinux_1_1_{0}"
METADATA = """Metadata-Version: 2.1
Name: respite-server
Version: {version}
Summary: {summary}, with fixtures for pytest
License: {licence}
Requires-Python: >=3.8
Description-Content-Type: text/markdown
Classifier: Framework :: Pytest
Classifier: License :: OSI Approved :: BSD License
Classifier: Operating System :: POSIX :: Linux
Classifier: Topic :: Software Development :: Testing

{description}"""


def make(architecture):
    stem = f"respite_server-{facts.version()}"
    tag = f"py3-none-{PLATFORMS.format(architecture.name)}"
    files = _code() + [(f"{stem}.data/scripts/respite-server", facts.program(architecture).read_bytes(), 0o755)]
    files += [(f"{stem}.dist-info/{name}", octets, 0o644) for name, octets in _information(architecture, tag)]
    files.append((f"{stem}.dist-info/RECORD", _record(files, f"{stem}.dist-info/RECORD"), 0o644))
    target = facts.DIST / f"{stem}-{tag}.whl"
    archives.zip_file(target, files)
    return target


def _code():
    return [(f"respite_server/{path.name}", path.read_bytes(), 0o644) for path in sorted(SOURCES.glob("respite_server/*.py"))]


def _information(architecture, tag):
    metadata = METADATA.format(version=facts.version(), summary=facts.SUMMARY, licence=facts.LICENCE,
                               description=(SOURCES / "README.md").read_text(encoding="utf-8"))
    tags = "".join(f"Tag: py3-none-{platform}\n" for platform in tag.removeprefix("py3-none-").split("."))
    return [("METADATA", metadata.encode()),
            ("WHEEL", f"Wheel-Version: 1.0\nGenerator: respite\nRoot-Is-Purelib: false\n{tags}".encode()),
            ("entry_points.txt", b"[pytest11]\nrespite = respite_server.pytest_plugin\n"),
            ("licenses/LICENSE", staging.text("LICENSE")), ("licenses/NOTICE", program.notices(architecture).read_bytes()),
            ("licenses/CHANGELOG.md", staging.text("CHANGELOG.md")),
            ("sboms/respite.spdx.json", program.bill(architecture).read_bytes())]


def _record(files, own_name):
    rows = []
    for name, octets, _ in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(octets).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(octets)}\n")
    return ("".join(rows) + f"{own_name},,\n").encode()
