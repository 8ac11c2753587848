#!/usr/bin/env python3
"""Respite against several servers, in one run on this machine: server CPU per request, and memory per entry, row by row.

    python3 bench/peers.py --server build/bench/respite-server                   prints a table
    … --json FILE --plot FOLDER --page docs/performance.md                          also keeps the figures, draws them, and
                                                                                    writes them into the page
    … --gate                                                                       compares with bench/baseline.json
    … --save                                                                       makes the figures the new baseline

A figure is Respite's divided by a peer's in the same run, so figures of different machines can be compared. The main
ratio is to the best peer of the row. Rows without a setup also show the cost of the same requests for a loop that only
receives them and answers +OK (bench/bare_loop.cc): hardly any server can cost less. The peers are the distribution's
redis-server, the newest Redis and Valkey that `./dev oracles` has fetched, or Debian 13's in place of one that is
missing, and the servers of $RESPITE_ORACLE.

A row of CPU has two figures, each with a target:

    total CPU    user and system time, which the scheduler counts in nanoseconds; the median of the rounds
    user time    the part of it outside the kernel, so the server's own work; the mean of the rounds. The kernel estimates
                 it from samples at its ticks, usually 250 in a second, so the error is about 1 / sqrt(250 s) for s seconds
                 of user time: 5 to 12 % with three rounds, three times as much at --scale 0.1

If the total CPU or the memory of a row got worse by more than 5 %, the gate measures the row again with more rounds
before it reports it. It exits with 1 if a row remains that got worse against all peers that the baseline knows."""
import argparse
import contextlib
import dataclasses
import hashlib
import json
import math
import pathlib
import platform
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/system"))
import oracles  # noqa: E402
from data_types import (MANY, RAND, big_hash, big_set, big_sorted_set, entries, full_lists, one_list,  # noqa: E402
                        shuffled, small_hashes)
from encryption import TlsServer, make_keys  # noqa: E402
from scripts import UNLOCK  # noqa: E402
from side_by_side import VALUE, BareLoop, Server, bare_loop_of, comma_list, load_commands  # noqa: E402
from workloads import Workload, rounds_of  # noqa: E402

BASELINE = pathlib.Path(__file__).with_name("baseline.json")
WORSE = 1.05
PASSWORD = "bench"
KEYS = 100_000


# ---- targets --------------------------------------------------------------------------------------------------------

@dataclasses.dataclass(frozen=True)
class Target:
    """The highest acceptable cost: a share of the best peer's, or absolute, or both."""
    share: float | None = None
    absolute: float | None = None

    def text(self, unit):
        share = [] if self.share is None else [f"{self.share:.2f}"]
        return ", ".join(share + ([] if self.absolute is None else [f"at most {self.absolute:g} {unit}"]))


@dataclasses.dataclass(frozen=True)
class Targets:
    cpu: Target
    user: Target


# The kernel's part of the cost of a small request is the same for all servers.
SMALL = Targets(Target(.70), Target(.45))
# Commands with more work in the server.
LARGE = Targets(Target(.50), Target(.35))
# Without a pipeline nearly all of the cost is the kernel's. User time is then too small for a ratio of estimates, so its
# target is absolute.
SINGLE = Targets(Target(.88), Target(absolute=.8))


# ---- rows -----------------------------------------------------------------------------------------------------------

def strings(count=KEYS):
    return ((b"SET", b"key:%012d" % i, VALUE) for i in range(count))


def scripts_of_lock():
    yield b"SCRIPT", b"LOAD", UNLOCK


UNLOCK_SHA = hashlib.sha1(UNLOCK).hexdigest()
ADD = ["zadd", "z", RAND, f"m:{RAND}"]
RANGE = ["zrange", "z", RAND, "+inf", "byscore", "limit", "0", "10"]
ENTRY = ["xadd", "s", "maxlen", "~", "10000", "*", "item", "order:0012345", "amount", "42"]

PLAIN = [
    Workload("GET", SMALL, "get", 1_500_000, strings),
    Workload("SET", SMALL, "set", 1_500_000),
    Workload("INCR", SMALL, "incr", 1_500_000),
    Workload("MSET 10", LARGE, "mset", 300_000),
    Workload("LPUSH", SMALL, ["lpush", f"l:{RAND}", "x" * 32], 1_000_000, keys=1000),
    # The lists last for the rounds of the gate's second measurement.
    Workload("RPOP", SMALL, ["rpop", f"l:{RAND}"], 400_000, lambda: full_lists(3000), keys=1000),
    Workload("LRANGE 100, pipeline 4", SMALL, ["lrange", "list", "0", "99"], 100_000, one_list, pipeline=4),
    Workload("SADD", SMALL, ["sadd", "s", f"m:{RAND}"], 1_000_000),
    Workload("SISMEMBER", SMALL, ["sismember", "s", f"m:{RAND}"], 1_000_000, big_set),
    Workload("HSET", SMALL, ["hset", "h", f"f:{RAND}", "v" * 32], 1_000_000),
    Workload("HGET", SMALL, ["hget", "h", f"f:{RAND}"], 1_000_000, big_hash),
    Workload("ZADD, 1 M members", LARGE, ADD, 1_000_000, keys=MANY),
    Workload("ZRANGE 10", LARGE, RANGE, 200_000, big_sorted_set, keys=MANY),
    Workload("XADD", LARGE, ENTRY, 1_000_000),
    Workload("EVAL unlock, pipeline 4", SMALL, ["eval", UNLOCK.decode(), "1", "lock", "me"], 300_000, pipeline=4),
    Workload("EVALSHA unlock, pipeline 4", SMALL, ["evalsha", UNLOCK_SHA, "1", "lock", "me"], 300_000, scripts_of_lock,
             pipeline=4),
    Workload("GET, pipeline 64", SMALL, "get", 3_000_000, strings, pipeline=64),
    Workload("SET, pipeline 64", SMALL, "set", 3_000_000, pipeline=64),
    Workload("GET, pipeline 1", SINGLE, "get", 500_000, strings, pipeline=1),
    Workload("SET, pipeline 1", SINGLE, "set", 500_000, pipeline=1),
]

# Rows that are measured again in other setups, named by their first word.
IN_SETUPS = ["GET", "SET", "INCR", "LPUSH", "HSET", "XADD"]

MEMORY = [  # name, target, entries, data
    ("strings of 64 bytes", Target(.85, absolute=100), MANY, lambda: strings(MANY)),
    ("small hashes", Target(.65), MANY, lambda: small_hashes(MANY)),
    ("small lists", Target(.65), MANY, lambda: ((b"RPUSH", b"l:%012d" % i, b"one", b"two", b"three") for i in range(MANY))),
    ("small sets", Target(.65), MANY, lambda: ((b"SADD", b"s:%012d" % i, b"one", b"two", b"three") for i in range(MANY))),
    ("small sorted sets", Target(.65), MANY, lambda: ((b"ZADD", b"z:%012d" % i, b"1", b"one", b"2", b"two") for i in range(MANY))),
    ("small streams", Target(.65), KEYS, lambda: ((b"XADD", b"x:%012d" % i, b"*", b"field", b"value") for i in range(KEYS))),
    ("members of a sorted set", Target(.70), MANY, lambda: ((b"ZADD", b"z", b"%d" % (i * 7), b"member:%09d" % i) for i in shuffled(MANY))),
    ("fields of a hash", Target(.70), MANY, lambda: ((b"HSET", b"h", b"field:%08d" % i, b"value:%06d" % i) for i in shuffled(MANY))),
    ("entries of a stream", Target(.90), MANY, lambda: entries(MANY)),
]


# ---- setups ---------------------------------------------------------------------------------------------------------

class ReplicatedServer(Server):
    """A server with a replica, whose CPU does not count."""

    def __enter__(self):
        super().__enter__()
        self.replica = Server(f"replica of {self.name}", self.binary, "--replicaof", "127.0.0.1", str(self.port))
        self.replica.__enter__()
        self.do("WAIT", "1", "10000")
        return self

    def __exit__(self, *problem):
        self.replica.__exit__(*problem)
        super().__exit__(*problem)


class UserServer(Server):
    """A server with the user `bench`, who may run the commands of the rows."""

    def __enter__(self):
        super().__enter__()
        self.do("ACL", "SETUSER", "bench", "on", ">" + PASSWORD, "~*", "&*", "+@all", "-@dangerous", "+config|get")
        return self


class EncryptedServer(TlsServer):
    def __init__(self, name, binary):
        self.keys = tempfile.TemporaryDirectory(prefix="respite-bench-")
        make_keys(pathlib.Path(self.keys.name))
        super().__init__(name, binary, pathlib.Path(self.keys.name))
        self.measured_tls_port = self.tls_port

    def __exit__(self, *problem):
        super().__exit__(*problem)
        self.keys.cleanup()


@dataclasses.dataclass
class Setup:
    name: str
    make: type = Server
    options: tuple = ()
    client: tuple = ()  # arguments of redis-benchmark

    def start(self, name, binary):
        return self.make(name, binary, *self.options)


SETUPS = [
    Setup("append-only file", options=("--appendonly", "yes", "--appendfsync", "everysec")),
    Setup("a replica", make=ReplicatedServer),
    Setup("a user of ACL", make=UserServer, client=("--user", "bench", "-a", PASSWORD)),
    Setup("TLS", make=EncryptedServer),
]


# ---- measuring ------------------------------------------------------------------------------------------------------

@dataclasses.dataclass
class Costs:
    """What a request or an entry costs on each server."""
    by_server: dict  # Respite is the first
    target: Target

    def ours(self):
        return next(iter(self.by_server.values()))

    def best(self):
        """Returns the cost on the best peer."""
        return min(list(self.by_server.values())[1:])

    def ratios(self):
        """Returns Respite's cost divided by each peer's. In a short run the user time of a peer may be zero."""
        peers = list(self.by_server.items())[1:]
        return {name: round(self.ours() / cost, 3) if cost else math.inf for name, cost in peers}

    def ratio(self):
        """Returns Respite's cost divided by the best peer's."""
        return max(self.ratios().values())

    def is_met(self):
        target = self.target
        return ((target.share is None or self.ratio() <= target.share) and
                (target.absolute is None or self.ours() <= target.absolute))

    def line(self, title, unit):
        costs = "  ".join(f"{name} {cost:8.3f}" for name, cost in self.by_server.items())
        verdict = "met" if self.is_met() else "MISSED"
        return f"  {title:44} {costs} {unit}   {self.ratio():.2f}   target {self.target.text(unit)} {verdict}"


@dataclasses.dataclass
class Figure:
    """The costs of one row: microseconds per request, or bytes per entry."""
    row: str
    unit: str
    costs: Costs  # total CPU or memory
    user: Costs | None = None  # user time; None for memory
    floor: float | None = None  # the total CPU of the bare loop

    def floor_ratio(self):
        """Returns the bare loop's cost divided by the best peer's. None if it was not measured."""
        return None if self.floor is None else round(self.floor / self.costs.best(), 3)

    def is_met(self):
        return self.costs.is_met() and (self.user is None or self.user.is_met())

    def lines(self):
        floor = "" if self.floor is None else f"   bare loop {self.floor:.3f}, {self.floor_ratio():.2f}"
        lines = [self.costs.line(self.row, self.unit) + floor]
        return lines + ([] if self.user is None else [self.user.line("    user time", self.unit)])


@dataclasses.dataclass
class Row:
    """`measure(binaries, rounds, scale)` returns total CPU or memory by server, and user time by server or None."""
    name: str
    unit: str
    target: Target
    measure: object
    user_target: Target | None = None

    def figure(self, binaries, rounds, scale):
        costs, user = self.measure(binaries, rounds, scale)
        floor = costs.pop(BareLoop.name, None)
        if user is not None:
            user.pop(BareLoop.name, None)
        return Figure(self.name, self.unit, Costs(costs, self.target), user and Costs(user, self.user_target), floor)


def cpu_row(workload, setup=Setup("")):
    def measure(binaries, rounds, scale):
        with contextlib.ExitStack() as stack:
            servers = [stack.enter_context(setup.start(name, binary)) for name, binary in binaries]
            if not setup.name and bare_loop_of(binaries[0][1]).exists():
                servers.append(stack.enter_context(BareLoop(bare_loop_of(binaries[0][1]))))
            medians = rounds_of(workload, servers, rounds, scale, client=setup.client)
        return ({name: sample.cpu_us for name, sample in medians.items()},
                {name: sample.user_us for name, sample in medians.items()})
    place = f", {setup.name}" if setup.name else ""
    return Row(workload.name + place, "µs", workload.target.cpu, measure, workload.target.user)


def memory_row(name, target, count, data):
    def measure(binaries, _rounds, _scale):
        costs = {}
        for server_name, binary in binaries:
            with Server(server_name, binary) as server:
                empty = server.rss_bytes()
                load_commands(server, data())
                costs[server_name] = (server.rss_bytes() - empty) / count
        return costs, None
    return Row(f"memory: {name}", "bytes", target, measure)


def all_rows():
    rows = [cpu_row(workload) for workload in PLAIN]
    rows += [cpu_row(workload, setup) for setup in SETUPS for workload in PLAIN if workload.name in IN_SETUPS]
    return rows + [memory_row(*kind) for kind in MEMORY]


# ---- the gate -------------------------------------------------------------------------------------------------------

def worsening(figure, before):
    """Returns how much the row got worse, against the peer with the smallest change: 1.1 is 10 % worse."""
    common = {name: ratio / before[name] for name, ratio in figure.costs.ratios().items() if name in before}
    return min(common.values()) if common else 1


def gate(figures, rows, binaries, options):
    """Prints the rows that got worse, and returns their number."""
    known = json.loads(options.baseline.read_text())["rows"]
    got_worse = []
    for figure in figures:
        before = known.get(figure.row)
        if before is None or worsening(figure, before) <= WORSE:
            continue
        again = rows[figure.row].figure(binaries, 2 * options.rounds + 1, options.scale)
        if worsening(again, before) > WORSE:
            got_worse.append((again, before))
    for figure, before in got_worse:
        print(f"WORSE by {100 * (worsening(figure, before) - 1):.0f} %: {figure.row}: ratios {figure.costs.ratios()}, before {before}")
    missing = sorted(set(known) - {figure.row for figure in figures}) if not options.only else []
    for row in missing:
        print(f"MISSING: {row} is in {options.baseline.name}, and was not measured")
    unknown = [figure.row for figure in figures if not set(figure.costs.ratios()) & set(known.get(figure.row, {}))]
    if unknown:
        print(f"Not compared, because {options.baseline.name} has no figures of these rows with these servers: {', '.join(unknown)}")
    if not got_worse and not missing:
        print(f"Nothing got worse than in {options.baseline.name} by more than {100 * (WORSE - 1):.0f} %.")
    return len(got_worse) + len(missing)


def save(figures, label, path):
    path.write_text(json.dumps({"version": label, "rows": {figure.row: figure.costs.ratios() for figure in figures}}, indent=1) + "\n")


def as_json(figures, binaries):
    return {"machine": f"{processor()}, {platform.system()} {platform.release()}",
            "servers": {name: version_of(binary) for name, binary in binaries},
            "rows": [dataclasses.asdict(figure) for figure in figures]}


# ---- the page -------------------------------------------------------------------------------------------------------

BEGIN, END = "<!-- figures: written by bench/peers.py -->", "<!-- end of figures -->"


TABLES = [  # unit, title, what the title means, which Costs of a figure the table has
    ("µs", "Server CPU per request", "User and system time.", lambda figure: figure.costs),
    ("µs", "User time per request", "Without the kernel's part. It is estimated from samples: in short rounds single figures may be off by a quarter.",
     lambda figure: figure.user),
    ("bytes", "Memory per entry", "", lambda figure: figure.costs)]


def table_of(figures, costs_of=lambda figure: figure.costs):
    peers = list(costs_of(figures[0]).ratios())
    unit = figures[0].unit
    has_floor = any(figure.floor is not None and costs_of(figure) is figure.costs for figure in figures)
    heads = ["row", f"Respite, {unit}", *(f"over {peer}" for peer in peers), "target for the best"]
    lines = [heads + ["a bare loop over the best"] * has_floor, ["---"] + ["---:"] * (len(heads) - 1 + has_floor)]
    for figure in figures:
        costs = costs_of(figure)
        met = "met" if costs.is_met() else "**missed**"
        cells = [figure.row, f"{costs.ours():.2f}", *(f"{costs.ratios()[peer]:.2f}" for peer in peers),
                 f"{costs.target.text(unit)} {met}"]
        floor = "" if figure.floor is None else f"{figure.floor_ratio():.2f}"
        lines.append(cells + [floor] * has_floor)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def write_page(page, figures, binaries):
    """Replaces the text between the marks of the page."""
    text = page.read_text()
    before, rest = text.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    versions = "; ".join(version_of(binary) for _, binary in binaries)
    parts = [f"Machine: {processor()}, {platform.system()} {platform.release()}. Servers: {versions}."]
    for unit, title, note, costs_of in TABLES:
        chosen = [figure for figure in figures if figure.unit == unit and costs_of(figure)]
        if chosen:
            parts.append(f"**{title}** {note}".rstrip() + f"\n\n{table_of(chosen, costs_of)}")
    page.write_text(before + BEGIN + "\n\n" + "\n\n".join(parts) + "\n\n" + END + after)


# ---- the run --------------------------------------------------------------------------------------------------------

def processor():
    with contextlib.suppress(OSError, StopIteration):
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return platform.machine()


def version_of(binary):
    return subprocess.run([binary, "--version"], capture_output=True, text=True, check=True).stdout.strip()


def peers_of(options):
    """Returns names and programs. Prints which servers are missing."""
    if options.peers:
        found, missing = [oracles.oracle_at(path) for path in options.peers], []
    else:
        found, missing = oracles.bench_oracles()
    for reason in missing:
        print(reason)
    return [(oracle.label, oracle.program) for oracle in found if oracle]


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", type=pathlib.Path, required=True, help="our binary")
    parser.add_argument("--peers", type=comma_list(str), default=[], help="binaries; default: the newest that are prepared")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the number of requests")
    parser.add_argument("--only", action="append", default=[], metavar="TEXT", help="rows whose names contain it; repeatable")
    parser.add_argument("--json", type=pathlib.Path, help="a file for all figures")
    parser.add_argument("--page", type=pathlib.Path, help="a page with marks, between which the tables go")
    parser.add_argument("--plot", type=pathlib.Path, help="a folder for pictures (needs python3-matplotlib)")
    parser.add_argument("--baseline", type=pathlib.Path, default=BASELINE)
    parser.add_argument("--gate", action="store_true", help="fail if a row is worse than in the baseline")
    parser.add_argument("--save", action="store_true", help="make the figures the baseline")
    return parser.parse_args()


def main():
    options = parse_options()
    binaries = [("respite", options.server.absolute()), *peers_of(options)]
    if len(binaries) == 1:
        raise SystemExit("no server to compare with: ./dev setup, ./dev oracles")
    if not bare_loop_of(options.server).exists():
        print(f"no {bare_loop_of(options.server)}: what the kernel costs is not measured")
    rows = {row.name: row for row in all_rows() if not options.only or any(part in row.name for part in options.only)}
    print(f"Server CPU per request (50 connections, pipeline 16 where a row says no other), the user time in it, and memory; "
          f"{options.rounds} rounds; the ratio is to the best peer")
    figures = []
    for row in rows.values():
        figures.append(row.figure(binaries, options.rounds, options.scale))
        print("\n".join(figures[-1].lines()), flush=True)
    missed = [figure.row for figure in figures if not figure.is_met()]
    print(f"{len(figures) - len(missed)} of {len(figures)} rows are within all of their targets"
          + (f"; the others: {'; '.join(missed)}" if missed else ""))
    if options.json:
        options.json.write_text(json.dumps(as_json(figures, binaries), indent=1, ensure_ascii=False) + "\n")
    if options.page:
        write_page(options.page, figures, binaries)
    if options.plot:
        import plots  # only plots need the library
        plots.draw(figures, options.plot)
    worse = gate(figures, rows, binaries, options) if options.gate else 0
    if options.save:
        save(figures, version_of(options.server), options.baseline)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
