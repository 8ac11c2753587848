#!/usr/bin/env python3
"""What pages say about packages: the version of the project, every kind that is made, and no line that requests a name
from a registry where the name is not ours. Also README's figures, and the links of all pages."""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "packaging"))
from makers import facts  # noqa: E402

PAGES = ["README.md", "docs/install.md", "docs/releasing.md"]
ALL_PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (
    *ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("packaging/**/*.md"), *ROOT.glob("tests/external/clients/*.md")))
# Commands that install a package of this project, and the text that such a line must contain, so that it requests the
# name from no registry.
INSTALLS = {re.compile(r"pip install .*respite"): "--no-index --find-links", re.compile(r"npm (?:install|i) .*respite"): "--offline",
            re.compile(r"go get \S*respite"): "GOPROXY=\"file://", re.compile(r"cargo add .*respite"): "--registry respite"}
LINK = re.compile(r"\]\(([^)\s]*)\)")
VERSION = re.compile(r"(?:\brespite[\w.-]*?[-_:@]v?|<version>)(\d+\.\d+\.\d+)")


def text_of(page):
    return (ROOT / page).read_text(encoding="utf-8")


class PackagePagesTest(unittest.TestCase):
    def test_versions_are_that_of_the_project(self):
        for page in PAGES:
            found = VERSION.findall(text_of(page))
            self.assertTrue(found, page)
            self.assertEqual({facts.version()}, set(found), page)

    def test_each_kind_is_named(self):
        kinds = re.findall(r'^EACH = \{(.*?)\}|^WHOLE = \{(.*?)\}', text_of("packaging/package.py"), re.M | re.S)
        names = set(re.findall(r'"(\w+)":', str(kinds)))
        self.assertEqual({"tarball", "deb", "rpm", "image", "wheel", "npm", "go", "maven", "crate"}, names)
        usage = re.search(r"package \[KIND\.\.\.\] +(.*)", text_of("dev"))[1]
        self.assertLessEqual(names, set(re.findall(r"\w+", usage)))

    def test_names_of_the_program_are_where_packages_have_them(self):
        """The packages offer every name under which the program has another function."""
        for name in ("-cli", "-check-rdb", "-check-aof"):
            self.assertIn(f'"{name}"', text_of("server/config/command_line.cc"))
            self.assertIn(f"respite{name}", facts.TOOL_NAMES)
        self.assertIn('"docker-entrypoint"', text_of("server/config/container_arguments.cc"))

    def test_no_line_asks_a_registry_for_our_names(self):
        found = 0
        for page in ALL_PAGES:
            for line in text_of(page).splitlines():
                for install, must in INSTALLS.items():
                    if install.search(line):
                        found += 1
                        self.assertIn(must, line, page)
        self.assertGreater(found, 8)

    def test_pages_of_packages_have_the_lines_of_readme(self):
        rows = re.findall(r"^\| (Python|Node|Go|Rust) \| `([^`]+)`", text_of("README.md"), re.M)
        for language, line in rows:
            page = {"Rust": "packaging/rust/respite-test/README.md"}.get(language, f"packaging/{language.lower()}/README.md")
            text = text_of(page).replace("@VERSION@", facts.version()).replace("GONOSUMDB=@GO_MODULE@", "GONOSUMDB=respite.example")
            self.assertIn(f"\n    {line}\n", text.replace("@GO_MODULE@", facts.GO_MODULE))

    def test_figures_of_readme_are_those_of_performance(self):
        figures = text_of("docs/performance.md")
        rows = {"CPU of a GET, 16 requests in a pipeline": "GET", "CPU of a SET, 16 requests in a pipeline": "SET",
                "CPU of a GET without a pipeline (mostly the kernel's)": "GET, pipeline 1",
                "CPU of a ZADD to a million members": "ZADD, 1 M members", "CPU of an unlock script, EVALSHA": "EVALSHA unlock, pipeline 4",
                "memory of a key with a value of 64 bytes": "memory: strings of 64 bytes", "memory of a small hash": "memory: small hashes"}
        printed = text_of("README.md")
        peers = re.search(r"^\| row \| Respite, µs \| over [^|]* \| over (Redis [\d.]+) \| over (Valkey [\d.]+) \|", figures, re.M)
        self.assertEqual("share of {} | share of {}".format(*peers.groups()),
                         re.search(r"\| Respite \| (share of .*?) \|$", printed, re.M)[1])
        for name, row in rows.items():
            cells = re.search(rf"^\| {re.escape(row)} \| (.*)$", figures, re.M)[1].split(" | ")
            own, redis, valkey = cells[0], cells[2], cells[3]
            unit = "bytes" if row.startswith("memory") else "µs"
            self.assertIn(f"| {name} | {own} {unit} | {redis} | {valkey} |", printed)
        start = re.search(r"^\| launch to the first reply, ms .*?\| ([\d.]+); .*?\| ([\d.]+); .*?\| ([\d.]+); ", figures, re.M)
        own, valkey, redis = map(float, start.groups())
        self.assertIn(f"| start, from the launch to the first reply (least of 20) | {own} ms | {own / redis:.2f} | {own / valkey:.2f} |", printed)

    def test_links_lead_somewhere(self):
        for page in ALL_PAGES:
            for link in LINK.findall(re.sub(r"^```.*?^```$|`[^`]*`", "", text_of(page), flags=re.M | re.S)):
                if link.startswith(("http://", "https://", "mailto:")):
                    continue
                with self.subTest(f"{page}: {link}"):
                    path, _, anchor = link.partition("#")
                    target = (ROOT / page).parent / path if path else ROOT / page
                    self.assertTrue(target.exists())
                    if anchor:
                        self.assertIn(anchor, anchors(target))


def anchors(path):
    """Returns the anchors that GitHub makes from headings."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


if __name__ == "__main__":
    unittest.main()
