#!/usr/bin/env python3
"""Includes point down only: greps every `#include` against the table of rooms (docs/architecture.md)."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent

# A room may include itself and the rooms named here, nothing else of ours.
MAY_INCLUDE = {
    "base": set(),
    "protocol": {"base"},
    "datatypes": {"base"},
    "persistence": {"base", "protocol", "datatypes"},
    "scripting": {"base", "protocol"},
    "server": {"base", "protocol", "datatypes", "persistence", "scripting"},
}

# The only files of server/ that may know Asio. Its headers take seconds to compile, so no header includes the heavy
# ones: declare what you need (<asio/io_context.hpp> and forwards are light enough).
ASIO_FILES = re.compile(r"^server/(replication/|(event_loop|listener|socket_poller|replication)\w*\.(cc|h)$)")
LIGHT_ASIO = {"asio/io_context.hpp", "asio/error_code.hpp", "asio/ts/netfwd.hpp", "asio/detail/config.hpp"}

ROOM_HEADERS = {  # third-party headers that belong to one room
    re.compile(r"^(lua|lauxlib|lualib)\.(h|hpp)$|^lua5\.4/"): "scripting",
    re.compile(r"^liblzf/"): "persistence",
    re.compile(r"^openssl/ssl\.h$"): "server",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)


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
                    if quote == '"' and header.split("/")[0] not in MAY_INCLUDE[room] | {room}]
        self.complain(offences, "a room includes only itself and the rooms below it")

    def test_our_includes_are_relative_to_the_root_and_exist(self):
        offences = [f"{path}:{line}: {header}" for _, path, line, quote, header in all_includes()
                    if quote == '"' and not (ROOT / header).is_file()]
        self.complain(offences, 'our headers are included as "room/file.h"')

    def test_system_includes_are_not_ours(self):
        offences = [f"{path}:{line}: {header}" for _, path, line, quote, header in all_includes()
                    if quote == "<" and header.split("/")[0] in MAY_INCLUDE]
        self.complain(offences, "our headers are included with quotes")

    def test_asio_stays_in_the_event_loop_files(self):
        offences = [f"{path}:{line}: {header}" for _, path, line, _, header in all_includes()
                    if re.match(r"asio(\.hpp|/)", header) and not ASIO_FILES.match(path)]
        self.complain(offences, "Asio belongs to event_loop, listener, socket_poller and replication")

    def test_heavy_asio_headers_stay_out_of_headers(self):
        offences = [f"{path}:{line}: {header}" for _, path, line, _, header in all_includes()
                    if path.endswith(".h") and re.match(r"asio(\.hpp|/)", header) and header not in LIGHT_ASIO]
        self.complain(offences, "a header must not cost every includer seconds")

    def test_libraries_stay_in_their_room(self):
        offences = [f"{path}:{line}: {header}" for room, path, line, _, header in all_includes()
                    for pattern, owner in ROOM_HEADERS.items() if pattern.match(header) and room != owner]
        self.complain(offences, "this library belongs to another room")

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
