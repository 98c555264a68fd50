//! Raw endpoints: frames as they are, for whoever wants to see what a network does to them.
//!
//! The thesis' Directed Point \[tam, 2.3\] in user space, on UDP. An [`Endpoint`] names one partner
//! at a time and can be bound anew. A [write](Endpoint::write) hands over one frame or says that
//! the ring is full; it never waits, and never makes two frames of one. [Reads](Endpoint::read)
//! come from a fixed pool, in order, and never wait either. Nothing is sent again, put together, or
//! paced: what is lost is lost, and [counted](RawCount).
//!
//! It is a thin layer over the [driver of UDP](crate::rail::udp), which sends single frames for it.
//!
//! # The transmit ring
//!
//! Accepted means: handed to the device and its queue. How many frames may wait there is the length
//! of the ring. The kernel charges the memory of a frame to its socket until the device has sent
//! it, and refuses more when the charge has come to the socket's send buffer. So that buffer, in
//! frames as the kernel charges them ([`Endpoint::ring`]), is the ring, and `EAGAIN` says that it
//! is full, also in front of a shaper. What the kernel charges for a frame of a length is asked of
//! the kernel itself: a frame is held back (`MSG_MORE`) on a socket that is closed again, and
//! `SIOCOUTQ` tells its charge. A queue that drops what it has no room for says so (`ENOBUFS`, with
//! `IP_RECVERR`), which is a full ring, too. A device without a queue (an unshaped `veth`, say)
//! hands frames to the receiver within the write: its ring is never full.
//!
//! # The pool
//!
//! Frames wait in the receive queue of the socket, which is asked to hold as many as the pool,
//! until somebody reads. Those of others than the one that is waited for are kept in the pool. What
//! finds no room in either has overflown. The kernel's count is that of `SO_RXQ_OVFL`, read from
//! `SO_MEMINFO`, which knows it before the next frame comes. It does not tell whose frames they
//! were; those of strangers are among them.
//!
//! Where the system is not Linux, the ring is what the system makes of it, and overflow in the
//! system counts as loss.
//!
//! # What the thesis had and this has not
//!
//! The pool of Directed Point is memory that kernel and process share, so that a message is picked
//! up without a system call: U_r was 0.07 us. Here picking up is a system call and a copy, and U_r
//! has both.
//!
//! | file | is |
//! |---|---|
//! | `pool` | frames that wait to be read |
//! | `sequence` | which numbers have come: gaps and repetitions |
//! | `meet` | how the ranks of a job come to endpoints |
//! | `origin` | the clock that ranks of one machine have in common |
//! | `error` | why something cannot be done |

mod error;
mod meet;
mod origin;
mod pool;
mod sequence;

pub use error::RawError;
pub use meet::RawOptions;

use std::io;
use std::time::Duration;

use crosstie_protocol::channel::Seq;
use crosstie_units::Time;

use crate::datagram::{Body, Datagram, DatagramError, HEAD};
use crate::key::{Course, Key};
use crate::rail::udp::Udp;
use crate::rail::{Rail, Train};
use origin::Origin;
use pool::Pool;
use sequence::Sequence;

/// The only rail that an endpoint uses.
const RAIL: u8 = 0;

/// How many datagrams a read takes in at most before it says that there is nothing: strangers must
/// not keep it.
const LOOKS: usize = 256;

/// What became of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a frame may not have been taken"]
pub enum Written {
    /// The frame waits in the ring, or has left.
    Taken,
    /// The ring is full; the frame was not taken.
    RingFull,
}

/// A frame that has come. Its place in the pool is free again when this is dropped.
#[derive(Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Who sent it.
    pub from: usize,
    /// Its label.
    pub label: u32,
    /// What it carries.
    pub bytes: &'a [u8],
}

/// What an endpoint has seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RawCount {
    /// Frames that were written.
    pub written: u64,
    /// How often the ring was full.
    pub ring_full: u64,
    /// Frames that came, and were kept.
    pub received: u64,
    /// Frames that came and found the pool full.
    pub pool_overflow: u64,
    /// Datagrams that came and found the socket's receive queue full, those of strangers included.
    pub queue_overflow: u64,
    /// Numbers that are missing among those that came from each rank, for whatever reason. What
    /// was lost after the last that came is not seen.
    pub missing: u64,
    /// Frames that had come already, or that came more than [`REORDER`](RawCount::REORDER) frames
    /// too late.
    pub repeated: u64,
    /// Datagrams that have not been made by ranks of this job for this one, or have changed on
    /// their way.
    pub strangers: u64,
    /// Datagrams of the job that are no raw frames.
    pub odd: u64,
}

impl RawCount {
    /// By how many frames another may overtake one that is not taken for a repetition.
    pub const REORDER: u32 = sequence::WINDOW;

    /// Frames for which there was no room at this rank.
    pub fn overflow(&self) -> u64 {
        self.pool_overflow.saturating_add(self.queue_overflow)
    }

    /// Frames that were lost in the network: numbers that are missing, less those for which there
    /// was no room here. Too few by as many as strangers' datagrams found no room.
    pub fn lost(&self) -> u64 {
        self.missing.saturating_sub(self.queue_overflow)
    }
}

/// A rank's end of a network.
pub struct Endpoint {
    rank: u16,
    key: Key,
    udp: Udp,
    /// The most bytes of a frame's load.
    longest: usize,
    partner: u16,
    /// The numbers of the next frames to ranks.
    numbers: Vec<Seq>,
    /// What has come from ranks.
    sequences: Vec<Sequence>,
    pool: Pool,
    /// A frame that is written.
    out: Vec<u8>,
    count: RawCount,
    origin: Origin,
    /// Which ranks share the clock, and the cores, of this one.
    beside: Vec<bool>,
}

impl Endpoint {
    /// An end of a rail of which `beside` tells for each rank whether it is on the same machine.
    fn new(
        rank: usize,
        key: Key,
        udp: Udp,
        pool: Pool,
        longest: usize,
        origin: Origin,
        beside: Vec<bool>,
    ) -> Endpoint {
        let size = beside.len();
        Endpoint {
            rank: rank as u16,
            key,
            udp,
            longest,
            partner: if rank + 1 < size { rank as u16 + 1 } else { 0 },
            numbers: vec![Seq(0); size],
            sequences: vec![Sequence::default(); size],
            pool,
            out: Vec::with_capacity(longest + HEAD),
            count: RawCount::default(),
            origin,
            beside,
        }
    }

    /// Which rank this is.
    pub fn rank(&self) -> usize {
        usize::from(self.rank)
    }

    /// How many ranks there are.
    pub fn size(&self) -> usize {
        self.numbers.len()
    }

    /// The most bytes that a frame carries.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// How many frames that carry so many bytes the ring holds; `None` where the system does not
    /// say.
    pub fn ring(&mut self, bytes: usize) -> Result<Option<u32>, RawError> {
        let length = bytes.min(self.longest) + HEAD;
        self.udp.ring(length).map_err(|cause| RawError::Socket { cause })
    }

    /// The rank that frames are written to, and read from.
    pub fn partner(&self) -> usize {
        usize::from(self.partner)
    }

    /// Names another partner. Frames of the one before stay in the pool until they are read, or
    /// it is the partner again.
    pub fn bind(&mut self, partner: usize) -> Result<(), RawError> {
        self.check(partner)?;
        self.partner = partner as u16;
        Ok(())
    }

    /// Returns an error for a rank that cannot be a partner.
    fn check(&self, partner: usize) -> Result<(), RawError> {
        let (rank, size) = (self.rank(), self.size());
        match partner < size && partner != rank {
            true => Ok(()),
            false => Err(RawError::Partner { found: partner, rank, size }),
        }
    }

    /// Hands a frame for the partner to the device, or says that there is no room for it.
    pub fn write(&mut self, bytes: &[u8]) -> Result<Written, RawError> {
        self.write_labelled(0, bytes)
    }

    /// The same with a label by which whoever reads it can tell it from others.
    pub fn write_labelled(&mut self, label: u32, bytes: &[u8]) -> Result<Written, RawError> {
        let partner = self.partner();
        self.check(partner)?;
        if bytes.len() > self.longest {
            return Err(RawError::Long { found: bytes.len(), longest: self.longest });
        }
        let number = self.numbers[partner];
        let datagram = Datagram { from: self.rank, body: Body::Raw { number, label } };
        self.out.clear();
        let course = Course { to: self.partner, rail: RAIL };
        datagram.append(&self.key, course, bytes, &mut self.out);
        let train = Train::one(self.partner, 0..self.out.len());
        match self.udp.send(&mut self.out, &[train]) {
            Ok(_) => {
                self.numbers[partner] = Seq(number.0.wrapping_add(1));
                self.count.written += 1;
                Ok(Written::Taken)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.count.ring_full += 1;
                Ok(Written::RingFull)
            }
            Err(cause) => Err(RawError::Write { to: partner, cause }),
        }
    }

    /// The next frame from the partner, if one has come.
    pub fn read(&mut self) -> Result<Option<Frame<'_>>, RawError> {
        self.read_of(Some(self.partner()), None)
    }

    /// The next frame from a rank, or from any, with a label, or with any, if one has come.
    pub fn read_of(
        &mut self,
        from: Option<usize>,
        label: Option<u32>,
    ) -> Result<Option<Frame<'_>>, RawError> {
        let is_wanted = |of: &pool::Origin| {
            from.is_none_or(|from| from == usize::from(of.from))
                && label.is_none_or(|label| label == of.label)
        };
        if let Some(place) = self.pool.find(is_wanted) {
            return Ok(Some(self.pool.take(place)));
        }
        for _ in 0..LOOKS {
            match self.take_in()? {
                Looked::Nothing => return Ok(None),
                Looked::Kept(of) if is_wanted(&of) => return Ok(self.pool.take_last()),
                Looked::Kept(_) | Looked::Ignored => {}
            }
        }
        Ok(None)
    }

    /// Waits until something has come that has not been read, or a time has passed. It may return
    /// earlier than that.
    pub fn wait(&self, time: Duration) {
        self.udp.wait(time);
    }

    /// The time since endpoints met. Ranks of one machine have the same.
    #[inline]
    pub fn now(&self) -> Time {
        self.origin.elapsed()
    }

    /// Returns true if a rank is on the same machine as this one, with the same clock and cores.
    pub fn is_beside(&self, rank: usize) -> bool {
        self.beside.get(rank).is_some_and(|&is| is)
    }

    /// What has been seen so far.
    pub fn count(&self) -> RawCount {
        RawCount {
            missing: self.sequences.iter().map(Sequence::missing).sum(),
            repeated: self.sequences.iter().map(Sequence::repeated).sum(),
            queue_overflow: self.udp.overflow(),
            ..self.count
        }
    }

    /// How many frames have come, whether they were kept or not: cheaper than
    /// [`count`](Endpoint::count).
    pub fn came(&self) -> u64 {
        self.count.received + self.count.pool_overflow
    }

    /// Takes in one datagram.
    fn take_in(&mut self) -> Result<Looked, RawError> {
        let received = self.udp.receive_into(self.pool.vacancy());
        let Some(length) = received.map_err(|cause| RawError::Socket { cause })? else {
            return Ok(Looked::Nothing);
        };
        let course = Course { to: self.rank, rail: RAIL };
        // One that was longer than its place has lost its end, and does not have the right tag.
        let bytes = &self.pool.vacancy()[..length];
        let (of, number) = match Datagram::decode(bytes, &self.key, course) {
            Ok((Datagram { from, body: Body::Raw { number, label } }, _))
                if from != self.rank && usize::from(from) < self.sequences.len() =>
            {
                (pool::Origin { from, label }, number)
            }
            Ok(_) | Err(DatagramError::Odd { .. }) => {
                self.count.odd += 1;
                return Ok(Looked::Ignored);
            }
            Err(_) => {
                self.count.strangers += 1;
                return Ok(Looked::Ignored);
            }
        };
        if !self.sequences[usize::from(of.from)].came(number.0) {
            return Ok(Looked::Ignored);
        }
        if !self.pool.keep(of, HEAD..length) {
            self.count.pool_overflow += 1;
            return Ok(Looked::Ignored);
        }
        self.count.received += 1;
        Ok(Looked::Kept(of))
    }
}

/// What looking at the socket gave.
enum Looked {
    /// There is nothing more.
    Nothing,
    /// A frame, which is the last in the pool.
    Kept(pool::Origin),
    /// Something that is not kept.
    Ignored,
}

#[cfg(test)]
mod tests;
