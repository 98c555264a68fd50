//! Sockets for a [`Server`]: a loop with `poll`.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{MsgFlags, recv, send};

use super::server::{Event, Server};

/// Why a server does not go on serving.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Served {
    /// All ranks have closed their streams, or are not heard any more.
    Over,
    /// A rank has done something that concerns all. It can be served further.
    Told(Event),
    /// The deadline has come. It can be served further.
    Late,
}

impl Server {
    /// Serves ranks through stream sockets, one for each in their order, until all have closed
    /// them, something happens that concerns all, or a deadline comes. Somebody else has
    /// started these ranks, with the other ends of the streams as `PMI_FD`; no copies of those
    /// may stay open here, or their ends are never seen. Streams need not be non-blocking.
    ///
    /// # Errors
    /// Where there are not as many streams as ranks, or the kernel cannot wait for them.
    pub fn serve<S: AsFd>(
        &mut self,
        streams: &[S],
        deadline: Option<Instant>,
    ) -> io::Result<Served> {
        if streams.len() != self.size() {
            let found = format!("{} streams for {} ranks", streams.len(), self.size());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, found));
        }
        loop {
            if let Some(event) = self.next_event() {
                return Ok(Served::Told(event));
            }
            if (0..self.size()).all(|rank| self.has_left(rank)) {
                return Ok(Served::Over);
            }
            let left = deadline.map(|end| end.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(Served::Late);
            }
            self.turn(streams, &[], left)?;
        }
    }

    /// Waits once, and serves whom there is something to do for. Which of some other files can be
    /// read.
    pub(super) fn turn<S: AsFd>(
        &mut self,
        streams: &[S],
        others: &[BorrowedFd<'_>],
        patience: Option<Duration>,
    ) -> io::Result<Vec<bool>> {
        let mut files: Vec<PollFd<'_>> =
            others.iter().map(|other| PollFd::new(*other, PollFlags::POLLIN)).collect();
        let mut ranks = Vec::new();
        for (rank, stream) in streams.iter().enumerate().filter(|(rank, _)| !self.has_left(*rank)) {
            // Who does not read answers is not asked for further requests.
            let wants = match self.to_say(rank) {
                [] => PollFlags::POLLIN,
                _ => PollFlags::POLLOUT,
            };
            files.push(PollFd::new(stream.as_fd(), wants));
            ranks.push(rank);
        }
        match poll(&mut files, milliseconds(patience)) {
            Err(Errno::EINTR) => return Ok(vec![false; others.len()]),
            waited => waited?,
        };
        let ready: Vec<bool> = files.iter().map(|file| file.any().unwrap_or(true)).collect();
        let (others, ready) = ready.split_at(others.len());
        for (rank, _) in ranks.into_iter().zip(ready).filter(|(_, ready)| **ready) {
            if self.to_say(rank).is_empty() {
                self.read(rank, &streams[rank]);
            }
        }
        // One request may have answered many ranks.
        for (rank, stream) in streams.iter().enumerate() {
            self.write(rank, stream);
        }
        Ok(others.to_vec())
    }

    fn read(&mut self, rank: usize, stream: &impl AsFd) {
        let mut bytes = [0; 4096];
        match recv(stream.as_fd().as_raw_fd(), &mut bytes, MsgFlags::MSG_DONTWAIT) {
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            Ok(0) | Err(_) => self.closed(rank),
            Ok(count) => self.hear(rank, &bytes[..count]),
        }
    }

    fn write(&mut self, rank: usize, stream: &impl AsFd) {
        #[cfg(target_os = "linux")]
        const FLAGS: MsgFlags = MsgFlags::MSG_DONTWAIT.union(MsgFlags::MSG_NOSIGNAL);
        #[cfg(not(target_os = "linux"))]
        const FLAGS: MsgFlags = MsgFlags::MSG_DONTWAIT;
        while !self.to_say(rank).is_empty() {
            match send(stream.as_fd().as_raw_fd(), self.to_say(rank), FLAGS) {
                Ok(count) => self.said(rank, count),
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => return,
                // What it has said before it left is not lost: all of it has been heard.
                Err(_) => self.closed(rank),
            }
        }
    }
}

/// How long to wait in `poll`: rounded up, so that nobody spins until a deadline.
pub(super) fn milliseconds(patience: Option<Duration>) -> PollTimeout {
    let Some(patience) = patience else { return PollTimeout::NONE };
    let milliseconds = patience.as_nanos().div_ceil(1_000_000).min(i32::MAX as u128);
    PollTimeout::try_from(milliseconds as i32).unwrap_or(PollTimeout::MAX)
}

#[cfg(test)]
mod tests;
