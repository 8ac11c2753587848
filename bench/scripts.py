"""Scripts against redis-server: the CPU cost of one call on the server, as EVAL, as EVALSHA and as a function."""
import contextlib
import dataclasses
import hashlib
import json
import statistics
import typing

from side_by_side import CONNECTIONS, Server, load_commands, request, verdict

PIPELINE = 4
OWNER = b"b60a9c8c-92f8-4bfe-b0e7-308967346336:1"

UNLOCK = b"""if redis.call('get', KEYS[1]) == ARGV[1] then
    return redis.call('del', KEYS[1])
else
    return 0
end"""

REENTRANT_LOCK = (b"if ((redis.call('exists', KEYS[1]) == 0) or (redis.call('hexists', KEYS[1], ARGV[2]) == 1)) then "
                  b"redis.call('hincrby', KEYS[1], ARGV[2], 1); redis.call('pexpire', KEYS[1], ARGV[1]); return nil; "
                  b"end; return redis.call('pttl', KEYS[1]);")

REENTRANT_UNLOCK = (b"if (redis.call('hexists', KEYS[1], ARGV[3]) == 0) then return nil;end; "
                    b"local counter = redis.call('hincrby', KEYS[1], ARGV[3], -1); "
                    b"if (counter > 0) then redis.call('pexpire', KEYS[1], ARGV[2]); return 0; "
                    b"else redis.call('del', KEYS[1]); redis.call('publish', KEYS[2], ARGV[1]); return 1; end; return nil;")

SECKILL = b"""local voucherId = ARGV[1]
local userId = ARGV[2]
local orderId = ARGV[3]
local stockKey = 'seckill:stock:' .. voucherId
local orderKey = 'seckill:order:' .. voucherId
if tonumber(redis.call('get', stockKey)) <= 0 then return 1 end
if redis.call('sismember', orderKey, userId) == 1 then return 2 end
redis.call('incrby', stockKey, -1)
redis.call('sadd', orderKey, userId)
redis.call('xadd', 'stream.orders', '*', 'userId', userId, 'voucherId', voucherId, 'id', orderId)
return 0"""

COUNT_TO_1000 = b"for i = 1, 1000 do redis.call('incr', KEYS[1]) end return 1"
RECODE = b"return #cjson.encode(cjson.decode(ARGV[1]))"
LIBRARY = b"#!lua name=bench\nredis.register_function('owner', function(keys, args)\n" \
          b"  if redis.call('get', keys[1]) == args[1] then return 1 end\n  return 0\nend)"


def document():
    """Returns about 2 KB of JSON, similar to an order of a shop."""
    items = [{"sku": f"A-{4711 + i}", "title": f"Article number {i}", "price": 19.5 + i, "amount": i % 3 + 1, "gift": i % 2 == 0}
             for i in range(22)]
    return json.dumps({"order": 1700000000123, "user": {"id": 1001, "name": "Jack"}, "items": items, "note": None}).encode()


@dataclasses.dataclass
class Workload:
    """Calls whose replies have one line each. `words(i)` is the number of keys, the keys and the arguments of call i."""
    title: str
    target: typing.Optional[float]
    calls: int
    script: bytes
    words: typing.Callable
    prepare: typing.Callable = lambda server, calls: None


def lock_key(i):
    return b"lock:%d" % i


def hold_plain_locks(server, calls):
    load_commands(server, ((b"SET", lock_key(i), OWNER) for i in range(calls)))


def hold_reentrant_locks(server, calls):
    for name in (b"HSET", b"PEXPIRE"):
        words = (OWNER, b"1") if name == b"HSET" else (b"300000",)
        load_commands(server, ((name, lock_key(i), *words) for i in range(calls)))


def workloads():
    text = document()
    return [
        Workload("return 1", .6, 100_000, b"return 1", lambda i: (b"0",)),
        Workload("unlock: get, del", .6, 60_000, UNLOCK, lambda i: (b"1", lock_key(i), OWNER), hold_plain_locks),
        Workload("re-entrant lock", .6, 60_000, REENTRANT_LOCK, lambda i: (b"1", lock_key(i), b"300000", OWNER)),
        Workload("re-entrant unlock", .6, 60_000, REENTRANT_UNLOCK,
                 lambda i: (b"2", lock_key(i), b"redisson_lock__channel:{lock}", b"0", b"300000", OWNER), hold_reentrant_locks),
        Workload("seckill", .6, 60_000, SECKILL, lambda i: (b"0", b"7", b"%d" % i, b"%d" % (i + 100_000)),
                 lambda server, calls: server.do("SET", "seckill:stock:7", calls)),
        Workload("1000 times incr", .5, 2_000, COUNT_TO_1000, lambda i: (b"1", b"counter:%d" % (i % 16))),
        Workload(f"cjson, {len(text)} bytes", .8, 10_000, RECODE, lambda i: (b"0", text)),
    ]


def batches(form, words, calls):
    """Returns the PIPELINE calls that each connection sends together."""
    for first in range(0, calls, PIPELINE):
        yield b"".join([request(*form, *words(i)) for i in range(first, first + PIPELINE)])


def cpu_per_call(server, form, words, calls):
    """Returns CPU in µs. Sends the calls over all connections in turn and waits for every reply."""
    calls -= calls % (PIPELINE * CONNECTIONS)
    source = batches(form, words, calls)
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(server.connect()) for _ in range(CONNECTIONS)]
        before = server.cpu_ns()
        for _ in range(calls // (PIPELINE * CONNECTIONS)):
            for connection in connections:
                connection.sendall(next(source))
            for connection in connections:
                read_lines(connection, PIPELINE)
        return (server.cpu_ns() - before) / 1000 / calls


def read_lines(connection, lines):
    while lines > 0:
        data = connection.recv(1 << 16)
        if not data or data.startswith(b"-"):
            raise SystemExit(f"a script failed: {data.decode()}")
        lines -= data.count(b"\n")


def one_round(server, workload, form, calls):
    server.do("FLUSHALL")
    workload.prepare(server, calls)
    return cpu_per_call(server, form, workload.words, calls)


def measure(servers, workload, form, options):
    """Returns medians of Respite and of redis-server."""
    calls = max(PIPELINE * CONNECTIONS, int(workload.calls * options.scale))
    samples = {server.name: [] for server in servers}
    for _ in range(options.rounds):
        for server in servers:
            samples[server.name].append(one_round(server, workload, form, calls))
    return [statistics.median(samples[server.name]) for server in servers]


def show(title, figures, target):
    ours, theirs = figures
    judged = "" if target is None else "   " + verdict(ours / theirs, target)
    print(f"  {title:30} {ours:8.2f} µs, redis {theirs:8.2f} µs   CPU {ours / theirs:.2f}{judged}", flush=True)
    return ours


def compare_forms(servers, workload, options):
    digest = hashlib.sha1(workload.script).hexdigest().encode()
    for server in servers:
        load_commands(server, [(b"SCRIPT", b"LOAD", workload.script)])
    plain = show(workload.title, measure(servers, workload, (b"EVAL", workload.script), options), workload.target)
    cached = show("    EVALSHA", measure(servers, workload, (b"EVALSHA", digest), options), workload.target)
    if cached > plain * 1.05:  # more than measurement noise
        print(f"    EVALSHA takes {cached / plain:.2f} of EVAL   MISSED")


def scripts(options, binaries):
    print(f"\nScripts, {CONNECTIONS} connections, pipeline {PIPELINE}, medians of {options.rounds} rounds: CPU per call")
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(Server(name, binary)) for name, binary in binaries]
        for workload in workloads():
            compare_forms(servers, workload, options)
        for server in servers:
            load_commands(server, [(b"FUNCTION", b"LOAD", LIBRARY)])
        function = Workload("function: get", .6, 100_000, b"", lambda i: (b"1", lock_key(i), OWNER), hold_plain_locks)
        show("FCALL, " + function.title, measure(servers, function, (b"FCALL", b"owner"), options), function.target)
