"""Empty places for packages: roots of distributions, and other things that a test of a package needs. Roots and
libraries are made one time and kept in ~/.cache/respite/packages ($RESPITE_PACKAGES_CACHE); only this needs a
network."""
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "packaging"))
from makers import facts  # noqa: E402

DIST = facts.DIST
ARCHITECTURE = facts.ARCHITECTURES["x86_64"]
CACHE = pathlib.Path(os.environ.get("RESPITE_PACKAGES_CACHE") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "respite/packages")
LIMIT_S = 300
# Debian's releases, oldest first. Their packages come from the archive that this system uses.
RELEASES = ("bookworm",) if os.environ.get("RESPITE_SHORT") else ("bullseye", "bookworm", "trixie")


def run(*words, **options):
    """Returns the output; a failure shows it."""
    options.setdefault("timeout", LIMIT_S)
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False, stdin=subprocess.DEVNULL, **options)
    if done.returncode:
        raise AssertionError(f"{' '.join(map(str, words))} ended with {done.returncode}:\n{done.stdout[-4000:]}")
    return done.stdout


def archive():
    """Returns the address of the distribution's archive that this system uses."""
    for path in (pathlib.Path("/etc/apt/sources.list"), *sorted(pathlib.Path("/etc/apt/sources.list.d").glob("debian*"))):
        found = re.search(r"^(?:URIs:|deb)\s.*?(http\S+?/debian)(?:\s|$)", path.read_text(encoding="utf-8"), re.M) if path.exists() \
            else None
        if found:
            return found[1]
    raise unittest.SkipTest("this is no Debian: its archive is not known")


def kept(name, make):
    """Returns a file or folder of the cache, made one time by make(path)."""
    target = CACHE / name
    if not target.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        part = pathlib.Path(tempfile.mkdtemp(prefix="part-", dir=CACHE)) / "made"
        make(part)
        target.parent.mkdir(parents=True, exist_ok=True)
        part.rename(target)
        part.parent.rmdir()
    return target


def debian(release):
    """Creates a tar archive of a small Debian, with nothing of this project."""
    if os.geteuid() != 0 or not shutil.which("mmdebstrap"):
        raise unittest.SkipTest("making a root of Debian needs root and mmdebstrap")
    return kept(f"{release}.tar", lambda part: run(
        "mmdebstrap", "--variant=minbase", "--mode=root", "--format=tar", "--keyring=/usr/share/keyrings", release, part,
        archive()))


class PackageTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="package-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    @staticmethod
    def package(pattern):
        found = sorted(DIST.glob(pattern))
        if not found:
            raise unittest.SkipTest(f"dist/ has no {pattern}: ./dev package makes it")
        return found[0]

    def unpacked(self, release):
        root = self.folder / release
        root.mkdir()
        run("tar", "-xf", debian(release), "-C", root)
        return root

    def start(self, words, **options):
        """Starts a server whose port file is in its root; it ends with the test. Returns the process."""
        process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, **options)
        self.addCleanup(end, process)
        return process


def within(root):
    return lambda: (os.chroot(root), os.chdir("/"))


class PlaceTest(PackageTest):
    """Runs programs in a root."""

    def inside(self, root, *words, **variables):
        return run(*words, preexec_fn=within(root), cwd=root, env={"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", **variables})


def end(process):
    process.terminate()
    process.communicate(timeout=30)


def wait_until(condition, what, limit_s=30.0):
    stop = time.monotonic() + limit_s
    while not (value := condition()):
        if time.monotonic() > stop:
            raise AssertionError(f"waited for {what}")
        time.sleep(0.005)
    return value


def free_port():
    """Returns a free port below the range of outgoing connections, such that the port of a cluster's bus, 10000 above
    it, is below the range as well."""
    while True:
        port = random.randrange(12000, 20000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def ask(port, *words, wrap=lambda sock: sock):
    """Returns the reply, which must come in one piece."""
    with wrap(socket.create_connection(("127.0.0.1", port), timeout=10)) as sock:
        sock.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w.encode()) for w in words))
        return sock.recv(65536).decode()


def code(page, language, number=0):
    """Returns a block of code of a page, as printed."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)[number]


def code_in(page, heading, language):
    """Returns the first block of code below a heading of a page, as printed."""
    text = (ROOT / page).read_text(encoding="utf-8").split(f"\n{heading}\n", 1)[1]
    return re.search(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)[1]


def readme_row(language):
    """Returns the cells of README's table of packages: how to install a package, and its first lines."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    row = re.search(rf"^\| {language} \|(.*)\|$", text, re.M)[1]
    return [re.findall(r"`([^`]+)`", cell) for cell in row.split(" | ")]
