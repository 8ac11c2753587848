"""Archives whose bytes depend only on the content: names sorted, one time, one owner."""
import gzip
import hashlib
import io
import pathlib
import tarfile
import time
import zipfile

from . import facts


def mode_of(path):
    return 0o755 if path.is_symlink() or path.is_dir() or path.stat().st_mode & 0o100 else 0o644


def entries(folder):
    """Yields (path, name within the folder), folders before their content."""
    return [(path, path.relative_to(folder).as_posix()) for path in sorted(folder.rglob("*"))]


def _describe(archive, path, name):
    info = archive.gettarinfo(path, name)
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    info.mtime = facts.epoch()
    info.mode = mode_of(path)
    return info


def tar(folder, prefix=""):
    """Returns the bytes of an uncompressed tar archive."""
    octets = io.BytesIO()
    with tarfile.open(fileobj=octets, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path, name in entries(folder):
            info = _describe(archive, path, prefix + name)
            if info.isreg():
                with path.open("rb") as content:
                    archive.addfile(info, content)
            else:
                archive.addfile(info)
    return octets.getvalue()


def compress(octets):
    return gzip.compress(octets, 9, mtime=0)


def zip_file(target, files):
    """Writes (name, bytes, mode) of `files` in their order."""
    when = time.gmtime(facts.epoch())[:6]
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, octets, mode in files:
            info = zipfile.ZipInfo(name, when)
            info.external_attr = (0o100000 | mode) << 16
            info.create_system = 3  # Unix
            archive.writestr(info, octets, zipfile.ZIP_DEFLATED, 9)


def folder_files(folder, prefix=""):
    """Returns the input of zip_file from the regular files of a folder."""
    return [(prefix + name, path.read_bytes(), mode_of(path)) for path, name in entries(folder) if path.is_file()]


def digest(path: pathlib.Path, kind="sha256"):
    return hashlib.new(kind, path.read_bytes()).hexdigest()
