//! fred: pipelines, transactions, a subscriber client, tracking, reconnecting.

use std::collections::HashMap;
use std::time::Duration;

use clients::{Server, address};
use fred::prelude::*;
use fred::types::RespVersion;

async fn connect(address: &str, version: RespVersion) -> Client {
    let mut config = Config::from_url(&format!("redis://{address}")).unwrap();
    config.version = version;
    let client = Builder::from_config(config).set_policy(ReconnectPolicy::new_constant(0, 20)).build().unwrap();
    client.init().await.unwrap();
    let _: () = client.flushall(false).await.unwrap();
    client
}

#[tokio::test]
async fn replies_of_both_protocols() {
    for version in [RespVersion::RESP2, RespVersion::RESP3] {
        let client = connect(&address(), version).await;
        let _: () = client.set("k", "虎哥", Some(Expiration::EX(100)), Some(SetOptions::NX), false).await.unwrap();
        assert_eq!(client.get::<String, _>("k").await.unwrap(), "虎哥");
        assert_eq!(client.get::<Option<String>, _>("none").await.unwrap(), None);
        let _: () = client.hset("h", HashMap::from([("a", 1), ("b", 2)])).await.unwrap();
        let map: HashMap<String, i32> = client.hgetall("h").await.unwrap();
        assert_eq!(map["b"], 2);
        let _: () = client.zadd("z", None, None, false, false, (1.5, "m")).await.unwrap();
        assert_eq!(client.zscore::<f64, _, _>("z", "m").await.unwrap(), 1.5);
        let error = client.incr::<i64, _>("h").await.unwrap_err();
        assert_eq!(error.details(), "WRONGTYPE Operation against a key holding the wrong kind of value");
        client.quit().await.unwrap();
    }
}

#[tokio::test]
async fn pipelines_and_transactions() {
    for version in [RespVersion::RESP2, RespVersion::RESP3] {
        let client = connect(&address(), version).await;
        let pipeline = client.pipeline();
        for n in 0..1000 {
            let _: () = pipeline.rpush("l", n).await.unwrap();
        }
        let lengths: Vec<i32> = pipeline.all().await.unwrap();
        assert!(lengths.into_iter().eq(1..=1000));
        let transaction = client.multi();
        let _: () = transaction.incr("n").await.unwrap();
        let _: () = transaction.incr("n").await.unwrap();
        assert_eq!(transaction.exec::<Vec<i32>>(true).await.unwrap(), [1, 2]);
        client.quit().await.unwrap();
    }
}

#[tokio::test]
async fn subscriber_subscribes_again_after_a_crash() {
    let mut server = Server::new(&[]);
    let address = format!("127.0.0.1:{}", server.port);
    let client = connect(&address, RespVersion::RESP3).await;
    let subscriber = Builder::from_config(Config::from_url(&format!("redis://{address}")).unwrap())
        .set_policy(ReconnectPolicy::new_constant(0, 20))
        .build_subscriber_client()
        .unwrap();
    subscriber.init().await.unwrap();
    let _task = subscriber.manage_subscriptions();
    let mut messages = subscriber.message_rx();
    subscriber.subscribe("news").await.unwrap();
    for _ in 0..2 {
        loop {
            let listeners: RespResult = client.publish("news", "hello").await;
            if listeners.is_ok_and(|count| count == 1) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let message = tokio::time::timeout(Duration::from_secs(5), messages.recv()).await.unwrap().unwrap();
        assert_eq!(message.value.as_string().unwrap(), "hello");
        server.kill();
        server.start();
    }
    let _ = subscriber.quit().await;
    let _ = client.quit().await;
}

type RespResult = Result<i64, Error>;
