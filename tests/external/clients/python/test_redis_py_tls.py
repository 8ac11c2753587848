"""redis-py over TLS, with and without a client certificate."""
import pathlib
import subprocess

import pytest
import redis

import servers

SCRIPTS = pathlib.Path(__file__).resolve().parents[1] / "scripts"


@pytest.fixture
def keys(tmp_path):
    subprocess.run([SCRIPTS / "make_certificates.sh", tmp_path], check=True, capture_output=True)
    return tmp_path


@pytest.fixture
def tls_port(keys, start_server):
    if subprocess.run([SCRIPTS / "speaks_tls.sh", servers.PROGRAM], cwd=keys, check=False).returncode != 0:
        pytest.skip("a server without TLS")
    port = servers.free_port()
    start_server("--tls-port", port, "--tls-cert-file", keys / "server.crt", "--tls-key-file", keys / "server.key",
                 "--tls-ca-cert-file", keys / "ca.crt")
    return port


def with_certificate(keys):
    return {"ssl_certfile": str(keys / "client.crt"), "ssl_keyfile": str(keys / "client.key")}


def connect(port, keys, **options):
    return redis.Redis(servers.HOST, port, ssl=True, ssl_ca_certs=str(keys / "ca.crt"), decode_responses=True, **options)


def test_everything_is_as_without_tls(tls_port, keys, protocol, chance):
    with connect(tls_port, keys, protocol=protocol, **with_certificate(keys)) as client:
        value = chance.randbytes(3_000_000).hex()
        assert client.set("long", value)
        assert client.get("long") == value
        with client.pipeline() as pipe:
            for i in range(1000):
                pipe.incr("n")
            assert pipe.execute() == list(range(1, 1001))
        with client.pubsub() as pubsub:
            pubsub.subscribe("news")
            assert pubsub.get_message(timeout=10)["type"] == "subscribe"
            assert client.publish("news", "hello") == 1
            assert pubsub.get_message(timeout=10)["data"] == "hello"


def test_a_url_will_do(tls_port, keys):
    url = f"rediss://127.0.0.1:{tls_port}/3?ssl_ca_certs={keys}/ca.crt&ssl_certfile={keys}/client.crt&ssl_keyfile={keys}/client.key"
    with redis.Redis.from_url(url) as client:
        assert client.ping()


def test_without_a_certificate_nobody_gets_in(tls_port, keys):
    with connect(tls_port, keys) as client, pytest.raises(redis.ConnectionError):
        client.ping()
    with connect(tls_port, keys, **with_certificate(keys)) as client:
        client.config_set("tls-auth-clients", "no")
    with connect(tls_port, keys) as client:
        assert client.ping()
