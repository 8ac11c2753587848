"""Huey: tasks, retries, schedules, locks and priorities; the consumer runs in the test."""
import datetime

import pytest
from huey import PriorityRedisHuey, RedisExpireHuey, RedisHuey
from huey.exceptions import TaskException, TaskLockedException

import jobs
import servers

pytestmark = pytest.mark.full


@pytest.fixture(params=[RedisHuey, RedisExpireHuey, PriorityRedisHuey])
def huey(request):
    return request.param("shop", host=servers.HOST, port=servers.PORT)


def work(huey):
    while (task := huey.dequeue()) is not None:
        huey.execute(task)


def test_task_is_done_and_its_result_taken(huey):
    task = huey.task()(jobs.add)
    result = task(20, 22)
    assert (len(huey), result.get()) == (1, None)
    work(huey)
    assert (result.get(), len(huey)) == (42, 0)


def test_failed_task_is_tried_again(huey):
    task = huey.task(retries=2)(jobs.fail_times)
    result = task(1)
    work(huey)
    assert result.get() == 2
    hopeless = task(9)
    work(huey)
    with pytest.raises(TaskException, match="attempt 5"):
        hopeless.get()


def test_scheduled_task_waits(huey):
    task = huey.task()(jobs.record)
    task.schedule(args=("later",), delay=3600)
    work(huey)
    assert (huey.scheduled_count(), huey.pending_count()) == (1, 0)
    due = huey.read_schedule(datetime.datetime.now() + datetime.timedelta(hours=2))
    assert [item.args for item in due] == [("later",)]
    assert huey.scheduled_count() == 0


def test_revoked_task_does_not_run(huey, other):
    task = huey.task()(jobs.record)
    task("never").revoke()
    work(huey)
    assert other.llen("ran") == 0


def test_lock(huey):
    with huey.lock_task("report"):
        with pytest.raises(TaskLockedException):
            with huey.lock_task("report"):
                pass
    with huey.lock_task("report"):
        pass


def test_pipeline(huey):
    add = huey.task()(jobs.add)
    last = huey.enqueue(add.s(1, 2).then(add, 3).then(add, 4))
    work(huey)
    assert [result.get() for result in last] == [3, 6, 10]


def test_priorities(other):
    huey = PriorityRedisHuey("shop", host=servers.HOST, port=servers.PORT)
    record = huey.task()(jobs.record)
    for text, priority in (("low", 1), ("high", 9), ("middle", 5)):
        record(text, priority=priority)
    work(huey)
    assert other.lrange("ran", 0, -1) == ["high", "middle", "low"]
