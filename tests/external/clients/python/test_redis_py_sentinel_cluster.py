"""redis-py's classes for Sentinel and Cluster, pointed at a server that is neither."""
import pytest
import redis
from redis.sentinel import MasterNotFoundError, Sentinel

import servers


def test_sentinel_class_finds_no_master():
    sentinel = Sentinel([(servers.HOST, servers.PORT)], socket_timeout=5)
    with pytest.raises((MasterNotFoundError, redis.ResponseError)) as caught:
        sentinel.discover_master("mymaster")
    assert "mymaster" in str(caught.value) or "unknown command" in str(caught.value)


def test_sentinel_commands_are_unknown(client):
    with pytest.raises(redis.ResponseError) as caught:
        client.execute_command("SENTINEL", "get-master-addr-by-name", "mymaster")
    assert str(caught.value) == "unknown command 'SENTINEL', with args beginning with: 'get-master-addr-by-name' 'mymaster' "


def test_cluster_class_learns_that_there_is_no_cluster():
    with pytest.raises(redis.exceptions.RedisClusterException) as caught:
        redis.RedisCluster(host=servers.HOST, port=servers.PORT)
    assert "Cluster mode is not enabled on this node" in str(caught.value)


@pytest.mark.parametrize("words", [["CLUSTER", "SLOTS"], ["CLUSTER", "INFO"], ["CLUSTER", "NODES"], ["CLUSTER", "KEYSLOT", "k"]],
                         ids=" ".join)
def test_cluster_commands_are_disabled(client, words):
    with pytest.raises(redis.ResponseError) as caught:
        client.execute_command(*words)
    assert str(caught.value) == "This instance has cluster support disabled"
