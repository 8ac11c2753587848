"""iredis, a terminal client, used without a terminal for single commands."""
import os
import pathlib
import subprocess
import sys

import pytest

import servers
from terminal import Terminal

pytestmark = pytest.mark.full

PROGRAM = str(pathlib.Path(sys.executable).parent / "iredis")
ADDRESS = ["-h", servers.HOST, "-p", str(servers.PORT)]


def iredis(folder, lines, *words):
    done = subprocess.run([PROGRAM, *ADDRESS, *words], input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=30,
                          check=False, env={**os.environ, "HOME": str(folder)})
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_commands_from_standard_input(client, tmp_path):
    assert iredis(tmp_path, ["set k 虎哥", "get k", "incr n", "lpush l a b", "lrange l 0 -1", "hset h f v g w", "hgetall h",
                             "zadd z 1.5 a", "zrange z 0 -1 withscores", "xadd x 1-1 a b", "xrange x - +", "get none"]) == [
        "OK", "虎哥", "1", "2", "b", "a", "2", "f", "v", "g", "w", "1", "a", "1.5", "1-1", "1-1", "a", "b", ""]
    assert client.get("k") == "虎哥"


def test_errors(client, tmp_path):
    client.set("text", "x")
    assert iredis(tmp_path, ["nosuch x", "incr text", "get text"]) == [
        "ERROR unknown command 'nosuch', with args beginning with: 'x' ", "ERROR value is not an integer or out of range", "x"]


def test_database(client, tmp_path):
    assert iredis(tmp_path, ["set k five"], "-n", "5") == ["OK"]
    assert client.get("k") is None
    assert iredis(tmp_path, ["select 5", "get k"])[-1] == "five"


def test_one_command_in_a_terminal(client, tmp_path):
    client.rpush("task:queue", "task1", "task2")
    with Terminal(PROGRAM, *ADDRESS, "lrange", "task:queue", 0, 5, HOME=str(tmp_path)) as terminal:
        terminal.expect(r'1\)\S* \S*"task1"\S*\n\S*2\)\S* \S*"task2"')
        assert terminal.process.wait(10) == 0
    with Terminal(PROGRAM, *ADDRESS, "info", "server", HOME=str(tmp_path)) as terminal:
        terminal.expect(rf"tcp_port:{servers.PORT}")
