"""Dramatiq: its Redis broker uses one Lua script for everything."""
import dramatiq
import pytest
from dramatiq.brokers.redis import RedisBroker
from dramatiq.results import Results
from dramatiq.results.backends import RedisBackend

import jobs
import servers

pytestmark = pytest.mark.full


@pytest.fixture
def broker():
    broker = RedisBroker(host=servers.HOST, port=servers.PORT)
    broker.add_middleware(Results(backend=RedisBackend(host=servers.HOST, port=servers.PORT)))
    dramatiq.set_broker(broker)
    yield broker
    broker.close()


@pytest.fixture
def worker(broker):
    worker = dramatiq.Worker(broker, worker_timeout=50, worker_threads=2)
    worker.start()
    yield worker
    worker.stop()


def test_results(broker, worker):
    add = dramatiq.actor(jobs.add, store_results=True)
    assert add.send(20, 22).get_result(block=True, timeout=10_000) == 42


def test_retries(broker, worker):
    fail = dramatiq.actor(jobs.fail_times, store_results=True, max_retries=3, min_backoff=10, max_backoff=20)
    assert fail.send(2).get_result(block=True, timeout=20_000) == 3


def test_delayed_message(broker, worker, other):
    record = dramatiq.actor(jobs.record)
    record.send_with_options(args=("later",), delay=300)
    record.send("now")
    servers.wait_until(lambda: other.lrange("ran", 0, -1) == ["now", "later"], "both messages")


def test_many_messages_are_done_once(broker, worker, other):
    record = dramatiq.actor(jobs.record)
    for number in range(300):
        record.send(number)
    broker.join(record.queue_name, timeout=30_000)
    worker.join()
    assert sorted(map(int, other.lrange("ran", 0, -1))) == list(range(300))


def test_dead_letters(broker, worker, other):
    fail = dramatiq.actor(jobs.fail_times, max_retries=0)
    fail.send(9)
    servers.wait_until(lambda: other.zcard("dramatiq:default.XQ") == 1, "the dead letter")
