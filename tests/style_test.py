#!/usr/bin/env python3
"""Limits of size: files of the product have at most 600 lines, functions at most 60. A header of the server begins with
declarations: bodies within its classes have at most 5 lines. A text that fits in one line is in one piece."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROOMS = ["base", "protocol", "datatypes", "persistence", "scripting", "server"]
MOST_LINES_OF_A_FILE = 600
MOST_LINES_OF_A_FUNCTION = 60
MOST_LINES_WITHIN_A_CLASS = 5
COLUMNS = 120

# A line that opens a body: the text before the brace ends like the head of a function.
OPENS = re.compile(r"^( *)(?!namespace|class|struct|union|enum|extern|using|static constexpr|constexpr|inline constexpr)"
                   r".*(\)|\) const|noexcept|override|final)[^;=]*\{$")


# The first line of a constructor's initializers. Their last line is indented as deeply as they are.
INITIALIZERS = re.compile(r"^(    |      ): ")
STATEMENTS = ("if ", "for ", "while ", "switch ", "else", "do ")


def sources():
    for room in ROOMS:
        yield from sorted(path for path in (ROOT / room).rglob("*") if path.suffix in (".h", ".cc"))


def functions(lines):
    """Yields (first line, number of lines) of functions at the level of a namespace or a class."""
    begin = indent = None
    for number, line in enumerate(lines, 1):
        if begin is None:
            found = OPENS.match(line)
            if found and len(found.group(1)) <= 2 and not line.lstrip().startswith(STATEMENTS):
                begin, indent = number, found.group(1)
            elif INITIALIZERS.match(line) and not line.endswith("{}"):
                begin, indent = number, "  " if line.startswith("      ") else ""
        elif line.endswith("{}") and INITIALIZERS.match(lines[begin - 1]):  # an empty body after the initializers
            yield begin, number - begin + 1
            begin = None
        elif line.startswith(indent + "}") and not line.startswith(indent + "} "):
            yield begin, number - begin + 1
            begin = None


# The last line break of a text, and the digits of \x end a piece for a reason.
ENDS_A_PIECE = re.compile(r'(?<!\\n)(?<!\\x[0-9a-f]{2})"$')
BEGINS_A_PIECE = re.compile(r'^ *"((?:[^"\\]|\\.)*"\S*)')


def cut_texts(lines):
    """Yields the numbers of lines whose text continues in the next line, although both pieces fit in one."""
    for number, (line, after) in enumerate(zip(lines, lines[1:]), 1):
        begin = BEGINS_A_PIECE.match(after)
        if begin and ENDS_A_PIECE.search(line) and len(line[:-1] + begin.group(1)) <= COLUMNS and "#include" not in line:
            yield number


class StyleTest(unittest.TestCase):
    def test_functions_are_found(self):
        text = "int F(int a) {\n  return a;\n}\nclass C {\n  void G() const {\n    x();\n  }\n};\n"
        self.assertEqual([(1, 3), (5, 3)], list(functions(text.splitlines())))

    def test_constructors_are_found(self):
        text = ("A::A(int a)\n    : a_({.one = a,\n          .two = a}),\n      b_(a) {\n  x();\n}\n"
                "B::B(int a)\n    : a_(a),\n      b_(a) {}\nint F() {\n  return 1;\n}\n")
        self.assertEqual([(2, 5), (8, 2), (10, 3)], list(functions(text.splitlines())))

    def test_files_are_short(self):
        long = [f"{path.relative_to(ROOT)}: {count}" for path in sources()
                if (count := len(path.read_text(encoding="utf-8").splitlines())) > MOST_LINES_OF_A_FILE]
        self.assertEqual([], long)

    def test_functions_are_short(self):
        long = [f"{path.relative_to(ROOT)}:{line}: {count} lines" for path in sources()
                for line, count in functions(path.read_text(encoding="utf-8").splitlines())
                if count > MOST_LINES_OF_A_FUNCTION]
        self.assertEqual([], long)

    def test_cut_texts_are_found(self):
        wide = "x" * 110
        lines = ['f("one "', '  "two");', 'f("one\\n"', '  "two");', 'f("\\xfd"', '  "7z");', f'f("{wide} "', '  "two three");',
                 '#include "a.h"', '#include "b.h"']
        self.assertEqual([1], list(cut_texts(lines)))

    def test_texts_are_not_cut(self):
        cut = [f"{path.relative_to(ROOT)}:{line}" for path in sources()
               for line in cut_texts(path.read_text(encoding="utf-8").splitlines())]
        self.assertEqual([], cut)

    def test_clients_cannot_choose_collisions(self):
        """std::hash of a text has no secret key, so the container needs another hash function, or to be ordered."""
        text = r"(?:std::string|std::string_view|Bytes|std::span<[^>]*>)"
        weak = [f"{path.relative_to(ROOT)}: {found}" for path in sources()
                for found in re.findall(rf"unordered_(?:multi)?(?:set<{text}>|map<{text}, [^;]*?>)(?= ?[\w({{])",
                                        path.read_text(encoding="utf-8")) if not re.search(r"Hash", found)]
        self.assertEqual([], weak)

    def test_constants_of_headers_have_their_own_names(self):
        """Two inline constants with one name in one namespace: the linker would choose one of them."""
        places = {}
        for path in sources():
            if path.suffix != ".h":
                continue
            namespace = ""
            for line in path.read_text(encoding="utf-8").splitlines():
                if found := re.match(r"(?:namespace (\w+)|\}  // namespace (\w+))", line):
                    namespace = found[1] or ""
                if found := re.match(r"inline constexpr .*?\b(k[A-Z]\w*)(?:\[\])? = ", line):
                    places.setdefault((namespace, found[1]), []).append(str(path.relative_to(ROOT)))
        self.assertGreater(len(places), 100)
        self.assertEqual({}, {name: paths for name, paths in places.items() if len(paths) > 1})

    def test_headers_declare_first(self):
        long = []
        for path in (path for path in sources() if path.suffix == ".h" and path.is_relative_to(ROOT / "server")):
            lines = path.read_text(encoding="utf-8").splitlines()
            long += [f"{path.relative_to(ROOT)}:{line}: {count - 2} lines" for line, count in functions(lines)
                     if count - 2 > MOST_LINES_WITHIN_A_CLASS and lines[line - 1].startswith("  ")
                     and not INITIALIZERS.match(lines[line - 1])]
        self.assertEqual([], long)


if __name__ == "__main__":
    unittest.main()
