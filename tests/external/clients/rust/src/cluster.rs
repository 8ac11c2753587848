//! The cluster of the suite, and how to request changes of it: see ../../README.md.

use std::collections::HashMap;
use std::env;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Returns the URLs of the nodes for one of the two protocols, "resp2" or "resp3".
pub fn urls(protocol: &str) -> Vec<String> {
    let addresses = env::var("REDIS_CLUSTER").unwrap();
    addresses.split(',').map(|address| format!("redis://{address}/?protocol={protocol}")).collect()
}

/// Sends one request. Returns the rest of the answer.
pub fn control(wish: &str) -> String {
    let port = env::var("REDIS_CLUSTER_CONTROL").unwrap().parse().unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(90))).unwrap();
    stream.write_all(format!("{wish}\n").as_bytes()).unwrap();
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).unwrap();
    answer.strip_prefix("ok").unwrap_or_else(|| panic!("{answer}")).trim().to_string()
}

type Counts = HashMap<String, i64>;

/// Threads that increment counters until `stop`, and count what the servers acknowledged.
pub struct Load {
    pub keys: Vec<String>,
    counts: Arc<Mutex<Counts>>,
    trouble: Arc<Mutex<Option<String>>>,
    ends: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    /// `connect` returns a function for each thread, which increments a key. With `may_fail` errors are expected
    /// because a primary dies.
    pub fn new<F, I>(may_fail: bool, connect: F) -> Load
    where
        F: Fn() -> I,
        I: FnMut(&str) -> Result<(), String> + Send + 'static,
    {
        let keys: Vec<_> = (0..60).map(|n| format!("load:{n}")).collect();
        let counts = Arc::new(Mutex::new(keys.iter().map(|key| (key.clone(), 0)).collect::<Counts>()));
        let mut load = Load { keys, counts, trouble: Arc::default(), ends: Arc::default(), threads: Vec::new() };
        for first in 0..3 {
            let increment = connect();
            load.threads.push(load.start(may_fail, first, increment));
        }
        load.goes_on();
        load
    }

    fn start(
        &self,
        may_fail: bool,
        first: usize,
        mut increment: impl FnMut(&str) -> Result<(), String> + Send + 'static,
    ) -> JoinHandle<()> {
        let (keys, counts, trouble, ends) =
            (self.keys.clone(), self.counts.clone(), self.trouble.clone(), self.ends.clone());
        thread::spawn(move || {
            for step in (first..).step_by(7) {
                if ends.load(Ordering::Relaxed) {
                    break;
                }
                let key = &keys[step % keys.len()];
                match increment(key) {
                    Ok(()) => *counts.lock().unwrap().get_mut(key).unwrap() += 1,
                    Err(error) if !may_fail => *trouble.lock().unwrap() = Some(error),
                    Err(_) => (),
                }
            }
        })
    }

    /// Waits until every key was incremented several more times.
    pub fn goes_on(&self) {
        let before = self.counts();
        let deadline = Instant::now() + Duration::from_secs(40);
        while self.counts().iter().any(|(key, count)| *count < before[key] + 2) {
            assert_eq!(*self.trouble.lock().unwrap(), None);
            assert!(Instant::now() < deadline, "the load does not go on");
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn counts(&self) -> Counts {
        self.counts.lock().unwrap().clone()
    }

    /// Returns the value that every key has if nothing was lost and nothing happened twice.
    pub fn stop(mut self) -> Counts {
        self.end();
        assert_eq!(*self.trouble.lock().unwrap(), None);
        self.counts()
    }

    fn end(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread.join().unwrap();
        }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.end();
    }
}
