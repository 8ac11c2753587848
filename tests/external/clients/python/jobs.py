"""The jobs that the workers of RQ, Huey and Dramatiq run in the tests."""
import os
import signal

import redis

import servers


def connect():
    return redis.Redis(servers.HOST, servers.PORT, decode_responses=True)


def add(a, b):
    return a + b


def record(text):
    """Records that it ran, in order."""
    with connect() as client:
        client.rpush("ran", text)
    return text


def fail_times(times):
    """Fails a number of times, then succeeds."""
    with connect() as client:
        attempt = client.incr("attempts")
    if attempt <= times:
        raise ValueError(f"attempt {attempt}")
    return attempt


def die():
    os.kill(os.getpid(), signal.SIGKILL)
