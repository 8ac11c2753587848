"""Shell completion: the lists match what the server reports, and bash and zsh offer the right words."""
import os
import pathlib
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from launcher import SERVER, WAIT_S

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "packaging/completion"
sys.path.insert(0, str(FOLDER))
import lists  # noqa: E402

# Sets COMPREPLY as bash does when Tab is pressed after these words.
PRESS_TAB = """
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
function=$(complete -p "$1" | sed 's/.* -F \\([^ ]*\\) .*/\\1/')
"$function"
printf '%s\\n' "${COMPREPLY[@]}"
"""


class CompletionTest(unittest.TestCase):
    def test_lists_are_those_of_the_server(self):
        found = lists.lists(os.path.abspath(SERVER))
        for file in lists.FILES:
            text = file.read_text(encoding="utf-8")
            self.assertEqual(lists.written(text, found), text,
                             f"{file.name} is not what the server says: packaging/completion/lists.py SERVER")

    def offered(self, *words):
        done = subprocess.run(["bash", "-c", PRESS_TAB, "bash", FOLDER / "respite", *words], capture_output=True, text=True,
                              timeout=20, check=True)
        self.assertEqual("", done.stderr)
        return done.stdout.split()

    def test_bash(self):
        for words, wanted in (
                (("respite-server", "--appendon"), ["--appendonly"]),
                (("respite-server", "--appendonly", ""), ["yes", "no"]),
                (("respite-server", "redis.conf", "--appendonly", "n"), ["no"]),
                (("respite-server", "--loglevel", "v"), ["verbose"]),
                (("respite-server", "--emulate", "valkey", ":", "8"), ["8.0", "8.1"]),
                (("respite-server", "--emulate", "valkey", ":"), ["7.2", "8.0", "8.1", "9.0", "9.1", "9.2"]),
                (("respite-server", "--emulate", "v"), ["valkey:7.2", "valkey:8.0", "valkey:8.1", "valkey:9.0", "valkey:9.1", "valkey:9.2"]),
                (("respite-server", "--check"), ["--check-system"]),
                (("respite-server", "--dir", ""), []),
                (("respite-server", ""), []),
                (("respite-cli", "-p", "7000", "getd"), ["getdel"]),
                (("respite-cli", "GETD"), ["GETDEL"]),
                (("respite-cli", "config", "re"), ["resetstat", "rewrite"]),
                (("respite-cli", "CONFIG", "SE"), ["SET"]),
                (("respite-cli", "get", ""), []),
                (("respite-cli", "--no"), ["--no-auth-warning", "--no-raw"]),
                (("respite-cli", "--show-pushes", ""), ["yes", "no"]),
                (("respite-cli", "--cacert", ""), []),
                (("respite-check-aof", "--"), ["--fix", "--help", "--truncate-to-timestamp"]),
                (("respite-check-aof", ""), []),
                (("respite-check-rdb", "--"), ["--help", "--version"])):
            with self.subTest(words):
                self.assertEqual(wanted, self.offered(*words))

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh(self):
        subprocess.run(["zsh", "-n", FOLDER / "_respite"], check=True, timeout=20)
        for typed, wanted in (("respite-server --appendon", "respite-server --appendonly"),
                              ("respite-server --appendonly n", "respite-server --appendonly no"),
                              ("respite-server --loglevel v", "respite-server --loglevel verbose"),
                              ("respite-cli -p 7000 getd", "respite-cli -p 7000 getdel"),
                              ("respite-cli CONFIG RESETS", "respite-cli CONFIG RESETSTAT"),
                              ("respite-cli --show-pushes y", "respite-cli --show-pushes yes"),
                              ("respite-check-aof --tr", "respite-check-aof --truncate-to-timestamp")):
            with self.subTest(typed):
                self.assertIn(wanted, self.completed_by_zsh(typed))

    def completed_by_zsh(self, typed):
        """Returns the line after Tab: a widget of zsh writes it to a file."""
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(FOLDER / "_respite", folder)
            line = pathlib.Path(folder, "line")
            pathlib.Path(folder, ".zshrc").write_text(
                f"fpath=({folder} $fpath)\nautoload -Uz compinit && compinit -u -d {folder}/dump\nPS1='ready> '\n"
                f"show() {{ print -r -- $BUFFER > {line}.new; mv {line}.new {line} }}\nzle -N show\nbindkey '^X' show\n",
                encoding="utf-8")
            pid, terminal = pty.fork()
            if pid == 0:
                os.environ.update(ZDOTDIR=folder, TERM="xterm")
                os.execvp("zsh", ["zsh", "-i"])
            try:
                self.wait_for(terminal, lambda text: "ready> " in text)
                os.write(terminal, (typed + "\t\x18").encode())
                self.wait_for(terminal, lambda _: line.exists())
                return line.read_text(encoding="utf-8").rstrip("\n ")
            finally:
                os.kill(pid, 9)
                os.waitpid(pid, 0)
                os.close(terminal)

    def wait_for(self, terminal, condition):
        text, end = "", time.monotonic() + WAIT_S
        while not condition(text):
            if time.monotonic() > end:
                raise AssertionError(f"zsh printed {text!r}")
            if select.select([terminal], [], [], 0.01)[0]:
                text += os.read(terminal, 65536).decode(errors="replace")


if __name__ == "__main__":
    unittest.main()
