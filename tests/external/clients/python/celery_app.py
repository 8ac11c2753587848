"""The tasks that the Celery workers of test_celery.py run."""
import os
import signal

import redis
from celery import Celery

URL = f"redis://{os.environ['REDIS_HOST']}:{os.environ['REDIS_PORT']}"

app = Celery("shop", broker=f"{URL}/0", backend=f"{URL}/1")
app.conf.update(worker_prefetch_multiplier=1, task_track_started=True, broker_connection_retry_on_startup=True,
                result_expires=600, task_acks_late=True, task_reject_on_worker_lost=True,
                broker_transport_options={"queue_order_strategy": "priority"})


def connect():
    return redis.Redis.from_url(f"{URL}/2", decode_responses=True)


@app.task
def add(a, b):
    return a + b


@app.task
def total(numbers):
    return sum(numbers)


@app.task
def record(text):
    connect().rpush("ran", text)
    return text


@app.task(bind=True, max_retries=5)
def fail_times(self, times):
    if self.request.retries < times:
        raise self.retry(exc=ValueError("not yet"), countdown=0)
    return self.request.retries


@app.task
def fail():
    raise ValueError("no stock")


@app.task
def die_once():
    if connect().incr("deaths") == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return "alive"
