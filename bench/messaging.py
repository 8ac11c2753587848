"""Messages and queues against redis-server: the CPU cost of one message on the server."""
import contextlib
import multiprocessing
import selectors

from side_by_side import CONNECTIONS, VALUE, Server, medians, read_exactly, redis_benchmark, request, verdict

CHANNEL = b"news"
PIPELINES = (1, 16)


# ---- pub/sub --------------------------------------------------------------------------------------------------------

PUBLISHING = [  # subscribers, messages, Respite's CPU divided by redis-server's
    (1, 200_000, .8),
    (100, 40_000, .7),
    (1000, 8_000, .7),
]


def message_size():
    text = b"*3\r\n$7\r\nmessage\r\n$%d\r\n%b\r\n$%d\r\n%b\r\n" % (len(CHANNEL), CHANNEL, len(VALUE), VALUE)
    return len(text)


def listen(server, count, ready, bytes_wanted, finished):
    """Reads the messages of `count` subscribers; runs in its own process. Signals when all are subscribed, and when
    they have read `bytes_wanted` bytes in total."""
    connections = [server.connect() for _ in range(count)]
    with selectors.DefaultSelector() as poll, contextlib.ExitStack() as stack:
        for connection in connections:
            stack.enter_context(connection)
            connection.sendall(request(b"SUBSCRIBE", CHANNEL))
            read_exactly(connection, len(b"*3\r\n$9\r\nsubscribe\r\n$%d\r\n%b\r\n:1\r\n" % (len(CHANNEL), CHANNEL)))
            poll.register(connection, selectors.EVENT_READ)
        ready.set()
        left, buffer = bytes_wanted, bytearray(1 << 20)
        while left > 0:
            for key, _ in poll.select():
                left -= key.fileobj.recv_into(buffer)
    finished.put(left)


def whole_rounds(messages):
    """redis-benchmark sends whole pipelines on all connections."""
    least = CONNECTIONS * max(PIPELINES)
    return max(1, round(messages / least)) * least


def publish(server, subscribers, messages, pipeline):
    """Runs one round. Returns the Sample of the publishers."""
    context = multiprocessing.get_context("fork")
    ready, finished = context.Event(), context.Queue()
    listening = context.Process(target=listen, args=(server, subscribers, ready,
                                                     subscribers * messages * message_size(), finished))
    listening.start()
    ready.wait()
    sample = redis_benchmark(server, ["publish", CHANNEL.decode(), VALUE.decode()], pipeline, 1, messages)
    surplus = finished.get(timeout=60)
    listening.join()
    if surplus:
        raise SystemExit(f"{server.name}: subscribers got {-surplus} bytes too many")
    return sample


def pubsub(options, binaries):
    print(f"\nPUBLISH of {len(VALUE)} bytes by {CONNECTIONS} connections, medians of {options.rounds} rounds: CPU for each message")
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(Server(name, binary)) for name, binary in binaries]
        for subscribers, messages, target in PUBLISHING:
            for pipeline in PIPELINES:
                samples = {server.name: [] for server in servers}
                for _ in range(options.rounds):
                    for server in servers:
                        samples[server.name].append(publish(server, subscribers, whole_rounds(messages * options.scale),
                                                            pipeline))
                ours, theirs = (medians(samples[server.name]).cpu_us for server in servers)
                print(f"  to {subscribers:5} subscribers, P{pipeline:<3} {ours:9.2f} µs, redis {theirs:9.2f} µs   "
                      f"CPU {ours / theirs:.2f}   {verdict(ours / theirs, target)}", flush=True)
