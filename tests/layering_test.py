#!/usr/bin/env python3
"""Compares every `#include`, and the link lines of CMakeLists.txt, with the table of rooms in docs/architecture.md. Compares
the functions of Lua that cmake/Lua.cmake wraps with the table in docs/design/scripting.md, and with their tests.

usage: layering_test.py            runs the tests
       layering_test.py --graph    prints what each room includes, and the cycles of units (a header with its .cc file)
"""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent



def short(room):
    """Returns the name of a room in the third column: server/net -> net."""
    return room.removeprefix("server/")


def read_rooms():
    """Reads the table of rooms in docs/architecture.md: for each room, lowest first, the rooms that it includes."""
    table = {}
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    for room, includes in re.findall(r"^\| \[`([\w/]+)/`\]\([^)]*\) \|[^|]*\| ([^|]*) \|$", text, re.M):
        named = {name for above in table for name in [short(above)] if f"`{name}`" in includes}
        if len(named) != includes.count("`") // 2:
            raise ValueError(f"docs/architecture.md: {room} includes a room that is not above it: {includes}")
        all_above = {short(above) for above in table}
        chosen = all_above - named if includes.startswith("all") else named
        table[room] = {above for above in table if short(above) in chosen}
    return table


ROOMS = read_rooms()
# The longest first, so that a file belongs to the innermost room.
INNERMOST_FIRST = sorted(ROOMS, key=len, reverse=True)

# The only files that may include Asio. Its headers take seconds to compile, so no header includes the heavy ones: declare
# what you need (<asio/io_context.hpp> and forwards are light enough).
ASIO_FILES = re.compile(r"^server/(net/(event_loop|socket_poller|link_connection)|node/(listener|node_host))\.(cc|h)$")
LIGHT_ASIO = {"asio/io_context.hpp", "asio/error_code.hpp", "asio/ts/netfwd.hpp", "asio/detail/config.hpp"}

# Units that include each other, directly or through others: these are limits on the number and the size of such groups.
MOST_CYCLES = 2
MOST_UNITS_IN_A_CYCLE = 2

TOP_FOLDERS = ["base", "protocol", "datatypes", "persistence", "scripting", "server"]

ROOM_HEADERS = {  # third-party headers that belong to one room
    re.compile(r"^(lua|lauxlib|lualib)\.(h|hpp)$|^lua5\.4/"): "scripting",
    re.compile(r"^liblzf/"): "persistence",
    re.compile(r"^xxhash\.h$"): "base",
    re.compile(r"^rapidjson/"): "datatypes",
    re.compile(r"^openssl/ssl\.h$"): "server/net",
    re.compile(r"^nlohmann/"): "server/lab",
    re.compile(r"^(histedit|termcap)\.h$"): "server/tools",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)


def room_of(path):
    """Returns base/bytes.h -> base, server/net/tls/tls.h -> server/net; None for a file in no room."""
    return next((room for room in INNERMOST_FIRST if path.startswith(room + "/")), None)


def sources(folder):
    return sorted(path for path in (ROOT / folder).rglob("*") if path.suffix in (".h", ".cc"))


def includes(path):
    """Yields (line number, quote character, header)."""
    text = path.read_text(encoding="utf-8")
    for found in INCLUDE.finditer(text):
        yield text.count("\n", 0, found.start(2)) + 1, found.group(1), found.group(2)


def all_includes():
    for folder in TOP_FOLDERS:
        for path in sources(folder):
            name = path.relative_to(ROOT).as_posix()
            for line, quote, header in includes(path):
                yield room_of(name), name, line, quote, header


def included_rooms():
    """Returns for each room the rooms that its files really include."""
    found = {room: set() for room in ROOMS}
    for room, _, _, quote, header in all_includes():
        if quote == '"' and room and room_of(header):
            found[room].add(room_of(header))
    return {room: rooms - {room} for room, rooms in found.items()}


def linked_rooms():
    """Returns for each room the rooms that its link line in CMakeLists.txt names."""
    library = {"respite_" + short(room).replace("/", "_"): room for room in ROOMS}
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return {room: {library[name] for name in links.split() if name in library}
            for room, links in re.findall(r"^respite_room\((\S+) LINK ([^)]*)\)", text, re.M)}


def unit_of(path):
    """A header and its .cc file are one unit: base/log.h, base/log.cc -> base/log."""
    return path.rsplit(".", 1)[0]


def unit_cycles():
    """Returns the groups of units in which each one includes each other, directly or through others. Largest first."""
    graph = {}
    for _, path, _, quote, header in all_includes():
        if quote == '"':
            graph.setdefault(unit_of(path), set()).add(unit_of(header))
    reach = {}
    for start in graph:
        seen, todo = set(), [start]
        while todo:
            for unit in graph.get(todo.pop(), ()):
                if unit not in seen:
                    seen.add(unit)
                    todo.append(unit)
        reach[start] = seen
    groups = {frozenset({unit} | {other for other in reach[unit] if unit in reach.get(other, ())})
              for unit in graph}
    return sorted((sorted(group) for group in groups if len(group) > 1), key=lambda group: (-len(group), group))


def print_graph():
    for room, rooms in included_rooms().items():
        print(f"{room}: {' '.join(other for other in ROOMS if other in rooms)}")
    for cycle in unit_cycles():
        print("cycle of units:", " ".join(cycle))


def lua_functions(variable):
    """The functions in a list of cmake/Lua.cmake, sorted, without the types in their C++ names: _Z9luaV_modfP… -> luaV_modf."""
    text = (ROOT / "cmake/Lua.cmake").read_text(encoding="utf-8")
    symbols = " ".join(re.findall(rf"\((?:APPEND )?{variable}\s([^)]*)\)", text)).split()
    mangled = [re.fullmatch(r"_Z(\d+)(\S+)", symbol) for symbol in symbols]
    return sorted({found[2][:int(found[1])] if found else symbol for found, symbol in zip(mangled, symbols)})


class LuaWrappersTest(unittest.TestCase):
    def setUp(self):
        self.page = (ROOT / "docs/design/scripting.md").read_text(encoding="utf-8")
        self.wrapped = lua_functions("RESPITE_LUA_WRAPPED")
        self.assertIn("luaV_modf", self.wrapped)

    def test_the_table_has_each_wrapped_function_and_its_test(self):
        rows = re.findall(r"^\| `(\w+)` \|.*\| `Lua51Wrapper\.(\w+)` \|$", self.page, re.M)
        self.assertEqual(self.wrapped, sorted(name for name, _ in rows))
        self.assertEqual([], [name for name, test in rows if name != test])

    def test_each_wrapped_function_has_a_test_and_a_program_of_the_check(self):
        tests = (ROOT / "tests/scripting/lua51_wrapped_test.cc").read_text(encoding="utf-8")
        self.assertEqual(self.wrapped, sorted(re.findall(r"^TEST\(Lua51Wrapper, (\w+)\)", tests, re.M)))
        check = (ROOT / "cmake/lua_seam_check.cc").read_text(encoding="utf-8")
        without_program = ['luaS_eqlngstr', 'luaS_remove', 'strcoll']  # they change no result, only the time
        programs = re.findall(r'^    \{"(\w+)",', check, re.M)
        self.assertEqual(self.wrapped, sorted({*programs, *without_program}))

    def test_the_page_names_the_other_functions_and_the_tested_releases(self):
        called = re.search(r"^\* Functions that they call: ([^.]*)\.", self.page, re.M)[1]
        self.assertEqual(lua_functions("RESPITE_LUA_USED"), sorted(re.findall(r"`(\w+)`", called)))
        releases = re.search(r'RESPITE_LUA_TESTED "([^"]*)"', (ROOT / "cmake/Lua.cmake").read_text(encoding="utf-8"))[1]
        self.assertIn(f"All tests of this room pass with Lua {releases}:", self.page)


class LayeringTest(unittest.TestCase):
    def complain(self, offences, rule):
        self.assertEqual([], offences, rule + "\n  " + "\n  ".join(offences))

    def test_there_is_something_to_check(self):
        self.assertTrue(any(True for _ in all_includes()))

    def test_rooms_include_what_the_table_says(self):
        offences = [f"{path}:{line}: {header}" for room, path, line, quote, header in all_includes()
                    if quote == '"' and room_of(header) not in ROOMS[room] | {room}]
        self.complain(offences, "a room includes only itself and the rooms that docs/architecture.md names")
        offences = [f"{room}: {short(other)}" for room, rooms in included_rooms().items() for other in ROOMS[room] - rooms]
        self.complain(offences, "docs/architecture.md names rooms that this room does not include")

    def test_link_lines_say_what_the_table_says(self):
        links = linked_rooms()
        self.assertEqual(list(ROOMS), list(links), "CMakeLists.txt and docs/architecture.md have the same rooms in the same order")
        linked = {}  # and the rooms that those link
        for room, direct in links.items():
            linked[room] = direct.union(*(linked[other] for other in direct))
        offences = [f"{room}: {other}" for room in ROOMS for other in ROOMS[room] - linked[room]]
        self.complain(offences, "CMakeLists.txt links all rooms that a room includes")
        offences = [f"{room}: {other}" for room in ROOMS for other in links[room] - ROOMS[room]]
        self.complain(offences, "CMakeLists.txt names only rooms that a room includes")

    def test_our_includes_are_relative_to_the_root_and_exist(self):
        offences = [f"{path}:{line}: {header}" for _, path, line, quote, header in all_includes()
                    if quote == '"' and not (ROOT / header).is_file()]
        self.complain(offences, 'our headers are included as "room/file.h"')

    def test_system_includes_are_not_ours(self):
        offences = [f"{path}:{line}: {header}" for _, path, line, quote, header in all_includes()
                    if quote == "<" and room_of(header)]
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

    def test_every_source_is_in_a_room(self):
        offences = [path.relative_to(ROOT).as_posix() for folder in TOP_FOLDERS for path in sources(folder)
                    if not room_of(path.relative_to(ROOT).as_posix())]
        self.complain(offences, "a source file belongs to a room")

    def test_few_units_include_each_other(self):
        cycles = unit_cycles()
        self.complain([" ".join(cycle) for cycle in cycles if len(cycle) > MOST_UNITS_IN_A_CYCLE], "a knot of units")
        self.assertLessEqual(len(cycles), MOST_CYCLES, "cycles of units, printed by --graph")

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
        offences = [path.relative_to(ROOT).as_posix() for folder in TOP_FOLDERS for path in sources(folder)
                    if path.suffix == ".h" and "#pragma once" not in path.read_text(encoding="utf-8")]
        self.complain(offences, "headers start with #pragma once")

    def test_nothing_includes_tests_or_source_files(self):
        offences = [f"{path}:{line}: {header}" for _, path, line, quote, header in all_includes()
                    if header.endswith(".cc") or (quote == '"' and header.startswith(("tests/", "bench/")))]
        self.complain(offences, "product code includes neither tests nor .cc files")


if __name__ == "__main__":
    if sys.argv[1:] == ["--graph"]:
        print_graph()
    else:
        unittest.main()
