//! Rails in memory to which everything happens that somebody decides.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use crosstie_units::Time;

pub use crate::bare::wing::lock;
use crate::bare::wing::{self, Flights};
use crate::rail::Rail;

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
    pub flights: Flights,
    pub conditions: Vec<Condition>,
    /// What happens to the next datagrams on each rail.
    pub harms: Vec<VecDeque<Harm>>,
    /// Some that were sent before.
    past: VecDeque<Flight>,
    /// Who has died: nothing reaches it.
    dead: Option<u16>,
}

/// How long datagrams take.
const DELAY: Time = Time::from_ns(10_000);

/// How many are remembered.
const PAST: usize = 16;

pub type Shared = Arc<Mutex<Air>>;

impl Air {
    pub fn new(rails: usize) -> Shared {
        Arc::new(Mutex::new(Air {
            flights: Flights::default(),
            conditions: vec![Condition::Works; rails],
            harms: vec![VecDeque::new(); rails],
            past: VecDeque::new(),
            dead: None,
        }))
    }

    /// The rails of a rank.
    pub fn wings(air: &Shared, rank: u16) -> Vec<Box<dyn Rail>> {
        let rails = lock(air).conditions.len() as u8;
        wing::wings(air, rank, rails)
    }

    /// The last datagrams that were sent: for whom, on which rail.
    #[cfg(test)]
    pub fn past(&self) -> impl Iterator<Item = &Flight> {
        self.past.iter()
    }

    /// Nothing reaches a rank any more.
    pub fn bury(&mut self, rank: u16) {
        self.dead = Some(rank);
        self.flights.forget(rank);
    }

    /// Puts a datagram on its way, unharmed.
    pub fn put(&mut self, to: u16, rail: u8, datagram: Vec<u8>, late: Time) {
        if self.dead == Some(to) {
            return;
        }
        self.flights.put(self.flights.now + DELAY + late, to, rail, datagram);
    }

    /// Sends something again that was sent before, to the same rank or to another, on the same rail
    /// or on another.
    pub fn replay(&mut self, which: usize, to: u16, rail: u8) {
        let which = which % self.past.len().max(1);
        if let Some((_, _, datagram)) = self.past.get(which).cloned() {
            self.put(to, rail, datagram, Time::ZERO);
        }
    }
}

impl wing::Air for Air {
    fn flights(&mut self) -> &mut Flights {
        &mut self.flights
    }

    fn is_down(&self, rail: u8) -> bool {
        self.conditions[usize::from(rail)] == Condition::Down
    }

    fn send(&mut self, _from: u16, to: u16, rail: u8, datagram: &[u8]) {
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
