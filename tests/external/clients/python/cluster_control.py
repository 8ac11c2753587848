"""The cluster of the suite, and how to request changes of it: see ../README.md."""
import collections
import os
import random
import socket
import threading
import time

ADDRESSES = [(host, int(port)) for host, port in (one.split(":") for one in os.environ.get("REDIS_CLUSTER", "").split(",") if one)]
LIMIT_S = 90


def control(*words, port="REDIS_CLUSTER_CONTROL"):
    """Sends one request to the control port that this variable names. Returns the rest of the answer."""
    with socket.create_connection(("127.0.0.1", int(os.environ[port])), timeout=LIMIT_S) as sock:
        sock.sendall(" ".join(map(str, words)).encode() + b"\n")
        answer = sock.makefile().readline().split(maxsplit=1)
    assert answer and answer[0] == "ok", answer
    return answer[1].strip() if len(answer) > 1 else ""


class Load:
    """Threads that increment counters while a `with` runs. The counts are those that the servers acknowledged; errors
    that are `allowed` are counted, others fail the test."""

    def __init__(self, increment, allowed=(), threads=2, keys=60):
        self.increment, self.allowed, self.keys = increment, allowed, [f"load:{number}" for number in range(keys)]
        self.counts, self.refused, self.trouble = collections.Counter(), 0, []
        self.done, self.lock = threading.Event(), threading.Lock()
        self.threads = [threading.Thread(target=self._run, args=(seed,)) for seed in range(threads)]

    def _run(self, seed):
        chance = random.Random(seed)
        while not self.done.is_set():
            key = chance.choice(self.keys)
            try:
                self.increment(key)
                with self.lock:
                    self.counts[key] += 1
            except self.allowed:
                self.refused += 1
            except Exception as error:  # reported by the test's own thread
                self.trouble.append(error)
                return

    def wait_more(self, number=200, limit_s=60):
        """Waits for further increments of each key, which shows that the load continues."""
        before, end = dict(self.counts), time.monotonic() + limit_s
        while sum(self.counts.values()) < sum(before.values()) + number or any(self.counts[key] == before.get(key, 0) for key in self.keys):
            assert not self.trouble, self.trouble
            assert time.monotonic() < end, "the load does not go on"
            time.sleep(0.005)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        self.wait_more()
        return self

    def __exit__(self, *_):
        self.done.set()
        for thread in self.threads:
            thread.join()
        assert not self.trouble, self.trouble
