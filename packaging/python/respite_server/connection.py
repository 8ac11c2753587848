"""Enough of RESP to send TEST commands, so that no client library is needed."""
import socket


class ReplyError(Exception):
    """The server replied with an error."""


class Connection:
    """Sends one request after the other. Replies are str, int, None, list and dict."""

    def __init__(self, host, port, *, user=None, password=None):
        self._socket = socket.create_connection((host, port))
        self._stream = self._socket.makefile("rb")
        self.ask("HELLO", 3, *(("AUTH", user or "default", password or "x") if user or password else ()))

    def ask(self, *words):
        octets = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        self._socket.sendall(b"*%d\r\n" % len(octets) + b"".join(b"$%d\r\n%s\r\n" % (len(o), o) for o in octets))
        return self._reply()

    def close(self):
        self._stream.close()
        self._socket.close()

    def _line(self):
        line = self._stream.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server ended the connection")
        return line[:1], line[1:-2].decode(errors="replace")

    def _reply(self):
        kind, text = self._line()
        if kind == b"-":
            raise ReplyError(text)
        if kind == b":":
            return int(text)
        if kind == b",":
            return float(text)
        if kind == b"#":
            return text == "t"
        if kind == b"_" or text == "-1":
            return None
        if kind in (b"$", b"=", b"!"):
            return self._bulk(kind, int(text))
        if kind == b"%":
            return {self._reply(): self._reply() for _ in range(int(text))}
        if kind in (b"*", b"~", b">"):
            return [self._reply() for _ in range(int(text))]
        return text

    def _bulk(self, kind, size):
        text = self._stream.read(size + 2)[:-2].decode(errors="replace")
        if kind == b"!":
            raise ReplyError(text)
        return text[4:] if kind == b"=" else text
