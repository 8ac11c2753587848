"""RQ: queues, workers, retries, registries, the scheduler, dependencies."""
import datetime
import os
import subprocess
import sys
import threading

import pytest
import redis
from rq import Queue, Repeat, Retry, SimpleWorker, Worker
from rq.command import send_shutdown_command
from rq.job import Job

import jobs
import servers


@pytest.fixture
def connection():
    with redis.Redis(servers.HOST, servers.PORT) as connection:
        yield connection


@pytest.fixture
def queue(connection):
    return Queue("orders", connection=connection)


def work(queue, **options):
    return SimpleWorker([queue], connection=queue.connection).work(burst=True, logging_level="ERROR", **options)


def test_job_is_done_and_its_result_kept(queue):
    job = queue.enqueue(jobs.add, 20, 22)
    assert (job.get_status(), queue.count) == ("queued", 1)
    work(queue)
    assert (job.get_status(refresh=True), job.return_value(), queue.count) == ("finished", 42, 0)
    assert job.id in queue.finished_job_registry
    assert 0 < queue.connection.ttl(job.key) <= 500


def test_jobs_run_in_order_except_those_put_in_front(queue, other):
    for text in ("first", "second"):
        queue.enqueue(jobs.record, text)
    queue.enqueue(jobs.record, "urgent", at_front=True)
    work(queue)
    assert other.lrange("ran", 0, -1) == ["urgent", "first", "second"]


def test_worker_takes_the_queues_by_priority(queue, connection, other):
    low = Queue("low", connection=connection)
    low.enqueue(jobs.record, "low")
    queue.enqueue(jobs.record, "orders")
    SimpleWorker([queue, low], connection=connection).work(burst=True, logging_level="ERROR")
    assert other.lrange("ran", 0, -1) == ["orders", "low"]


def test_failed_job_is_in_the_registry_and_can_be_requeued(queue):
    job = queue.enqueue(jobs.fail_times, 1)
    work(queue)
    assert job.get_status(refresh=True) == "failed"
    assert "ValueError: attempt 1" in job.latest_result().exc_string
    registry = queue.failed_job_registry
    assert list(registry.get_job_ids()) == [job.id]
    registry.requeue(job.id)
    work(queue)
    assert (job.get_status(refresh=True), job.return_value(), registry.count) == ("finished", 2, 0)


def test_job_is_tried_again(queue):
    job = queue.enqueue(jobs.fail_times, 2, retry=Retry(max=3))
    work(queue)
    assert (job.get_status(refresh=True), job.return_value()) == ("finished", 3)


def test_dependent_job_waits_for_the_others(queue, other):
    first, second = (queue.enqueue(jobs.record, text) for text in ("first", "second"))
    last = queue.enqueue(jobs.record, "last", depends_on=[first, second])
    assert last.get_status() == "deferred"
    assert last.id in queue.deferred_job_registry
    work(queue)
    assert other.lrange("ran", 0, -1) == ["first", "second", "last"]
    assert last.get_status(refresh=True) == "finished"


def test_dependent_of_a_failed_job_does_not_run(queue, other):
    first = queue.enqueue(jobs.fail_times, 9)
    last = queue.enqueue(jobs.record, "last", depends_on=first)
    work(queue)
    assert other.llen("ran") == 0
    assert last.get_status(refresh=True) == "deferred"


def test_scheduled_job_runs_when_its_time_has_come(queue):
    soon = queue.enqueue_in(datetime.timedelta(seconds=0), jobs.add, 1, 2)
    later = queue.enqueue_at(datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1), jobs.add, 3, 4)
    assert (soon.get_status(), queue.scheduled_job_registry.count) == ("scheduled", 2)
    work(queue, with_scheduler=True)
    servers.wait_until(lambda: queue.scheduled_job_registry.count == 1, "the job that is due")
    work(queue)
    assert (soon.get_status(refresh=True), later.get_status(refresh=True)) == ("finished", "scheduled")
    queue.scheduled_job_registry.remove(later)


def test_repeated_job(queue, other):
    queue.enqueue(jobs.record, "again", repeat=Repeat(times=2, interval=0))
    work(queue)
    assert other.lrange("ran", 0, -1) == ["again"] * 3


def test_cancelled_job_does_not_run(queue, other):
    job = queue.enqueue(jobs.record, "never")
    job.cancel()
    work(queue)
    assert (job.get_status(refresh=True), other.llen("ran"), job.id in queue.canceled_job_registry) == ("canceled", 0, True)


def test_many_jobs_at_once(queue):
    made = queue.enqueue_many([Queue.prepare_data(jobs.add, (number, 1)) for number in range(30)])
    assert queue.count == 30
    work(queue)
    assert [job.return_value() for job in Job.fetch_many([job.id for job in made], queue.connection)] == list(range(1, 31))


def test_unique_ids_and_meta(queue):
    job = queue.enqueue(jobs.add, 1, 1, job_id="order-1", meta={"user": 7})
    job.meta["seen"] = True
    job.save_meta()
    fetched = Job.fetch("order-1", connection=queue.connection)
    assert (fetched.meta, fetched.args, fetched.func_name) == ({"user": 7, "seen": True}, (1, 1), "jobs.add")
    fetched.delete()
    assert not Job.exists("order-1", connection=queue.connection)


def worker_process(*options):
    return subprocess.Popen([sys.executable, "-m", "rq.cli", "worker", "--url", f"redis://{servers.HOST}:{servers.PORT}", *options,
                             "orders"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "PYTHONPATH": os.path.dirname(jobs.__file__)})


def test_worker_program_forks_for_each_job(queue):
    job, dying = queue.enqueue(jobs.add, 2, 3), queue.enqueue(jobs.die)
    process = worker_process("--burst")
    assert process.communicate(timeout=60) and process.returncode == 0
    assert job.return_value() == 5
    assert dying.get_status(refresh=True) == "failed"
    assert "unexpectedly" in dying.latest_result().exc_string


def test_waiting_worker_starts_at_once_and_is_shut_down_by_command(queue, connection):
    process = worker_process()
    try:
        worker = servers.wait_until(lambda: next(iter(Worker.all(connection=connection)), None), "a worker", 40)
        job = queue.enqueue(jobs.add, 2, 3)
        servers.wait_until(lambda: job.get_status(refresh=True) == "finished", "the job")
        assert worker.name in [row["name"] for row in connection.client_list()]
        send_shutdown_command(connection, worker.name)
        process.communicate(timeout=30)
        assert process.returncode == 0
    finally:
        process.kill()
        process.wait()
    assert Worker.all(connection=connection) == []


def test_result_is_waited_for(queue):
    job = queue.enqueue(jobs.add, 4, 4)
    worker = threading.Timer(0.2, lambda: queue.connection.rpush("late", 1))
    worker.start()
    work(queue)
    assert job.latest_result(timeout=5).return_value == 8
    worker.join()
