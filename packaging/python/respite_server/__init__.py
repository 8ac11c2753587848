"""Starts a Respite server for tests, and controls it: its clock, faults, worlds.

    with respite_server.start() as server:
        client = redis.Redis.from_url(server.url)
        server.test("FAULT", "ADD", "lost", "WHEN", "COMMAND", "INCR", "DO", "CLOSE-AFTER", "TIMES", 1)

The pytest plugin has the fixtures `respite`, `respite_world` and `respite_clock`.
"""
from .clock import Clock
from .connection import Connection, ReplyError
from .server import Server, World, find_program, start

__all__ = ["Clock", "Connection", "ReplyError", "Server", "World", "find_program", "start"]
