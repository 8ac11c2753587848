"""The static program, and the libraries that are linked into it."""
import hashlib
import json
import os
import pathlib
import re
import subprocess

from . import facts, sysroot

# Maps Debian's package with the code to (name, licence as SPDX writes it, origin).
LINKED = {
    "libc6-dev": ("glibc", "LGPL-2.1-or-later", "https://www.gnu.org/software/libc/"),
    "libstdc++-dev": ("libstdc++ and libgcc", "GPL-3.0-or-later WITH GCC-exception-3.1", "https://gcc.gnu.org/"),
    "libssl-dev": ("OpenSSL", "Apache-2.0", "https://www.openssl.org/"),
    "libjemalloc-dev": ("jemalloc", "BSD-2-Clause", "https://jemalloc.net/"),
    "liblua5.4-dev": ("Lua", "MIT", "https://www.lua.org/"),
    "liblzf-dev": ("LibLZF", "BSD-2-Clause", "http://software.schmorp.de/pkg/liblzf.html"),
    "libxxhash-dev": ("xxHash", "BSD-2-Clause", "https://xxhash.com/"),
    "libasio-dev": ("Asio", "BSL-1.0", "https://think-async.com/Asio/"),
    "nlohmann-json3-dev": ("JSON for Modern C++", "MIT", "https://json.nlohmann.me/"),
    "rapidjson-dev": ("RapidJSON", "MIT", "https://rapidjson.org/"),
    "libedit-dev": ("libedit", "BSD-3-Clause", "https://www.thrysoee.dk/editline/"),
    "libbsd-dev": ("libbsd", "BSD-3-Clause AND BSD-2-Clause AND ISC", "https://libbsd.freedesktop.org/"),
    "libncurses-dev": ("ncurses (terminfo)", "X11-distribute-modifications-variant", "https://invisible-island.net/ncurses/"),
    "zlib1g-dev": ("zlib", "Zlib", "https://zlib.net/"),
    "libzstd-dev": ("Zstandard", "BSD-3-Clause", "https://facebook.github.io/zstd/"),
}
HEADERS_AND_SOURCES = ("liblzf-dev", "libxxhash-dev", "libasio-dev", "nlohmann-json3-dev", "rapidjson-dev")
COMPILERS = ("libc6-dev", "libstdc++-dev")


def build(architecture, jobs):
    root = sysroot.folder(architecture)
    libraries = _libraries_in(root) if root else []
    facts.run("cmake", "--preset", architecture.preset, *libraries, cwd=facts.ROOT)
    facts.run("cmake", "--build", facts.ROOT / "build" / architecture.preset, "-j", jobs, "--target", "respite-server",
              cwd=facts.ROOT)


def _libraries_in(root):
    triplet = next((root / "usr/lib").glob("*-linux-gnu")).name
    flags = f"-isystem {root}/usr/include/{triplet} -ffile-prefix-map={root}="
    return [f"-DCMAKE_FIND_ROOT_PATH={root}", f"-DCMAKE_C_FLAGS={flags}", f"-DCMAKE_CXX_FLAGS={flags}"]


def make(architecture):
    target = facts.program(architecture)
    target.parent.mkdir(parents=True, exist_ok=True)
    facts.run(architecture.strip, "--strip-all", "-o", target, facts.ROOT / "build" / architecture.preset / "respite-server")
    target.chmod(0o755)
    bill(architecture).write_text(json.dumps(bill_of_materials(architecture), indent=1) + "\n", encoding="utf-8")
    notices(architecture).write_text(notice(architecture), encoding="utf-8")


def bill(architecture):
    """Returns the file that lists the content of the program."""
    return facts.DIST / f"{facts.program(architecture).name}.spdx.json"


def notices(architecture):
    """Returns the file with the licences of the program's content."""
    return facts.DIST / f"{facts.program(architecture).name}.NOTICE"


def _output(*words):
    return subprocess.run(words, cwd=facts.ROOT, capture_output=True, text=True, check=True).stdout


def archives(architecture):
    """Returns the static libraries of the system that the linker was given."""
    command = _output("ninja", "-C", str(facts.ROOT / "build" / architecture.preset), "-t", "commands", "respite-server")
    link = [line for line in command.splitlines() if "-o respite-server" in line][-1]
    return sorted(set(re.findall(r"(/usr/lib/\S+\.a)", link)))


def owner(path):
    """Returns the package that a library belongs to, for any architecture."""
    path = path.replace("aarch64-linux-gnu", f"{os.uname().machine}-linux-gnu")
    for name in (path, path.removeprefix("/usr")):
        found = subprocess.run(["dpkg", "-S", name], capture_output=True, text=True, check=False).stdout
        if found:
            return found.split(":")[0]
    raise SystemExit(f"no package has {path}")


def linked(architecture):
    """Returns the rows of LINKED that are in this program, with Debian's name for each and its version."""
    names = [*COMPILERS, *HEADERS_AND_SOURCES, *(owner(each) for each in archives(architecture))]
    unknown = set(names) - set(LINKED)
    if unknown:
        raise SystemExit(f"packaging/makers/program.py does not know the licence of {', '.join(sorted(unknown))}")
    root = sysroot.folder(architecture)
    unpacked = sysroot.versions(root) if root else {}
    return {name: (name, unpacked[name]) if name in unpacked else installed(name, architecture) for name in LINKED if name in names}


def installed(name, architecture):
    """Returns (name, version) of an installed package; the name of libstdc++ has the compiler's version."""
    if name == "libstdc++-dev":
        name = f"libstdc++-{_output('g++', '-dumpversion').strip().split('.')[0]}-dev"
    if sysroot.folder(architecture) and name.startswith(("libc6-", "libstdc++-")):
        name += f"-{architecture.deb}-cross"
    text = _output("dpkg-query", "-W", "-f=${Package} ${Version} ${db:Status-Status}\n", name)
    for line in text.splitlines():
        package, version, state = line.split()
        if state == "installed":
            return package, version
    raise SystemExit(f"{name} is not installed")


def licence_text(package):
    return (pathlib.Path("/usr/share/doc") / package / "copyright").read_text(encoding="utf-8", errors="replace")


def notice(architecture):
    """Returns the licences of everything in the program."""
    parts = [f"Respite {facts.version()}\n\n" + (facts.ROOT / "LICENSE").read_text(encoding="utf-8"),
             "The program contains these libraries. The sources of Respite and its build (./dev package) are free, so\n"
             "it can be linked again with other versions of them.\n"]
    found = linked(architecture)
    for name, (package, version) in found.items():
        title, licence, home = LINKED[name]
        parts.append(f"{title} ({package} {version} of Debian): {licence}, {home}\n")
    for name, (package, _) in found.items():
        parts.append(f"{'=' * 78}\n{LINKED[name][0]}\n{'=' * 78}\n\n{licence_text(package)}")
    return "\n".join(parts)


def bill_of_materials(architecture):
    """Writes SPDX 2.3."""
    target = facts.program(architecture)
    checksum = hashlib.sha256(target.read_bytes()).hexdigest()
    packages = [_spdx_package("respite", facts.version(), facts.LICENCE, "NOASSERTION", checksum)]
    packages += [_spdx_package(LINKED[name][0], version, LINKED[name][1], LINKED[name][2], None)
                 for name, (_, version) in linked(architecture).items()]
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": target.name,
        "documentNamespace": f"urn:respite:{target.name}:{checksum}",
        "creationInfo": {"created": facts.date("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: respite-package"]},
        "packages": packages,
        "relationships": [_relation("SPDXRef-DOCUMENT", "DESCRIBES", packages[0]["SPDXID"])] +
                         [_relation(packages[0]["SPDXID"], "STATIC_LINK", each["SPDXID"]) for each in packages[1:]]}


def _spdx_package(name, version, licence, home, checksum):
    package = {"name": name, "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "versionInfo": version,
               "downloadLocation": "NOASSERTION", "homepage": home, "licenseConcluded": licence, "licenseDeclared": licence,
               "copyrightText": "NOASSERTION", "filesAnalyzed": False}
    if checksum:
        package["checksums"] = [{"algorithm": "SHA256", "checksumValue": checksum}]
    return package


def _relation(one, kind, other):
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
