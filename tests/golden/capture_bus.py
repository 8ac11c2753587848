#!/usr/bin/env python3
"""Records packets of the cluster bus and nodes.conf from real redis-server nodes: tests/golden/cluster/.

    REDIS_SERVER=/path/to/redis-server python3 tests/golden/capture_bus.py

Each node announces the port of a proxy in this script, which sees all packets. The bus tests decode what it recorded.
"""
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading
import time

SERVER = os.environ.get("REDIS_SERVER", "redis-server")
TARGET = pathlib.Path(__file__).resolve().parent / "cluster"
BASE = 21100
KINDS = ["ping", "pong", "meet", "fail", "publish", "vote_request", "vote", "update", "pause_request", "module", "publish_shard"]
MOST_OF_A_KIND = 3

recorded = {}


def keep(packet):
    """Keeps a few packets of each kind, preferring those of new lengths."""
    kind = KINDS[int.from_bytes(packet[12:14], "big")]
    kept = recorded.setdefault(kind, {})
    if len(kept) < MOST_OF_A_KIND or (kind in ("ping", "pong") and len(kept) < 8):
        kept.setdefault(len(packet), packet)


def pump(source, target):
    buffer = b""
    try:
        while octets := source.recv(65536):
            target.sendall(octets)
            buffer += octets
            while len(buffer) >= 8 and len(buffer) >= int.from_bytes(buffer[4:8], "big"):
                length = int.from_bytes(buffer[4:8], "big")
                keep(buffer[:length])
                buffer = buffer[length:]
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def proxy(port, target):
    listener = socket.create_server(("127.0.0.1", port))

    def accept():
        while True:
            client, _ = listener.accept()
            try:
                server = socket.create_connection(("127.0.0.1", target))
            except OSError:
                client.close()
                continue
            for pair in ((client, server), (server, client)):
                threading.Thread(target=pump, args=pair, daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


def call(port, *words):
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in map(str.encode, words)))
        connection.settimeout(0.5)
        reply = b""
        try:
            while octets := connection.recv(65536):
                reply += octets
        except TimeoutError:
            pass
        return reply.decode()


class Node:
    def __init__(self, folder, number):
        self.port, self.number = BASE + number, number
        self.folder = folder / str(number)
        self.folder.mkdir()
        proxy(self.port + 1000, self.port + 2000)
        self.start()

    def start(self):
        self.process = subprocess.Popen([SERVER, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder),
                                         "--cluster-enabled", "yes", "--cluster-port", str(self.port + 2000),
                                         "--cluster-announce-bus-port", str(self.port + 1000), "--save", "",
                                         "--cluster-node-timeout", "1500", "--cluster-announce-hostname", f"host-{self.number}",
                                         "--cluster-announce-human-nodename", "node" * self.number, "--appendonly", "no",
                                         "--logfile", "log"], cwd=self.folder)
        time.sleep(0.3)
        self.id = call(self.port, "CLUSTER", "MYID").split("\r\n")[1]

    def kill(self):
        self.process.kill()
        self.process.wait()


def main():
    folder = pathlib.Path(tempfile.mkdtemp())
    nodes = [Node(folder, number) for number in range(6)]
    for node in nodes[1:]:
        call(nodes[0].port, "CLUSTER", "MEET", "127.0.0.1", str(node.port), str(node.port + 1000))
    for number, (first, last) in enumerate([(0, 5460), (5461, 10922), (10923, 16383)]):
        call(nodes[number].port, "CLUSTER", "ADDSLOTSRANGE", str(first), str(last))
    time.sleep(4)
    for number in (3, 4):
        call(nodes[number].port, "CLUSTER", "REPLICATE", nodes[number - 3].id)
    time.sleep(3)
    call(nodes[0].port, "PUBLISH", "channel", "message")
    call(nodes[0].port, "SPUBLISH", "channel", "message")
    call(nodes[0].port, "CLUSTER", "FORGET", nodes[5].id)
    call(nodes[3].port, "CLUSTER", "FAILOVER")
    time.sleep(3)
    call(nodes[3].port, "CLUSTER", "SETSLOT", "7", "MIGRATING", nodes[1].id)
    call(nodes[3].port, "CLUSTER", "SETSLOT", "9", "IMPORTING", nodes[1].id)
    nodes[1].kill()
    time.sleep(8)
    nodes[1].start()
    time.sleep(4)
    TARGET.mkdir(exist_ok=True)
    for kind, packets in recorded.items():
        for length, packet in packets.items():
            (TARGET / f"{kind}_{length}.packet").write_bytes(packet)
    for node in nodes:
        shutil.copy(node.folder / "nodes.conf", TARGET / f"nodes_{node.number}.conf")
        print(call(node.port, "CLUSTER", "NODES"))
        node.kill()
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
