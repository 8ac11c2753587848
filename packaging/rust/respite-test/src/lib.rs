//! A Redis compatible server for tests: it runs on a free port, and tests control it.
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

use std::io::{Error, ErrorKind, Read, Result};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

pub use program::find as find_program;
pub use reply::Reply;

/// A running server. It ends when this is dropped, or at the latest with this process.
pub struct Respite {
    _process: Process,
    ports: Vec<u16>,
    connection: Mutex<reply::Connection>,
}

impl Respite {
    /// Starts a server on a free port.
    pub fn start() -> Result<Self> {
        Self::start_with(&[])
    }

    /// Starts a server with more arguments of respite-server: `start_with(&["--nodes", "3x1"])`.
    pub fn start_with(arguments: &[&str]) -> Result<Self> {
        let mut command = Command::new(program::find()?);
        command.arg("--test").args(arguments).args(["--ready-fd", "1"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = Process(program::start(&mut command)?);
        let ports = process.ports()?;
        let connection = Mutex::new(reply::Connection::dial(ports[0])?);
        Ok(Self { _process: process, ports, connection })
    }

    /// The port of the server.
    pub fn port(&self) -> u16 {
        self.ports[0]
    }

    /// The port of each node of `--nodes`; without nodes, one port.
    pub fn ports(&self) -> &[u16] {
        &self.ports
    }

    /// The URL for clients.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port())
    }

    /// The URL for clients of the world of this name: an isolated server behind the same port, created when it is first
    /// used.
    pub fn world_url(&self, name: &str) -> String {
        format!("redis://world.{name}:x@127.0.0.1:{}/", self.port())
    }

    /// Sends a command. An error reply is returned as an error.
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

    /// Returns data, users, settings, faults and the clock to their state at the start.
    pub fn reset(&self) -> Result<Reply> {
        self.test(&["RESET"])
    }
}

/// The process does not outlive this value.
struct Process(Child);

impl Process {
    /// The ports come by standard output, the only descriptor that can be passed without other crates.
    fn ports(&mut self) -> Result<Vec<u16>> {
        let said = read(self.0.stdout.take())?;
        let ports: Option<Vec<u16>> = said.lines().map(|line| line.parse().ok()).collect();
        let log = self.0.stderr.take(); // it continues without a reader
        match ports {
            Some(ports) if !ports.is_empty() => Ok(ports),
            _ => Err(Error::new(ErrorKind::Other, format!("respite-server did not start:\n{said}{}", read(log)?))),
        }
    }
}

impl Drop for Process {
    /// Asks the server to end, so that it removes its temporary files.
    fn drop(&mut self) {
        self.terminate();
        let _ = self.0.wait();
    }
}

#[cfg(unix)]
impl Process {
    fn terminate(&mut self) {
        extern "C" {
            fn kill(process: i32, signal: i32) -> i32;
        }
        const SIGTERM: i32 = 15;
        // SAFETY: kill(2) touches no memory; the process was not waited for, so its number is still its own.
        let _ = unsafe { kill(self.0.id() as i32, SIGTERM) };
    }
}

#[cfg(not(unix))]
impl Process {
    fn terminate(&mut self) {
        let _ = self.0.kill();
    }
}

fn read<S: Read>(stream: Option<S>) -> Result<String> {
    let mut octets = Vec::new();
    if let Some(mut stream) = stream {
        stream.read_to_end(&mut octets)?;
    }
    Ok(String::from_utf8_lossy(&octets).into_owned())
}
