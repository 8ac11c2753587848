"""How redis-py recovers from each fault: what the program sees, and how often INCR runs. The table of
docs/testing/client_recovery.md has the same results. The clock of the server stands still, so that no delay ends by
itself."""
import concurrent.futures
import os

import pytest
import redis
from redis.backoff import ConstantBackoff, NoBackoff
from redis.exceptions import ClusterDownError, MovedError, OutOfMemoryError, ReadOnlyError, ResponseError, TryAgainError
from redis.retry import Retry

import servers

TEST_SERVER = os.environ.get("REDIS_TEST_SERVER")
pytestmark = pytest.mark.skipif(not TEST_SERVER, reason="the server has no test commands")

TIMEOUT_S = 0.4  # redis-py waits 5 s by default
RETRIES = 10  # as many as redis-py makes


def connect(**options):
    host, port = TEST_SERVER.split(":")
    return redis.Redis(host, int(port), decode_responses=True, **options)


class Faults:
    """Creates a fault for INCR, over its own connection. redis-py sends INCRBY for incr()."""

    def __init__(self, control):
        self.control = control

    def test(self, *words):
        return self.control.execute_command("TEST", *words)

    def make(self, *action):
        self.test("FAULT", "ADD", "fault", "WHEN", "COMMAND", "INCR*", "DO", *action, "TIMES", 1)

    def refuse(self, client, *more):
        """Ends the client's connection, and refuses further ones."""
        own = client.client_id()
        self.test("FAULT", "ADD", "fault", "DO", "REFUSE", *more)
        assert self.test("DROP", "ID", own) == 1

    def hits(self):
        return self.test("FAULT", "HITS", "fault")

    def end(self):
        self.test("FAULT", "CLEAR")

    def ran(self):
        return int(self.control.get("n") or 0)


@pytest.fixture
def faults():
    with connect(single_connection_client=True) as control:
        faults = Faults(control)
        faults.test("RESET")
        faults.test("CLOCK", "FREEZE")
        yield faults
        faults.test("RESET")


@pytest.fixture
def program():
    """Creates clients with the client's default settings, except for the given ones."""
    made = []

    def make(**options):
        made.append(connect(**options))
        made[-1].ping()
        return made[-1]

    yield make
    for client in made:
        client.close()


def works_again(faults, client):
    """Removes the fault: the next INCR runs once."""
    faults.end()
    ran = faults.ran()
    return client.incr("n") == ran + 1 == faults.ran()


def test_incr_is_retried_while_the_server_loads(faults, program):
    client = program()
    faults.make("ERROR", "LOADING")
    assert client.incr("n") == 1
    assert (faults.hits(), faults.ran()) == (1, 1)
    assert works_again(faults, client)


@pytest.mark.parametrize("error, raised", [
    ("READONLY", ReadOnlyError),
    ("MASTERDOWN", ResponseError),
    ("CLUSTERDOWN", ClusterDownError),
    ("TRYAGAIN", TryAgainError),
    ("OOM", OutOfMemoryError),
    ("BUSY", ResponseError),
    ("NOREPLICAS", ResponseError),
    ("MISCONF", ResponseError),
    ("NOSCRIPT", ResponseError),
    ("MOVED 1 127.0.0.1:1", MovedError),
    ("ASK 1 127.0.0.1:1", ResponseError),
])
def test_another_error_is_raised_and_incr_does_not_run(faults, program, error, raised):
    client = program()
    own = client.client_id()
    faults.make("ERROR", *error.split())
    with pytest.raises(raised):
        client.incr("n")
    assert (faults.hits(), faults.ran()) == (1, 0)
    assert client.client_id() == own
    assert works_again(faults, client)


def test_a_made_up_reply_is_believed(faults, program):
    client = program()
    faults.make("REPLY", ":41\r\n")
    assert client.incr("n") == 41
    assert faults.ran() == 0
    assert works_again(faults, client)


def test_a_reply_that_is_no_resp_is_an_error_and_the_connection_is_replaced(faults, program):
    client = program()
    own = client.client_id()
    faults.make("REPLY", "nonsense\r\n")
    with pytest.raises(redis.exceptions.InvalidResponse):
        client.incr("n")
    assert faults.ran() == 0
    assert client.client_id() != own
    assert works_again(faults, client)


@pytest.mark.parametrize("action", ["DELAY", "DELAY-REPLY"])
def test_a_delay_that_ends_in_time_is_waited_for(faults, program, action):
    client = program()
    faults.make(action, "1h")
    with concurrent.futures.ThreadPoolExecutor(1) as other:
        reply = other.submit(client.incr, "n")
        servers.wait_until(lambda: faults.hits() == 1, "INCR is delayed")
        faults.test("CLOCK", "ADVANCE", "1h")
        assert reply.result(10) == 1
    assert faults.ran() == 1
    assert works_again(faults, client)


@pytest.mark.parametrize("action, runs", [
    (["DELAY", "1h"], 1),  # the first one is dropped with its connection
    (["DELAY-REPLY", "1h"], 2),
    (["TRICKLE", "1"], 2),
    (["SILENCE"], 2),
])
def test_incr_is_retried_on_another_connection_after_the_timeout(faults, program, action, runs):
    client = program(socket_timeout=TIMEOUT_S)
    own = client.client_id()
    faults.make(*action)
    assert client.incr("n") == runs
    assert (faults.hits(), faults.ran()) == (1, runs)
    assert client.client_id() != own
    assert works_again(faults, client)


@pytest.mark.parametrize("action, runs", [(["CLOSE"], 1), (["CLOSE-AFTER"], 2), (["CUT", "2"], 2)])
def test_incr_is_retried_when_the_connection_ends(faults, program, action, runs):
    client = program()
    faults.make(*action)
    assert client.incr("n") == runs
    assert (faults.hits(), faults.ran()) == (1, runs)
    assert works_again(faults, client)


def test_without_retries_a_lost_reply_is_an_error_and_incr_runs_once(faults, program):
    client = program(retry=Retry(NoBackoff(), 0))
    faults.make("CLOSE-AFTER")
    with pytest.raises(redis.exceptions.ConnectionError):
        client.incr("n")
    assert faults.ran() == 1
    assert works_again(faults, client)


@pytest.mark.parametrize("mode", [[], ["LISTEN"]], ids=["accepted", "not-accepted"])
def test_an_error_is_raised_when_all_retries_are_refused(faults, program, mode):
    client = program(retry=Retry(ConstantBackoff(0.001), RETRIES))  # the client's default pauses take about 4 s
    assert connect().get_retry().get_retries() == RETRIES
    faults.refuse(client, *mode)
    with pytest.raises(redis.exceptions.ConnectionError):
        client.incr("n")
    assert mode or faults.hits() > 1
    assert faults.ran() == 0
    assert works_again(faults, client)


def test_one_refusal_is_not_seen(faults, program):
    client = program()
    faults.refuse(client, "TIMES", 1)
    assert client.incr("n") == 1
    assert faults.hits() == 1
    assert works_again(faults, client)
