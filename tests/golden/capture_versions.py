#!/usr/bin/env python3
"""Writes what other versions of Redis and Valkey say of themselves, for the golden files in tests/golden/versions.

    capture_versions.py PROGRAM...     each a redis-server or valkey-server; its file is named after its version

A file has three parts. `commands`: the facts of COMMAND and COMMAND DOCS (see capture.py) as lines that begin with `-`
or `+`: what the version has not, and has, in comparison with commands_7.2.txt. Of arguments there are the tokens alone,
since the names of values are documentation. Redis 6.2 says nothing but arity, flags, keys and categories of commands.
`directives`: CONFIG GET of all names that a pattern finds, with the defaults. `info`: the names of the fields of INFO
everything, by section.

Texts (summaries, histories, notes) are left out: they are those servers' own. So are the commands of modules, and the
directives of TLS, without which some of the programs were built.
"""
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

from capture import Client, command_facts

FOLDER = pathlib.Path(__file__).parent
# Directives whose values depend on where and how the server was started.
OF_THE_START = {"bind", "dir", "logfile", "port", "save", "enable-debug-command", "unixsocket", "cluster-port",
                "locale-collate"}
# Keyspace and commands that were used; a client's own fields.
VARYING_FIELDS = re.compile(r"cmdstat_|latency_percentiles_|errorstat_|db\d+$|listener\d+$|module$|mem_allocator_")
# Command families of modules, which Redis 8 brings along.
MODULES = re.compile(r"(ft|json|ts|bf|cf|cms|topk|tdigest|search|timeseries|_ft|vadd|vcard|vdim|vemb|vgetattr|vinfo|"
                     r"vismember|vlinks|vrandmember|vrange|vrem|vsetattr|vsim)\b|vadd|\.|_")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class Server:
    def __init__(self, program):
        self.folder = tempfile.TemporaryDirectory()
        self.port = free_port()
        self.process = subprocess.Popen(
            [program, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", self.folder.name],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        deadline = time.monotonic() + 10
        while True:
            try:
                return Client(self.port)
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()


def is_of_module(fact):
    return MODULES.match(fact.split(" ")[0].lower()) is not None


def shortened(fact):
    """The token of an argument and its version; nothing for arguments without one."""
    command, kind, *fields = fact.split(" ")
    if not kind.startswith("argument#"):
        return fact
    fields = dict(field.split("=", 1) for field in fields if "=" in field)
    if "token" not in fields:
        return None
    since = f" since={fields['since']}" if "since" in fields else ""
    return f"{command} token={fields['token']}{since}"


def is_brief(fact):
    return re.match(r"[^| ]+ (arity|flags|legacy_keys|categories)=", fact) is not None


def commands_part(client):
    tells_all = isinstance(client.run("COMMAND", "DOCS"), list)
    base = {shortened(fact) for fact in (FOLDER / "commands_7.2.txt").read_text().splitlines()} - {None}
    facts = {shortened(fact) for fact in command_facts(client) if not is_of_module(fact)} - {None}
    if not tells_all:
        base = set(filter(is_brief, base))
        facts = set(filter(is_brief, facts))
    yield from sorted([f"-{fact}" for fact in base - facts] + [f"+{fact}" for fact in facts - base],
                      key=lambda line: (line[1:], line[0]))


def directives_part(client):
    flat = client.run("CONFIG", "GET", "*")
    for name, value in sorted(flat):
        if "." in name or name.startswith("tls-") or MODULES.match(name) or name in OF_THE_START:
            continue
        yield f"{name} {value}".rstrip()


def info_part(client):
    for section in client.run("INFO", "everything").split("\r\n\r\n"):
        lines = section.strip().split("\r\n")
        names = [line.split(":")[0] for line in lines[1:] if ":" in line]
        names = [name for name in names if not VARYING_FIELDS.match(name)]
        if names:
            yield f"{lines[0].removeprefix('# ').lower()}: {' '.join(names)}"


def version_name(client):
    fields = dict(line.split(":", 1) for line in client.run("INFO", "server").split("\r\n") if ":" in line)
    if "valkey_version" in fields:
        return "valkey-" + fields["valkey_version"]
    return "redis-" + fields["redis_version"]


def text_of(client):
    parts = {"commands": commands_part, "directives": directives_part, "info": info_part}
    return "\n".join(f"[{name}]\n" + "\n".join(lines(client)) + "\n" for name, lines in parts.items())


def main():
    for program in sys.argv[1:]:
        with Server(program) as client:
            path = FOLDER / "versions" / f"{version_name(client)}.txt"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text_of(client))
            print(path)


if __name__ == "__main__":
    main()
