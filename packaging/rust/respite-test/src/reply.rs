//! Enough of RESP to send TEST commands, so that no client library is needed.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result, Write};
use std::net::TcpStream;

/// A reply of the server.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    Null,
    Text(String),
    Number(i64),
    Array(Vec<Reply>),
}

impl Reply {
    /// Returns the text of a text or a number; "" otherwise.
    pub fn text(&self) -> String {
        match self {
            Reply::Text(text) => text.clone(),
            Reply::Number(number) => number.to_string(),
            Reply::Null | Reply::Array(_) => String::new(),
        }
    }
}

pub(crate) struct Connection {
    reader: BufReader<TcpStream>,
}

impl Connection {
    pub(crate) fn dial(port: u16) -> Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        Ok(Self { reader: BufReader::new(stream) })
    }

    pub(crate) fn ask(&mut self, words: &[&str]) -> Result<Reply> {
        let mut request = format!("*{}\r\n", words.len());
        for word in words {
            request += &format!("${}\r\n{}\r\n", word.len(), word);
        }
        self.reader.get_mut().write_all(request.as_bytes())?;
        self.reply()
    }

    fn reply(&mut self) -> Result<Reply> {
        let mut line = String::new();
        self.reader.read_line(&mut line)?;
        let line = line.strip_suffix("\r\n").ok_or(ErrorKind::UnexpectedEof)?;
        let number = || line[1..].parse::<i64>().map_err(|_| Error::from(ErrorKind::InvalidData));
        match line.as_bytes()[0] {
            b'-' => Err(Error::new(ErrorKind::Other, line[1..].to_string())),
            b':' => Ok(Reply::Number(number()?)),
            b'$' | b'*' if number()? < 0 => Ok(Reply::Null),
            b'$' => self.bulk(number()? as usize),
            b'*' => (0..number()?).map(|_| self.reply()).collect::<Result<_>>().map(Reply::Array),
            _ => Ok(Reply::Text(line[1..].to_string())),
        }
    }

    fn bulk(&mut self, size: usize) -> Result<Reply> {
        let mut octets = vec![0; size + 2];
        self.reader.read_exact(&mut octets)?;
        Ok(Reply::Text(String::from_utf8_lossy(&octets[..size]).into_owned()))
    }
}
