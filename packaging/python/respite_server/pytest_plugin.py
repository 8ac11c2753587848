"""Fixtures for pytest."""
import shlex

import pytest

from .server import start


def pytest_addoption(parser):
    parser.addini("respite_args", "more arguments of respite-server, as in a shell", default="")


@pytest.fixture(scope="session")
def respite_server(request):
    """One server for all tests of this process."""
    with start(*shlex.split(request.config.getini("respite_args"))) as server:
        yield server


@pytest.fixture
def respite(respite_server):
    """The server in the state after its start: each test finds it empty. `respite.url` is for clients."""
    respite_server.reset()
    return respite_server


@pytest.fixture
def respite_world(respite_server):
    """A separate server for this test, behind the port of the session's server."""
    world = respite_server.world()
    yield world
    world.drop()


@pytest.fixture
def respite_clock(request):
    """The clock of the test's world if it has one, otherwise of the server. It stands still until it is advanced."""
    has_world = "respite_world" in request.fixturenames
    clock = request.getfixturevalue("respite_world" if has_world else "respite").clock
    clock.freeze()
    yield clock
    clock.real()
