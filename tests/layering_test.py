#!/usr/bin/env python3
"""Includes point down only: greps every `#include` against the table of rooms (docs/architecture.md)."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent

# The rooms of server/, lowest first: each may include those before it.
SERVER_ROOMS = ["catalogue", "config", "net", "dataset", "clients", "execution", "storage", "replication", "migration",
                "cluster", "slot_migration", "sentinel", "lab", "recording", "observe", "commands", "node", "process"]
# Lower rooms that a room of server/ must not include.
WITHOUT = {
    "catalogue": {"persistence", "scripting", "datatypes"},
    "config": {"scripting"},
    "net": {"persistence", "scripting", "datatypes", "catalogue"},
    "dataset": {"persistence", "scripting", "net"},
    "clients": {"scripting", "net"},
    "execution": {"net"},
    "storage": {"net"},
    "migration": {"persistence", "scripting", "storage", "replication"},
}
# A room may include itself and the rooms named here, nothing else of ours.
MAY_INCLUDE = {
    "base": set(),
    "protocol": {"base"},
    "datatypes": {"base"},
    "persistence": {"base", "protocol", "datatypes"},
    "scripting": {"base", "protocol"},
}
for place, name in enumerate(SERVER_ROOMS):
    below = {"base", "protocol", "datatypes", "persistence", "scripting"} | set(SERVER_ROOMS[:place])
    MAY_INCLUDE["server/" + name] = {"server/" + room if room in SERVER_ROOMS else room
                                     for room in below - WITHOUT.get(name, set())}

# The only files that may include Asio. Its headers take seconds to compile, so no header includes the heavy ones: declare
# what you need (<asio/io_context.hpp> and forwards are light enough).
ASIO_FILES = re.compile(r"^server/(net/(event_loop|socket_poller|wire)|node/(listener|node_host))\.(cc|h)$")
LIGHT_ASIO = {"asio/io_context.hpp", "asio/error_code.hpp", "asio/ts/netfwd.hpp", "asio/detail/config.hpp"}

ROOM_HEADERS = {  # third-party headers that belong to one room
    re.compile(r"^(lua|lauxlib|lualib)\.(h|hpp)$|^lua5\.4/"): "scripting",
    re.compile(r"^liblzf/"): "persistence",
    re.compile(r"^openssl/ssl\.h$"): "server/net",
    re.compile(r"^nlohmann/"): "server/lab",
    re.compile(r"^(histedit|termcap)\.h$"): "server/process",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)


def room_of(header):
    """base/bytes.h -> base, server/net/tls/tls.h -> server/net."""
    parts = header.split("/")
    return "/".join(parts[:2]) if parts[0] == "server" else parts[0]


def sources(room):
    return sorted(path for path in (ROOT / room).rglob("*") if path.suffix in (".h", ".cc"))


def includes(path):
    """Yields (line number, quote character, header)."""
    text = path.read_text(encoding="utf-8")
    for found in INCLUDE.finditer(text):
        yield text.count("\n", 0, found.start(2)) + 1, found.group(1), found.group(2)


def all_includes():
    for room in MAY_INCLUDE:
        for path in sources(room):
            for line, quote, header in includes(path):
                yield room, path.relative_to(ROOT).as_posix(), line, quote, header


class LayeringTest(unittest.TestCase):
    def complain(self, offences, rule):
        self.assertEqual([], offences, rule + "\n  " + "\n  ".join(offences))

    def test_there_is_something_to_check(self):
        self.assertTrue(any(True for _ in all_includes()))

    def test_rooms_include_downwards_only(self):
        offences = [f"{path}:{line}: {header}" for room, path, line, quote, header in all_includes()
                    if quote == '"' and room_of(header) not in MAY_INCLUDE[room] | {room}]
        self.complain(offences, "a room includes only itself and the rooms below it")

    def test_our_includes_are_relative_to_the_root_and_exist(self):
        offences = [f"{path}:{line}: {header}" for _, path, line, quote, header in all_includes()
                    if quote == '"' and not (ROOT / header).is_file()]
        self.complain(offences, 'our headers are included as "room/file.h"')

    def test_system_includes_are_not_ours(self):
        offences = [f"{path}:{line}: {header}" for _, path, line, quote, header in all_includes()
                    if quote == "<" and room_of(header) in MAY_INCLUDE]
        self.complain(offences, "our headers are included with quotes")

    def test_asio_stays_in_the_event_loop_files(self):
        offences = [f"{path}:{line}: {header}" for _, path, line, _, header in all_includes()
                    if re.match(r"asio(\.hpp|/)", header) and not ASIO_FILES.match(path)]
        self.complain(offences, "Asio belongs to event_loop, listener, node_host and socket_poller")

    def test_heavy_asio_headers_stay_out_of_headers(self):
        offences = [f"{path}:{line}: {header}" for _, path, line, _, header in all_includes()
                    if path.endswith(".h") and re.match(r"asio(\.hpp|/)", header) and header not in LIGHT_ASIO]
        self.complain(offences, "a header must not cost every includer seconds")

    def test_libraries_stay_in_their_room(self):
        offences = [f"{path}:{line}: {header}" for room, path, line, _, header in all_includes()
                    for pattern, owner in ROOM_HEADERS.items() if pattern.match(header) and room != owner]
        self.complain(offences, "this library belongs to another room")

    def test_every_source_of_the_server_is_in_a_room(self):
        offences = [path.relative_to(ROOT).as_posix() for path in sources("server")
                    if room_of(path.relative_to(ROOT).as_posix()) not in MAY_INCLUDE]
        self.complain(offences, "a source file belongs to a room")

    def test_no_include_cycles(self):
        graph = {}
        for _, path, _, quote, header in all_includes():
            if quote == '"':
                graph.setdefault(path, []).append(header)
        done, under_way, cycles = set(), [], []

        def visit(path):
            if path in under_way:
                cycles.append(" -> ".join(under_way[under_way.index(path):] + [path]))
            elif path not in done:
                under_way.append(path)
                for header in graph.get(path, []):
                    visit(header)
                under_way.pop()
                done.add(path)

        for path in graph:
            visit(path)
        self.complain(cycles, "a header does not include itself by way of others")

    def test_headers_are_guarded(self):
        offences = [path.relative_to(ROOT).as_posix() for room in MAY_INCLUDE for path in sources(room)
                    if path.suffix == ".h" and "#pragma once" not in path.read_text(encoding="utf-8")]
        self.complain(offences, "headers start with #pragma once")

    def test_nothing_includes_tests_or_source_files(self):
        offences = [f"{path}:{line}: {header}" for _, path, line, quote, header in all_includes()
                    if header.endswith(".cc") or (quote == '"' and header.startswith(("tests/", "bench/")))]
        self.complain(offences, "product code includes neither tests nor .cc files")


if __name__ == "__main__":
    unittest.main()
