//! Rails: what carries datagrams between ranks, behind small traits.
//!
//! A [`Provider`] finds the devices of one kind on this host and opens them. What it opens is a
//! [`Driver`]: it tells the address at which this rank is reached, as bytes that only drivers of
//! its kind read, and is told those of the others. A driver that carries datagrams is a [`Rail`].
//! It takes *trains* of datagrams and gives those that have come. Everything else is above it:
//! datagrams may be lost, come twice, in another order, or be made up.
//!
//! [`Memory`](crate::memory::Memory) is a driver and no rail: see there.
//!
//! | file | is |
//! |---|---|
//! | `provider` | devices, what finds and opens them, and which are used |
//! | `offer` | what ranks tell each other of devices |
//! | `agree` | which devices of all ranks are a rail |
//! | `absent` | a rail on which this rank has no device |
//! | `meeting` | how the ranks of a job exchange these, and addresses |
//! | `udp` | the driver of UDP |
//! | `error` | why there is no rail |

pub(crate) mod absent;
pub(crate) mod agree;
mod error;
pub(crate) mod meeting;
pub(crate) mod offer;
mod provider;
pub mod udp;

pub use error::RailError;
pub use provider::{Device, Provider, Providers};

use std::io;
use std::ops::Range;

/// Datagrams for one rank, one behind the other in a buffer: all have the same length but for the
/// last, which may be shorter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Train {
    /// The receiver.
    pub to: u16,
    /// Where their bytes are in the buffer.
    pub bytes: Range<usize>,
    /// The length of each.
    pub segment: usize,
}

impl Train {
    /// One datagram.
    pub fn one(to: u16, bytes: Range<usize>) -> Train {
        Train { to, segment: bytes.len(), bytes }
    }

    /// How many datagrams there are.
    pub fn count(&self) -> usize {
        self.bytes.len().div_ceil(self.segment.max(1)).max(1)
    }

    /// Each of them.
    pub fn datagrams<'a>(&self, buffer: &'a [u8]) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let Train { bytes: Range { start, end }, segment, .. } = *self;
        (0..self.count()).map(move |number| {
            let begin = start + number * segment;
            &buffer[begin..end.min(begin + segment)]
        })
    }
}

/// What a driver can do, as far as that was found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// It cuts a train up into datagrams: a train costs about as much as a datagram.
    pub segmentation: bool,
    /// It receives datagrams that came together in one piece.
    pub coalescing: bool,
    /// It may keep buffers after [`Rail::send`], and tells by [`Rail::completed`] what has left.
    pub completions: bool,
    /// [`Rail::waits_on`] wakes a rank that sleeps. Without it a rank looks again and again.
    pub wakes: bool,
    /// Whatever it takes arrives, once and unchanged, as long as both ranks live. Channels
    /// acknowledge datagrams all the same; a driver that is no rail needs this and `ordered`.
    pub reliable: bool,
    /// What one rank sends another arrives in the order in which it was sent.
    pub ordered: bool,
    /// The most bytes of an address.
    pub address: usize,
}

/// This rank's end of something through which it reaches others.
pub trait Driver: Send {
    /// What it is called.
    fn name(&self) -> &str;

    /// What it can do. Only `segmentation` and `coalescing` may change.
    fn capabilities(&self) -> Capabilities;

    /// The address at which this rank is reached: bytes for drivers of the same kind.
    fn address(&self) -> io::Result<Vec<u8>>;

    /// Tells it the addresses of all that it joins, by their numbers among these; `None`: this rank
    /// itself, or one that is not to be reached. They come from other hosts and may be anything.
    fn connect(&mut self, peers: &[Option<&[u8]>]) -> Result<(), RailError>;
}

/// A driver that carries datagrams. Nothing here waits.
pub trait Rail: Driver {
    /// The most bytes of a datagram.
    fn longest(&self) -> usize;

    /// The most datagrams that a train may have, and the most bytes.
    fn train(&self) -> (usize, usize);

    /// Sends trains, whose bytes are in `buffer`, in order. Returns how many of them were taken. An
    /// error is that of the first, if none was: [`WouldBlock`](io::ErrorKind::WouldBlock) if there
    /// is no room at present.
    ///
    /// A driver that still needs the bytes afterwards takes the buffer out, leaves another in its
    /// place, perhaps one that it has done with, and has [`Capabilities::completions`].
    fn send(&mut self, buffer: &mut Vec<u8>, trains: &[Train]) -> io::Result<usize>;

    /// Returns how many trains have left since the last call, of those taken: the oldest ones. It
    /// is called again and again of a driver with [`Capabilities::completions`], and never of
    /// others, whose trains have left when they are taken.
    fn completed(&mut self) -> usize {
        0
    }

    /// Gives each datagram that has come, as far as they are at hand. Returns how many there were.
    /// It gives no more than keeps others waiting for a moment.
    fn receive(&mut self, each: &mut dyn FnMut(&[u8])) -> io::Result<usize>;

    /// What becomes readable when a datagram has come or a train has left, and writable when there
    /// is room; `None` without [`Capabilities::wakes`].
    #[cfg(unix)]
    fn waits_on(&self) -> Option<std::os::fd::BorrowedFd<'_>>;
}

/// Returns true if an error means that the rail itself carries nothing now: its own link is down.
/// Others are those of single datagrams.
pub fn is_down(error: &io::Error) -> bool {
    use io::ErrorKind::{NetworkDown, NetworkUnreachable};
    matches!(error.kind(), NetworkUnreachable | NetworkDown)
}
