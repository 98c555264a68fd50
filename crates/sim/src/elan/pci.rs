//! The bus between NIC and main memory.

use crosstie_units::{Rate, Time};
use std::collections::VecDeque;

/// How fast a NIC reaches main memory.
///
/// Reads and writes share the bus; together they pass no more than `both`, and take turns where
/// both wait. A read alone is slower (`read`), since its requests and their answers alternate:
/// while it waits for its own data, the bus is free for others. Latencies are pipelined: they delay
/// what comes, and do not keep the bus busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PciSpec {
    /// How fast one reads.
    pub read: Rate,
    /// How fast one writes.
    pub write: Rate,
    /// What reads and writes pass together; `None`: they do not hinder each other.
    pub both: Option<Rate>,
    /// From a read to its first byte, beyond what the bytes take.
    pub read_latency: Time,
    /// From the last byte of a write until it is in memory.
    pub write_latency: Time,
}

/// Which way data cross the bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Read,
    Write,
}

/// A bus in motion, and what waits for it.
#[derive(Debug)]
pub(super) struct Pci<T> {
    /// True if reads and writes share it.
    is_shared: bool,
    busy: [bool; 2],
    waiting: [VecDeque<T>; 2],
    last: Way,
}

impl<T> Pci<T> {
    pub fn new(spec: &PciSpec) -> Pci<T> {
        Pci {
            is_shared: spec.both.is_some(),
            busy: [false; 2],
            waiting: [VecDeque::new(), VecDeque::new()],
            last: Way::Write,
        }
    }

    /// Something waits to cross the bus.
    pub fn wait(&mut self, way: Way, what: T) {
        self.waiting[way as usize].push_back(what);
    }

    /// What crosses the bus now, if it is free and something waits.
    pub fn next(&mut self) -> Option<T> {
        let in_turn = match self.last {
            Way::Read => [Way::Write, Way::Read],
            Way::Write => [Way::Read, Way::Write],
        };
        let way = in_turn
            .into_iter()
            .find(|&way| !self.is_busy(way) && !self.waiting[way as usize].is_empty())?;
        self.busy[way as usize] = true;
        self.last = way;
        self.waiting[way as usize].pop_front()
    }

    fn is_busy(&self, way: Way) -> bool {
        match self.is_shared {
            true => self.busy[0] || self.busy[1],
            false => self.busy[way as usize],
        }
    }

    /// What went one way has crossed the bus.
    pub fn crossed(&mut self, way: Way) {
        self.busy[way as usize] = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: PciSpec = PciSpec {
        read: Rate::from_bytes_per_second(200_000_000),
        write: Rate::from_bytes_per_second(275_000_000),
        both: Some(Rate::from_bytes_per_second(275_000_000)),
        read_latency: Time::ZERO,
        write_latency: Time::ZERO,
    };

    #[test]
    fn reads_and_writes_take_turns_where_both_wait() {
        let mut pci = Pci::new(&SPEC);
        for number in 0..3 {
            pci.wait(Way::Write, number);
        }
        pci.wait(Way::Read, 10);
        assert_eq!((pci.next(), pci.next()), (Some(10), None));
        pci.crossed(Way::Read);
        pci.wait(Way::Read, 11);
        let mut order = Vec::new();
        while let Some(next) = pci.next() {
            order.push(next);
            pci.crossed(if next < 10 { Way::Write } else { Way::Read });
        }
        assert_eq!(order, [0, 11, 1, 2]);
    }

    #[test]
    fn where_they_share_nothing_one_of_each_crosses_at_once() {
        let mut pci = Pci::new(&PciSpec { both: None, ..SPEC });
        for number in 0..2 {
            pci.wait(Way::Write, number);
            pci.wait(Way::Read, 10 + number);
        }
        assert_eq!((pci.next(), pci.next(), pci.next()), (Some(10), Some(0), None));
    }
}
