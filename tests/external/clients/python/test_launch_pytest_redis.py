"""pytest-redis starts our server for a project's tests, gives each an empty data set, and stops it."""
import os
import pathlib
import subprocess
import sys
import tempfile

import pytest

import servers

PROJECT = '''
import os

def test_first(redisdb, redis_proc):
    assert redisdb.set("k", "v") and redisdb.get("k") == b"v"
    with open(os.environ["STARTED"], "w") as file:
        file.write(f"{redis_proc.process.pid} {os.path.dirname(redis_proc.unixsocket)}")
    assert redisdb.config_get("databases")["databases"] == "8"

def test_every_test_begins_with_nothing(redisdb):
    assert redisdb.dbsize() == 0
    pipe = redisdb.pipeline()
    pipe.rpush("l", 1, 2).lrange("l", 0, -1)
    assert pipe.execute() == [2, [b"1", b"2"]]

def test_process_is_the_given_program(redis_proc):
    assert redis_proc.running()
'''


@pytest.fixture
def folder():
    """Has a short name, since the path of a socket is limited to about a hundred characters."""
    with tempfile.TemporaryDirectory() as name:
        yield pathlib.Path(name)


def run_project(folder, *options):
    (folder / "test_project.py").write_text(PROJECT)
    started = folder / "started"
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--redis-exec", servers.PROGRAM,
                           "--basetemp", folder / "base", *options, "test_project.py"], cwd=folder, capture_output=True,
                          text=True, timeout=60, check=False, env={**os.environ, "STARTED": str(started)})
    assert "3 passed" in done.stdout and done.returncode == 0, done.stdout + done.stderr
    pid, data = started.read_text().split()
    return int(pid), data


def test_project_passes_and_the_server_is_gone(folder):
    pid, data = run_project(folder)
    assert not servers.launcher.exists(pid)
    assert not [name for name in os.listdir(data) if name.endswith((".pid", ".sock"))]


@pytest.mark.full
def test_options_of_the_plugin(folder):
    pid, _ = run_project(folder, "--redis-compression", "--redis-rdbchecksum", "--redis-loglevel", "debug",
                         "--redis-db-count", "8", "--redis-port", str(servers.free_port()), "--redis-save", "3600 1")
    assert not servers.launcher.exists(pid)
