"""A program in a terminal: reads its output and types keys."""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

ROWS, COLUMNS = 50, 250  # wide, so that no line is broken


class Terminal:
    def __init__(self, *words, **environment):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.process = subprocess.Popen([str(word) for word in words], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
                                        env={**os.environ, "TERM": "xterm", **environment})
        os.close(theirs)
        self.file = ours
        self.shown = ""

    def expect(self, pattern, limit_s=15.0):
        """Waits for this output; returns the match and drops everything up to its end."""
        end = time.monotonic() + limit_s
        while not (match := re.search(pattern, self.shown, re.S)):
            if time.monotonic() > end or not self._read(end - time.monotonic()):
                raise AssertionError(f"{pattern!r} was not shown: {self.shown!r}")
        self.shown = self.shown[match.end():]
        return match

    def _read(self, limit_s):
        if select.select([self.file], [], [], max(0, limit_s))[0]:
            try:
                data = os.read(self.file, 65536)
            except OSError:
                return False  # the program has ended
            self.shown = re.sub("\r+\n", "\n", self.shown + data.decode(errors="replace"))
            return bool(data)
        return False

    def type(self, text):
        os.write(self.file, text.encode())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.file)
