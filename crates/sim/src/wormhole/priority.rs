//! Which headers and packets go first where packets have priorities.
//!
//! There are two levels, and a header that has waited for long counts as of the higher one. Nothing
//! happens when it gets that old: a header that waits has nothing free to go to, whatever its
//! level, and is looked at again when something is released.

use super::Tick;
use super::engine::{Engine, Packet};
use super::wiring::NONE;
use crate::network::{Ends, Priority};
use std::collections::VecDeque;

impl Engine<'_> {
    /// Goes along the line of a switch twice, first for headers of high priority and old ones; a
    /// header that gets no output stays in line.
    #[cold]
    pub(super) fn serve_by_priority(&mut self, switch: u32, age: Tick) {
        let line = self.line_of(switch);
        let places = line..line + self.switches[switch as usize].waiting as usize;
        for comes_first in [true, false] {
            for place in places.clone() {
                let vc = self.line[place];
                if vc != NONE
                    && self.comes_first(vc, age) == comes_first
                    && self.serve_header(switch, vc)
                {
                    self.line[place] = NONE;
                }
            }
        }
        let mut stay = line;
        for place in places {
            if self.line[place] != NONE {
                self.line[stay] = self.line[place];
                stay += 1;
            }
        }
        self.switches[switch as usize].waiting = (stay - line) as u32;
    }

    /// Returns true if the header at the front of a buffer is of high priority, or counts as such.
    pub(super) fn comes_first(&self, vc: u32, age: Tick) -> bool {
        self.is_urgent(vc) || self.now - self.vcs[vc].ready >= age
    }

    /// Returns true if a header may go before one that stands before it in line: that one has not
    /// waited long enough yet to count as of high priority.
    pub(super) fn may_overtake(&self, vc: u32, other: u32) -> bool {
        self.age.is_some_and(|age| self.is_urgent(vc) && !self.comes_first(other, age))
    }

    fn is_urgent(&self, vc: u32) -> bool {
        let packet = self.worms[self.vcs[vc].front as usize].packet;
        packet.priority == Priority::High
    }

    /// Starts queued packets of a host: those of high priority first, unless one of low priority
    /// has come before them and is old.
    #[cold]
    pub(super) fn start_by_priority(&mut self, host: u32, ends: Ends, channel: u32, age: Tick) {
        let (ends, host) = (ends as usize, host as usize);
        while self.free[channel as usize] != 0 {
            let due = |queues: &[Vec<VecDeque<(Packet, Tick)>>; 2]| {
                let front = queues[ends][host].front();
                front.map(|&(_, queued)| queued).filter(|&queued| queued <= self.now)
            };
            let queues = match (due(&self.urgent), due(&self.queues)) {
                (None, None) => return,
                (Some(high), Some(low)) if low < high && self.now - low >= age => &mut self.queues,
                (Some(_), _) => &mut self.urgent,
                (None, Some(_)) => &mut self.queues,
            };
            let (packet, queued) = queues[ends][host].pop_front().expect("one is due");
            self.start(packet, queued, channel);
        }
    }
}
