//! redis-rs with plain blocking connections. The tests share the server: they run one after the other.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::num::NonZeroUsize;
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use clients::{Server, eventually, url};
use redis::geo::{Coord, RadiusOptions, RadiusSearchResult, Unit};
use redis::streams::*;
use redis::{Client, Commands, Connection, PushKind, RedisError, RedisResult, Value};

fn connect(protocol: &str) -> Connection {
    let mut con = Client::open(url(protocol)).unwrap().get_connection().unwrap();
    let _: () = redis::cmd("FLUSHALL").query(&mut con).unwrap();
    con
}

fn each_protocol(test: fn(&str, Connection)) {
    for protocol in ["resp2", "resp3"] {
        test(protocol, connect(protocol));
    }
}

/// Returns the server's error unchanged: code and detail.
fn text(error: RedisError) -> String {
    format!("{} {}", error.code().unwrap_or("-"), error.detail().unwrap_or("-"))
}

#[test]
fn values_convert_to_rust_types() {
    each_protocol(|_, mut con| {
        let _: () = con.set("number", 42).unwrap();
        assert_eq!(con.get::<_, i64>("number").unwrap(), 42);
        assert_eq!(con.get::<_, Option<String>>("none").unwrap(), None);
        let _: () = con.set_ex("bytes", b"\x00\r\n\xff".as_slice(), 100).unwrap();
        assert_eq!(con.get::<_, Vec<u8>>("bytes").unwrap(), b"\x00\r\n\xff");
        assert_eq!(con.ttl::<_, i64>("bytes").unwrap(), 100);
        let _: () = con.hset_multiple("hash", &[("a", 1), ("b", 2)]).unwrap();
        let map: BTreeMap<String, i32> = con.hgetall("hash").unwrap();
        assert_eq!(map, BTreeMap::from([("a".into(), 1), ("b".into(), 2)]));
        let _: () = con.sadd("set", &["x", "y"]).unwrap();
        let set: HashSet<String> = con.smembers("set").unwrap();
        assert_eq!(set, HashSet::from(["x".into(), "y".into()]));
        assert!(con.sismember::<_, _, bool>("set", "x").unwrap());
        let _: () = con.rpush("list", &[1, 2, 3, 4]).unwrap();
        assert_eq!(con.lpop::<_, Vec<i32>>("list", NonZeroUsize::new(3)).unwrap(), [1, 2, 3]);
        let (n, f): (i32, f64) =
            redis::pipe().incr("n", 5).cmd("INCRBYFLOAT").arg("f").arg(1.5).query(&mut con).unwrap();
        assert_eq!((n, f), (5, 1.5));
    });
}

#[test]
fn sorted_sets_and_places() {
    each_protocol(|protocol, mut con| {
        let _: () = con.zadd_multiple("rank", &[(85.0, "Jack"), (89.5, "Lucy"), (f64::INFINITY, "Top")]).unwrap();
        let scores: Vec<(String, f64)> = con.zrange_withscores("rank", 0, -1).unwrap();
        assert_eq!(scores, [("Jack".into(), 85.0), ("Lucy".into(), 89.5), ("Top".into(), f64::INFINITY)]);
        let raw: Value = con.zscore("rank", "Lucy").unwrap();
        assert_eq!(raw, if protocol == "resp3" { Value::Double(89.5) } else { Value::BulkString(b"89.5".into()) });
        assert_eq!(con.zrevrank::<_, _, Option<usize>>("rank", "nobody").unwrap(), None);
        let _: () = con.geo_add("Sicily", &[(Coord::lon_lat("13.361389", "38.115556"), "Palermo")]).unwrap();
        let _: () = con.geo_add("Sicily", (Coord::lon_lat("15.087269", "37.502669"), "Catania")).unwrap();
        let km: f64 = con.geo_dist("Sicily", "Palermo", "Catania", Unit::Kilometers).unwrap();
        assert_eq!(km, 166.2742);
        let options = RadiusOptions::default().with_dist().order(redis::geo::RadiusOrder::Asc);
        let near: Vec<RadiusSearchResult> =
            con.geo_radius("Sicily", 15.0, 37.0, 200.0, Unit::Kilometers, options).unwrap();
        assert_eq!(
            near.iter().map(|place| (place.name.as_str(), place.dist.unwrap())).collect::<Vec<_>>(),
            [("Catania", 56.4413), ("Palermo", 190.4424)]
        );
    });
}

#[test]
fn errors_keep_code_and_text() {
    each_protocol(|_, mut con| {
        let _: () = con.set("text", "abc").unwrap();
        assert_eq!(text(con.incr::<_, _, i64>("text", 1).unwrap_err()), "ERR value is not an integer or out of range");
        let wrong = con.lpush::<_, _, i64>("text", 1).unwrap_err();
        assert_eq!(text(wrong), "WRONGTYPE Operation against a key holding the wrong kind of value");
        let unknown = redis::cmd("XGROUP").arg("DESTORY").arg("k").arg("g").query::<Value>(&mut con).unwrap_err();
        assert_eq!(text(unknown), "ERR unknown subcommand 'DESTORY'. Try XGROUP HELP.");
        let nosuch = redis::cmd("NOSUCH").arg("a").query::<Value>(&mut con).unwrap_err();
        assert_eq!(text(nosuch), "ERR unknown command 'NOSUCH', with args beginning with: 'a' ");
    });
}

#[test]
fn resp3_types_arrive_as_such() {
    let mut con = connect("resp3");
    let _: () = con.hset("h", "f", "v").unwrap();
    let _: () = con.sadd("s", "m").unwrap();
    let word = |text: &str| Value::BulkString(text.into());
    assert_eq!(con.hgetall::<_, Value>("h").unwrap(), Value::Map(vec![(word("f"), word("v"))]));
    assert_eq!(con.smembers::<_, Value>("s").unwrap(), Value::Set(vec![word("m")]));
    assert_eq!(con.get::<_, Value>("none").unwrap(), Value::Nil);
    let info: Value = redis::cmd("INFO").arg("server").query(&mut con).unwrap();
    assert!(matches!(info, Value::VerbatimString { text, .. } if text.starts_with("# Server\r\n")));
    let debug: Value = redis::cmd("EVAL").arg("redis.setresp(3) return {true, false}").arg(0).query(&mut con).unwrap();
    assert_eq!(debug, Value::Array(vec![Value::Boolean(true), Value::Boolean(false)]));
}

#[test]
fn pipeline_of_20000_keeps_the_order() {
    each_protocol(|_, mut con| {
        let mut pipe = redis::pipe();
        for n in 0..10_000 {
            pipe.set(format!("k{n}"), n).ignore().get(format!("k{n}"));
        }
        let values: Vec<i32> = pipe.query(&mut con).unwrap();
        assert!(values.iter().copied().eq(0..10_000));
    });
}

#[test]
fn transaction_is_retried_until_nobody_interferes() {
    each_protocol(|protocol, mut con| {
        let protocol: &'static str = if protocol == "resp3" { "resp3" } else { "resp2" };
        let threads: Vec<_> = (0..8)
            .map(|_| {
                thread::spawn(move || {
                    let mut con = Client::open(url(protocol)).unwrap().get_connection().unwrap();
                    for _ in 0..25 {
                        let _: (i32,) = redis::transaction(&mut con, &["counter"], |con, pipe| {
                            let old: Option<i32> = con.get("counter")?;
                            pipe.set("counter", old.unwrap_or(0) + 1).ignore().get("counter").query(con)
                        })
                        .unwrap();
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(con.get::<_, i32>("counter").unwrap(), 200);
    });
}

#[test]
fn transaction_with_a_bad_command_is_aborted() {
    each_protocol(|_, mut con| {
        let result: RedisResult<Value> = redis::pipe().atomic().set("k", 1).cmd("NOSUCH").query(&mut con);
        assert!(result.unwrap_err().to_string().contains("unknown command 'NOSUCH'"));
        assert!(!con.exists::<_, bool>("k").unwrap());
    });
}

#[test]
fn published_messages_reach_channels_and_patterns() {
    each_protocol(|protocol, mut publisher| {
        let mut con = connect(protocol);
        let mut pubsub = con.as_pubsub();
        pubsub.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        pubsub.subscribe("order_channel").unwrap();
        pubsub.psubscribe("order.*").unwrap();
        assert_eq!(publisher.publish::<_, _, i32>("order_channel", "New order: #12345").unwrap(), 1);
        assert_eq!(publisher.publish::<_, _, i32>("order.paid", "7").unwrap(), 1);
        let message = pubsub.get_message().unwrap();
        assert_eq!(message.get_channel_name(), "order_channel");
        assert_eq!(message.get_payload::<String>().unwrap(), "New order: #12345");
        let message = pubsub.get_message().unwrap();
        assert_eq!(message.get_pattern::<String>().unwrap(), "order.*");
        assert_eq!(message.get_payload::<i32>().unwrap(), 7);
        drop(pubsub);
        assert_eq!(redis::cmd("ECHO").arg("usable again").query::<String>(&mut con).unwrap(), "usable again");
    });
}

#[test]
fn resp3_pushes_come_beside_replies() {
    let (sender, pushes) = std::sync::mpsc::channel();
    let mut con = connect("resp3");
    con.set_push_sender(sender);
    con.subscribe_resp3("news").unwrap();
    let _: () = con.set("still", "commands").unwrap();
    let mut other = Client::open(url("resp3")).unwrap().get_connection().unwrap();
    let _: () = redis::cmd("CLIENT").arg("TRACKING").arg("ON").query(&mut con).unwrap();
    let _: String = con.get("still").unwrap();
    let _: () = other.set("still", "changed").unwrap();
    let _: () = other.publish("news", "hello").unwrap();
    assert_eq!(con.get::<_, String>("still").unwrap(), "changed");
    let kinds: Vec<PushKind> = pushes.try_iter().map(|push| push.kind).collect();
    assert_eq!(kinds, [PushKind::Subscribe, PushKind::Invalidate, PushKind::Message]);
}

#[test]
fn script_is_loaded_when_unknown() {
    each_protocol(|_, mut con| {
        let _: () = redis::cmd("SCRIPT").arg("FLUSH").query(&mut con).unwrap();
        let script = redis::Script::new(
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end",
        );
        let unknown = redis::cmd("EVALSHA").arg(script.get_hash()).arg(0).query::<Value>(&mut con).unwrap_err();
        assert_eq!(text(unknown), "NOSCRIPT No matching script. Please use EVAL.");
        let _: () = con.set("lock", "me").unwrap();
        assert_eq!(script.key("lock").arg("another").invoke::<i32>(&mut con).unwrap(), 0);
        assert_eq!(script.key("lock").arg("me").invoke::<i32>(&mut con).unwrap(), 1);
        let broken = redis::Script::new("// not Lua").invoke::<Value>(&mut con).unwrap_err();
        assert!(broken.to_string().contains("Error compiling script (new function): user_script:1:"), "{broken}");
    });
}

#[test]
fn stream_group_keeps_what_was_not_acknowledged() {
    each_protocol(|_, mut con| {
        let _: () = con.xgroup_create_mkstream("stream.orders", "g1", "0").unwrap();
        let again = con.xgroup_create_mkstream::<_, _, _, ()>("stream.orders", "g1", "0").unwrap_err();
        assert_eq!(text(again), "BUSYGROUP Consumer Group name already exists");
        for id in ["1-0", "2-0"] {
            let added: String = con.xadd("stream.orders", id, &[("userId", "1001"), ("voucherId", "7")]).unwrap();
            assert_eq!(added, id);
        }
        let options = StreamReadOptions::default().group("g1", "c1").count(1).block(2000);
        let reply: StreamReadReply = con.xread_options(&["stream.orders"], &[">"], &options).unwrap();
        assert_eq!(reply.keys[0].ids[0].id, "1-0");
        assert_eq!(reply.keys[0].ids[0].get::<String>("userId").unwrap(), "1001");
        let pending: StreamReadReply = con.xread_options(&["stream.orders"], &["0"], &options).unwrap();
        assert_eq!(pending.keys[0].ids[0].id, "1-0");
        assert_eq!(con.xack::<_, _, _, i32>("s1", "g1", &["1-0"]).unwrap(), 0);
        assert_eq!(con.xack::<_, _, _, i32>("stream.orders", "g1", &["1-0"]).unwrap(), 1);

        let _: StreamReadReply = con.xread_options(&["stream.orders"], &[">"], &options).unwrap();
        let claimed: StreamAutoClaimReply = con
            .xautoclaim_options("stream.orders", "g1", "c2", 0, "0", StreamAutoClaimOptions::default().count(10))
            .unwrap();
        assert_eq!(claimed.claimed[0].id, "2-0");
        let rows: StreamPendingCountReply = con.xpending_count("stream.orders", "g1", "-", "+", 10).unwrap();
        assert_eq!((rows.ids[0].consumer.as_str(), rows.ids[0].times_delivered), ("c2", 2));
        let groups: StreamInfoGroupsReply = con.xinfo_groups("stream.orders").unwrap();
        assert_eq!((groups.groups[0].pending, groups.groups[0].consumers), (1, 2));
    });
}

#[test]
fn blocking_pop_wakes_and_times_out() {
    each_protocol(|protocol, mut con| {
        let start = Instant::now();
        assert_eq!(con.blpop::<_, Option<(String, String)>>("queue", 0.2).unwrap(), None);
        assert!(start.elapsed() >= Duration::from_millis(190));
        let mut other = Client::open(url(protocol)).unwrap().get_connection().unwrap();
        let waiter = thread::spawn(move || other.blpop::<_, (String, String)>(&["none", "queue"], 5.0).unwrap());
        eventually("it blocks", || {
            let info: redis::InfoDict = redis::cmd("INFO").arg("clients").query(&mut con).unwrap();
            info.get::<i32>("blocked_clients") == Some(1)
        });
        let _: () = con.rpush("queue", "job").unwrap();
        assert_eq!(waiter.join().unwrap(), ("queue".into(), "job".into()));
    });
}

#[test]
fn scan_iterators_see_every_element() {
    each_protocol(|_, mut con| {
        let mut pipe = redis::pipe();
        for n in 0..1500 {
            pipe.set(format!("key:{n}"), n).hset("hash", format!("field:{n}"), n).sadd("set", n);
        }
        let _: () = pipe.query(&mut con).unwrap();
        let keys: HashSet<String> = con.scan_match("key:*").unwrap().map(Result::unwrap).collect();
        assert_eq!(keys.len(), 1500);
        let fields: HashMap<String, i32> = con.hscan("hash").unwrap().map(Result::unwrap).collect();
        assert_eq!(fields["field:1234"], 1234);
        let members: HashSet<i32> = con.sscan("set").unwrap().map(Result::unwrap).collect();
        assert_eq!(members.len(), 1500);
    });
}

#[test]
fn flash_sale_through_an_r2d2_pool_sells_100_of_100() {
    let mut con = connect("resp2");
    let _: () = con.set("seckill:stock:7", 100).unwrap();
    let pool = r2d2::Pool::builder().max_size(8).build(Client::open(url("resp2")).unwrap()).unwrap();
    let script = Arc::new(redis::Script::new(include_str!("../../scripts/seckill.lua")));
    let buyers: Vec<_> = (0..8)
        .map(|part| {
            let (pool, script) = (pool.clone(), script.clone());
            thread::spawn(move || {
                (0..125)
                    .map(|n| part * 125 + n)
                    .filter(|user| {
                        let mut con = pool.get().unwrap();
                        script.arg(7).arg(user).arg(user + 1_000_000).invoke::<i32>(&mut con).unwrap() == 0
                    })
                    .count()
            })
        })
        .collect();
    let sold: usize = buyers.into_iter().map(|buyer| buyer.join().unwrap()).sum();
    assert_eq!(sold, 100);
    assert_eq!(con.get::<_, i32>("seckill:stock:7").unwrap(), 0);
    assert_eq!(con.xlen::<_, usize>("stream.orders").unwrap(), 100);
}

#[test]
fn version_and_arguments_of_the_clients_own_test_server() {
    let out = Command::new(std::env::var("REDIS_SERVER").unwrap()).arg("-v").output().unwrap();
    let line = String::from_utf8(out.stdout).unwrap();
    let version = line.split_once(" v=").unwrap().1;
    assert!(version.split_once('.').unwrap().0.parse::<u8>().unwrap() >= 7, "{line}");
    let server = Server::new(&[]);
    let mut con = Client::open(server.url("resp3")).unwrap().get_connection().unwrap();
    let _: () = redis::cmd("DEBUG").arg("SLEEP").arg(0).query(&mut con).unwrap();
    assert!(server.log().unwrap().contains("Ready to accept connections"));
}

#[test]
fn unix_socket_only() {
    let mut server = Server::new(&[]);
    server.kill();
    let path = server.folder.join("redis.sock");
    let mut unix = Command::new(std::env::var("REDIS_SERVER").unwrap())
        .args(["--save", "", "--port", "0", "--unixsocket", path.to_str().unwrap(), "--logfile"])
        .arg(server.folder.join("unix.log"))
        .spawn()
        .unwrap();
    eventually("the socket is there", || path.exists());
    let result = Client::open(format!("unix://{}?db=2", path.display())).unwrap().get_connection();
    let name = result.and_then(|mut con| redis::cmd("ECHO").arg("through the file").query::<String>(&mut con));
    unix.kill().and_then(|()| unix.wait()).unwrap();
    assert_eq!(name.unwrap(), "through the file");
}
