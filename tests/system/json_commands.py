"""Random JSON commands: documents, paths and arguments, good ones and bad ones. json_test.py sends them to our server,
and compares the replies with those of Redis and its module.

What is known to differ (docs/differences.md) does not occur:
- arrays of numbers only, in commands that change numbers in them: `Grammar.has_number_arrays` says whether they occur,
- numbers of more than 15 digits, which Redis reads with an error in the last digit,
- sums and products of integers that need more than 64 bits,
- two paths of one document in JSON.MSET, and indexes out of bounds for only some arrays in JSON.ARRINSERT,
- JSON.CLEAR and JSON.MERGE of a value and of values inside it,
- several paths in JSON.GET, because Redis shows them in a random order.
"""
import json

NAMES = ["a", "b", "nested", "a longer name", "x1", "né", "a'b", 'a"b', "$x", "", "a-b"]
TEXTS = ["", "x", "a longer text", "naïve", "日本", "😀", "\n\t\"\\", "\x01", "1", "null", "/"]
NUMBERS = [0, 1, -1, 2, 3, 7, 127, 128, -129, 65536, 1 << 40, -(1 << 40), (1 << 64) - 1,
           0.0, -0.0, 1.0, 0.5, 1.125, -7.75, 1e300, 1e-7, 1e-5, 123456.789, 1e15, 1e16, 1e17, 1e21, 2.5e-300]
LEGACY = [".", ".a", "a", "..a", "nested.a", ".nested.b", ".none", "*", ".*", "['a longer name']", "[0]", ".[1]", "a[0]", "a.[-1]",
          "..[0]", "$x", ".b[*]", "nested..b", ".a[?(@>1)]", '["a","b"]', " a", "a ", "..nested.a"]
STEPS = [".a", ".b", ".nested", "..a", "..b", "..*", ".*", "[*]", "[0]", "[-1]", "[1]", "[-9]", "[9]", "[0,1]", "[-1,0,0]", "[1:]", "[:2]",
         "[-2:]", "[::2]", "[1:3]", "[0:9:3]", "['a']", '["b"]', "['a','b']", '["b","a","none"]', "..['a','nested']", "..[0]", "..[0,2]",
         "..[1:]", ".x1", ".none", "['a longer name']", "['né']", "['a\\'b']", '["a\\"b"]', "['']", ".a-b", ".$x", ".[0]", ".['b']", " .a",
         ". a", "[ 0 ]", "[ 'a' , 'b' ]"]
OPERANDS = ["@", "@", "@", "@.a", "@.a", "@.b", "@[0]", "@.*", "@..a", "$.a", "$.b", "$..a", "@.nested.a", "@['a','b']", "@.none", "@a"]
VALUES = ["1", "0", "-1", "2", "1.0", "0.5", "-7.75", "true", "false", "null", '"x"', "'x'", '"a longer text"', "''", '"naïve"', "127",
          "18446744073709551615"]
OPERATORS = ["==", "!=", "<", "<=", ">", ">=", " == ", " != "]
BAD_PATHS = ["$.", "$..", "$[", "$.a[", "$.a[]", "$.a[x]", "$.a[0", "$.a[0:", "$.a[0:1", "$.a[::0]", "$.a[::-1]", "$.a[1,]", "$['a]", "$['a'",
             "$['a',1]", "$.a b", "$.a]", "$[?", "$[?(", "$[?()]", "$[?(@.a==)]", "$[?(@.a=1)]", "$[?(@.a==1]", "$[?(@.a==x)]", "$[?(1 x)]",
             "$[?(@.a &&)]", "$[?(@.a & @.b)]", "$[?(@.a==@.b==1)]", "$[?@.a)]", "$[?((@.a)]", "", "..", "a b", ".a[", "a..", "'a'", "?",
             "$.a=1", "$.a,b", "$.a[01]", "$.a[1.5]", "$.a[+1]", "$..[", "$.*a", "$[0]b", "$.a[-]", "$.a[1:2,3]", "$.a.[0:1"]
BAD_VALUES = ["", " ", "x", "{", "[1,", "[1 2]", "[1,]", '{"a"}', '{"a":}', '{"a":1,}', "{a:1}", '"x', '"\\x"', '"\\u12"', "nul", "tru", "-", "01",
              "1.", "1e", ".5", "+1", "1e400", "1 2", "\n x", "'a'", "[}", "NaN"]


class Grammar:
    def __init__(self, chance, has_number_arrays):
        self.chance = chance
        self.has_number_arrays = has_number_arrays

    def pick(self, choices):
        return self.chance.choice(choices)

    def document(self, depth=3):
        kind = self.chance.randrange(8 if depth else 5)
        if kind == 5:
            elements = [self.document(depth - 1) for _ in range(self.chance.randrange(5))]
            return elements if self.has_number_arrays else ["" if self.chance.random() < .5 else None] + elements
        if kind >= 6:
            return {name: self.document(depth - 1) for name in self.chance.sample(NAMES, self.chance.randrange(5))}
        number = self.pick(NUMBERS + [(1 << 63) - 1, -(1 << 63)] if self.has_number_arrays else NUMBERS)
        return [None, self.chance.random() < .5, self.chance.randrange(-9, 9), number, self.pick(TEXTS)][kind]

    def container(self, depth):
        while True:
            value = self.document(depth)
            if isinstance(value, (list, dict)) and len(value) > 1:
                return json.dumps(value)

    def value(self, depth=2):
        if self.chance.random() < .03:
            return self.pick(BAD_VALUES)
        value = self.document(depth)
        style = self.chance.randrange(4)
        if style == 0:
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return json.dumps(value, indent=1 if style == 1 else None)

    def condition(self, depth=2):
        kind = self.chance.randrange(6)
        if depth and kind == 0:
            return self.condition(depth - 1) + self.pick(["&&", "||", " && ", " || "]) + self.condition(depth - 1)
        if depth and kind == 1:
            return f"({self.condition(depth - 1)})"
        if kind == 2:
            return self.pick(OPERANDS)
        if kind == 3:
            return self.pick(OPERANDS) + "=~" + self.pick(["'x'", '"^a"', "'(?i)A L'", '"e.t$"', "'^$'"])
        right = self.pick(OPERANDS) if self.chance.random() < .3 else self.pick(VALUES)
        sides = [self.pick(OPERANDS), right]
        if self.chance.random() < .1:
            sides.reverse()
        return self.pick(OPERATORS).join(sides)

    def path(self):
        kind = self.chance.randrange(20)
        if kind == 0:
            return self.pick(BAD_PATHS)
        if kind < 6:
            return self.pick(LEGACY)
        steps = [self.pick(STEPS) for _ in range(self.pick([0, 1, 1, 1, 2, 2, 3]))]
        if self.chance.random() < .2:
            steps.insert(self.chance.randrange(len(steps) + 1), self.pick(["", "", "."]) + self.pick(["[?(%s)]", "[?%s]"]) % self.condition())
        path = "$" + "".join(steps)
        return path if path[1:2] in ("", ".", "[") else "$." + path[1:].lstrip(" .[")

    def index(self):
        return "x" if self.chance.random() < .02 else str(self.pick([-9, -3, -2, -1, 0, 0, 1, 2, 3, 9]))

    def read(self, key, path):
        chance = self.chance
        layout = [word for name in ("INDENT", "NEWLINE", "SPACE", "NOESCAPE") if chance.random() < .1
                  for word in ((name,) if name == "NOESCAPE" else (name, self.pick(["", " ", "\t", "\n", "--"])))]
        return self.pick([
            ["JSON.GET", key, *layout, path], ["JSON.GET", key, *layout], ["JSON.GET", key, path, *layout, path], ["JSON.GET", key, path],
            ["JSON.MGET", "k1", "k2", "none", "text", "k3", path], ["JSON.TYPE", key, path], ["JSON.STRLEN", key, path],
            ["JSON.ARRLEN", key, path], ["JSON.ARRINDEX", key, path, self.value(1)], ["JSON.ARRINDEX", key, path, self.value(0), self.index()],
            ["JSON.ARRINDEX", key, path, self.value(0), self.index(), self.index()], ["JSON.OBJKEYS", key, path], ["JSON.OBJLEN", key, path],
            ["JSON.RESP", key, path]])

    def change_of_numbers(self, key, path):
        plain = path if ".." not in path and path.count("*") < 2 else self.pick(["$.a", "$.b", ".a", "$.*", "$[0]", "$.none", "$[0,1]"])
        return self.pick([
            ["JSON.MERGE", key, plain, self.value()], ["JSON.MERGE", key, "$", self.value(3)], ["JSON.CLEAR", key, plain],
            ["JSON.NUMINCRBY", key, path, self.pick(["1", "-2", "1.5", "0.25", "1e3", ".5", "x", '"1"', "null"])],
            ["JSON.NUMMULTBY", key, path, self.pick(["2", "-1", "0.5", "0", "1.0", ".5", "x"])]])

    def change(self, key, path):
        value = self.value()
        if not self.has_number_arrays and self.chance.random() < .9:
            value = self.pick(['"x"', "null", "true", "[null]", '{"a":[""]}'])
        return self.pick([
            ["JSON.SET", key, "$", self.container(4)], ["JSON.SET", key, "$", self.container(5)], ["JSON.SET", key, "$", self.container(4)],
            ["JSON.SET", key, path if path != "$" or self.chance.random() < .1 else "$.a", self.value()],
            ["JSON.SET", key, path, self.value(), self.pick(["NX", "XX", "nx", "xx", "IF"])],
            ["JSON.MSET", key, path, self.value(), self.pick(["other", "text", "absent"]), self.path(), self.value()],
            ["JSON.DEL", key, path], ["JSON.FORGET", key, path], ["JSON.STRAPPEND", key, path, self.pick(['"s"', '"né"', "1", "x"])],
            ["JSON.ARRAPPEND", key, path, value], ["JSON.ARRAPPEND", key, path, value, value], ["JSON.ARRINSERT", key, path, self.pick(["0", "0", "x"]), value],
            ["JSON.ARRINSERT", key, self.pick(["$.a", ".a", "$", "$.b"]), self.index(), value, value], ["JSON.ARRPOP", key, path, self.index()], ["JSON.ARRPOP", key, path],
            ["JSON.ARRTRIM", key, path, self.index(), self.index()], ["JSON.TOGGLE", key, path]])

    def command(self):
        """One random command of the family."""
        key = self.pick(["k1", "k1", "k1", "k2", "k2", "k2", "k3", "k3", "none", "text"])
        path = self.path()
        kind = self.chance.randrange(10)
        if kind < 4:
            words = self.read(key, path)
        elif kind < 6 and not self.has_number_arrays:
            words = self.change_of_numbers(key, path)
        else:
            words = self.change(key, path)
        if self.chance.random() < .02:
            words = words[:self.chance.randrange(1, len(words))] if self.chance.random() < .5 or words[0] == "JSON.GET" else words + ["extra"]
        return words
