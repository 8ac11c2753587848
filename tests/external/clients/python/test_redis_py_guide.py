"""The pieces of Python that docs/test_server_tasks.md prints, run as printed except for the port."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

PAGE = pathlib.Path(__file__).resolve().parents[4] / "docs" / "test_server_tasks.md"
TEST_SERVER = os.environ.get("REDIS_TEST_SERVER")


def printed():
    """Returns each piece of Python with the heading above it."""
    heading = ""
    for title, code in re.findall(r"^## (.*?)$|^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.S | re.M):
        heading = title or heading
        if code:
            yield pytest.param(code, id=heading)


PRINTED = list(printed())


def run(code, folder):
    """Returns the output of pytest for a test file."""
    file = folder / "test_printed.py"
    file.write_text(code.replace("6379", TEST_SERVER.split(":")[1]), encoding="utf-8")
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:pytest_redis", "--rootdir", str(folder),
             "--basetemp", str(folder / "base"), str(file)]
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=60, check=False)


def test_the_page_prints_some():
    assert len(PRINTED) >= 2


@pytest.mark.skipif(not TEST_SERVER, reason="the server has no test commands")
@pytest.mark.parametrize("code", PRINTED)
def test_a_piece_of_the_page_passes(code, tmp_path):
    assert "6379" in code
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"[1-9]\d* passed", done.stdout)


FAILING = """
import redis

admin = redis.Redis.from_url("redis://world.python-failing:any@localhost:6379")
worker = redis.Redis.from_url("redis://world.python-failing:any@localhost:6379", client_name="worker-1")


def test_the_lock_is_not_taken():
    worker.ping()
    admin.execute_command("TEST", "JOURNAL", "START")
    worker.set("lock:1", "a b", nx=True)
    worker.get("stock")
    admin.execute_command("TEST", "EXPECT", "COMMAND", "set", "KEY", "lock:*", "NONE")
"""


@pytest.mark.skipif(not TEST_SERVER, reason="the server has no test commands")
def test_a_failed_expectation_is_readable(tmp_path):
    done = run(FAILING, tmp_path)
    assert done.returncode == 1
    assert ("redis.exceptions.ResponseError: EXPECT wanted none of [COMMAND set KEY lock:*], saw 1: | "
            '#1 worker-1: SET lock:1 "a b" NX -> ok\n') in done.stdout
