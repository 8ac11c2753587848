"""limits, the rate limiter under Flask-Limiter and SlowAPI: five calls in ten seconds, the sixth is refused."""
import time

import pytest
from limits import RateLimitItemPerMinute, RateLimitItemPerSecond, strategies
from limits.storage import RedisStorage

import servers

pytestmark = pytest.mark.full

STRATEGIES = [strategies.FixedWindowRateLimiter, strategies.MovingWindowRateLimiter, strategies.SlidingWindowCounterRateLimiter]


@pytest.fixture(params=STRATEGIES)
def limiter(request):
    return request.param(RedisStorage(f"redis://{servers.HOST}:{servers.PORT}"))


def test_sixth_call_is_refused(limiter):
    rate = RateLimitItemPerMinute(5)
    assert [limiter.hit(rate, "user", "123") for _ in range(6)] == [True] * 5 + [False]
    assert limiter.test(rate, "user", "123") is False
    assert limiter.hit(rate, "user", "456") is True
    remaining = limiter.get_window_stats(rate, "user", "123")
    assert remaining.remaining == 0
    assert 0 < remaining.reset_time - time.time() <= 61
    limiter.clear(rate, "user", "123")
    assert limiter.hit(rate, "user", "123") is True


def test_calls_pass_again_when_the_window_is_over(limiter):
    rate = RateLimitItemPerSecond(2)
    while not all([limiter.hit(rate, "k"), limiter.hit(rate, "k")]):
        time.sleep(0.1)
    assert limiter.hit(rate, "k") is False or limiter.hit(rate, "k") is False
    servers.wait_until(lambda: limiter.hit(rate, "k"), "the next window")
    assert limiter.storage.check() is True
