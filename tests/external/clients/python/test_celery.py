"""Celery with Redis as its broker and result backend; the worker is a separate program."""
import contextlib
import os
import subprocess
import sys
import time

import pytest

import celery_app
import servers
from celery import chain, chord, group
from celery.exceptions import TaskRevokedError

pytestmark = pytest.mark.full


@contextlib.contextmanager
def running_worker(*options):
    process = subprocess.Popen([sys.executable, "-m", "celery", "-A", "celery_app", "worker", "--concurrency", "2", "--loglevel", "WARNING",
                                "--without-gossip", *options], cwd=os.path.dirname(celery_app.__file__),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        servers.wait_until(lambda: celery_app.app.control.ping(timeout=0.3), "a worker", 60)
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()


@pytest.fixture
def worker():
    with running_worker() as process:
        yield process


@pytest.fixture
def notes():
    with celery_app.connect() as client:
        yield client


def test_tasks_results_and_workflows(worker, notes):
    assert celery_app.add.delay(20, 22).get(timeout=20) == 42
    assert group(celery_app.add.s(number, 1) for number in range(10))().get(timeout=20) == list(range(1, 11))
    assert chain(celery_app.add.s(1, 2), celery_app.add.s(3), celery_app.add.s(4))().get(timeout=20) == 10
    assert chord((celery_app.add.s(number, number) for number in range(10)), celery_app.total.s())().get(timeout=20) == 90
    mapped = celery_app.add.starmap([(1, 2), (3, 4)]).apply_async()
    assert mapped.get(timeout=20) == [3, 7]


def test_failures_and_retries(worker):
    failed = celery_app.fail.delay()
    with pytest.raises(ValueError, match="^no stock$"):
        failed.get(timeout=20)
    assert (failed.state, failed.failed()) == ("FAILURE", True)
    assert celery_app.fail_times.delay(2).get(timeout=20) == 2


def test_countdown_and_expiry(worker, notes):
    begin = time.monotonic()
    assert celery_app.add.apply_async((1, 2), countdown=1).get(timeout=20) == 3
    assert 1.0 <= time.monotonic() - begin < 8.0
    late = celery_app.record.apply_async(("never",), expires=0.001)
    with pytest.raises(TaskRevokedError):
        late.get(timeout=20)
    assert notes.llen("ran") == 0


def test_revoked_task_does_not_run(worker, notes):
    task = celery_app.record.apply_async(("never",), countdown=2)
    task.revoke()
    with pytest.raises(TaskRevokedError):
        task.get(timeout=20)
    assert notes.llen("ran") == 0


def test_task_goes_on_when_its_process_is_killed(worker):
    assert celery_app.die_once.delay().get(timeout=30) == "alive"


def test_priorities(notes):
    """Tasks are taken from the broker by priority: 0 first."""
    tasks = [celery_app.record.apply_async((text,), priority=priority) for text, priority in (("low", 9), ("middle", 5), ("high", 0))]
    with running_worker("--pool", "solo"):
        for task in tasks:
            task.get(timeout=20)
    assert notes.lrange("ran", 0, -1) == ["high", "middle", "low"]
