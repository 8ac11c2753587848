"""The content of archives: (name, mode, owner, time, content, target) of each member, and rules for all of them."""
import dataclasses
import io
import posixpath
import re
import subprocess
import tarfile
import zipfile

LINK, FILE, FOLDER = "link", "file", "folder"
MODES = {LINK: {0o777, 0o755}, FILE: {0o644, 0o755}, FOLDER: {0o755}}


@dataclasses.dataclass
class Member:
    name: str
    kind: str
    mode: int
    owners: tuple = (0, 0)
    names: tuple = ("", "")
    time: int = None
    octets: bytes = b""
    target: str = ""


def of_tar(octets):
    with tarfile.open(fileobj=io.BytesIO(octets)) as archive:
        for info in archive:
            kind = LINK if info.issym() else FILE if info.isreg() else FOLDER if info.isdir() else "other"
            content = archive.extractfile(info).read() if info.isreg() else b""
            yield Member(info.name, kind, info.mode, (info.uid, info.gid), (info.uname, info.gname), int(info.mtime), content,
                         info.linkname)


def of_zip(octets):
    with zipfile.ZipFile(io.BytesIO(octets)) as archive:
        for info in archive.infolist():
            mode = info.external_attr >> 16
            kind = FILE if mode & 0o170000 == 0o100000 else "other"
            yield Member(info.filename, kind, mode & 0o7777, octets=archive.read(info))


def of_image(octets):
    """Returns the layout, and the files of its layer."""
    layout = list(of_tar(octets))
    yield from layout
    layers = [member.octets for member in layout if member.octets.startswith(b"\x1f\x8b")]
    assert len(layers) == 1
    yield from of_tar(layers[0])


def of_deb(path):
    for option in ("--fsys-tarfile", "--ctrl-tarfile"):
        yield from of_tar(subprocess.run(["dpkg-deb", option, path], capture_output=True, check=True).stdout)


def of_rpm(path):
    """Returns the members without their content."""
    form = "[%{FILEMODES:octal}\t%{FILEUSERNAME}\t%{FILEGROUPNAME}\t%{FILEMTIMES}\t%{FILENAMES}\t%{FILELINKTOS}\n]"
    text = subprocess.run(["rpm", "-qp", "--qf", form, path], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        mode, user, group, time, name, target = line.split("\t")
        kind = {0o120000: LINK, 0o100000: FILE, 0o040000: FOLDER}[int(mode, 8) & 0o170000]
        owners = tuple(0 if each == "root" else each for each in (user, group))
        yield Member(name.lstrip("/"), kind, int(mode, 8) & 0o7777, owners, time=int(time), target=target)


def members(path):
    name = path.name
    if name.endswith(".oci.tar"):
        return list(of_image(path.read_bytes()))
    if name.endswith((".tgz", ".tar.gz", ".crate")):
        return list(of_tar(path.read_bytes()))
    if name.endswith((".whl", ".jar", ".zip")):
        return list(of_zip(path.read_bytes()))
    return list(of_deb(path) if name.endswith(".deb") else of_rpm(path))


def archives(dist):
    return sorted(path for path in dist.rglob("*")
                  if path.name.endswith((".oci.tar", ".tgz", ".tar.gz", ".crate", ".whl", ".jar", ".zip", ".deb", ".rpm")))


def is_inside(name):
    return not name.startswith("/") and ".." not in name.split("/") and "\\" not in name and ":" not in name


def objections(found, epoch):
    """Returns what is wrong with members of an archive."""
    seen = set()
    for member in found:
        name = posixpath.normpath(member.name)
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), member.target))
        checks = {"leads out of the archive": not is_inside(member.name) and member.kind != "other",
                  "is no file, folder or link": member.kind not in MODES,
                  "has an odd mode": member.mode not in MODES.get(member.kind, {member.mode}),
                  "belongs to somebody": member.owners != (0, 0) or any(each not in ("", "root") for each in member.names),
                  "has another time": member.time not in (None, epoch),
                  "points out of the archive": member.kind == LINK and not is_inside(target),
                  "is there twice": name != "." and name in seen}
        seen.add(name)
        yield from (f"{member.name} {what}" for what, is_so in checks.items() if is_so)


# The files in each package that state its version, its changes and its licences. The last three exist only in packages
# with the program.
TEXTS = {"version": r"(^|/)(package\.json|METADATA|control|Cargo\.toml|.*\.spdx\.json|MANIFEST\.MF|go\.mod)$",
         "changes": r"(^|/)CHANGELOG\.md(\.gz)?$", "licence": r"(^|/)(LICENSE|NOTICE\b.*|copyright)$",
         "notices": r"(^|/)(NOTICE\b.*|copyright)$", "contents": r"\.spdx\.json$"}


def missing_texts(found, has_program):
    wanted = TEXTS if has_program else {name: TEXTS[name] for name in ("changes", "licence")}
    return [name for name, pattern in wanted.items() if not any(re.search(pattern, member.name) for member in found)]
