"""prometheus-redis-exporter reads INFO and other commands for Prometheus."""
import re
import subprocess
import urllib.request

import pytest

import servers

pytestmark = pytest.mark.full


@pytest.fixture
def scrape(client, tmp_path):
    port = servers.free_port()
    log = tmp_path / "log"
    with open(log, "wb") as file:
        process = subprocess.Popen(["prometheus-redis-exporter", "--web.listen-address", f"127.0.0.1:{port}", "--redis.addr",
                                    f"redis://{servers.HOST}:{servers.PORT}", "--check-keys", "db0=orders*", "--check-streams",
                                    "db0=stream.*", "--export-client-list", "--include-system-metrics"], stdout=file, stderr=file)

    def read():
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as reply:
                return reply.read().decode()
        except OSError:
            return None

    try:
        servers.wait_until(read, "the exporter")
        yield read
    finally:
        process.terminate()
        process.wait(10)
    trouble = [line for line in log.read_text().splitlines() if re.search("error|warn|couldn't", line, re.I)]
    assert trouble == []


def value(metrics, name):
    """Returns the value of a metric; the name is a pattern that may have labels."""
    found = re.search(rf"(?m)^{name} (\S+)$", metrics)
    assert found, f"there is no {name}"
    return float(found[1])


def test_metrics(client, scrape):
    client.set("k", "v", ex=1000)
    client.get("k")
    client.get("none")
    client.rpush("orders", 1, 2, 3)
    client.xadd("stream.orders", {"a": 1})
    client.xgroup_create("stream.orders", "g1", "0")
    client.xreadgroup("g1", "c1", {"stream.orders": ">"})
    metrics = scrape()
    assert value(metrics, "redis_up") == 1
    assert value(metrics, "redis_exporter_last_scrape_error{err=\"\"}") == 0
    assert value(metrics, "redis_connected_clients") >= 2
    assert value(metrics, "redis_memory_used_bytes") > 100_000
    assert value(metrics, r'redis_db_keys\{db="db0"\}') == 3
    assert value(metrics, r'redis_db_keys_expiring\{db="db0"\}') == 1
    assert value(metrics, r'redis_commands_total\{cmd="get"\}') >= 2
    assert value(metrics, "redis_commands_processed_total") > 5
    assert value(metrics, "redis_keyspace_hits_total") >= 1 and value(metrics, "redis_keyspace_misses_total") >= 1
    assert value(metrics, r'redis_key_size\{db="db0",key="orders"\}') == 3
    assert value(metrics, r'redis_stream_length\{db="db0",stream="stream.orders"\}') == 1
    assert value(metrics, r'redis_stream_group_messages_pending\{db="db0",group="g1",stream="stream.orders"\}') == 1
    assert value(metrics, r'redis_instance_info\{.*role="master".*\}') == 1
    for name in ("redis_uptime_in_seconds", "redis_config_maxclients", "redis_slowlog_length", "redis_blocked_clients",
                 "redis_evicted_keys_total", "redis_expired_keys_total", "redis_rdb_changes_since_last_save", "redis_aof_enabled",
                 "redis_net_input_bytes_total", "redis_cpu_sys_seconds_total", "redis_mem_fragmentation_ratio",
                 "redis_connected_slaves", "redis_latest_fork_seconds", "redis_cluster_enabled"):
        value(metrics, name)
