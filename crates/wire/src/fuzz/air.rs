//! Rails in memory to which everything happens that somebody decides.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crosstie_units::Time;

use crate::rail::{Rail, Train};

/// What happens to a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Harm {
    Lost,
    /// It comes so many times more.
    Repeated(u8),
    /// It comes later, by so many steps of 10 microseconds.
    Late(u8),
    /// A bit of it changes.
    Flipped(u16),
    /// Only so many bytes of it are left.
    Cut(u16),
    /// So many bytes more come with it.
    Stretched(u8),
}

/// How a rail is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    Works,
    /// What is sent gets lost.
    Silent,
    /// Whoever sends is told that it is down.
    Down,
}

/// A datagram for a rank on a rail.
type Flight = (u16, u8, Vec<u8>);

/// All rails between all ranks.
pub struct Air {
    pub now: Time,
    pub conditions: Vec<Condition>,
    /// What happens to the next datagrams on each rail.
    pub harms: Vec<VecDeque<Harm>>,
    /// What is on its way, by when it is there.
    flying: BTreeMap<(Time, u64), Flight>,
    /// Some that were sent before.
    past: VecDeque<Flight>,
    count: u64,
    /// Who has died: nothing reaches it.
    dead: Option<u16>,
}

/// How long datagrams take.
const DELAY: Time = Time::from_ns(10_000);

/// How many are remembered.
const PAST: usize = 16;

pub type Shared = Arc<Mutex<Air>>;

/// The air, also after a panic elsewhere.
pub fn lock(air: &Shared) -> MutexGuard<'_, Air> {
    air.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Air {
    pub fn new(rails: usize) -> Shared {
        Arc::new(Mutex::new(Air {
            now: Time::ZERO,
            conditions: vec![Condition::Works; rails],
            harms: vec![VecDeque::new(); rails],
            flying: BTreeMap::new(),
            past: VecDeque::new(),
            count: 0,
            dead: None,
        }))
    }

    /// The rails of a rank.
    pub fn wings(air: &Shared, rank: u16) -> Vec<Box<dyn Rail>> {
        let rails = lock(air).conditions.len() as u8;
        let wing = |rail| Box::new(Wing { air: Arc::clone(air), rank, rail }) as Box<dyn Rail>;
        (0..rails).map(wing).collect()
    }

    /// When the next datagram is there.
    pub fn next(&self) -> Option<Time> {
        self.flying.keys().next().map(|key| key.0)
    }

    /// The last datagrams that were sent: for whom, on which rail.
    #[cfg(test)]
    pub fn past(&self) -> impl Iterator<Item = &Flight> {
        self.past.iter()
    }

    /// Nothing reaches a rank any more.
    pub fn bury(&mut self, rank: u16) {
        self.dead = Some(rank);
        self.flying.retain(|_, &mut (to, ..)| to != rank);
    }

    /// Puts a datagram on its way, unharmed.
    pub fn put(&mut self, to: u16, rail: u8, datagram: Vec<u8>, late: Time) {
        if self.dead == Some(to) {
            return;
        }
        self.count += 1;
        self.flying.insert((self.now + DELAY + late, self.count), (to, rail, datagram));
    }

    /// Sends something again that was sent before, to the same rank or to another, on the same rail or on another.
    pub fn replay(&mut self, which: usize, to: u16, rail: u8) {
        let which = which % self.past.len().max(1);
        if let Some((_, _, datagram)) = self.past.get(which).cloned() {
            self.put(to, rail, datagram, Time::ZERO);
        }
    }

    fn send(&mut self, to: u16, rail: u8, datagram: &[u8]) {
        if self.conditions[usize::from(rail)] != Condition::Works {
            return;
        }
        if self.past.len() == PAST {
            self.past.pop_front();
        }
        self.past.push_back((to, rail, datagram.to_vec()));
        let mut datagram = datagram.to_vec();
        let (mut late, mut copies) = (Time::ZERO, 1);
        match self.harms[usize::from(rail)].pop_front() {
            None => {}
            Some(Harm::Lost) => return,
            Some(Harm::Repeated(more)) => copies += u32::from(more % 4),
            Some(Harm::Late(steps)) => late = Time::from_ns(10_000 * u64::from(steps)),
            Some(Harm::Flipped(bit)) => {
                let bit = usize::from(bit) % (8 * datagram.len());
                datagram[bit / 8] ^= 1 << (bit % 8);
            }
            Some(Harm::Cut(len)) => datagram.truncate(usize::from(len) % datagram.len()),
            Some(Harm::Stretched(more)) => {
                datagram.resize(datagram.len() + 1 + usize::from(more), more);
            }
        }
        (0..copies).for_each(|_| self.put(to, rail, datagram.clone(), late));
    }
}

/// One rail of one rank.
struct Wing {
    air: Shared,
    rank: u16,
    rail: u8,
}

impl Rail for Wing {
    fn name(&self) -> &str {
        "wing"
    }

    fn longest(&self) -> usize {
        1472
    }

    fn train(&self) -> (usize, usize) {
        (64, 65_000)
    }

    fn send(&mut self, trains: &[Train<'_>]) -> io::Result<usize> {
        let mut air = lock(&self.air);
        if air.conditions[usize::from(self.rail)] == Condition::Down {
            return Err(io::ErrorKind::NetworkUnreachable.into());
        }
        for train in trains {
            let bytes: Vec<u8> = train.bytes.iter().flat_map(|slice| slice.to_vec()).collect();
            assert_eq!(bytes.len().div_ceil(train.segment), train.count);
            assert!(train.segment <= 1472 && train.count <= 64 && bytes.len() <= 65_000);
            let datagrams = bytes.chunks(train.segment);
            datagrams.for_each(|datagram| air.send(train.to, self.rail, datagram));
        }
        Ok(trains.len())
    }

    fn receive(&mut self, each: &mut dyn FnMut(&[u8])) -> io::Result<usize> {
        let mut air = lock(&self.air);
        let due: Vec<(Time, u64)> = air
            .flying
            .iter()
            .take_while(|&(&(at, _), _)| at <= air.now)
            .filter(|&(_, &(to, rail, _))| (to, rail) == (self.rank, self.rail))
            .map(|(&key, _)| key)
            .collect();
        let datagrams: Vec<Flight> = due.iter().filter_map(|key| air.flying.remove(key)).collect();
        drop(air);
        datagrams.iter().for_each(|(_, _, datagram)| each(datagram));
        Ok(datagrams.len())
    }

    #[cfg(unix)]
    fn waits_on(&self) -> std::os::fd::BorrowedFd<'_> {
        unreachable!("nobody sleeps here")
    }
}
