"""redis-py's Lock: one holder at a time, with a deadline; only the holder extends and releases it."""
import threading
import time

import pytest
import redis
from redis.exceptions import LockError, LockNotOwnedError

import servers


def test_lock_has_one_holder(client, other):
    lock = client.lock("lock:order", timeout=30)
    assert lock.acquire() is True
    assert lock.locked() and lock.owned()
    assert 29_000 < client.pttl("lock:order") <= 30_000
    second = other.lock("lock:order", timeout=30)
    assert second.acquire(blocking=False) is False
    assert not second.owned()
    lock.release()
    assert client.exists("lock:order") == 0
    assert second.acquire(blocking=False) is True
    second.release()


def test_waiting_for_a_lock_ends_in_time(client, other):
    with client.lock("l", timeout=30):
        begin = time.monotonic()
        assert other.lock("l", blocking_timeout=0.3, sleep=0.05).acquire() is False
        assert 0.2 <= time.monotonic() - begin < 1.5
        with pytest.raises(LockError):
            with other.lock("l", blocking_timeout=0.1, sleep=0.05):
                pass


def test_lock_is_extended_and_reacquired(client):
    lock = client.lock("l", timeout=10)
    lock.acquire()
    assert lock.extend(20) is True
    assert 29_000 < client.pttl("l") <= 30_000
    assert lock.extend(5, replace_ttl=True) is True
    assert 4_000 < client.pttl("l") <= 5_000
    assert lock.reacquire() is True
    assert 9_000 < client.pttl("l") <= 10_000
    lock.release()
    with pytest.raises(LockError, match="unlocked"):
        lock.release()


@pytest.mark.parametrize("action", [lambda lock: lock.release(), lambda lock: lock.reacquire(), lambda lock: lock.extend(10)],
                         ids=["release", "reacquire", "extend"])
def test_nobody_touches_the_lock_of_another(client, other, action):
    """The holder's lock expires, another client takes the lock, and the first one returns."""
    late = client.lock("l", timeout=0.05)
    late.acquire()
    servers.wait_until(lambda: not late.owned(), "the end of the lock")
    with other.lock("l", timeout=30) as current:
        with pytest.raises(LockNotOwnedError):
            action(late)
        assert current.owned()


def test_lock_survives_a_flushed_script_cache(client):
    lock = client.lock("l", timeout=10)
    lock.acquire()
    client.script_flush()
    assert lock.extend(10) is True
    client.script_flush()
    assert lock.reacquire() is True
    client.script_flush()
    lock.release()
    assert client.exists("l") == 0


def test_stock_is_never_oversold(client):
    """Read, compare, write: correct only under the lock."""
    client.set("stock", 30)
    sold = []

    def buy():
        with redis.Redis(servers.HOST, servers.PORT) as mine:
            for _ in range(5):
                with mine.lock("stock:lock", timeout=10, sleep=0.002):
                    stock = int(mine.get("stock"))
                    if stock > 0:
                        mine.set("stock", stock - 1)
                        sold.append(stock)

    buyers = [threading.Thread(target=buy) for _ in range(8)]
    for buyer in buyers:
        buyer.start()
    for buyer in buyers:
        buyer.join()
    assert client.get("stock") == "0"
    assert sorted(sold) == list(range(1, 31))
