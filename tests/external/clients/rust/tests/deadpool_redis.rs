//! deadpool-redis: a pool of asynchronous connections.

use clients::{Server, url};
use deadpool_redis::redis::AsyncCommands;
use deadpool_redis::{Config, Runtime};

#[tokio::test]
async fn a_pool_of_four_serves_a_hundred_tasks() {
    let pool = Config::from_url(url("resp2")).builder().unwrap().max_size(4).runtime(Runtime::Tokio1).build().unwrap();
    let _: () = deadpool_redis::redis::cmd("FLUSHALL").query_async(&mut pool.get().await.unwrap()).await.unwrap();
    let tasks: Vec<_> = (0..100)
        .map(|_| {
            let pool = pool.clone();
            tokio::spawn(async move {
                let mut con = pool.get().await.unwrap();
                let _: () = con.incr("n", 1).await.unwrap();
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(pool.get().await.unwrap().get::<_, i32>("n").await.unwrap(), 100);
    assert!(pool.status().size <= 4);
}

#[tokio::test]
async fn connections_that_died_are_recycled() {
    let mut server = Server::new(&[]);
    let pool = Config::from_url(server.url("resp2")).create_pool(Some(Runtime::Tokio1)).unwrap();
    let _: () = pool.get().await.unwrap().set("k", "v").await.unwrap();
    server.kill();
    server.start();
    let _: () = pool.get().await.unwrap().set("k", "v").await.unwrap();
    assert_eq!(pool.get().await.unwrap().get::<_, String>("k").await.unwrap(), "v");
}
