//! The address of the server under test, and how to start further servers for tests that need their own.

pub mod cluster;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, io, thread};

/// Returns the address of this suite's server.
pub fn address() -> String {
    format!("{}:{}", env::var("REDIS_HOST").unwrap(), env::var("REDIS_PORT").unwrap())
}

/// Returns the address as a URL for one of the two protocols, "resp2" or "resp3".
pub fn url(protocol: &str) -> String {
    format!("redis://{}/?protocol={protocol}", address())
}

/// A server that belongs to one test. It keeps its port and folder over `kill` and `start`; dropping it ends it.
pub struct Server {
    pub port: u16,
    pub folder: PathBuf,
    args: Vec<String>,
    process: Option<Child>,
}

impl Server {
    pub fn new(args: &[&str]) -> Server {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let folder = env::temp_dir().join(format!("clients-rust-{}-{port}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let args = args.iter().map(|arg| arg.to_string()).collect();
        let mut server = Server { port, folder, args, process: None };
        server.start();
        server
    }

    pub fn url(&self, protocol: &str) -> String {
        format!("redis://127.0.0.1:{}/?protocol={protocol}", self.port)
    }

    /// Starts or restarts the server with the arguments that redis-rs' own tests use, and waits until it answers.
    pub fn start(&mut self) {
        let command = Command::new(env::var("REDIS_SERVER").unwrap())
            .args(["--save", "", "--logfile"])
            .arg(self.folder.join("redis.log"))
            .args(["--enable-debug-command", "yes", "--port", &self.port.to_string(), "--bind", "127.0.0.1", "--dir"])
            .arg(&self.folder)
            .args(&self.args)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.process = Some(command.unwrap());
        eventually("the server answers", || self.answers().unwrap_or(false));
    }

    /// Returns whether it answers PING. While it loads its data, it replies LOADING instead.
    fn answers(&self) -> io::Result<bool> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.write_all(b"PING\r\n")?;
        let mut answer = [0];
        stream.read_exact(&mut answer)?;
        Ok(answer == *b"+")
    }

    /// Ends the server immediately, as a crash would.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().and_then(|()| process.wait()).unwrap();
        }
    }

    pub fn log(&self) -> io::Result<String> {
        fs::read_to_string(self.folder.join("redis.log"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Polls until the condition holds, for at most ten seconds.
pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !condition() {
        assert!(Instant::now() < deadline, "in vain waited until {what}");
        thread::sleep(Duration::from_millis(5));
    }
}
