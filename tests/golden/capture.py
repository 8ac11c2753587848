#!/usr/bin/env python3
"""Writes what a running Redis reports about its commands as facts, one per line, for the golden files.

    capture.py PORT > commands_7.2.txt          facts of COMMAND INFO and COMMAND DOCS
    capture.py PORT > sentinel_commands_7.2.txt  the same of a Sentinel
    capture.py PORT keys > command_keys_7.2.txt replies of COMMAND GETKEYSANDFLAGS for the requests in that file

Leaves out texts (summary, history, notes, complexity), which are Redis' own.
"""
import pathlib
import shlex
import socket
import sys


class Client:
    """Speaks RESP3; maps become lists of pairs, so that their order survives."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.file = self.socket.makefile("rb")
        self.run("HELLO", "3")

    def run(self, *words):
        request = b"*%d\r\n" % len(words)
        for word in words:
            octets = word.encode()
            request += b"$%d\r\n%s\r\n" % (len(octets), octets)
        self.socket.sendall(request)
        return self.read()

    def read(self):
        line = self.file.readline()[:-2]
        kind, rest = line[:1], line[1:].decode()
        if kind in b"+-":
            return rest
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return self.file.read(int(rest) + 2)[:-2].decode("latin1")
        if kind == b"=":
            return self.file.read(int(rest) + 2)[4:-2].decode("latin1")
        if kind in b"*~":
            return [self.read() for _ in range(int(rest))]
        if kind == b"%":
            return [(self.read(), self.read()) for _ in range(int(rest))]
        if kind == b"_":
            return None
        raise ValueError(line)


def key_spec_text(spec):
    spec = dict(spec)
    words = ["flags=" + ",".join(spec["flags"])]
    for part in ("begin_search", "find_keys"):
        rule = dict(spec[part])
        words.append(f"{part}={rule['type']}")
        words += [f"{name}={value}" for name, value in rule["spec"]]
    return " ".join(words)


def info_facts(row):
    # Redis 6.2 has seven elements.
    name, arity, flags, first, last, step, categories, tips, key_specs, subcommands = row + [[], [], []][:10 - len(row)]
    yield f"{name} arity={arity}"
    yield f"{name} flags={','.join(flags)}"
    yield f"{name} legacy_keys={first},{last},{step}"
    yield f"{name} categories={','.join(categories)}"
    for tip in tips:
        yield f"{name} tip={tip}"
    for number, spec in enumerate(key_specs):
        yield f"{name} key_spec#{number} {key_spec_text(spec)}"
    for sub in subcommands:
        yield f"{name} subcommand={sub[0]}"
        yield from info_facts(sub)


def argument_facts(name, path, arguments):
    for number, argument in enumerate(dict(argument) for argument in arguments):
        here = f"{path}{number}"
        words = [f"{field}={','.join(value) if field == 'flags' else value}"
                 for field, value in argument.items() if field != "arguments"]
        yield f"{name} argument#{here} {' '.join(words)}"
        yield from argument_facts(name, here + ".", argument.get("arguments", []))


def docs_facts(name, docs):
    docs = dict(docs)
    for field in ("since", "group", "deprecated_since", "replaced_by"):
        if field in docs:
            yield f"{name} {field}={docs[field]}"
    if "doc_flags" in docs:
        yield f"{name} doc_flags={','.join(docs['doc_flags'])}"
    yield from argument_facts(name, "", docs.get("arguments", []))
    for sub, sub_docs in docs.get("subcommands", []):
        yield from docs_facts(sub, sub_docs)


def command_facts(client):
    facts = []
    for row in client.run("COMMAND"):
        facts += info_facts(row)
    docs = client.run("COMMAND", "DOCS")
    if isinstance(docs, list):  # not in Redis 6.2
        for name, command_docs in docs:
            facts += docs_facts(name, command_docs)
    return sorted(facts)


def key_facts(client, requests):
    for request in requests:
        answer = client.run("COMMAND", "GETKEYSANDFLAGS", *shlex.split(request))
        if isinstance(answer, list):
            answer = "; ".join(f"{key} {','.join(flags)}" for key, flags in answer)
        yield f"{request} => {answer}"


def main():
    client = Client(int(sys.argv[1]))
    if sys.argv[2:] == ["keys"]:
        golden = pathlib.Path(__file__).with_name("command_keys_7.2.txt").read_text().splitlines()
        facts = list(key_facts(client, [line.split(" => ")[0] for line in golden if line]))
    else:
        facts = command_facts(client)
    print("\n".join(facts))


if __name__ == "__main__":
    main()
