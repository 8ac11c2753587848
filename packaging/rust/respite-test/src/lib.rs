//! A Redis compatible server for tests: started on a free port, and told what tests want.
//!
//! ```
//! use std::time::Duration;
//!
//! let respite = respite_test::Respite::start().unwrap();
//! respite.ask(&["SET", "lock", "me", "EX", "30"]).unwrap();
//! respite.advance(Duration::from_secs(31)).unwrap();
//! assert_eq!(respite.ask(&["GET", "lock"]).unwrap(), respite_test::Reply::Null);
//! ```

mod program;
mod reply;

use std::io::{Error, ErrorKind, Result};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

pub use program::find as find_program;
pub use reply::Reply;

/// A running server. It ends when this is dropped, and at the latest with this process.
pub struct Respite {
    child: Child,
    ports: Vec<u16>,
    connection: Mutex<reply::Connection>,
}

impl Respite {
    /// Starts a server on a free port.
    pub fn start() -> Result<Self> {
        Self::start_with(&[])
    }

    /// The same, with more arguments of respite-server: `start_with(&["--nodes", "3x1"])`.
    pub fn start_with(arguments: &[&str]) -> Result<Self> {
        let mark = Instant::now();
        let folder = env::temp_dir().join(format!("respite-{}-{:?}-{mark:?}", process::id(), thread::current().id()));
        fs::create_dir(&folder)?;
        let started = Self::start_in(&folder, arguments);
        fs::remove_dir_all(&folder)?;
        started
    }

    fn start_in(folder: &std::path::Path, arguments: &[&str]) -> Result<Self> {
        let file = folder.join("port");
        let log = folder.join("log");
        let output = fs::File::create(&log)?;
        let mut child = Command::new(program::find()?)
            .arg("--test")
            .args(arguments)
            .arg("--port-file")
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .spawn()?;
        let ports = read_ports(&mut child, &file).map_err(|error| {
            Error::new(error.kind(), format!("respite-server did not start:\n{}", fs::read_to_string(&log).unwrap_or_default()))
        })?;
        let connection = Mutex::new(reply::Connection::dial(ports[0])?);
        Ok(Self { child, ports, connection })
    }

    /// The port of the server.
    pub fn port(&self) -> u16 {
        self.ports[0]
    }

    /// The port of each node of `--nodes`; otherwise one.
    pub fn ports(&self) -> &[u16] {
        &self.ports
    }

    /// What clients take.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port())
    }

    /// What clients of the world of this name take: an isolated server behind the same port, made when it is first used.
    pub fn world_url(&self, name: &str) -> String {
        format!("redis://world.{name}:x@127.0.0.1:{}/", self.port())
    }

    /// Sends a command. A reply that is an error is one here, too.
    pub fn ask(&self, words: &[&str]) -> Result<Reply> {
        self.connection.lock().expect("no other test has panicked meanwhile").ask(words)
    }

    /// Sends a TEST command: `test(&["FAULT", "CLEAR"])`.
    pub fn test(&self, words: &[&str]) -> Result<Reply> {
        self.ask(&[&["TEST"], words].concat())
    }

    /// Stops the clock.
    pub fn freeze(&self) -> Result<Reply> {
        self.test(&["CLOCK", "FREEZE"])
    }

    /// Lets time pass: everything that falls due has happened when this returns.
    pub fn advance(&self, duration: Duration) -> Result<Reply> {
        self.test(&["CLOCK", "ADVANCE", &duration.as_millis().to_string()])
    }

    /// Brings data, users, settings, faults and the clock back to what they were at the start.
    pub fn reset(&self) -> Result<Reply> {
        self.test(&["RESET"])
    }
}

impl Drop for Respite {
    fn drop(&mut self) {
        // It has no files to save.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_ports(child: &mut Child, file: &std::path::Path) -> Result<Vec<u16>> {
    loop {
        let has_ended = child.try_wait()?.is_some();
        let text = fs::read_to_string(file).unwrap_or_default();
        if text.ends_with('\n') {
            return text.lines().map(|line| line.parse().map_err(|_| ErrorKind::InvalidData.into())).collect();
        }
        if has_ended {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        thread::sleep(Duration::from_micros(200));
    }
}
