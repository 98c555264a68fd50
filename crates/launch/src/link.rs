//! The connection to a launcher, with deadlines.

use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use super::inbox::{Inbox, Unreadable};
use super::server::Server;

/// Where lines go and come from.
#[derive(Debug)]
pub(super) enum Link {
    /// A launcher elsewhere.
    Far(Stream),
    /// A server in this process, for a job of one rank.
    Near(Box<Server>, Inbox),
}

/// Why no line goes or comes.
#[derive(Debug)]
pub(super) enum Fault {
    /// The other side has closed the connection.
    Closed,
    /// It has said nothing until the deadline.
    Late,
    /// It has said what is no line.
    Unreadable(Unreadable),
    /// The connection broke.
    Io(io::Error),
}

impl Link {
    /// To a server for this rank alone.
    pub fn near() -> Link {
        Link::Near(Box::new(Server::named(1, "alone")), Inbox::default())
    }

    /// Through a socket that is open under a number.
    #[cfg(unix)]
    pub fn open(number: i32) -> io::Result<Link> {
        Ok(Link::Far(Stream::new(sockets::duplicate(number)?)))
    }

    /// The same where processes do not hand sockets down by number.
    #[cfg(not(unix))]
    pub fn open(_: i32) -> io::Result<Link> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "only Unix has numbers for open files"))
    }

    /// To a port, given as `host:port`.
    pub fn connect(address: &str, patience: Duration) -> io::Result<Link> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
        for address in address.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, patience) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    return Ok(Link::Far(Stream::new(stream.into())));
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// A second end of the same connection, for lines that get no answer; `None` if there is no
    /// launcher.
    pub fn second(&self) -> io::Result<Option<Link>> {
        match self {
            Link::Far(stream) => Ok(Some(Link::Far(Stream::new(stream.socket.try_clone()?)))),
            Link::Near(..) => Ok(None),
        }
    }

    /// Sends a line.
    pub fn say(&mut self, line: &str, deadline: Instant) -> Result<(), Fault> {
        match self {
            Link::Far(stream) => stream.say(line, deadline),
            Link::Near(server, inbox) => {
                server.hear(0, line.as_bytes());
                let answer = server.to_say(0);
                inbox.add(answer);
                let count = answer.len();
                server.said(0, count);
                Ok(())
            }
        }
    }

    /// Waits for a line, and returns it without its end.
    pub fn hear(&mut self, deadline: Instant) -> Result<String, Fault> {
        match self {
            Link::Far(stream) => stream.hear(deadline),
            Link::Near(_, inbox) => match inbox.next() {
                Some(line) => line.map(str::to_owned).map_err(Fault::Unreadable),
                None => Err(Fault::Closed),
            },
        }
    }
}

/// A socket to a launcher.
#[derive(Debug)]
pub(super) struct Stream {
    socket: sockets::Socket,
    inbox: Inbox,
}

impl Stream {
    pub(super) fn new(socket: sockets::Socket) -> Stream {
        Stream { socket, inbox: Inbox::default() }
    }

    fn say(&mut self, line: &str, deadline: Instant) -> Result<(), Fault> {
        let mut rest = line.as_bytes();
        while !rest.is_empty() {
            let count = sockets::write(&mut self.socket, rest, deadline)?;
            rest = &rest[count.min(rest.len())..];
        }
        Ok(())
    }

    fn hear(&mut self, deadline: Instant) -> Result<String, Fault> {
        loop {
            if let Some(line) = self.inbox.next() {
                return line.map(str::to_owned).map_err(Fault::Unreadable);
            }
            let mut bytes = [0; 4096];
            match sockets::read(&mut self.socket, &mut bytes, deadline)? {
                0 => return Err(Fault::Closed),
                count => self.inbox.add(&bytes[..count]),
            }
        }
    }
}

/// Reading and writing until a deadline, for any kind of socket.
#[cfg(unix)]
mod sockets {
    #![allow(unsafe_code)]

    use std::io;
    use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
    use std::time::Instant;

    use nix::errno::Errno;
    use nix::fcntl::{FcntlArg, fcntl};
    use nix::poll::{PollFd, PollFlags, poll};
    use nix::sys::socket::{getsockopt, sockopt};

    use super::super::serve::milliseconds;
    use super::Fault;

    pub type Socket = OwnedFd;

    /// A socket that is open under a number, under another number of our own. The first is left as
    /// it is: it may be somebody's standard input, or be used by a library for MPI in the same
    /// process.
    pub fn duplicate(number: i32) -> io::Result<OwnedFd> {
        // SAFETY: it is borrowed for two calls of the kernel, which say so if nothing is open under
        // this number.
        let given = unsafe { BorrowedFd::borrow_raw(number) };
        // Nothing must ever be written to a file that only happens to have this number.
        getsockopt(&given, sockopt::SockType)?;
        let own = fcntl(given, FcntlArg::F_DUPFD_CLOEXEC(3))?;
        // SAFETY: it has just been opened, and nobody else has it.
        Ok(unsafe { OwnedFd::from_raw_fd(own) })
    }

    pub fn read(socket: &mut Socket, bytes: &mut [u8], deadline: Instant) -> Result<usize, Fault> {
        until(socket, PollFlags::POLLIN, deadline, |socket| nix::unistd::read(socket, bytes))
    }

    pub fn write(socket: &mut Socket, bytes: &[u8], deadline: Instant) -> Result<usize, Fault> {
        until(socket, PollFlags::POLLOUT, deadline, |socket| nix::unistd::write(socket, bytes))
    }

    fn until(
        socket: &Socket,
        readiness: PollFlags,
        deadline: Instant,
        mut call: impl FnMut(&Socket) -> nix::Result<usize>,
    ) -> Result<usize, Fault> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let mut files = [PollFd::new(socket.as_fd(), readiness)];
            match poll(&mut files, milliseconds(Some(left))) {
                Ok(0) if left.is_zero() => return Err(Fault::Late),
                Ok(0) | Err(Errno::EINTR) => continue,
                Err(error) => return Err(Fault::Io(error.into())),
                Ok(_) => {}
            }
            match call(socket) {
                Ok(count) => return Ok(count),
                Err(Errno::EINTR | Errno::EAGAIN) => {}
                Err(Errno::EPIPE | Errno::ECONNRESET) => return Err(Fault::Closed),
                Err(error) => return Err(Fault::Io(error.into())),
            }
        }
    }
}

/// The same where all sockets are those of TCP.
#[cfg(not(unix))]
mod sockets {
    use std::io::{self, ErrorKind, Read, Write};
    use std::net::TcpStream;
    use std::time::{Duration, Instant};

    use super::Fault;

    pub type Socket = TcpStream;

    pub fn read(socket: &mut Socket, bytes: &mut [u8], deadline: Instant) -> Result<usize, Fault> {
        socket.set_read_timeout(Some(left(deadline))).map_err(Fault::Io)?;
        told(socket.read(bytes))
    }

    pub fn write(socket: &mut Socket, bytes: &[u8], deadline: Instant) -> Result<usize, Fault> {
        socket.set_write_timeout(Some(left(deadline))).map_err(Fault::Io)?;
        told(socket.write(bytes))
    }

    fn left(deadline: Instant) -> Duration {
        deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
    }

    fn told(result: io::Result<usize>) -> Result<usize, Fault> {
        result.map_err(|error| match error.kind() {
            ErrorKind::TimedOut | ErrorKind::WouldBlock => Fault::Late,
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => Fault::Closed,
            _ => Fault::Io(error),
        })
    }
}
