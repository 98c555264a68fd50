//! Rails: what carries datagrams between ranks, behind one small trait.
//!
//! A driver of a rail takes *trains* of datagrams and gives those that have come. It promises
//! nothing: datagrams may be lost, come twice, in another order, or be made up. Everything else is
//! above it.

pub mod find;
mod udp;

pub use udp::Udp;
pub(crate) use udp::heads;

use std::io;

/// Datagrams for one rank, one behind the other: all have the same length but for the last, which
/// may be shorter.
#[derive(Debug, Clone, Copy)]
pub struct Train<'a> {
    /// For whom.
    pub to: u16,
    /// Their bytes.
    pub bytes: &'a [u8],
    /// The length of each.
    pub segment: usize,
}

impl<'a> Train<'a> {
    /// One datagram.
    pub fn one(to: u16, bytes: &'a [u8]) -> Train<'a> {
        Train { to, bytes, segment: bytes.len() }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.bytes.len().div_ceil(self.segment.max(1)).max(1)
    }

    /// Each of them.
    pub fn datagrams(&self) -> impl Iterator<Item = &'a [u8]> {
        let Train { bytes, segment, .. } = *self;
        (0..self.count()).map(move |number| {
            let begin = number * segment;
            &bytes[begin..bytes.len().min(begin + segment)]
        })
    }
}

/// What the system does for a rail, as far as that was found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Offloads {
    /// It cuts a train up into datagrams.
    pub segmentation: bool,
    /// It gives datagrams that came together in one piece.
    pub coalescing: bool,
}

/// What one NIC can do. Nothing here waits.
pub trait Rail: Send {
    /// What it is called.
    fn name(&self) -> &str;

    /// The most bytes of a datagram.
    fn longest(&self) -> usize;

    /// The most datagrams that a train may have, and the most bytes.
    fn train(&self) -> (usize, usize);

    /// What the system does for it.
    fn offloads(&self) -> Offloads {
        Offloads::default()
    }

    /// Sends trains, in order; how many of them were taken. An error is that of the first, if none
    /// was: [`WouldBlock`](io::ErrorKind::WouldBlock) if there is no room at present.
    fn send(&mut self, trains: &[Train<'_>]) -> io::Result<usize>;

    /// Gives each datagram that has come, as far as they are at hand; how many there were. It gives
    /// no more than keeps others waiting for a moment.
    fn receive(&mut self, each: &mut dyn FnMut(&[u8])) -> io::Result<usize>;

    /// What becomes readable when a datagram has come, and writable when there is room.
    #[cfg(unix)]
    fn waits_on(&self) -> std::os::fd::BorrowedFd<'_>;
}

/// Whether an error means that the rail itself carries nothing now: its own link is down. Others
/// are those of single datagrams.
pub fn is_down(error: &io::Error) -> bool {
    use io::ErrorKind::{NetworkDown, NetworkUnreachable};
    matches!(error.kind(), NetworkUnreachable | NetworkDown)
}
