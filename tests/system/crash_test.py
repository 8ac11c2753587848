"""kill -9 during heavy writes, repeatedly: acknowledged writes must survive.

Several clients write, each to its own keys, without waiting for the replies one by one: strings, counters, lists,
hashes, sorted sets, streams, deadlines, MULTI groups and scripts that change several keys. After a random number of
replies the server is killed, restarted in the same directory, and all data is read. The keys of a client must be the
result of a prefix of its operations, with groups and scripts as a whole, and the prefix must include all acknowledged
operations. With `appendfsync everysec` a server may delay writes while the disk is busy, so there writes acknowledged
within the last two seconds may be missing.

A kill never truncates the data of a write(2), but a crash of the machine does: after some kills the last file is
truncated anywhere after its size at the start of the server. Then any prefix of the operations is valid.

A "house" is a directory with its own policy and directives, used by several servers one after another ("lives").
Meanwhile, rewrites and snapshots run on request and automatically.

    python3 tests/system/crash_test.py                                        the short run of the test suite
    python3 tests/system/crash_test.py --rounds 2000 --seed 1                 the long one
    python3 tests/system/crash_test.py --server /usr/bin/redis-server --no-torn

Redis truncates after the last whole command even inside a MULTI, so it later runs half of it; --no-torn avoids this."""
import argparse
import collections
import json
import os
import random
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import launcher

POLICIES = ("always", "everysec", "no")
LIVES = 5  # starts in one directory
CLIENTS = 6
POSTPONED_S = 2.5  # how long everysec delays a write, and a margin
MOST_REPLIES = 4000  # in one start
MOST_LENGTH = 40  # of a list or stream
SLACK_MS = 50
TORN_RATE = 0.4  # of the kills

# Runs each argument, a JSON array, as a command.
SCRIPT = "for _, text in ipairs(ARGV) do redis.call(unpack(cjson.decode(text))) end return #ARGV"


def encode(words):
    words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


class Replies:
    """Splits the bytes of a server into replies."""

    def __init__(self):
        self.data = b""
        self.position = 0

    def feed(self, data):
        self.data = self.data[self.position:] + data
        self.position = 0

    def _value(self, at):
        end = self.data.find(b"\r\n", at)
        if end < 0:
            return None
        kind, text, behind = self.data[at:at + 1], self.data[at + 1:end], end + 2
        if kind in b"+-":
            return (kind + text, behind)
        if kind == b":":
            return (int(text), behind)
        if kind == b"$":
            size = int(text)
            if size < 0:
                return (None, behind)
            if len(self.data) < behind + size + 2:
                return None
            return (self.data[behind:behind + size], behind + size + 2)
        assert kind == b"*", self.data[at:at + 100]
        items = []
        for _ in range(max(int(text), 0)):
            found = self._value(behind)
            if found is None:
                return None
            items.append(found[0])
            behind = found[1]
        return (items if int(text) >= 0 else None, behind)

    def __iter__(self):
        while True:
            found = self._value(self.position)
            if found is None:
                return
            self.position = found[1]
            yield found[0]


class Value:
    """The content of a key, and the range of its deadline (None: no deadline)."""

    def __init__(self, content, deadline=None):
        self.content = content
        self.deadline = deadline


class Effect:
    """One write command: its arguments, and its effect on the keys of a client."""

    def __init__(self, *words):
        self.words = words

    @property
    def keys(self):
        return [self.words[1]]

    def apply(self, state, sent_ms, done_ms):
        name, key = self.words[0], self.words[1]
        old = state.get(key)
        getattr(self, "_" + name.lower())(state, key, old, sent_ms, done_ms)

    def _set(self, state, key, _old, sent_ms, done_ms):
        deadline = None
        if len(self.words) > 3:
            deadline = (sent_ms + int(self.words[4]), done_ms + int(self.words[4]))
        state[key] = Value(str(self.words[2]).encode(), deadline)

    def _append(self, state, key, old, _sent_ms, _done_ms):
        state[key] = Value((old.content if old else b"") + self.words[2].encode(), old and old.deadline)

    def _pexpire(self, state, key, old, sent_ms, done_ms):
        if old:
            state[key] = Value(old.content, (sent_ms + int(self.words[2]), done_ms + int(self.words[2])))

    def _persist(self, state, key, old, _sent_ms, _done_ms):
        if old:
            state[key] = Value(old.content)

    def _del(self, state, key, _old, _sent_ms, _done_ms):
        state.pop(key, None)

    def _incrby(self, state, key, old, _sent_ms, _done_ms):
        state[key] = Value(str(int(old.content if old else b"0") + int(self.words[2])).encode(), old and old.deadline)

    def _lpush(self, state, key, old, _sent_ms, _done_ms):
        state[key] = Value([self.words[2].encode()] + (old.content if old else []))

    def _ltrim(self, state, key, old, _sent_ms, _done_ms):
        if old:
            state[key] = Value(old.content[:int(self.words[3]) + 1])

    def _xadd(self, state, key, old, _sent_ms, _done_ms):
        entry = [self.words[4].encode(), [self.words[5].encode(), self.words[6].encode()]]
        state[key] = Value(((old.content if old else []) + [entry])[-int(self.words[3]):])

    def _hset(self, state, key, old, _sent_ms, _done_ms):
        state[key] = Value({**(old.content if old else {}), self.words[2].encode(): self.words[3].encode()})

    def _hdel(self, state, key, old, _sent_ms, _done_ms):
        if old:
            fields = {field: value for field, value in old.content.items() if field != self.words[2].encode()}
            if fields:
                state[key] = Value(fields)
            else:
                del state[key]

    def _zadd(self, state, key, old, _sent_ms, _done_ms):
        state[key] = Value({**(old.content if old else {}), self.words[3].encode(): str(self.words[2]).encode()})


class Operation:
    """An atomic operation."""

    def __init__(self, effects, form):
        self.effects = effects
        self.form = form
        self.sent_ms = self.done_ms = 0
        self.acknowledged_s = None
        self.replies_left = len(effects) + 2 if form == "multi" else 1

    def text(self):
        if self.form == "multi":
            return encode(["MULTI"]) + b"".join(encode(effect.words) for effect in self.effects) + encode(["EXEC"])
        if self.form == "script":
            keys = sorted({key for effect in self.effects for key in effect.keys})
            texts = [json.dumps([str(word) for word in effect.words]) for effect in self.effects]
            return encode(["EVAL", SCRIPT, len(keys), *keys, *texts])
        return encode(self.effects[0].words)

    def apply(self, state, killed_ms):
        for effect in self.effects:
            effect.apply(state, self.sent_ms, self.done_ms or killed_ms)


class Client:
    """One connection, its keys, and its operations since they were last read."""

    def __init__(self, number, dice):
        self.number = number
        self.dice = dice
        self.database = number % 2
        self.count = 0  # operations over all starts
        self.state = {}
        self.operations = []
        self.waiting = collections.deque()
        self.depth = 1

    def key(self, name):
        return f"{self.number}:{name}"

    def all_keys(self):
        return [self.key(name) for name in ("s0", "s1", "s2", "s3", "e0", "e1", "n", "l", "x", "h", "z")]

    def begin(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.socket.sendall(encode(["SELECT", self.database]))
        assert self.socket.recv(100) == b"+OK\r\n"
        self.socket.setblocking(False)
        self.replies = Replies()
        self.unsent = b""
        self.depth = self.dice.choice((1, 4, 40))
        self.waiting.clear()

    def effect(self):
        dice, count = self.dice, self.count
        text = f"{count}:" + "v" * dice.choice((0, 10, 10, 100, 5000 if dice.random() < 0.1 else 60))
        if dice.random() < 0.01:
            text += "w" * 100_000
        string = self.key(f"s{dice.randrange(4)}")
        return Effect(*dice.choice((
            ("SET", string, text), ("SET", string, text), ("SET", string, text, "PX", dice.randrange(10**6, 10**7)),
            ("SET", self.key(f"e{dice.randrange(2)}"), text, "PX", dice.randrange(1, 300)),
            ("APPEND", string, f"+{count}"), ("PEXPIRE", string, dice.randrange(10**6, 10**7)), ("PERSIST", string),
            ("DEL", string), ("INCRBY", self.key("n"), dice.randrange(1, 5)), ("INCRBY", self.key("n"), 1),
            ("LPUSH", self.key("l"), text[:200]), ("LTRIM", self.key("l"), 0, dice.randrange(1, MOST_LENGTH)),
            ("XADD", self.key("x"), "MAXLEN", dice.randrange(1, MOST_LENGTH), f"{count}-{dice.randrange(1, 9)}", "f",
             text[:200]),
            ("HSET", self.key("h"), f"f{dice.randrange(10)}", text[:200]), ("HDEL", self.key("h"), f"f{count % 10}"),
            ("ZADD", self.key("z"), count, f"m{dice.randrange(20)}"))))

    def next_operation(self):
        self.count += 1
        form = self.dice.choices(("plain", "multi", "script"), (6, 2, 2))[0]
        effects = [self.effect() for _ in range(1 if form == "plain" else self.dice.randrange(1, 6))]
        # IDs of a stream always increase: each operation adds one entry.
        seen = set()
        effects = [effect for effect in effects
                   if effect.words[0] != "XADD" or (effect.words[0] not in seen and not seen.add(effect.words[0]))]
        return Operation(effects, form)

    def send(self):
        while len(self.waiting) < self.depth and len(self.unsent) < 1 << 20:
            operation = self.next_operation()
            operation.sent_ms = int(time.time() * 1000)
            self.operations.append(operation)
            self.waiting.append(operation)
            self.unsent += operation.text()
        if not self.unsent:
            return
        try:
            self.unsent = self.unsent[self.socket.send(self.unsent):]
        except BlockingIOError:
            pass

    def receive(self):
        """Returns the number of replies received; None if the connection is closed."""
        try:
            data = self.socket.recv(1 << 16)
        except BlockingIOError:
            return 0
        except ConnectionResetError:
            return None
        if not data:
            return None
        self.replies.feed(data)
        count = 0
        for reply in self.replies:
            count += 1
            self.take(reply)
        return count

    def take(self, reply):
        operation = self.waiting[0]
        bad = [part for part in (reply if isinstance(reply, list) else [reply])
               if isinstance(part, bytes) and part.startswith(b"-")]
        assert not bad, (bad, operation.form, [effect.words for effect in operation.effects])
        operation.replies_left -= 1
        if operation.replies_left == 0:
            operation.acknowledged_s = time.monotonic()
            operation.done_ms = int(time.time() * 1000)
            self.waiting.popleft()


def fits(value, actual, now_ms):
    """Returns whether the server's content and deadline (-1: none) match this value."""
    content, deadline_ms = actual
    if value is None:
        return content is None
    if content is None:
        return value.deadline is not None and value.deadline[0] - SLACK_MS <= now_ms
    if value.deadline is None:
        return content == value.content and deadline_ms == -1
    first_ms, last_ms = value.deadline
    return content == value.content and first_ms - SLACK_MS <= deadline_ms <= last_ms + SLACK_MS


class Loss(Exception):
    """The server lost acknowledged data."""


class House:
    """A directory, the directives of its servers, and their clients."""

    def __init__(self, program, policy, torn_rate, dice):
        self.program = program
        self.policy = policy
        self.torn_rate = torn_rate
        self.dice = dice
        self.folder = tempfile.mkdtemp(prefix="crash")
        self.path = os.path.join(self.folder, "server.sock")
        self.clients = [Client(number, dice) for number in range(CLIENTS)]
        self.directives = {
            "port": 0, "unixsocket": self.path, "dir": self.folder, "save": "", "appendonly": "yes",
            "appendfsync": policy, "aof-use-rdb-preamble": dice.choice(("yes", "no")),
            "aof-timestamp-enabled": dice.choice(("yes", "no")),
            "no-appendfsync-on-rewrite": dice.choice(("yes", "no")),
            "auto-aof-rewrite-percentage": dice.choice((0, 20, 100)), "auto-aof-rewrite-min-size": "64kb",
        }
        self.killed_s = self.killed_ms = None
        self.is_torn = False
        self.sizes = {}
        self.sent = self.acknowledged = self.lost = self.unacknowledged_kept = 0
        self.torn = self.rewritten = self.killed_while_rewriting = 0
        self.server = None

    def start(self):
        arguments = [word for name, value in self.directives.items() for word in ("--" + name, value)]
        if os.path.exists(self.path):
            os.remove(self.path)
        self.server = launcher.Launched(*arguments, program=self.program, cwd=self.folder)
        self.server.ready()
        self.sizes = {name: os.path.getsize(name) for name in self.incrementals()}

    def incrementals(self):
        """Returns the incremental files of the manifest, in order."""
        folder = os.path.join(self.folder, "appendonlydir")
        with open(os.path.join(folder, "appendonly.aof.manifest"), encoding="ascii") as manifest:
            return [os.path.join(folder, line.split()[1]) for line in manifest if line.split()[5] == "i"]

    def disturb(self):
        """Starts a background job; the server may refuse it."""
        self.control.sendall(encode([self.dice.choice(("BGREWRITEAOF", "BGSAVE", "BGREWRITEAOF"))]))

    def load_and_kill(self):
        replies_left = self.dice.randrange(1, self.dice.choice((20, 300, MOST_REPLIES)))
        disturb_at = self.dice.randrange(2 * replies_left)
        self.control = socket.socket(socket.AF_UNIX)
        self.control.connect(self.path)
        selector = selectors.DefaultSelector()
        for client in self.clients:
            client.begin(self.path)
            client.send()
            selector.register(client.socket, selectors.EVENT_READ, client)
        while replies_left > 0:
            ready = selector.select(launcher.WAIT_S)
            if not ready:
                raise Loss("no replies any more:\n" + self.server.text)
            for key, _ in ready:
                count = key.data.receive()
                if count is None:
                    raise Loss("the server ended by itself:\n" + self.server.text)
                replies_left -= count
                if replies_left <= disturb_at or self.dice.random() < 0.01:
                    self.disturb()
                    disturb_at = 0
                key.data.send()
        self.kill()
        selector.close()

    def kill(self):
        self.killed_s = time.monotonic()
        self.server.process.kill()
        self.server.process.wait()
        self.killed_ms = int(time.time() * 1000)
        for client in self.clients:  # replies that the server had sent
            client.socket.setblocking(True)
            while client.receive():
                pass
            client.socket.close()
        self.control.close()
        self.server.kill()
        started = self.server.text.count("append only file rewriting started")
        ended = self.server.text.count("Background AOF rewrite finished successfully")
        self.rewritten += ended
        self.killed_while_rewriting += started - ended
        self.is_torn = self.dice.random() < self.torn_rate
        if self.is_torn:
            self.tear()

    def tear(self):
        last = self.incrementals()[-1]
        size = os.path.getsize(last)
        os.truncate(last, self.dice.randint(min(self.sizes.get(last, 0), size), size))
        self.torn += 1

    # Contents

    def contents(self, client):
        """Returns key -> (content, deadline) on the server."""
        keys = client.all_keys()
        reads = {"s": ("GET",), "e": ("GET",), "n": ("GET",), "l": ("LRANGE", 0, -1), "x": ("XRANGE", "-", "+"),
                 "h": ("HGETALL",), "z": ("ZRANGE", 0, -1, "WITHSCORES")}
        with launcher.connect(self.path) as sock:
            text = encode(["SELECT", client.database])
            for key in keys:
                read = reads[key.split(":")[1][0]]
                text += encode([read[0], key, *read[1:]]) + encode(["PEXPIRETIME", key])
            sock.sendall(text)
            replies, found = Replies(), []
            while len(found) < 1 + 2 * len(keys):
                data = sock.recv(1 << 16)
                assert data, self.server.text
                replies.feed(data)
                found.extend(replies)
        return {key: (self.content_of(key, found[1 + 2 * i]), found[2 + 2 * i]) for i, key in enumerate(keys)}

    @staticmethod
    def content_of(key, reply):
        assert not (isinstance(reply, bytes) and reply.startswith(b"-WRONGTYPE")), (key, reply)
        if key.split(":")[1][0] in "hz" and reply:
            return dict(zip(reply[::2], reply[1::2]))
        return reply or (None if not isinstance(reply, bytes) else reply)

    def check(self):
        expected = {client.key(name) for client in self.clients for name in
                    (key.split(":")[1] for key in client.all_keys())}
        for database in (0, 1):
            with launcher.connect(self.path) as sock:
                launcher.ask(sock, "SELECT", database)
                keys = launcher.ask(sock, "KEYS", "*")
            made_up = set(keys) - expected
            if made_up:
                raise Loss(f"keys that nobody wrote: {made_up}")
        for client in self.clients:
            self.check_client(client)

    def least(self, client):
        """Returns the number of operations that must have survived."""
        if self.is_torn:
            return 0
        if self.policy != "everysec":
            return sum(operation.acknowledged_s is not None for operation in client.operations)
        return sum(operation.acknowledged_s is not None and operation.acknowledged_s < self.killed_s - POSTPONED_S
                   for operation in client.operations)

    def check_client(self, client):
        actual = self.contents(client)
        now_ms = int(time.time() * 1000)
        acknowledged = sum(operation.acknowledged_s is not None for operation in client.operations)
        least = self.least(client)
        state = dict(client.state)
        survived = []
        for done in range(len(client.operations) + 1):
            if done > 0:
                client.operations[done - 1].apply(state, self.killed_ms)
            if all(fits(state.get(key), actual[key], now_ms) for key in actual):
                survived.append((done, dict(state)))
        chosen = next((found for found in survived if found[0] >= acknowledged), survived[-1] if survived else None)
        if chosen is None or chosen[0] < least:
            raise Loss(self.explain(client, state, actual, now_ms, acknowledged, [done for done, _ in survived]))
        self.sent += len(client.operations)
        self.acknowledged += acknowledged
        self.lost += max(acknowledged - chosen[0], 0)
        self.unacknowledged_kept += max(chosen[0] - acknowledged, 0)
        # From now on the server's values are exact.
        client.state = {key: Value(value.content, None if actual[key][1] == -1 else (actual[key][1],) * 2)
                        for key, value in chosen[1].items() if actual[key][0] is not None}
        client.operations = []

    def explain(self, client, state, actual, now_ms, acknowledged, survived):
        lines = [f"client {client.number}: {len(client.operations)} operations sent, {acknowledged} acknowledged; "
                 f"what is there is the state after {survived or 'none'} of them"]
        for key, value in actual.items():
            if not fits(state.get(key), value, now_ms):
                wanted = state.get(key)
                lines.append(f"  {key}: is {str(value)[:200]}, after all would be "
                             f"{str(wanted and (wanted.content, wanted.deadline))[:200]}")
        last = client.operations[max(acknowledged - 2, 0):acknowledged + 2]
        lines += [f"  {operation.form} {[str(effect.words)[:100] for effect in operation.effects]}" for operation in last]
        return "\n".join(lines)

    def check_files(self):
        """The distribution's tool finds the files valid after an incomplete end is cut off."""
        tool = shutil.which("redis-check-aof")
        changes = self.directives["auto-aof-rewrite-percentage"] != 0  # files change while the tool reads them
        knows = self.directives["aof-use-rdb-preamble"] == "no"  # version 7.0 of the tool does not know RDB bases
        if tool is None or changes or not knows:
            return
        manifest = os.path.join(self.folder, "appendonlydir", "appendonly.aof.manifest")
        result = subprocess.run([tool, manifest], capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise Loss(f"redis-check-aof: {result.stdout}{result.stderr}")

    def live(self):
        self.start()
        self.check()
        self.check_files()
        self.load_and_kill()

    def end(self):
        self.start()
        self.check()
        self.server.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def text(self):
        return (f"{self.policy}, preamble {self.directives['aof-use-rdb-preamble']}: {self.sent} operations, "
                f"{self.acknowledged} acknowledged, {self.lost} of them lost, {self.unacknowledged_kept} others kept; "
                f"{self.rewritten} rewrites, {self.killed_while_rewriting} cut short, {self.torn} files torn")


def run(program, rounds, seed, torn_rate):
    """Raises Loss, and then keeps the directory."""
    dice = random.Random(seed)
    print(f"seed {seed}", flush=True)
    for number, first in enumerate(range(0, rounds, LIVES)):
        house = House(program, POLICIES[number % len(POLICIES)], torn_rate, dice)
        try:
            for _ in range(min(LIVES, rounds - first)):
                house.live()
            house.end()
        except Exception as error:
            house.server.kill()
            raise Loss(f"seed {seed}, house {number} ({house.directives}):\n{error!r}\n{error}\n"
                       f"log of the server:\n{house.server.text[-3000:]}") from error
        print(house.text(), flush=True)


class CrashTest(unittest.TestCase):
    def test_what_was_promised_survives(self):
        run(launcher.SERVER, 100, random.randrange(1 << 31), TORN_RATE)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", default=launcher.SERVER)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    parser.add_argument("--no-torn", action="store_true")
    args = parser.parse_args()
    run(os.path.abspath(args.server), args.rounds, args.seed, 0 if args.no_torn else TORN_RATE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
