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
redis-server, and the servers that `./dev oracles` has fetched. If a row got worse by more than 5 %, the gate measures
it again with more rounds before it reports the row. It exits with 1 if a row remains that got worse against all peers
that the baseline knows."""
import argparse
import contextlib
import dataclasses
import hashlib
import json
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
from side_by_side import VALUE, BareLoop, Server, comma_list, load_commands, verdict  # noqa: E402
from workloads import Workload, rounds_of  # noqa: E402

BASELINE = pathlib.Path(__file__).with_name("baseline.json")
WORSE = 1.05
PASSWORD = "bench"
KEYS = 100_000


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
    Workload("GET", .50, "get", 1_500_000, strings),
    Workload("SET", .50, "set", 1_500_000),
    Workload("INCR", .50, "incr", 1_500_000),
    Workload("MSET 10", .50, "mset", 150_000),
    Workload("LPUSH", .50, ["lpush", f"l:{RAND}", "x" * 32], 1_000_000, keys=1000),
    Workload("RPOP", .50, ["rpop", f"l:{RAND}"], 200_000, full_lists, keys=1000),
    Workload("LRANGE 100, pipeline 4", .50, ["lrange", "list", "0", "99"], 100_000, one_list, pipeline=4),
    Workload("SADD", .50, ["sadd", "s", f"m:{RAND}"], 1_000_000),
    Workload("SISMEMBER", .50, ["sismember", "s", f"m:{RAND}"], 1_000_000, big_set),
    Workload("HSET", .50, ["hset", "h", f"f:{RAND}", "v" * 32], 1_000_000),
    Workload("HGET", .50, ["hget", "h", f"f:{RAND}"], 1_000_000, big_hash),
    Workload("ZADD, 1 M members", .35, ADD, 1_000_000, keys=MANY),
    Workload("ZRANGE 10", .35, RANGE, 200_000, big_sorted_set, keys=MANY),
    Workload("XADD", .50, ENTRY, 600_000),
    Workload("EVAL unlock, pipeline 4", .60, ["eval", UNLOCK.decode(), "1", "lock", "me"], 300_000, pipeline=4),
    Workload("EVALSHA unlock, pipeline 4", .60, ["evalsha", UNLOCK_SHA, "1", "lock", "me"], 300_000, scripts_of_lock,
             pipeline=4),
    Workload("GET, pipeline 64", .50, "get", 2_000_000, strings, pipeline=64),
    Workload("SET, pipeline 64", .50, "set", 2_000_000, pipeline=64),
    Workload("GET, pipeline 1", .95, "get", 200_000, strings, pipeline=1),
    Workload("SET, pipeline 1", .95, "set", 200_000, pipeline=1),
]

# Rows that are measured again in other setups, named by their first word.
IN_SETUPS = ["GET", "SET", "INCR", "LPUSH", "HSET", "XADD"]

MEMORY = [  # name, Respite's memory divided by the best peer's, entries, data
    ("strings of 64 bytes", .75, MANY, lambda: strings(MANY)),
    ("small hashes", .65, MANY, lambda: small_hashes(MANY)),
    ("small lists", .65, MANY, lambda: ((b"RPUSH", b"l:%012d" % i, b"one", b"two", b"three") for i in range(MANY))),
    ("small sets", .65, MANY, lambda: ((b"SADD", b"s:%012d" % i, b"one", b"two", b"three") for i in range(MANY))),
    ("small sorted sets", .65, MANY, lambda: ((b"ZADD", b"z:%012d" % i, b"1", b"one", b"2", b"two") for i in range(MANY))),
    ("small streams", .65, KEYS, lambda: ((b"XADD", b"x:%012d" % i, b"*", b"field", b"value") for i in range(KEYS))),
    ("members of a sorted set", .75, MANY, lambda: ((b"ZADD", b"z", b"%d" % (i * 7), b"member:%09d" % i) for i in shuffled(MANY))),
    ("fields of a hash", .75, MANY, lambda: ((b"HSET", b"h", b"field:%08d" % i, b"value:%06d" % i) for i in shuffled(MANY))),
    ("entries of a stream", .90, MANY, lambda: entries(MANY)),
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
class Figure:
    """The cost of one row on all servers: microseconds of CPU per request, or bytes per entry."""
    row: str
    unit: str
    target: float
    costs: dict  # maps a server to its cost; Respite is the first
    floor: float | None = None  # the cost of the bare loop

    def ours(self):
        return next(iter(self.costs.values()))

    def ratios(self):
        """Returns Respite's cost divided by each peer's."""
        return {name: round(self.ours() / cost, 3) for name, cost in list(self.costs.items())[1:]}

    def ratio(self):
        """Returns Respite's cost divided by the best peer's."""
        return max(self.ratios().values())

    def floor_ratio(self):
        """Returns the bare loop's cost divided by the best peer's. None if it was not measured."""
        return None if self.floor is None else round(self.floor / min(list(self.costs.values())[1:]), 3)

    def line(self):
        floor = "" if self.floor is None else f"   bare loop {self.floor:.3f}, {self.floor_ratio():.2f}"
        costs = "  ".join(f"{name} {cost:8.3f}" for name, cost in self.costs.items())
        return f"  {self.row:44} {costs} {self.unit}   {self.ratio():.2f}   {verdict(self.ratio(), self.target)}{floor}"


@dataclasses.dataclass
class Row:
    """`measure(binaries, rounds, scale)` returns the row's costs, by server."""
    name: str
    unit: str
    target: float
    measure: object

    def figure(self, binaries, rounds, scale):
        costs = self.measure(binaries, rounds, scale)
        floor = costs.pop(BareLoop.name, None)
        return Figure(self.name, self.unit, self.target, costs, floor)


def bare_loop_of(server):
    return pathlib.Path(server).with_name("bench") / "bare_loop"


def cpu_row(workload, setup=Setup("")):
    def measure(binaries, rounds, scale):
        with contextlib.ExitStack() as stack:
            servers = [stack.enter_context(setup.start(name, binary)) for name, binary in binaries]
            if not setup.name and bare_loop_of(binaries[0][1]).exists():
                servers.append(stack.enter_context(BareLoop(bare_loop_of(binaries[0][1]))))
            medians = rounds_of(workload, servers, rounds, scale, client=setup.client)
        return {name: sample.cpu_us for name, sample in medians.items()}
    place = f", {setup.name}" if setup.name else ""
    return Row(workload.name + place, "µs", workload.target, measure)


def memory_row(name, target, count, data):
    def measure(binaries, _rounds, _scale):
        costs = {}
        for server_name, binary in binaries:
            with Server(server_name, binary) as server:
                empty = server.rss_bytes()
                load_commands(server, data())
                costs[server_name] = (server.rss_bytes() - empty) / count
        return costs
    return Row(f"memory: {name}", "bytes", target, measure)


def all_rows():
    rows = [cpu_row(workload) for workload in PLAIN]
    rows += [cpu_row(workload, setup) for setup in SETUPS for workload in PLAIN if workload.name in IN_SETUPS]
    return rows + [memory_row(*kind) for kind in MEMORY]


# ---- the gate -------------------------------------------------------------------------------------------------------

def worsening(figure, before):
    """Returns how much the row got worse, against the peer with the smallest change: 1.1 is 10 % worse."""
    common = {name: ratio / before[name] for name, ratio in figure.ratios().items() if name in before}
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
        print(f"WORSE by {100 * (worsening(figure, before) - 1):.0f} %: {figure.row}: ratios {figure.ratios()}, before {before}")
    missing = sorted(set(known) - {figure.row for figure in figures}) if not options.only else []
    for row in missing:
        print(f"MISSING: {row} is in {options.baseline.name}, and was not measured")
    if not got_worse and not missing:
        print(f"Nothing got worse than in {options.baseline.name} by more than {100 * (WORSE - 1):.0f} %.")
    return len(got_worse) + len(missing)


def save(figures, label, path):
    path.write_text(json.dumps({"version": label, "rows": {figure.row: figure.ratios() for figure in figures}}, indent=1) + "\n")


def as_json(figures, binaries):
    return {"machine": f"{processor()}, {platform.system()} {platform.release()}",
            "servers": {name: version_of(binary) for name, binary in binaries},
            "rows": [dataclasses.asdict(figure) for figure in figures]}


# ---- the page -------------------------------------------------------------------------------------------------------

BEGIN, END = "<!-- figures: written by bench/peers.py -->", "<!-- end of figures -->"


def table_of(figures):
    peers = list(figures[0].ratios())
    has_floor = any(figure.floor is not None for figure in figures)
    heads = ["row", f"Respite, {figures[0].unit}", *(f"over {peer}" for peer in peers), "target for the best"]
    lines = [heads + ["a bare loop over the best"] * has_floor, ["---"] + ["---:"] * (len(heads) - 1 + has_floor)]
    for figure in figures:
        met = "met" if figure.ratio() <= figure.target else "**missed**"
        cells = [figure.row, f"{figure.ours():.2f}", *(f"{figure.ratios()[peer]:.2f}" for peer in peers), f"{figure.target:.2f} {met}"]
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
    for unit, title in (("µs", "Server CPU per request"), ("bytes", "Memory per entry")):
        chosen = [figure for figure in figures if figure.unit == unit]
        if chosen:
            parts.append(f"**{title}**\n\n{table_of(chosen)}")
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
    found = [oracles.oracle_at(path) for path in options.peers] if options.peers else oracles.all_oracles()[0]
    return [(oracle.label, oracle.program) for oracle in found if oracle]


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", type=pathlib.Path, required=True, help="our binary")
    parser.add_argument("--peers", type=comma_list(str), default=[], help="binaries; default: all that are prepared")
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
    print(f"Server CPU per request (50 connections, pipeline 16 where a row says no other) and memory, medians of "
          f"{options.rounds} rounds; the ratio is to the best peer")
    figures = []
    for row in rows.values():
        figures.append(row.figure(binaries, options.rounds, options.scale))
        print(figures[-1].line(), flush=True)
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
