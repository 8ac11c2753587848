"""pytest-redis starts our server for a project's tests, hands them an empty data set each, and ends it."""
import os
import subprocess
import sys

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


def run_project(tmp_path, *options):
    (tmp_path / "test_project.py").write_text(PROJECT)
    started = tmp_path / "started"
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--redis-exec", servers.PROGRAM,
                           "--basetemp", tmp_path / "base", *options, "test_project.py"], cwd=tmp_path, capture_output=True,
                          text=True, timeout=60, check=False, env={**os.environ, "STARTED": str(started)})
    assert "3 passed" in done.stdout and done.returncode == 0, done.stdout + done.stderr
    pid, folder = started.read_text().split()
    return int(pid), folder


def test_project_passes_and_the_server_is_gone(tmp_path):
    pid, folder = run_project(tmp_path)
    assert not servers.launcher.exists(pid)
    assert not [name for name in os.listdir(folder) if name.endswith((".pid", ".sock"))]


def test_options_of_the_plugin(tmp_path):
    pid, _ = run_project(tmp_path, "--redis-compression", "--redis-rdbchecksum", "--redis-loglevel", "debug",
                         "--redis-db-count", "8", "--redis-port", str(servers.free_port()), "--redis-save", "3600 1")
    assert not servers.launcher.exists(pid)
