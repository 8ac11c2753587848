#!/usr/bin/env python3
"""Shows where the server's time goes under one workload of bench/peers.py: a flame graph as SVG, from samples of perf.

    python3 bench/flame_graph.py --server build/bench/respite-server --row "SET" docs/images/performance/flame_set.svg

Width is time, height the depth of calls. Frames of the kernel are grey. Frames narrower than 0.3 % are left out.
"""
import argparse
import collections
import html
import pathlib
import re
import subprocess
import sys
import tempfile

from peers import PLAIN
from side_by_side import Server, benchmark_command, load_commands

WIDTH, ROW, LEFT_OUT = 1200, 17, 0.003
SAMPLES_PER_S, STACK_BYTES = 499, 16384
LETTER_WIDTH = 6.6


class Frame:
    """A function below its callers, and the number of its samples."""

    def __init__(self, name="all", in_kernel=False):
        self.name, self.in_kernel, self.count, self.calls = name, in_kernel, 0, collections.OrderedDict()

    def add(self, stack):
        self.count += 1
        if stack:
            name, in_kernel = stack[0]
            self.calls.setdefault(name, Frame(name, in_kernel)).add(stack[1:])

    def depth(self):
        return 1 + max((call.depth() for call in self.calls.values()), default=0)


def short(name):
    """Removes arguments, template arguments and this project's namespaces."""
    name = re.sub(r"respite::|\(anonymous namespace\)::|\[clone [^]]*\]", "", name)
    while re.search(r"<[^<>]*>", name):
        name = re.sub(r"<[^<>]*>", "", name)
    return re.sub(r"\(.*", "", name).strip() or name


def stacks(text):
    """Returns the calls of each sample of `perf script`, the outermost first."""
    for sample in text.split("\n\n"):
        frames = [re.match(r"\s+[0-9a-f]+ (.+?)(?:\+0x[0-9a-f]+)? \((.*)\)$", line) for line in sample.splitlines()[1:]]
        calls = [(short(frame[1]), "kernel" in frame[2] or "vmlinux" in frame[2]) for frame in frames if frame]
        if calls:
            yield [call for call in reversed(calls) if call[0] != "[unknown]"]


def sampled(row, binary, seconds):
    with Server("respite", binary) as server, tempfile.NamedTemporaryFile(suffix=".perf") as data:
        if row.data:
            load_commands(server, row.data(), batch=row.batch)
        load = subprocess.Popen(benchmark_command(server, row.command, row.pipeline, row.keys, row.requests * 10 * seconds),
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run(["perf", "record", "-q", "-F", str(SAMPLES_PER_S), "--call-graph", f"dwarf,{STACK_BYTES}", "-p",
                        str(server.process.pid), "-o", data.name, "--", "sleep", str(seconds)], check=True)
        load.terminate()
        load.wait()
        said = subprocess.run(["perf", "script", "-i", data.name, "-F", "comm,tid,ip,sym,dso"], capture_output=True, text=True,
                              check=True)
    return said.stdout


def draw(root, title):
    rows = root.depth()
    height = (rows + 2) * ROW + 10
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="monospace" font-size="11">',
             f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
             f'<text x="4" y="14" font-size="13">{html.escape(title)}</text>']
    place(root, 0, height - ROW - 4, WIDTH / root.count, root.count, parts)
    return "\n".join([*parts, "</svg>", ""])


def place(frame, left, top, scale, total, parts):
    width = frame.count * scale
    share = frame.count / total
    if share < LEFT_OUT:
        return
    colour = "#c9c9c9" if frame.in_kernel else f"hsl({20 + sum(map(ord, frame.name)) % 35} 80% 66%)"
    letters = int((width - 4) / LETTER_WIDTH)
    shown = frame.name if len(frame.name) <= letters else frame.name[:max(letters - 1, 0)] + "…"
    parts.append(f'<g><title>{html.escape(frame.name)}: {100 * share:.1f} %</title><rect x="{left:.1f}" y="{top}" '
                 f'width="{max(width - 0.5, 0.5):.1f}" height="{ROW - 1}" fill="{colour}"/>'
                 + (f'<text x="{left + 2:.1f}" y="{top + 12}">{html.escape(shown)}</text>' if letters > 2 else "") + "</g>")
    for call in sorted(frame.calls.values(), key=lambda one: -one.count):
        place(call, left, top - ROW, scale, total, parts)
        left += call.count * scale


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", type=pathlib.Path, required=True)
    parser.add_argument("--row", choices=[row.name for row in PLAIN], required=True)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("picture", type=pathlib.Path)
    options = parser.parse_args()
    row = next(row for row in PLAIN if row.name == options.row)
    root = Frame()
    for stack in stacks(sampled(row, options.server.absolute(), options.seconds)):
        root.add(stack)
    if root.count == 0:
        raise SystemExit("perf took no samples")
    options.picture.parent.mkdir(parents=True, exist_ok=True)
    options.picture.write_text(draw(root, f"{row.name}, pipeline {row.pipeline}: {root.count} samples"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
