"""The other data types against redis-server: CPU of typical commands, memory of large collections."""
import contextlib
import random

from side_by_side import Server, load_commands, verdict
from workloads import Workload, rounds_of

FIELDS = MEMBERS = 100_000
MANY = 1_000_000
LISTS = 1000
BITMAP_BYTES = 10_000_000
RAND = "__rand_int__"  # redis-benchmark replaces it by twelve digits


# ---- data -----------------------------------------------------------------------------------------------------------

def shuffled(count):
    numbers = list(range(count))
    random.Random(1).shuffle(numbers)
    return numbers


def big_hash():
    return ((b"HSET", b"h", b"f:%012d" % i, b"v" * 32) for i in range(FIELDS))


def small_hashes(count=FIELDS):
    return ((b"HSET", b"u:%012d" % i, b"name", b"n%07d" % i, b"age", b"%d" % (i % 90), b"city", b"Paris",
             b"mail", b"u%d@example.org" % i, b"score", b"%d" % i) for i in shuffled(count))


def full_lists(elements=1000):
    """Fills each list with that many elements, a multiple of 100."""
    return ((b"RPUSH", b"l:%012d" % i, *[b"x" * 32] * 100) for _ in range(elements // 100) for i in range(LISTS))


def one_list(count=1000):
    return ((b"RPUSH", b"list", b"element:%06d" % i) for i in range(count))


def big_set():
    return ((b"SADD", b"s", b"m:%012d" % i) for i in range(MEMBERS))


def big_sorted_set():
    return ((b"ZADD", b"z", b"%d" % random.randrange(MANY), b"m:%012d" % i) for i in shuffled(MANY))


def two_sets():
    for key, first in ((b"s1", 0), (b"s2", MEMBERS // 2)):
        yield from ((b"SADD", key, b"m:%012d" % i) for i in range(first, first + MEMBERS))


def two_sorted_sets():
    for key, first in ((b"z1", 0), (b"z2", MEMBERS // 2)):
        yield from ((b"ZADD", key, b"%d" % (i * 7919 % MEMBERS), b"m:%012d" % i) for i in range(first, first + MEMBERS))


def numbers_to_sort():
    return ((b"RPUSH", b"numbers", b"%d" % (i * 7919 % 10_007)) for i in range(10_000))


def entries(count):
    return ((b"XADD", b"s", b"*", b"f1", b"v1", b"f2", b"v2") for _ in range(count))


def orders():
    """Creates enough entries for a little more than four rounds of XREADGROUP."""
    yield from ((b"XADD", b"s", b"%d-1" % i, b"item", b"order:%07d" % i, b"amount", b"%d" % (i % 900)) for i in range(1, 400_000))
    yield b"XGROUP", b"CREATE", b"s", b"g", b"0"


def bitmaps():
    noise = random.Random(3).randbytes(BITMAP_BYTES)
    return ((b"SET", key, noise[::step]) for key, step in ((b"b1", 1), (b"b2", -1)))


def places():
    """A thousand of the places are within 200 km of Palermo."""
    rng = random.Random(4)
    for i in range(FIELDS):
        near = i % 100 == 0
        longitude, latitude = (rng.uniform(12.6, 14.2), rng.uniform(37.4, 38.9)) if near else (rng.uniform(20, 170),
                                                                                               rng.uniform(-60, 60))
        yield b"GEOADD", b"geo", b"%f" % longitude, b"%f" % latitude, b"p%d" % i


# ---- CPU ------------------------------------------------------------------------------------------------------------

WORKLOADS = [
    Workload("HSET big", .65, ["hset", "h", f"f:{RAND}", "v" * 32], 500_000, big_hash),
    Workload("HGET big", .65, ["hget", "h", f"f:{RAND}"], 500_000, big_hash),
    Workload("HSET small", .65, ["hset", f"u:{RAND}", "city", "London"], 500_000, small_hashes),
    Workload("HGET small", .65, ["hget", f"u:{RAND}", "mail"], 500_000, small_hashes),
    Workload("LPUSH", .7, ["lpush", f"l:{RAND}", "x" * 32], 500_000, keys=LISTS),
    Workload("RPOP", .7, ["rpop", f"l:{RAND}"], 200_000, full_lists, keys=LISTS),
    Workload("LRANGE 100", .7, ["lrange", "list", "0", "99"], 100_000, one_list),
    Workload("LRANGE 600", .7, ["lrange", "list", "0", "599"], 30_000, one_list),
    Workload("SADD", .65, ["sadd", "s", f"m:{RAND}"], 500_000),
    Workload("SISMEMBER", .65, ["sismember", "s", f"m:{RAND}"], 500_000, big_set),
    Workload("ZADD", .5, ["zadd", "z", RAND, f"m:{RAND}"], 1_000_000, keys=MANY),
    Workload("ZRANGE 10", .5, ["zrange", "z", RAND, "+inf", "byscore", "limit", "0", "10"], 200_000, big_sorted_set, keys=MANY),
    Workload("ZRANK", .5, ["zrank", "z", f"m:{RAND}"], 300_000, big_sorted_set, keys=MANY),
    Workload("XADD MAXLEN ~", .7, ["xadd", "s", "maxlen", "~", "10000", "*", "item", "order:0012345", "amount", "42"], 500_000),
    Workload("XRANGE 100", .8, ["xrange", "s", "20050", "+", "count", "100"], 50_000, orders),
    Workload("XREADGROUP", .8, ["xreadgroup", "group", "g", "c", "count", "1", "streams", "s", ">"], 50_000, orders),
    Workload("SINTER", .6, ["sinter", "s1", "s2"], 30, two_sets, pipeline=1, connections=1),
    Workload("ZUNIONSTORE", .6, ["zunionstore", "z3", "2", "z1", "z2"], 15, two_sorted_sets, pipeline=1, connections=1),
    Workload("SORT 10k", .6, ["sort", "numbers"], 200, numbers_to_sort, pipeline=1, connections=1),
    Workload("BITCOUNT 10MB", .8, ["bitcount", "b1"], 300, bitmaps, pipeline=1, connections=1, batch=10),
    Workload("BITOP 10MB", .8, ["bitop", "xor", "b3", "b1", "b2"], 100, bitmaps, pipeline=1, connections=1,
             batch=10),
    Workload("PFADD", .8, ["pfadd", "p", f"e:{RAND}"], 500_000, keys=MANY),
    Workload("GEOSEARCH", .8, ["geosearch", "geo", "fromlonlat", "13.361389", "38.115556", "byradius", "200", "km"], 1000,
             places, pipeline=1, connections=1),
]


def types(options, binaries):
    print(f"\nData types, server CPU per request, medians of {options.rounds} rounds")
    for workload in WORKLOADS:
        if not options.workloads or workload.name in options.workloads:
            measure(workload, options, binaries)


def measure(workload, options, binaries):
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(Server(name, binary)) for name, binary in binaries]
        medians = rounds_of(workload, servers, options.rounds, options.scale)
    ours, theirs = (medians[server.name].cpu_us for server in servers)
    ratio = ours / theirs
    print(f"  {workload.name:14} {ours:11.3f} µs, redis {theirs:11.3f} µs   CPU {ratio:.2f}   {verdict(ratio, workload.target)}",
          flush=True)


# ---- memory ---------------------------------------------------------------------------------------------------------

COLLECTIONS = [  # name, Respite's memory divided by redis-server's, elements, data
    ("sorted set", .75, MANY, lambda: ((b"ZADD", b"z", b"%d" % (i * 7), b"member:%09d" % i) for i in shuffled(MANY))),
    ("hash", .75, MANY, lambda: ((b"HSET", b"h", b"field:%08d" % i, b"value:%06d" % i) for i in shuffled(MANY))),
    ("small hashes", .85, MANY, lambda: small_hashes(MANY)),
    ("list", .8, MANY, lambda: one_list(MANY)),
    ("stream", .9, MANY, lambda: entries(MANY)),
    ("set of integers", .6, MANY, lambda: ((b"SADD", b"s", b"%d" % i) for i in shuffled(MANY))),
]


def collections(options, binaries):
    print("\nMemory of collections of a million elements (small hashes: a million of five fields), bytes of RSS per element")
    for name, target, count, data in COLLECTIONS:
        spent = []
        for server_name, binary in binaries:
            with Server(server_name, binary) as server:
                empty = server.rss_bytes()
                load_commands(server, data())
                spent.append((server.rss_bytes() - empty) / count)
        ratio = spent[0] / spent[-1]
        print(f"  {name:16} {spent[0]:6.1f}, redis {spent[-1]:6.1f}   {ratio:.2f}   {verdict(ratio, target)}", flush=True)
