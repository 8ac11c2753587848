"""redis-benchmark: every default test and option; the output must be numbers, and the data must exist."""
import csv
import subprocess

import pytest

import servers

DEFAULT = ["PING_INLINE", "PING_MBULK", "SET", "GET", "INCR", "LPUSH", "RPUSH", "LPOP", "RPOP", "SADD", "HSET", "SPOP", "ZADD", "ZPOPMIN",
           "LPUSH (needed to benchmark LRANGE)", "LRANGE_100 (first 100 elements)", "LRANGE_300 (first 300 elements)",
           "LRANGE_500 (first 500 elements)", "LRANGE_600 (first 600 elements)", "MSET (10 keys)"]


def benchmark(*words):
    """Returns the rows of --csv by the name of the test."""
    done = subprocess.run(["redis-benchmark", "-h", servers.HOST, "-p", str(servers.PORT), "--csv", *map(str, words)],
                          capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ERR" not in done.stdout + done.stderr and "WARNING" not in done.stderr, done.stderr
    rows = list(csv.DictReader(line for line in done.stdout.splitlines() if line.startswith('"')))
    assert all(float(row["rps"]) > 0 and float(row["p99_latency_ms"]) >= 0 for row in rows)
    return {row["test"]: row for row in rows}


def test_every_default_test(client):
    assert set(DEFAULT) <= set(benchmark("-n", 1000)) <= {*DEFAULT, "XADD"}  # XADD is new in 7.2
    assert client.llen("mylist") >= 600
    assert client.strlen("key:__rand_int__") == 3


@pytest.mark.full
def test_every_default_test_in_a_pipeline(client):
    assert set(DEFAULT) <= set(benchmark("-n", 10_000, "-P", 16)) <= {*DEFAULT, "XADD"}


def test_chosen_tests_with_keys_sizes_and_clients(client):
    chosen = benchmark("-n", 5_000, "-c", 50, "-P", 16, "-r", 1_000, "-d", 100, "-t", "set,get,incr,lpush,hset,zadd")
    assert list(chosen) == ["SET", "GET", "INCR", "LPUSH", "HSET", "ZADD"]
    keys = client.keys("key:*")
    assert 950 <= len(keys) <= 1_000 and client.strlen(keys[0]) == 100
    # Requests in flight when the count is reached are completed.
    assert 5_000 <= client.llen("mylist") <= 5_000 + 50 * 16
    assert 5_000 <= sum(int(client.get(key)) for key in client.scan_iter("counter:*")) <= 5_000 + 50 * 16


def test_threads(client):
    assert list(benchmark("-n", 4_000, "--threads", 2, "-t", "set,get", "-c", 10)) == ["SET", "GET"]


def test_own_command(client):
    rows = benchmark("-n", 500, "-r", 100, "eval", "return redis.call('incr', KEYS[1])", 1, "n:__rand_int__")
    assert len(rows) == 1
    assert sum(int(client.get(key)) for key in client.scan_iter("n:*")) == 500


@pytest.mark.full
def test_resp3_tracking_and_databases(client):
    assert list(benchmark("-n", 1000, "-3", "--enable-tracking", "-t", "set,get")) == ["SET", "GET"]
    benchmark("-n", 100, "--dbnum", 3, "-t", "set")
    assert client.info("keyspace")["db3"]["keys"] == 1


@pytest.mark.full
def test_plain_output(client):
    done = subprocess.run(["redis-benchmark", "-p", str(servers.PORT), "-n", "2000", "-t", "set", "-q"], capture_output=True, text=True,
                          timeout=60, check=False)
    last = done.stdout.replace("\r", "\n").strip().splitlines()[-1]
    assert last.startswith("SET: ") and "requests per second, p50=" in last
    long = subprocess.run(["redis-benchmark", "-p", str(servers.PORT), "-n", "2000", "-t", "set"], capture_output=True, text=True,
                          timeout=60, check=False).stdout
    assert "2000 requests completed in" in long
    assert 'host configuration "save": ' in long and 'host configuration "appendonly": no' in long
