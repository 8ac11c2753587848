#!/usr/bin/env python3
"""The server of a run with TEST LINT on: it starts our server, and keeps what TEST LINT REPORT says about the clients.

    RESPITE_LINT=FOLDER RESPITE_SERVER=build/test/respite-server ./dev clients --server tests/external/clients/linting_server.py
    python3 tests/external/clients/linting_server.py --summary FOLDER

Each server of the suites leaves a file in the folder. Servers with a password or without a plain port, Sentinels and
clusters run without lint. Tests that stop or measure the process see this program instead of the server, and may fail.
"""
import collections
import ctypes
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "system"))
from two_servers import Closed, RawClient, encode, value_of  # noqa: E402

REAL = os.environ.get("RESPITE_SERVER", str(HERE.parents[2] / "build/test/respite-server"))
UNTOUCHED = {"--version", "-v", "--help", "-h", "--test-memory", "--check-system", "--sentinel", "--nodes", "--sentinels",
             "--replay", "--record", "--cluster-enabled"}
FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1)
LOOK_EVERY_S = 0.2
PR_SET_PDEATHSIG = 1
CONNECT_S = 5


def words_of(text):
    return text.decode(errors="replace") if isinstance(text, bytes) else text


def findings_in(report):
    """Returns RESP2's alternating names and values as a map."""
    for finding in report:
        texts = [words_of(text) for text in finding]
        yield dict(zip(texts[::2], texts[1::2]))


class Watch:
    """Turns lint on, also after a test has reset it, and records everything that it ever found."""

    def __init__(self, port, file):
        self.port, self.file, self.seen = port, file, {}

    def run(self):
        with self.connected() as connection:
            client = RawClient(connection)
            if self.ask(client, "TEST", "LINT", "ON") != b"+OK":
                return
            while True:
                report = self.ask(client, "TEST", "LINT", "REPORT")
                if isinstance(report, list):
                    self.keep(report)
                else:
                    self.ask(client, "TEST", "LINT", "ON")
                time.sleep(LOOK_EVERY_S)

    def connected(self):
        end = time.monotonic() + CONNECT_S
        while True:
            try:
                return socket.create_connection(("127.0.0.1", self.port), 1)
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(LOOK_EVERY_S / 10)

    @staticmethod
    def ask(client, *words):
        client.send(encode(words))
        return value_of(client.read())

    def keep(self, report):
        before = len(self.seen)
        for finding in findings_in(report):
            self.seen[json.dumps([finding.get(name) for name in ("rule", "command", "name", "lib", "request")])] = finding
        if len(self.seen) != before:
            self.file.write_text(json.dumps(list(self.seen.values()), indent=1))


def watch(arguments, folder):
    try:
        port = port_of(arguments)
        Watch(port, folder / f"{port}-{os.getpid()}.json").run()
    except (OSError, Closed, ValueError):
        pass  # the server has ended, or refuses the request


def value_after(option, arguments):
    values = [value for name, value in zip(arguments, arguments[1:]) if name == option]
    return values[-1] if values else ""


def is_plain(arguments):
    port = value_after("--port", arguments)
    is_known = port.isdigit() and int(port) != 0 or port == "auto" and value_after("--port-file", arguments)
    return is_known and not UNTOUCHED & set(arguments)


def port_of(arguments):
    """Returns the port when it is known."""
    port = value_after("--port", arguments)
    if port.isdigit():
        return int(port)
    file = pathlib.Path(value_after("--port-file", arguments))
    end = time.monotonic() + CONNECT_S
    while not file.exists() and time.monotonic() < end:
        time.sleep(LOOK_EVERY_S / 10)
    return int(file.read_text())


def end_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def serve(arguments):
    if not is_plain(arguments) or "RESPITE_LINT" not in os.environ:
        os.execv(REAL, [REAL, *arguments])
    extra = [] if "--test-commands" in arguments or "--test" in arguments else ["--test-commands", "yes"]
    server = subprocess.Popen([REAL, *arguments, *extra], preexec_fn=end_with_parent, close_fds=False)
    for number in FORWARDED:
        signal.signal(number, lambda number, _: server.send_signal(number))
    folder = pathlib.Path(os.environ["RESPITE_LINT"])
    folder.mkdir(parents=True, exist_ok=True)
    threading.Thread(target=watch, args=(arguments, folder), daemon=True).start()
    code = server.wait()
    os._exit(code if code >= 0 else 128 - code)


def summarize(folder):
    by_rule = collections.defaultdict(list)
    for file in sorted(pathlib.Path(folder).glob("*.json")):
        for finding in json.loads(file.read_text()):
            by_rule[finding["rule"]].append(finding)
    for rule, findings in sorted(by_rule.items()):
        print(f"{rule}: {len(findings)}")
        for finding in findings:
            shown = [f"{name} {str(value)[:100]}" for name, value in finding.items() if name not in ("rule", "why", "instead")]
            print("  " + ", ".join(shown))


if __name__ == "__main__":
    summarize(sys.argv[2]) if sys.argv[1:2] == ["--summary"] else serve(sys.argv[1:])
