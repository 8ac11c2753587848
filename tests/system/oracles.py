"""The servers that our server is compared with, and the number of comparisons.

    redis-server of this system        $REDIS_SERVER
    Debian 13's Redis and Valkey       from `./dev oracles`
    Debian's newest Redis and Valkey   from `./dev oracles`; skipped when Debian has versions that are not in EMULATED
    any other                          $RESPITE_ORACLE, paths between colons: a Redis 7.2 built by hand, say

A suite that is written for one oracle runs with each: `oracles.multiply(globals(), Base)` makes a class of tests for
each oracle from a class that reads `self.oracle`. A suite that takes minutes runs with fewer: `among=few_oracles`. A suite
whose comparison allows for no difference of versions starts our server with `oracle.our_options`. Suites count
comparisons with `oracle.count(n)`; run_script.py prints the sums, which tests/run.py adds up."""
import atexit
import collections
import functools
import os
import random
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import prepare_oracles  # noqa: E402

BANNER = re.compile(r"^(Redis|Valkey) server v=(\d+)\.(\d+)\.(\d+)")
COUNTS = collections.Counter()
# The version of our server's replies and files without --emulate.
OUR_VERSION = (7, 2)
# The versions that our server emulates and whose remaining differences the suites know.
EMULATED = ("redis:7.0", "redis:7.2", "redis:7.4", "redis:8.0", "redis:8.6", "valkey:8.0", "valkey:8.1", "valkey:9.1")


class Oracle:
    """A server program. `version` is the version of Redis with which INFO claims compatibility."""

    def __init__(self, program, software, numbers):
        self.program, self.software, self.numbers = program, software.lower(), numbers
        self.version = numbers[:2] if self.software == "redis" else (7, 2)
        self.label = f"{software} {'.'.join(map(str, numbers))}"
        # The value of our directive `emulate`; our server emulates some versions.
        self.emulation = "%s:%d.%d" % (self.software, *numbers[:2])
        self.is_emulated = self.emulation in EMULATED
        # The options with which our server is compared with this oracle: it emulates oracles that are newer than itself.
        self.our_options = ["--emulate", self.emulation] if self.is_emulated and numbers[:2] > OUR_VERSION else []
        # The name in marks: "8.0", "valkey 8.1".
        self.mark = "%s%d.%d" % ("" if self.software == "redis" else "valkey ", *numbers[:2])

    def seed(self):
        """The seed of random commands: random with the compatible version and the one before it, fixed with later ones.
        Not every difference of later versions is known, and CI must not fail because of a new one."""
        return random.SystemRandom().randrange(10**9) if self.mark in ("7.0", "7.2") else 7919

    def __repr__(self):
        return f"{self.label} ({self.program})"

    def tool(self, name):
        """Returns another program of the oracle, for example its redis-check-rdb; the system's if it has none."""
        beside = re.sub(r"(redis|valkey)-server$", r"\1-" + name, self.program)
        return beside if os.access(beside, os.X_OK) else f"redis-{name}"

    def count(self, comparisons=1):
        COUNTS[self.label] += comparisons


def oracle_at(path):
    """Returns None if there is no such program. A program that does not report its version is an error."""
    program = shutil.which(path)
    if not program:
        return None
    said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=30, check=False)
    banner = BANNER.match(said.stdout)
    if not banner:
        raise ValueError(f"{program} --version says {said.stdout!r} {said.stderr!r}")
    return Oracle(os.path.abspath(program), banner[1], tuple(map(int, banner.groups()[1:])))


def system_server():
    return os.environ.get("REDIS_SERVER", "redis-server")


def added_servers():
    return [path for path in os.environ.get("RESPITE_ORACLE", "").split(":") if path]


def oracles_at(*paths):
    """Returns (available oracles, why others are missing). Of programs with the same version, returns
    only the last."""
    found, missing = {}, []
    for path in map(str, paths):
        oracle = oracle_at(path)
        if oracle:
            found[oracle.label] = oracle
        elif path in added_servers():
            raise ValueError(f"RESPITE_ORACLE: there is no program {path}")
        else:
            is_prepared = path.startswith(str(prepare_oracles.folder()))
            missing.append(f"there is no {path}" + (" (see ./dev oracles)" if is_prepared else ""))
    return list(found.values()), missing


@functools.lru_cache(maxsize=None)
def all_oracles():
    """Returns (available oracles, why others are missing) of the versions that the suites compare with."""
    newest, also_missing = newest_oracles()
    known = [oracle.program for oracle in newest if oracle.is_emulated]
    prepared = prepare_oracles.servers_of(prepare_oracles.TRIXIE)
    found, missing = oracles_at(system_server(), *prepared, *known, *added_servers())
    labels = {oracle.label for oracle in found}
    unknown = [f"the suites do not know the differences of {oracle.label}" for oracle in newest if oracle.label not in labels]
    return found, missing + also_missing + unknown


@functools.lru_cache(maxsize=None)
def newest_oracles():
    """Returns (available oracles, why others are missing) of the newest Redis and Valkey, of any version."""
    return oracles_at(*prepare_oracles.servers_of(*prepare_oracles.NEWEST))


def bench_oracles():
    """Returns (available oracles, why others are missing) of the servers that benchmarks compare with: this system's Redis,
    the newest Redis and Valkey, and $RESPITE_ORACLE. Debian 13's Redis or Valkey replaces a newest one that is missing."""
    newest, missing = newest_oracles()
    older = oracles_at(*prepare_oracles.servers_of(prepare_oracles.TRIXIE))[0]
    replacements = [oracle for oracle in older if oracle.software not in {one.software for one in newest}]
    prepared = sorted([*newest, *replacements], key=lambda oracle: oracle.software)
    found, also_missing = oracles_at(system_server(), *(oracle.program for oracle in prepared), *added_servers())
    return found, missing + also_missing


def few_oracles():
    """Returns (available oracles, why others are missing) for suites that take minutes: those of benchmarks, as far as
    the suites know them."""
    found, missing = all_oracles()
    few = {oracle.label for oracle in bench_oracles()[0]}
    return [oracle for oracle in found if oracle.label in few], missing


def multiply(namespace, *bases, among=all_oracles):
    """Replaces each class by one per oracle, with the attribute `oracle`; missing oracles become skipped tests."""
    found, missing = among()
    for base in bases:
        del namespace[base.__name__]
        for oracle in found:
            name = f"{base.__name__}With{oracle.label.replace(' ', '').replace('.', '_')}"
            namespace[name] = type(name, (base,), {"oracle": oracle, "__module__": base.__module__, "__doc__": base.__doc__})
        for number, reason in enumerate(missing):
            name = f"{base.__name__}WithNone{number}"
            namespace[name] = type(name, (unittest.TestCase,), {"test_nothing": unittest.skip(reason)(lambda self: None),
                                                                "__module__": base.__module__})


@atexit.register
def print_counts():
    """Returns the lines that tests/run.py adds up."""
    for label, number in sorted(COUNTS.items()):
        print(f"Compared with {label}: {number}", file=sys.stderr)
