import random

import pytest
import redis

import servers
from servers import start_server  # noqa: F401  (a fixture)


@pytest.fixture(autouse=True)
def empty_server():
    """Every test begins with an empty data set, no functions and no scripts."""
    with redis.Redis(servers.HOST, servers.PORT) as client:
        client.flushall()
        client.script_flush()
        client.function_flush()


@pytest.fixture(params=[2, 3], ids=["resp2", "resp3"])
def protocol(request):
    return request.param


@pytest.fixture
def client(protocol):
    """A client with the options of most programs: decoded replies, and the default pool."""
    with redis.Redis(servers.HOST, servers.PORT, protocol=protocol, decode_responses=True) as client:
        yield client


@pytest.fixture
def plain():
    """A client that converts nothing: bytes, RESP2, no conversion by command name."""
    with redis.Redis(servers.HOST, servers.PORT, protocol=2, socket_timeout=30) as client:
        client.response_callbacks.clear()
        yield client


@pytest.fixture
def other():
    """A second client, as in another process."""
    with redis.Redis(servers.HOST, servers.PORT, decode_responses=True) as client:
        yield client


@pytest.fixture
def configure(other):
    """Changes directives for one test."""
    with servers.changed_directives(other) as change:
        yield change


@pytest.fixture
def chance():
    """Random data; a failing test shows the seed."""
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    return random.Random(seed)
