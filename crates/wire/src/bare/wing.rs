//! Rails in memory, with a clock of their own: what goes from rank to rank, whatever happens to it
//! on its way.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crosstie_units::Time;

use crate::rail::{Capabilities, Driver, Rail, RailError, Train};

/// All rails between all ranks: it decides what becomes of datagrams.
pub trait Air: Send + 'static {
    /// What is on its way.
    fn flights(&mut self) -> &mut Flights;

    /// Whether those who send on a rail are told that it is down.
    fn is_down(&self, _rail: u8) -> bool {
        false
    }

    /// A rank sends a datagram: it is put on its way, or not, or twice.
    fn send(&mut self, from: u16, to: u16, rail: u8, datagram: &[u8]);
}

/// The time, and datagrams on their way.
#[derive(Debug, Default)]
pub struct Flights {
    /// The time.
    pub now: Time,
    /// By when they are there, and in the order in which they were sent: for whom on which rail.
    flying: BTreeMap<(Time, u64), (u16, u8, Vec<u8>)>,
    count: u64,
}

impl Flights {
    /// A datagram will be there at a time.
    pub fn put(&mut self, at: Time, to: u16, rail: u8, datagram: Vec<u8>) {
        self.count += 1;
        self.flying.insert((at, self.count), (to, rail, datagram));
    }

    /// When the next datagram is there.
    pub fn next(&self) -> Option<Time> {
        self.flying.keys().next().map(|key| key.0)
    }

    /// Nothing reaches a rank of all that is on its way.
    pub fn forget(&mut self, rank: u16) {
        self.flying.retain(|_, &mut (to, ..)| to != rank);
    }

    /// The next datagram that is there for a rank on a rail.
    fn land(&mut self, rank: u16, rail: u8) -> Option<Vec<u8>> {
        let there = self.flying.range(..=(self.now, u64::MAX));
        let mut mine = there.filter(|&(_, &(to, by, _))| (to, by) == (rank, rail));
        let &key = mine.next()?.0;
        self.flying.remove(&key).map(|(.., datagram)| datagram)
    }
}

/// The air, also after a panic elsewhere.
pub fn lock<A>(air: &Mutex<A>) -> MutexGuard<'_, A> {
    air.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The rails of a rank.
pub fn wings<A: Air>(air: &Arc<Mutex<A>>, rank: u16, rails: u8) -> Vec<Box<dyn Rail>> {
    let wing = |rail| {
        #[cfg(unix)]
        let idle = std::os::unix::net::UnixStream::pair().expect("there are sockets");
        Box::new(Wing {
            air: Arc::clone(air),
            rank,
            rail,
            #[cfg(unix)]
            idle,
        }) as Box<dyn Rail>
    };
    (0..rails).map(wing).collect()
}

/// The longest datagram, and what a train has at most: datagrams and bytes.
const LONGEST: usize = 1472;
const TRAIN: (usize, usize) = (64, 65_000);

/// One rail of one rank.
struct Wing<A> {
    air: Arc<Mutex<A>>,
    rank: u16,
    rail: u8,
    /// Never readable: a rank that sleeps wakes when something is due.
    #[cfg(unix)]
    idle: (std::os::unix::net::UnixStream, std::os::unix::net::UnixStream),
}

impl<A: Air> Driver for Wing<A> {
    fn name(&self) -> &str {
        "wing"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { wakes: true, address: 1, ..Capabilities::default() }
    }

    fn address(&self) -> io::Result<Vec<u8>> {
        Ok(vec![self.rail])
    }

    fn connect(&mut self, _peers: &[Option<&[u8]>]) -> Result<(), RailError> {
        Ok(())
    }
}

impl<A: Air> Rail for Wing<A> {
    fn longest(&self) -> usize {
        LONGEST
    }

    fn train(&self) -> (usize, usize) {
        TRAIN
    }

    fn send(&mut self, buffer: &mut Vec<u8>, trains: &[Train]) -> io::Result<usize> {
        let mut air = lock(&self.air);
        if air.is_down(self.rail) {
            return Err(io::ErrorKind::NetworkUnreachable.into());
        }
        for train in trains {
            let (count, bytes) = (train.count(), train.bytes.len());
            assert!(train.segment <= LONGEST && count <= TRAIN.0 && bytes <= TRAIN.1);
            let send = |datagram: &[u8]| air.send(self.rank, train.to, self.rail, datagram);
            train.datagrams(buffer).for_each(send);
        }
        Ok(trains.len())
    }

    fn receive(&mut self, each: &mut dyn FnMut(&[u8])) -> io::Result<usize> {
        let mut count = 0;
        loop {
            // Let go of meanwhile: whoever has it may send.
            let landed = lock(&self.air).flights().land(self.rank, self.rail);
            let Some(datagram) = landed else { return Ok(count) };
            each(&datagram);
            count += 1;
        }
    }

    #[cfg(unix)]
    fn waits_on(&self) -> Option<std::os::fd::BorrowedFd<'_>> {
        Some(std::os::fd::AsFd::as_fd(&self.idle.0))
    }
}
