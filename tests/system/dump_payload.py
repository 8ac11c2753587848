"""DUMP payloads made by hand: a type byte and value, the version, the checksum."""
import struct


def crc64(data):
    crc = 0
    for octet in data:
        crc ^= octet
        for _ in range(8):
            crc = crc >> 1 ^ (0x95ac9329ac4bc9b5 if crc & 1 else 0)
    return crc


def payload(value, version):
    value += struct.pack("<H", version)
    return value + struct.pack("<Q", crc64(value))


def text(content):
    return bytes([len(content)]) + content


def ziplist(*entries):
    """Builds a ziplist from entries without the size of the previous entry, which is prepended."""
    body, last, size = b"", 10, 0
    for entry in entries:
        last = 10 + len(body)
        body += bytes([size]) + entry
        size = 1 + len(entry)
    return struct.pack("<IIH", 10 + len(body) + 1, last, len(entries)) + body + b"\xff"


def listpack(*elements):
    """Builds it from small numbers and short texts."""
    body = b"".join(bytes([e, 1]) if isinstance(e, int) else bytes([0x80 | len(e)]) + e + bytes([len(e) + 1]) for e in elements)
    return struct.pack("<IH", 6 + len(body) + 1, len(elements)) + body + b"\xff"


PAIR = text(ziplist(b"\x01a", b"\xf2"))
# Values "a", 1 and similar ones in the formats of servers before 7.2.
OLD_VALUES = {
    "string": b"\x00\xc0\x0a",
    "zipmap": b"\x09" + text(b"\x01\x01a\x01\x001\xff"),
    "list": b"\x0a" + PAIR,
    "zset": b"\x0c" + PAIR,
    "hash": b"\x0d" + PAIR,
    "nodes": b"\x0e\x02" + PAIR + text(ziplist(b"\x03abc", b"\xc0\x2c\x01")),
    "scores": b"\x03\x02\x01a\x031.5\x01b\xfe",
    "plain list": b"\x01\x02\x01a\xc0\x01",
    "stream": b"\x0f\x01" + text(struct.pack(">QQ", 5, 0)) + text(listpack(2, 1, 1, b"f", 0, 2, 0, 0, b"v", 4, 3, 1, 0, b"x", 4,
                                                                           0, 2, 1, 1, b"g", 7, 6))
              + b"\x02\x07\x01" + b"\x01\x01g\x05\x00\x01" + struct.pack(">QQ", 5, 0) + struct.pack("<Q", 1000) + b"\x03"
              + b"\x01\x01c" + struct.pack("<Q", 2000) + b"\x01" + struct.pack(">QQ", 5, 0),
    "integers": b"\x0b" + text(b"\x02\0\0\0\x02\0\0\0\x01\0\x05\0"),
}
