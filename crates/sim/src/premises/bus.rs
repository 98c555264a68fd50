//! An I/O bus between the memory of a host and its NICs.

use crate::network::Pace;
use crosstie_units::Time;
use std::collections::VecDeque;

/// What a bus is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BusSpec {
    /// How fast bytes go from memory to a NIC, which sends.
    pub read: Pace,
    /// How fast they go from a NIC, which receives, to memory.
    pub write: Pace,
    /// Whether both go on at once; else there is one at a time.
    pub both_at_once: bool,
    /// What a packet takes besides its bytes.
    pub overhead: Time,
}

/// Which way a packet crosses a bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Read,
    Write,
}

impl Way {
    fn other(self) -> Way {
        match self {
            Way::Read => Way::Write,
            Way::Write => Way::Read,
        }
    }
}

impl BusSpec {
    /// How long a packet takes.
    pub(super) fn time(&self, way: Way, bytes: u32) -> Time {
        let pace = match way {
            Way::Read => self.read,
            Way::Write => self.write,
        };
        self.overhead + pace.time_for(bytes)
    }
}

/// A bus. It takes packets whole, first come, first served each way; where packets wait both ways
/// and one is taken at a time, the ways take turns.
#[derive(Debug, Clone)]
pub(super) struct Bus {
    reads: VecDeque<u32>,
    writes: VecDeque<u32>,
    /// Packets that are crossing.
    reading: bool,
    writing: bool,
    /// The way that was served last.
    last: Way,
}

impl Default for Bus {
    fn default() -> Bus {
        let (reads, writes) = (VecDeque::new(), VecDeque::new());
        Bus { reads, writes, reading: false, writing: false, last: Way::Write }
    }
}

impl Bus {
    /// A packet waits to cross.
    pub fn wait(&mut self, way: Way, packet: u32) {
        self.queue(way).push_back(packet);
    }

    /// A packet has crossed.
    pub fn crossed(&mut self, way: Way) {
        *self.crossing(way) = false;
    }

    /// The next packet that begins to cross now, if one can.
    pub fn next(&mut self, spec: &BusSpec) -> Option<(Way, u32)> {
        let first = self.last.other();
        for way in [first, first.other()] {
            let is_busy = match spec.both_at_once {
                true => *self.crossing(way),
                false => self.reading || self.writing,
            };
            if !is_busy && let Some(packet) = self.queue(way).pop_front() {
                *self.crossing(way) = true;
                self.last = way;
                return Some((way, packet));
            }
        }
        None
    }

    fn queue(&mut self, way: Way) -> &mut VecDeque<u32> {
        match way {
            Way::Read => &mut self.reads,
            Way::Write => &mut self.writes,
        }
    }

    fn crossing(&mut self, way: Way) -> &mut bool {
        match way {
            Way::Read => &mut self.reading,
            Way::Write => &mut self.writing,
        }
    }
}
