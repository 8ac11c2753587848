"""Differences of an oracle's replies and events from ours, for the suites that compare random commands. Each entry
names the versions (marks of oracles.Oracle; ALL for any), the command, a condition and the reason. docs/differences.md
lists differences from every Redis; marks in tests/transcripts and lua_programs.txt list the differences of their
requests. A server that emulates the oracle (--emulate) has fewer differences: those that it emulates are marked
`told`."""
import math
import re

from two_servers import value_of

ALL = None
SINCE_74 = ("7.4", "8.0", "8.6", "valkey 8.0", "valkey 8.1", "valkey 9.1")


def told(*versions):
    """Versions from which a server differs unless it emulates them."""
    return tuple(version + " not emulated" for version in versions)


PACKED = {b"$6\r\nintset\r\n", b"$8\r\nlistpack\r\n", b"$9\r\nquicklist\r\n", b"$9\r\nhashtable\r\n", b"$8\r\nskiplist\r\n"}
LAG_OR_MOMENT = re.compile(rb"(lag|entries-read)\r\n(:-?\d+|\$-1|_)|:\d{13}\r")
ENTRIES_READ = re.compile(rb"entries-read\r\n:(\d+)")
REFCOUNTS = {b":1\r\n", b":2147483647\r\n"}


def refused(words, ours, theirs):
    return theirs.startswith(b"-ERR") and not ours.startswith(b"-ERR")


def same_but_lag(words, ours, theirs):
    return LAG_OR_MOMENT.sub(b"", ours) == LAG_OR_MOMENT.sub(b"", theirs)


def read_less(words, ours, theirs):
    counts = zip(ENTRIES_READ.findall(ours), ENTRIES_READ.findall(theirs))
    return same_but_lag(words, ours, theirs) and any(int(one) < int(other) for one, other in counts)


def negative_offset(words, *_):
    upper = [word.upper() for word in words]
    return b"LIMIT" in upper and words[upper.index(b"LIMIT") + 1].startswith(b"-")


def in_the_past(words):
    """Returns whether the command gives a key a deadline in the past."""
    name = words[0].upper()
    if name in (b"EXPIRE", b"PEXPIRE"):
        return words[2].startswith(b"-") or words[2] == b"0"
    if name in (b"EXPIREAT", b"PEXPIREAT"):
        return _early(words[2])
    return any(each.upper() in (b"EXAT", b"PXAT") and _early(after) for each, after in zip(words, words[1:]))


def _early(moment):
    return re.fullmatch(rb"-?\d{1,10}", moment) is not None


def stored_nothing_over_expired(words, ours, theirs):
    """Of two lists of events: the last key is told as expired, not as deleted."""
    def as_deleted(event):
        return event[0].replace(b":expired", b":del"), b"del" if event[1] == b"expired" else event[1]
    return len(ours) == len(theirs) and all(other in (one, as_deleted(one)) for one, other in zip(ours, theirs))


def gets_and_compares_bad_digest(words):
    upper = [word.upper() for word in words]
    return b"GET" in upper[3:] and any(name in (b"IFDEQ", b"IFDNE") and len(digest) != 16 for name, digest in zip(upper[3:], words[4:]))


def only_overwrites(name):
    """Returns a condition on COMMAND GETKEYSANDFLAGS of a command whose key is OW in their reply, and RW in ours."""
    return lambda words, ours, theirs: words[2:3] and words[2].upper() == name and ours.replace(b"+RW", b"+OW", 1) == theirs


TRACKED = re.compile(rb"(pids|iids)-tracked\r\n:\d+")


def same_but_tracked(words, ours, theirs):
    return TRACKED.sub(b"", ours) == TRACKED.sub(b"", theirs) or same_but_lag(words, TRACKED.sub(b"", ours), TRACKED.sub(b"", theirs))


IDEMPOTENCE = re.compile(rb"^[*%]\d+|\$\d+\r\n(idmp-duration|idmp-maxsize|[pi]ids-tracked|iids-added|iids-duplicates)\r\n:\d+\r\n")


def same_but_idempotence(words, ours, theirs):
    return same_but_lag(words, IDEMPOTENCE.sub(b"", ours), IDEMPOTENCE.sub(b"", theirs))


def same_but_overwritten(words, ours, theirs):
    """Of two lists of events: theirs also tell that a value or its type was replaced."""
    return ours == [event for event in theirs if not {b"overwritten", b"type_changed"} & {event[1], event[0].partition(b":")[2]}]


def same_in_any_order(words, ours, theirs):
    def in_order(value):
        return sorted(map(repr, map(in_order, value))) if isinstance(value, list) else value
    return ours[:1] == theirs[:1] and in_order(value_of(ours)) == in_order(value_of(theirs))


def claims_after_history(words):
    """Returns whether XREADGROUP CLAIM reads new entries of a stream that follows one whose pending entries are read."""
    upper = [word.upper() for word in words]
    if b"CLAIM" not in upper or b"STREAMS" not in upper:
        return False
    rest = words[upper.index(b"STREAMS") + 1:]
    ids = rest[len(rest) // 2:]
    return any(one != b">" and b">" in ids[at + 1:] for at, one in enumerate(ids))


LATEST_FIELD_MS = 6 * 10**13


def too_late_for_field(words):
    """Returns whether the command gives fields a deadline of more than 46 bits (with some distance: the time is now)."""
    times = [(words[0].upper().endswith((b"HEXPIRE", b"HEXPIREAT")), words[2:3])]
    if words[0].upper() in (b"HSETEX", b"HGETEX"):
        times = [(each.upper() in (b"EX", b"EXAT"), [after]) for each, after in zip(words, words[1:])
                 if each.upper() in (b"EX", b"PX", b"EXAT", b"PXAT")]
    return any(re.fullmatch(rb"\d+", word) and int(word) * (1000 if in_seconds else 1) > LATEST_FIELD_MS
               for in_seconds, given in times for word in given)


def same_numbers(words, ours, theirs):
    return ours[:1] == theirs[:1] and _close(value_of(ours), value_of(theirs))


def _close(one, other):
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_close, one, other))
    try:
        return one == other or math.isclose(float(one.removeprefix(b",")), float(other.removeprefix(b",")), rel_tol=1e-14)
    except (AttributeError, ValueError):
        return False


def same_but_zeros_sign(words, ours, theirs):
    def plain(reply):
        return reply.replace(b",-0\r\n", b",0\r\n").replace(b"$2\r\n-0\r\n", b"$1\r\n0\r\n")
    return plain(ours) == plain(theirs)


WITH_SCORES = (b"ZRANGE", b"ZREVRANGE", b"ZRANGEBYSCORE", b"ZREVRANGEBYSCORE", b"ZRANGEBYLEX", b"ZREVRANGEBYLEX", b"ZSCORE",
               b"ZMSCORE", b"ZINCRBY", b"ZADD", b"ZPOPMIN", b"ZPOPMAX", b"ZMPOP", b"BZPOPMIN", b"BZPOPMAX", b"BZMPOP",
               b"ZRANDMEMBER", b"ZUNION", b"ZINTER", b"ZDIFF", b"ZRANK", b"ZREVRANK", b"EXEC", b"EVAL")

STORING = (b"BITOP", b"SINTERSTORE", b"SUNIONSTORE", b"SDIFFSTORE", b"ZINTERSTORE", b"ZUNIONSTORE", b"ZDIFFSTORE",
           b"ZRANGESTORE", b"GEOSEARCHSTORE", b"GEORADIUS", b"GEORADIUSBYMEMBER", b"SORT")

# (versions, command, whether it allows this of (request, our reply, their reply), why)
REPLIES = [
    *((("7.0",), name, same_numbers, "shortest digits since 7.2, instead of 17") for name in (*WITH_SCORES, b"ZSCAN")),
    (told("7.0"), b"XREAD", lambda words, ours, theirs: b"Unbalanced" in ours and b"Unbalanced" in theirs,
     "another way to name the command"),
    (told("7.0"), b"XINFO", lambda words, ours, theirs: b"active" in ours and b"active" not in theirs,
     "when a consumer was active came with 7.2"),
    (("7.0",), b"OBJECT", lambda words, ours, theirs: {ours, theirs} <= PACKED,
     "7.2 packs small lists and small sets that are not all integers, but not what GEOSEARCHSTORE stores"),
    (told("7.0"), b"ZRANK", lambda words, ours, theirs: b"wrong number" in theirs, "WITHSCORE came with 7.2"),
    (told("7.0"), b"ZREVRANK", lambda words, ours, theirs: b"wrong number" in theirs, "WITHSCORE came with 7.2"),
    (told("7.0", "7.2", "valkey 8.1", "valkey 9.1"), b"XREAD", lambda words, ours, theirs: b"+" in words and b"Invalid stream ID" in theirs,
     "`+` for the last entry came with 7.4"),
    *((told(*SINCE_74), name, refused, "looks at the arguments before it looks for the key")
      for name in (b"BITPOS", b"BITCOUNT")),
    *((told("8.0", "8.6"), name, same_numbers, "shortest digits, instead of 17")
      for name in (b"GEOPOS", b"GEOSEARCH", b"GEORADIUS", b"GEORADIUS_RO", b"GEORADIUSBYMEMBER", b"GEORADIUSBYMEMBER_RO")),
    (told("8.0", "8.6"), b"XREAD", lambda words, ours, theirs: b"Unbalanced" in ours and b"Unbalanced" in theirs, "names `+`, too"),
    (("8.6", "valkey 8.1", "valkey 9.1"), b"OBJECT", lambda words, ours, theirs: {ours, theirs} == {b"$6\r\nembstr\r\n", b"$3\r\nraw\r\n"},
     "the longest embedded string depends on the key's length, too"),
    (ALL, b"XINFO", read_less, "a group of ours has never read more entries than were added, as since 2026"),
    (told("7.0", "valkey 8.0") + ("7.2", "7.4", "8.6", "valkey 8.1", "valkey 9.1"), b"XINFO", same_but_lag,
     "counts what a group has read, and its lag, otherwise after deletions: ours are the values of Redis 7.2.9 and 7.4.4"),
    (told("8.6"), b"XINFO", same_but_idempotence, "tells of idempotent production"),
    *((told("valkey 9.1"), name, lambda words, ours, theirs: b"does not exist" in theirs, "names the member")
      for name in (b"GEOSEARCH", b"GEOSEARCHSTORE", b"GEORADIUSBYMEMBER", b"GEORADIUSBYMEMBER_RO")),
    (told("valkey 9.1"), b"GETEX", refused, "looks at the deadline before it looks for the key"),
    (told("7.4", "valkey 8.0", "valkey 8.1", "valkey 9.1"), b"XREAD", lambda words, ours, theirs: b"+" in words and b"last element ID is 0-0" in theirs,
     "`+` of a stream that never had an entry is refused"),
    (told(*SINCE_74), b"XREADGROUP", lambda words, ours, theirs: b"Invalid stream ID" in ours and b"The + ID is" in theirs,
     "says of `+` what it says of `$`"),
    (told("valkey 8.0", "valkey 8.1", "valkey 9.1"), b"BITCOUNT", lambda words, ours, theirs: b"not an integer" in ours and b"syntax error" in theirs,
     "looks at the unit before it looks at the last number"),
    (told("valkey 8.0", "valkey 8.1", "valkey 9.1"), b"BITCOUNT", lambda words, ours, theirs: len(words) == 3 and ours.startswith(b"-"), "the end may be left out"),
    *((told(*SINCE_74), name, negative_offset, "in large sets a negative offset counts from the end")
      for name in (b"ZRANGE", b"ZRANGEBYLEX", b"ZREVRANGEBYLEX", b"ZRANGEBYSCORE", b"ZREVRANGEBYSCORE")),
    *((("valkey 8.0", "valkey 8.1", "valkey 9.1"), name, same_but_zeros_sign, "packs fewer sets, and only those that are not packed keep the score -0")
      for name in WITH_SCORES),
    (("valkey 8.1", "valkey 9.1"), b"ZSCAN", same_numbers, "writes large scores without an exponent"),
    (("valkey 8.0", "valkey 8.1", "valkey 9.1"), b"OBJECT", lambda words, ours, theirs: {ours, theirs} == {b"$8\r\nlistpack\r\n", b"$8\r\nskiplist\r\n"},
     "what ZADD makes is sized by the number of its words"),
    (ALL, b"OBJECT", lambda words, ours, theirs: {ours, theirs} == REFCOUNTS,
     "Redis shares small integers, but not with COPY; we say of each small integer that it is shared"),
    (ALL, b"OBJECT", lambda words, ours, theirs: words[-1][:1] in b"uv" and {ours, theirs} <= PACKED,
     "what SUNIONSTORE and its sisters store is encoded by the order of elements, which is not certain; SORT of a small "
     "sorted set makes Redis convert it"),
]

REPLIES += [
    (("8.0", "8.6"), b"ACL", lambda words, ours, theirs: words[1:] == [b"CAT"] and b"json" in ours and b"json" not in theirs,
     "was built without the module of JSON"),
    *((("valkey 9.1",), name, lambda words, ours, theirs: b"can't be converted into double" in theirs, "an error of an earlier number")
      for name in (b"SORT", b"SORT_RO")),
    (("8.6",), b"XINFO", same_but_tracked, "forgets idempotent IDs when a timer looks for them; ours has them until their time only"),
    (("valkey 9.1",), b"OBJECT", lambda words, ours, theirs: {ours, theirs} == {b"$3\r\nint\r\n", b"$6\r\nembstr\r\n"},
     "a number that a script stores is not encoded as a number"),
    (("valkey 9.1",), b"ACL", lambda words, ours, theirs: b"has no permissions" in ours and b"has no permissions" in theirs and b"database" in ours + theirs,
     "names another reason, or the command instead of the database"),
    (("valkey 9.1",), b"ACL", lambda words, ours, theirs: words[3:4] in ([b"MOVE"], [b"COPY"]) and b"has no permissions" in theirs,
     "names another reason if selectors or databases limit the user"),
    (("8.6", "valkey 9.1"), b"COMMAND", only_overwrites(b"SINTERSTORE"), "the result only overwrites its key since 7.4"),
    (("valkey 9.1",), b"COMMAND", lambda words, ours, theirs: words[2].upper() == b"HSETEX" and ours.replace(b"update", b"insert") == theirs,
     "HSETEX only inserts"),
    (("valkey 9.1",), b"COMMAND", only_overwrites(b"SET"), "a SET with a comparison only overwrites its key"),
]

# Commands that are not sent because the data would differ afterwards: (versions, command, condition on the request,
# why).
AVOIDED = [
    (told(*SINCE_74), b"ZRANGESTORE", negative_offset, "in large sets a negative offset counts from the end"),
    (told("valkey 8.0", "valkey 8.1", "valkey 9.1"), b"SET", in_the_past, "what is stored with a deadline in the past is not stored at all"),
]

AVOIDED += [
    (("8.6",), b"SET", gets_and_compares_bad_digest, "replies two times, with the value and with an error"),
    (("8.6",), b"XREADGROUP", claims_after_history, "ignores CLAIM for streams after one whose pending entries are read"),
    (("valkey 9.1",), b"SORT", lambda words: b"STORE" in [word.upper() for word in words], "after a number that is out of range, valid numbers are errors, too"),
    *((("valkey 9.1",), name, too_late_for_field, "deadlines of fields may have 63 bits; ours have 46, as in Redis")
      for name in (b"HEXPIRE", b"HPEXPIRE", b"HEXPIREAT", b"HPEXPIREAT", b"HSETEX", b"HGETEX")),
    *((("valkey 9.1",), name, lambda words: [word.upper() for word in words[1:2]] == [b"FIELDS"], "takes a key named FIELDS for the option")
      for name in (b"HSETEX", b"HGETEX")),
]

# (versions, command, whether it allows this of (words, our events, their events), why)
EVENTS = [
    (ALL, b"BITFIELD", lambda words, *_: b"FAIL" in map(bytes.upper, words), "a string that only became longer is a change here"),
    *((ALL, name, stored_nothing_over_expired, "an empty result over an expired key: the key is told as expired, not as deleted")
      for name in STORING),
    *((told("8.6"), name, same_but_overwritten, "overwritten and type_changed came with Redis 8.2")
      for name in (*STORING, b"SET", b"SETEX", b"PSETEX", b"GETSET", b"MSET", b"MSETNX", b"RESTORE", b"RENAME", b"COPY")),
    *((told("valkey 8.1", "valkey 9.1"), name, lambda words, *_: in_the_past(words), "the key is told as expired, not as deleted")
      for name in (b"GETEX", b"EXPIRE", b"PEXPIRE", b"EXPIREAT", b"PEXPIREAT", b"RESTORE")),
    (("7.0",), b"SCAN", lambda *_: True, "7.2 tells of no key that SCAN TYPE misses"),
    (("7.0",), b"XREADGROUP", lambda *_: True, "7.2 tells of a new consumer also when nothing was read"),
]

# Lines of key_events_test.py with other propagated commands in an append-only file: (versions, how the line begins, why).
EFFECTS_LINES = [
    *((("7.0",), line, "writes a deadline in capitals whatever the client wrote")
      for line in ("set k v pxat", "Set k v xx get PxAt")),
    (("8.6", "valkey 9.1"), "set k v exat", "keeps the command's name as the client wrote it; ours is SET"),
    (("8.6",), "HINCRBYFLOAT h f", "HSETEX KEEPTTL, which older replicas do not know; ours is HSET if the field has no deadline"),
]

# Versions whose digest of a sorted set differs although the scores are the same: (versions, why)
DIGESTS_OF_SCORES = [
    (("7.0",), "takes it of other digits"),
    (("valkey 8.0", "valkey 8.1", "valkey 9.1"), "has -0 where we have 0: it packs fewer sets, and those that are packed lose the sign"),
]

# (versions, the names of two encodings, why)
ENCODINGS = [
    (("8.6", "valkey 8.1", "valkey 9.1"), {b"embstr", b"raw"}, "the longest embedded string depends on the key's length, too"),
]

# (versions, command, condition on the value, why): DUMP writes the same value with other bytes.
OCTETS = [
    (("8.0", "8.6", "valkey 8.1", "valkey 9.1"), "RPUSH", lambda parts: max(len(str(part)) for part in parts) > 8192,
     "an element that is longer than a node may be has a node of its own"),
]

# Numbers in arguments: (versions, command, argument, why).
BLOCKING = ("blmove", "blmpop", "blpop", "brpop", "brpoplpush", "bzmpop", "bzpopmax", "bzpopmin")
NUMBERS = [
    (("7.0",), "zincrby", "increment", "texts of numbers"),
    (("7.0",), "lpos", "rank", "the error's text"),
    *((("7.0",), name, "timeout", "what a timeout beyond all time is called") for name in ("wait", *BLOCKING)),
    (("7.0",), "client|kill", "maxage", "came with 7.4"),
    (("7.0",), "client|list", "maxage", "came with Valkey 8.1"),
    *((("7.0",), "set", digest, "came with Redis 8.4") for digest in ("ifdeq-digest", "ifdne-digest")),
    *((("7.0",), name, limit, "came with Redis 8.10") for name in ("xread", "xreadgroup") for limit in ("maxcount", "maxsize")),
    (("7.0",), "xreadgroup", "min-idle-time", "came with Redis 8.4"),
    *((("7.0",), name, filter_, "came with Valkey 9")
      for name in ("client|kill", "client|list") for filter_ in ("idle", "db", "not-db", "not-client-id")),
    (("valkey 9.1",), "hsetex", "numfields", "a negative number is doubled to 2 because it overflows"),
    *((("valkey 9.1",), name, moment, "deadlines of fields may have 63 bits; ours have 46, as in Redis")
      for name, moment in (("hpexpire", "milliseconds"), ("hpexpireat", "unix-time-milliseconds"), ("hgetex", "milliseconds"),
                           ("hgetex", "unix-time-milliseconds"), ("hsetex", "milliseconds"), ("hsetex", "unix-time-milliseconds"))),
    *((("7.0",), name, "milliseconds", "what a timeout beyond all time is called") for name in ("xread", "xreadgroup")),
]

# Numbers that end the oracle: (versions, command, argument, value, why).
CRASHES = [
    (("8.6",), name, "numfields", "2147483647", "takes memory for as many fields before it counts them")
    for name in ("hexpire", "hpexpire", "hexpireat", "hpexpireat")
]


def _marks(mark, emulated):
    return {mark} if emulated else {mark, *told(mark)}


def replies(mark, emulated=False):
    marks = _marks(mark, emulated)
    return [(command, allows) for versions, command, allows, _ in REPLIES if versions is ALL or marks & set(versions)]


def events(mark, emulated=False):
    marks = _marks(mark, emulated)
    return [(command, allows) for versions, command, allows, _ in EVENTS if versions is ALL or marks & set(versions)]


def avoided(mark, words, emulated=False):
    marks = _marks(mark, emulated)
    return any(marks & set(versions) and words[0].upper() == command and of(words) for versions, command, of, _ in AVOIDED)


def digests_of_scores(mark):
    return any(mark in versions for versions, _ in DIGESTS_OF_SCORES)


def effects_line(mark, line):
    return any(mark in versions and line.startswith(start) for versions, start, _ in EFFECTS_LINES)


def encodings(mark, one, other):
    return any(mark in versions and {one, other} == names for versions, names, _ in ENCODINGS)


def octets(mark, command, parts):
    return any(mark in versions and command == known and of(parts) for versions, known, of, _ in OCTETS)


def crashes(mark, *request):
    return any(mark in versions and request == tuple(each) for versions, *each, _ in CRASHES)


def number(mark, command, argument):
    return any(mark in versions and [command, argument] == each for versions, *each, _ in NUMBERS)
