//! redis-rs on tokio: multiplexed connections, the connection manager, pushes, the client's cache.

use std::time::Duration;

use clients::{Server, url};
use futures_util::StreamExt;
use redis::aio::{ConnectionManager, ConnectionManagerConfig, MultiplexedConnection};
use redis::caching::CacheConfig;
use redis::{AsyncCommands, AsyncConnectionConfig, Client, PushKind, RedisResult, Value};
use tokio::time::{sleep, timeout};

async fn connect(protocol: &str) -> MultiplexedConnection {
    let mut con = Client::open(url(protocol)).unwrap().get_multiplexed_async_connection().await.unwrap();
    let _: () = redis::cmd("FLUSHALL").query_async(&mut con).await.unwrap();
    con
}

/// Polls until the future returns true, for at most ten seconds.
async fn eventually<F: Future<Output = bool>>(what: &str, condition: impl Fn() -> F) {
    for _ in 0..1000 {
        if condition().await {
            return;
        }
        sleep(Duration::from_millis(10)).await;
    }
    panic!("in vain waited until {what}");
}

#[tokio::test]
async fn five_hundred_tasks_share_a_connection() {
    for protocol in ["resp2", "resp3"] {
        let con = connect(protocol).await;
        let tasks: Vec<_> = (0..500)
            .map(|n| {
                let mut con = con.clone();
                tokio::spawn(async move {
                    let _: () = con.set(format!("k{n}"), n).await.unwrap();
                    let _: () = con.incr("sum", n).await.unwrap();
                    assert_eq!(con.get::<_, i32>(format!("k{n}")).await.unwrap(), n);
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(con.clone().get::<_, i32>("sum").await.unwrap(), 499 * 500 / 2);
    }
}

#[tokio::test]
async fn pipelines_and_transactions() {
    for protocol in ["resp2", "resp3"] {
        let mut con = connect(protocol).await;
        let (a, all): (i32, Vec<String>) =
            redis::pipe().incr("a", 3).rpush("l", "x").ignore().lrange("l", 0, -1).query_async(&mut con).await.unwrap();
        assert_eq!((a, all), (3, vec!["x".to_string()]));
        let results: Vec<i32> = redis::pipe().atomic().incr("a", 1).incr("a", 1).query_async(&mut con).await.unwrap();
        assert_eq!(results, [4, 5]);
        let wrong: RedisResult<Value> = redis::pipe().atomic().set("t", 1).lpush("t", 1).query_async(&mut con).await;
        assert!(wrong.unwrap_err().to_string().contains("WRONGTYPE"));
        assert_eq!(con.get::<_, i32>("t").await.unwrap(), 1);
    }
}

#[tokio::test]
async fn watched_transactions_of_many_connections_all_count() {
    let mut con = connect("resp3").await;
    let tasks: Vec<_> = (0..5)
        .map(|_| {
            tokio::spawn(async {
                let con = Client::open(url("resp3")).unwrap().get_multiplexed_async_connection().await.unwrap();
                for _ in 0..10 {
                    let _: (i32,) =
                        redis::aio::transaction_async(con.clone(), &["n"], |mut con, mut pipe| async move {
                            let old: Option<i32> = con.get("n").await?;
                            pipe.set("n", old.unwrap_or(0) + 1).ignore().get("n").query_async(&mut con).await
                        })
                        .await
                        .unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(con.get::<_, i32>("n").await.unwrap(), 50);
}

#[tokio::test]
async fn pubsub_connection_streams_messages() {
    for protocol in ["resp2", "resp3"] {
        let mut con = connect(protocol).await;
        let mut pubsub = Client::open(url(protocol)).unwrap().get_async_pubsub().await.unwrap();
        pubsub.subscribe("news").await.unwrap();
        pubsub.psubscribe("order.*").await.unwrap();
        let _: () = con.publish("news", "one").await.unwrap();
        let _: () = con.publish("order.1", "two").await.unwrap();
        let payloads: Vec<String> = pubsub.on_message().take(2).map(|m| m.get_payload().unwrap()).collect().await;
        assert_eq!(payloads, ["one", "two"]);
        pubsub.unsubscribe("news").await.unwrap();
        pubsub.punsubscribe("order.*").await.unwrap();
        assert_eq!(con.publish::<_, _, i32>("news", "nobody").await.unwrap(), 0);
    }
}

#[tokio::test]
async fn pushes_arrive_on_the_command_connection() {
    let mut other = connect("resp3").await;
    let (sender, mut pushes) = tokio::sync::mpsc::unbounded_channel();
    let config = AsyncConnectionConfig::new().set_push_sender(sender);
    let client = Client::open(url("resp3")).unwrap();
    let mut con = client.get_multiplexed_async_connection_with_config(&config).await.unwrap();
    con.subscribe("news").await.unwrap();
    let _: () = other.publish("news", "hello").await.unwrap();
    assert_eq!(pushes.recv().await.unwrap().kind, PushKind::Subscribe);
    let message = pushes.recv().await.unwrap();
    assert_eq!((message.kind, &message.data[1]), (PushKind::Message, &Value::BulkString(b"hello".into())));
    con.unsubscribe("news").await.unwrap();
    assert_eq!(pushes.recv().await.unwrap().kind, PushKind::Unsubscribe);
}

#[tokio::test]
async fn cached_value_is_invalidated_by_another_client() {
    let mut writer = connect("resp3").await;
    let config = AsyncConnectionConfig::new().set_cache_config(CacheConfig::default());
    let client = Client::open(url("resp3")).unwrap();
    let con = client.get_multiplexed_async_connection_with_config(&config).await.unwrap();
    let read = || async { con.clone().get::<_, String>("shop").await.unwrap() };
    let _: () = writer.set("shop", "one").await.unwrap();
    for _ in 0..10 {
        assert_eq!(read().await, "one");
    }
    let statistics = con.get_cache_statistics().unwrap();
    assert_eq!((statistics.hit, statistics.miss), (9, 1));
    let _: () = writer.set("shop", "two").await.unwrap();
    eventually("the new value is seen", || async { read().await == "two" }).await;
    assert_eq!(con.get_cache_statistics().unwrap().invalidate, 1);
}

#[tokio::test]
async fn connection_manager_reconnects_after_a_crash() {
    let mut server = Server::new(&["--appendonly", "yes", "--appendfsync", "always"]);
    let config = ConnectionManagerConfig::new().set_min_delay(Duration::from_millis(5)).set_number_of_retries(3);
    let client = Client::open(server.url("resp3")).unwrap();
    let manager = ConnectionManager::new_with_config(client, config).await.unwrap();
    for n in 1..=3 {
        assert_eq!(manager.clone().incr::<_, _, i32>("n", 1).await.unwrap(), n);
        server.kill();
        assert!(manager.clone().get::<_, i32>("n").await.is_err());
        server.start();
        eventually("it is connected again", || async { manager.clone().ping::<()>().await.is_ok() }).await;
    }
    assert_eq!(manager.clone().get::<_, i32>("n").await.unwrap(), 3);
}

#[tokio::test]
async fn connection_manager_subscribes_again_after_a_crash() {
    let mut server = Server::new(&[]);
    let (sender, mut pushes) = tokio::sync::mpsc::unbounded_channel();
    let config = ConnectionManagerConfig::new().set_push_sender(sender).set_automatic_resubscription();
    let client = Client::open(server.url("resp3")).unwrap();
    let mut manager = ConnectionManager::new_with_config(client, config).await.unwrap();
    manager.subscribe("news").await.unwrap();
    server.kill();
    server.start();
    eventually("somebody listens", || {
        let mut manager = manager.clone();
        async move { manager.publish::<_, _, i32>("news", "hello").await.is_ok_and(|listeners| listeners == 1) }
    })
    .await;
    let message = timeout(Duration::from_secs(5), async {
        loop {
            let push = pushes.recv().await.unwrap();
            if push.kind == PushKind::Message {
                return push.data[1].clone();
            }
        }
    });
    assert_eq!(message.await.unwrap(), Value::BulkString(b"hello".into()));
}

#[tokio::test]
async fn monitor_sees_commands_of_others() {
    let mut con = connect("resp2").await;
    let mut monitor = Client::open(url("resp2")).unwrap().get_async_monitor().await.unwrap();
    let _: () = con.set("qingshan", "2673").await.unwrap();
    let line: String = timeout(Duration::from_secs(5), async {
        let mut lines = monitor.on_message::<String>();
        loop {
            let line = lines.next().await.unwrap();
            if line.contains("qingshan") {
                return line;
            }
        }
    })
    .await
    .unwrap();
    assert!(line.contains(" [0 127.0.0.1:") && line.ends_with(r#"] "SET" "qingshan" "2673""#), "{line}");
}

#[tokio::test]
async fn scripts_and_scans() {
    let mut con = connect("resp3").await;
    let script = redis::Script::new("return {KEYS[1], ARGV[1] + 1}");
    let reply: (String, i32) = script.key("k").arg(41).invoke_async(&mut con).await.unwrap();
    assert_eq!(reply, ("k".into(), 42));
    for n in 0..200 {
        let _: () = con.set(format!("scan:{n}"), n).await.unwrap();
    }
    let keys: std::collections::HashSet<String> =
        con.scan_match("scan:*").await.unwrap().map(Result::unwrap).collect().await;
    assert_eq!(keys.len(), 200);
}

#[tokio::test]
async fn response_timeout_does_not_break_the_connection() {
    let config = AsyncConnectionConfig::new().set_response_timeout(Some(Duration::from_millis(100)));
    let client = Client::open(url("resp3")).unwrap();
    let mut con = client.get_multiplexed_async_connection_with_config(&config).await.unwrap();
    let slow: RedisResult<Value> = con.blpop("empty", 0.3).await;
    assert!(slow.unwrap_err().is_timeout());
    sleep(Duration::from_millis(300)).await; // until the late reply has come, which must not reach another request
    assert_eq!(redis::cmd("ECHO").arg("mine").query_async::<String>(&mut con).await.unwrap(), "mine");
}
