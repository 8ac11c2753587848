import pathlib
import sys

import pytest
import redis

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
import servers  # noqa: E402  (found by the line above)
from servers import start_server  # noqa: E402, F401  (a fixture)


@pytest.fixture
def client():
    """Returns a client of the suite's server, whose data set is empty."""
    with redis.Redis(servers.HOST, servers.PORT, decode_responses=True, protocol=2) as client:
        client.flushall()
        yield client


@pytest.fixture
def configure(client):
    """Changes directives for one test."""
    with servers.changed_directives(client) as change:
        yield change
