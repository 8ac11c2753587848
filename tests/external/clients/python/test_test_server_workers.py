"""Eight workers of pytest-xdist on one server: each in its own world, which only its URL selects."""
import os
import subprocess
import sys
import textwrap

import pytest

import servers

WORKERS = 8
TESTS = 64

# The files of such a project. Every test empties its data and changes a directive, which would break tests of other
# workers.
PROJECT = textwrap.dedent('''
    import os

    import pytest
    import redis

    worker = os.environ["PYTEST_XDIST_WORKER"]
    client = redis.Redis.from_url(os.environ["SERVER"].replace("WORLD", worker), decode_responses=True)


    @pytest.fixture(autouse=True)
    def empty():
        client.flushall()


    @pytest.mark.parametrize("number", range({tests}))
    def test_nobody_else_is_here(number):
        policy = ["allkeys-lru", "noeviction"][number % 2]
        client.config_set("maxmemory-policy", policy)
        for step in range(20):
            assert client.incr("steps") == step + 1
            client.set("number", number)
            assert client.get("number") == str(number)
            assert client.dbsize() == 2
        assert client.config_get("maxmemory-policy") == {{"maxmemory-policy": policy}}
        assert len(client.client_list()) == 1
''').format(tests=TESTS)


def test_workers_of_xdist_share_a_server(tmp_path):
    usage = subprocess.run([servers.PROGRAM, "--help"], capture_output=True, text=True, check=False)
    if "--test " not in usage.stdout + usage.stderr:
        pytest.skip("this server has no TEST")
    server = servers.Server("--test-commands", "local")
    try:
        (tmp_path / "test_project.py").write_text(PROJECT)
        (tmp_path / "pytest.ini").write_text("[pytest]\n")
        done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:pytest_redis",
                               "-n", str(WORKERS), "--dist", "load", str(tmp_path)], capture_output=True, text=True, check=False,
                              cwd=tmp_path, env=os.environ | {"SERVER": f"redis://world.WORLD:x@{servers.HOST}:{server.port}/0"})
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"{TESTS} passed" in done.stdout
        with server.client() as client:
            worlds = str(client.execute_command("TEST", "WORLD", "LIST"))
            assert all(f"gw{number}" in worlds for number in range(WORKERS)), worlds
            assert client.dbsize() == 0
    finally:
        server.remove()
