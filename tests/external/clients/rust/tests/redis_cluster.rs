//! redis-rs' ClusterClient: routing, slots that move, failovers, pub/sub, transactions and scripts.

use clients::cluster::{Load, control, urls};
use clients::eventually;
use redis::cluster::{ClusterClient, ClusterConnection, cluster_pipe};
use redis::cluster_routing::{MultipleNodeRoutingInfo, ResponsePolicy, RoutingInfo};
use redis::{
    Client, Commands, ErrorKind, PushKind, RedisResult, Script, ServerErrorKind, Value, cmd, from_redis_value,
};

fn client(protocol: &str) -> ClusterClient {
    control("fresh");
    ClusterClient::builder(urls(protocol)).retries(30).max_retry_wait(200).build().unwrap()
}

fn connect(protocol: &str) -> ClusterConnection {
    client(protocol).get_connection().unwrap()
}

fn single(port: &str) -> redis::Connection {
    Client::open(format!("redis://127.0.0.1:{port}/")).unwrap().get_connection().unwrap()
}

fn owner(key: &str) -> redis::Connection {
    single(&control(&format!("owner {key}")))
}

fn ports() -> Vec<String> {
    urls("resp2").iter().map(|url| url.split([':', '/']).nth(4).unwrap().to_string()).collect()
}

fn info(con: &mut redis::Connection, section: &str) -> String {
    cmd("INFO").arg(section).query(con).unwrap()
}

#[test]
fn keys_go_to_their_nodes() {
    for protocol in ["resp2", "resp3"] {
        let mut con = connect(protocol);
        for n in 0..300 {
            let _: () = con.set(format!("key:{n}"), n).unwrap();
        }
        for n in 0..300 {
            assert_eq!(con.get::<_, i32>(format!("key:{n}")).unwrap(), n);
        }
        let sum = RoutingInfo::MultiNode((
            MultipleNodeRoutingInfo::AllMasters,
            Some(ResponsePolicy::Aggregate(redis::cluster_routing::AggregateOp::Sum)),
        ));
        assert_eq!(con.route_command(&cmd("DBSIZE"), sum).unwrap(), Value::Int(300));
        let least = RoutingInfo::MultiNode((
            MultipleNodeRoutingInfo::AllMasters,
            Some(ResponsePolicy::Aggregate(redis::cluster_routing::AggregateOp::Min)),
        ));
        let least: i64 = from_redis_value(con.route_command(&cmd("DBSIZE"), least).unwrap()).unwrap();
        assert!(least > 0);
    }
}

#[test]
fn several_keys_need_one_slot() {
    let mut con = connect("resp3");
    let _: () = con.mset(&[("{u}a", 1), ("{u}b", 2)]).unwrap();
    assert_eq!(con.mget::<_, Vec<Option<i32>>>(&["{u}a", "{u}b", "{u}c"]).unwrap(), [Some(1), Some(2), None]);
    let error = con.sinter::<_, Vec<String>>(&["a", "b"]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Server(ServerErrorKind::CrossSlot));
}

#[test]
fn a_pipeline_over_all_nodes() {
    for protocol in ["resp2", "resp3"] {
        let mut con = connect(protocol);
        let mut pipe = cluster_pipe();
        for n in 0..200 {
            pipe.incr(format!("p:{n}"), n);
        }
        assert_eq!(pipe.query::<Vec<i32>>(&mut con).unwrap(), (0..200).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn transactions_with_hash_tags() {
    for protocol in ["resp2", "resp3"] {
        let mut con = client(protocol).get_async_connection().await.unwrap();
        let results: (i32, i32) = redis::pipe()
            .atomic()
            .set("{t}a", 1)
            .ignore()
            .incr("{t}a", 1)
            .rpush("{t}l", "x")
            .query_async(&mut con)
            .await
            .unwrap();
        assert_eq!(results, (2, 1));
        let across: RedisResult<Value> =
            redis::pipe().atomic().set("{x}a", 1).set("{y}a", 1).query_async(&mut con).await;
        assert!(across.is_err());
    }
}

#[test]
fn scripts_with_hash_tags() {
    let mut con = connect("resp3");
    let swap =
        Script::new("redis.call('SET', KEYS[2], redis.call('GETDEL', KEYS[1])) return redis.call('GET', KEYS[2])");
    for tag in ["a", "b", "c"] {
        let _: () = con.set(format!("{{{tag}}}1"), tag).unwrap();
        let value: String = swap.key(format!("{{{tag}}}1")).key(format!("{{{tag}}}2")).invoke(&mut con).unwrap();
        assert_eq!(value, tag);
    }
    let foreign: RedisResult<Value> = Script::new("return redis.call('GET', 'b')").key("a").invoke(&mut con);
    let error = foreign.unwrap_err().to_string();
    assert!(error.contains("Script attempted to access a non local key in a cluster node"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_of_all_nodes_and_sharded_ones() {
    control("fresh");
    let (sender, mut pushes) = tokio::sync::mpsc::unbounded_channel();
    let client = ClusterClient::builder(urls("resp3")).retries(30).push_sender(sender).build().unwrap();
    let mut con = client.get_async_connection().await.unwrap();
    con.subscribe("news").await.unwrap();
    con.ssubscribe("shard").await.unwrap();
    for port in ports() {
        let _: i64 = single(&port).publish("news", &port).unwrap();
    }
    eventually("the subscription of the shard", || owner("shard").spublish::<_, _, i64>("shard", "one").unwrap() == 1);
    control("move shard 1");
    // The client subscribes at the new node only when it is told to.
    con.ssubscribe("shard").await.unwrap();
    eventually("the subscription at the new owner", || {
        owner("shard").spublish::<_, _, i64>("shard", "two").unwrap() == 1
    });
    let mut heard = Vec::new();
    while !heard.contains(&"two".to_string()) {
        let push = tokio::time::timeout(std::time::Duration::from_secs(10), pushes.recv()).await.unwrap().unwrap();
        if matches!(push.kind, PushKind::Message | PushKind::SMessage) {
            heard.push(from_redis_value::<String>(push.data[1].clone()).unwrap());
        }
    }
    let mut expected = ports();
    expected.extend(["one".to_string(), "two".to_string()]);
    expected.sort();
    heard.sort();
    assert_eq!(heard, expected);
}

#[test]
fn a_slot_that_moves_asks() {
    let mut con = connect("resp3");
    let keys: Vec<_> = (0..20).map(|n| format!("{{ask}}{n}")).collect();
    for key in &keys {
        let _: () = con.set(key, key).unwrap();
    }
    let mut source = owner("{ask}");
    let target = control("open {ask}");
    assert_eq!(control(&format!("carry {{ask}} {target} 10")), "10");
    for key in &keys {
        assert_eq!(con.get::<_, String>(key).unwrap(), *key);
    }
    let _: () = con.set("{ask}new", "at the target").unwrap();
    assert_eq!(con.get::<_, String>("{ask}new").unwrap(), "at the target");
    let kind_of = |error: redis::RedisError| error.kind();
    assert_eq!(source.get::<_, Value>("{ask}new").map_err(kind_of), Err(ErrorKind::Server(ServerErrorKind::Ask)));
    assert_eq!(source.mget::<_, Value>(&keys).map_err(kind_of), Err(ErrorKind::Server(ServerErrorKind::TryAgain)));
    control(&format!("close {{ask}} {target}"));
    assert_eq!(con.mget::<_, Vec<String>>(&keys).unwrap(), keys);
    assert_eq!(source.get::<_, Value>("{ask}new").map_err(kind_of), Err(ErrorKind::Server(ServerErrorKind::Moved)));
}

fn increments() -> impl FnMut(&str) -> Result<(), String> + Send + 'static {
    let client = ClusterClient::builder(urls("resp3")).retries(8).max_retry_wait(200).build().unwrap();
    let mut con = client.get_connection().unwrap();
    move |key| {
        let result = con.incr::<_, _, ()>(key, 1);
        // The blocking client keeps its slot map while their node refuses connections; a new client reads the map
        // again.
        if result.is_err() {
            con = client.get_connection().map_err(|error| error.to_string())?;
        }
        result.map_err(|error| error.to_string())
    }
}

#[test]
fn slots_move_and_primaries_change_under_load() {
    let mut con = connect("resp3");
    let load = Load::new(false, increments);
    for key in &load.keys[..3] {
        control(&format!("move {key} 20"));
    }
    control(&format!("failover {}", load.keys[0]));
    load.goes_on();
    for (key, count) in load.stop() {
        assert_eq!(con.get::<_, i64>(&key).unwrap(), count, "{key}");
    }
}

#[test]
fn a_primary_dies_under_load() {
    let mut con = connect("resp3");
    for n in 0..100 {
        let _: () = con.set(format!("kept:{n}"), n).unwrap();
    }
    control("settle");
    let load = Load::new(true, increments);
    let dead = control(&format!("kill {}", load.keys[0]));
    assert_ne!(control(&format!("owner {}", load.keys[0])), dead);
    load.goes_on();
    control("heal");
    load.goes_on();
    load.stop();
    let mut con = ClusterClient::new(urls("resp3")).unwrap().get_connection().unwrap();
    for n in 0..100 {
        assert_eq!(con.get::<_, i32>(format!("kept:{n}")).unwrap(), n);
    }
    assert!(info(&mut single(&dead), "replication").contains("role:slave"));
}
