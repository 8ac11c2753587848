#!/usr/bin/env python3
"""Writes the lists of the completions for bash and zsh from what a server reports: lists.py SERVER.

tests/system/completion_test.py fails if the lists differ from those of the built server."""
import concurrent.futures
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import textwrap

FOLDER = pathlib.Path(__file__).resolve().parent
FILES = (FOLDER / "respite", FOLDER / "_respite")
BLOCK = re.compile(r"(# --- Written by .*?\n).*?(# --- End of the lists\.\n)", re.S)
# Lines of a configuration file that CONFIG GET does not know.
LINES = ("include", "loadmodule", "rename-command", "user")
UNKNOWN = "Bad directive"
YES_OR_NO = "argument must be 'yes' or 'no'"
ONE_OF = re.compile(r"must be one of(?: the following:)? (.+)$", re.M)


def ask(port, *words):
    """Returns the bulk strings of a reply that is an array."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        request = f"*{len(words)}\r\n" + "".join(f"${len(word)}\r\n{word}\r\n" for word in words)
        connection.sendall(request.encode())
        stream = connection.makefile("rb")
        texts = []
        for _ in range(int(stream.readline()[1:])):
            size = int(stream.readline()[1:])
            texts.append(stream.read(size + 2)[:-2].decode())
        return texts


def objection(server, directive):
    """Returns the server's message about an invalid value. The port is invalid as well, which keeps the server from
    starting."""
    done = subprocess.run([server, f"--{directive}", "no-such-value", "--port", "no-such-port"], capture_output=True,
                          text=True, timeout=20, check=False)
    text = done.stdout + done.stderr
    return text if f">>> '{directive} " in text else ""


def asked(server):
    """Returns the names of directives that CONFIG GET shows, and of commands, from a server that runs for a moment."""
    with tempfile.TemporaryDirectory() as folder:
        port_file = pathlib.Path(folder, "port")
        read, write = os.pipe()
        process = subprocess.Popen([server, "--test", "--ready-fd", str(write), "--dir", folder, "--port-file", port_file],
                                   pass_fds=[write], stdout=subprocess.DEVNULL)
        os.close(write)
        try:
            with open(read, encoding="ascii") as ready:
                port = int(ready.readline())
            return ask(port, "CONFIG", "GET", "*")[::2], ask(port, "COMMAND", "LIST")
        finally:
            process.terminate()
            process.wait(20)


def rows():
    """Returns the directives in the sources. CONFIG GET does not show directives that Redis 7.2 lacks, or directives of
    later versions."""
    files = sorted((FOLDER.parents[1] / "server/config").glob("directives_*.cc"))
    return [name for file in files for name in re.findall(r'^    \{"([a-z_-]+)",', file.read_text(encoding="utf-8"), re.M)]


def lists(server):
    """Returns a map from the name of a variable to its words."""
    shown, commands = asked(server)
    directives = sorted({*shown, *rows()})
    flags, values = [], []
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for name, text in zip(directives, pool.map(lambda each: objection(server, each), directives)):
            one_of = ONE_OF.search(text)
            if UNKNOWN in text:
                raise SystemExit(f"The server has no directive {name}")
            if YES_OR_NO in text:
                flags.append(name)
            elif one_of:
                values.append(f"{name}={one_of[1].replace(', ', '|')}")
    containers = {}
    for name in commands:
        if "|" in name:
            container, subcommand = name.split("|")
            containers.setdefault(container, []).append(subcommand)
    client = pathlib.Path(server).resolve()
    with tempfile.TemporaryDirectory() as folder:
        tool = pathlib.Path(folder, "respite-cli")
        tool.symlink_to(client)
        usage = subprocess.run([tool, "--help"], capture_output=True, text=True, check=True).stdout
    options = set(re.findall(r"(?<![\w-])(?:--[a-z][\w-]*|-[A-Za-z23]\b)", re.sub(r"(?s)\A.*?\n\n|\n\n.*?\Z", "", usage)))
    return {"_respite_directives": sorted({*directives, *LINES}), "_respite_flags": sorted(flags), "_respite_values": sorted(values),
            "_respite_commands": sorted(name for name in commands if "|" not in name),
            "_respite_subcommands": [f"{name}={'|'.join(sorted(subs))}" for name, subs in sorted(containers.items())],
            "_respite_cli_options": sorted(options)}


def written(text, named):
    """Returns the text of a file with these lists in it."""
    block = ""
    for name, words in named.items():
        rows = textwrap.wrap(" ".join(words), 118, break_long_words=False, break_on_hyphens=False)
        block += name + '="\n' + "\n".join(rows) + '"\n'
    return BLOCK.sub(lambda found: found[1] + block + found[2], text)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Usage: lists.py SERVER, the path of the program respite-server")
    found = lists(os.path.abspath(sys.argv[1]))
    for file in FILES:
        file.write_text(written(file.read_text(encoding="utf-8"), found), encoding="utf-8")
