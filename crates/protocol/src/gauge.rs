//! What rails show of themselves: how fast they carry packets to a node, and how long one is on its way.

use std::collections::BTreeMap;

use crosstie_units::Time;

use crate::{NodeId, RailId};

/// What the way to one node on one rail has shown. Times are in picoseconds.
///
/// While packets are under way, the time from one acknowledgement to the next is what the way takes for a packet. The first of a
/// spell shows how long it is on its way besides.
#[derive(Debug, Clone, Copy, Default)]
pub struct Gauge {
    /// Bytes handed over that the receiver does not have yet, as far as is known, and since when there are any.
    under_way: u64,
    since: Time,
    /// When the last packet was acknowledged, of those in this spell.
    last: Option<Time>,
    /// The bytes of the latest packets, how long they took, and how many they were.
    bytes: f64,
    time: f64,
    packets: u32,
    /// The bytes of the last one.
    packet: f64,
    /// Bytes acknowledged, and in which time, since it last was as long as a packet is on its way; and what a byte took then.
    run: (f64, f64),
    recent: f64,
    /// What is on top of the bytes.
    latency: Option<f64>,
}

/// Packets whose speed is remembered; when there are as many, they count half.
const MEMORY: u32 = 32;

/// How much the latest spell counts for the latency.
const NEWEST: f64 = 0.25;

impl Gauge {
    /// Bytes that the receiver does not have yet.
    pub fn under_way(&self) -> u64 {
        self.under_way
    }

    fn handed(&mut self, now: Time, bytes: u64) {
        if self.under_way == 0 {
            (self.since, self.last) = (now, None);
        }
        self.under_way += bytes;
    }

    fn acknowledged(&mut self, now: Time, bytes: u64) {
        self.under_way = self.under_way.saturating_sub(bytes);
        let carried = bytes.max(1) as f64;
        match self.last {
            Some(last) => {
                let time = (now - last).ps() as f64;
                self.bytes += carried;
                self.time += time;
                self.packets += 1;
                self.run = (self.run.0 + carried, self.run.1 + time);
                if self.run.1 >= self.latency() {
                    self.recent = self.run.1 / self.run.0;
                    self.run = (0.0, 0.0);
                }
                if self.packets == MEMORY {
                    (self.bytes, self.time) = (self.bytes / 2.0, self.time / 2.0);
                    self.packets /= 2;
                }
            }
            None => {
                let own = self.pace().unwrap_or(0.0) * carried;
                let found = ((now - self.since).ps() as f64 - own).max(0.0);
                let before = self.latency.unwrap_or(found);
                self.latency = Some(before + NEWEST * (found - before));
            }
        }
        self.packet = carried;
        self.last = Some(now);
    }

    /// What it takes for a byte, by what has been acknowledged; `None` if nothing is known. A way that has become slower is as slow
    /// as it was last, one that has become faster is so by and by.
    pub fn pace(&self) -> Option<f64> {
        (self.bytes > 0.0).then(|| (self.time / self.bytes).max(self.recent))
    }

    /// The same, if it takes as long as it already does for the packet that is due next.
    pub fn pace_now(&self, now: Time) -> Option<f64> {
        let pace = self.pace()?;
        let waited = match self.last {
            Some(last) if self.under_way > 0 => (now - last).ps() as f64,
            _ => return Some(pace),
        };
        Some(pace.max((self.time + waited) / (self.bytes + self.packet)))
    }

    /// How long a packet is on its way besides what its bytes take.
    pub fn latency(&self) -> f64 {
        self.latency.unwrap_or(0.0)
    }
}

/// The gauges of a node.
#[derive(Debug)]
pub(crate) struct Gauges {
    rails: u32,
    ways: BTreeMap<NodeId, Vec<Gauge>>,
    /// Bytes under way on each rail, to all nodes.
    under_way: Vec<u64>,
    /// What nothing is known of.
    unknown: Gauge,
}

impl Gauges {
    pub fn new(rails: u32) -> Gauges {
        Gauges {
            rails,
            ways: BTreeMap::new(),
            under_way: vec![0; rails as usize],
            unknown: Gauge::default(),
        }
    }

    pub fn get(&self, to: NodeId, rail: RailId) -> &Gauge {
        self.ways.get(&to).map_or(&self.unknown, |ways| &ways[rail.0 as usize])
    }

    /// Bytes under way on a rail, to all nodes.
    pub fn under_way(&self, rail: RailId) -> u64 {
        self.under_way[rail.0 as usize]
    }

    fn way(&mut self, to: NodeId, rail: RailId) -> &mut Gauge {
        let new = || vec![Gauge::default(); self.rails as usize];
        &mut self.ways.entry(to).or_insert_with(new)[rail.0 as usize]
    }

    pub fn handed(&mut self, now: Time, to: NodeId, rail: RailId, bytes: u64) {
        self.way(to, rail).handed(now, bytes);
        self.under_way[rail.0 as usize] += bytes;
    }

    pub fn acknowledged(&mut self, now: Time, to: NodeId, rail: RailId, bytes: u64) {
        self.way(to, rail).acknowledged(now, bytes);
        let under_way = &mut self.under_way[rail.0 as usize];
        *under_way = under_way.saturating_sub(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of 1000 bytes at 2 bytes per nanosecond, 300 ns on their way, handed over so many at once.
    fn shown(spells: &[u32]) -> Gauge {
        let (mut gauge, mut now) = (Gauge::default(), 0);
        for &packets in spells {
            gauge.handed(Time::from_ns(now), 1000 * u64::from(packets));
            for number in 1..=u64::from(packets) {
                gauge.acknowledged(Time::from_ns(now + 300 + 500 * number), 1000);
            }
            now += 100_000;
        }
        gauge
    }

    #[test]
    fn a_spell_shows_pace_and_latency() {
        let gauge = shown(&[1]);
        assert_eq!((gauge.pace(), gauge.latency()), (None, 800_000.0));
        let gauge = shown(&[2]);
        assert_eq!((gauge.pace(), gauge.latency()), (Some(500.0), 800_000.0));
        // What the bytes take was not known before.
        let gauge = shown(&[10; 30]);
        assert_eq!(gauge.pace(), Some(500.0));
        assert!((gauge.latency() - 300_000.0).abs() < 500.0, "{gauge:?}");
        assert_eq!(gauge.under_way(), 0);
    }

    #[test]
    fn a_way_that_slows_down_is_noticed_by_what_comes_and_by_what_does_not() {
        let mut gauge = shown(&[100]);
        let at = |ns: u64| Time::from_ns(1_000_000 + ns);
        gauge.handed(at(0), 10_000);
        gauge.acknowledged(at(800), 1000);
        assert_eq!(gauge.pace_now(at(900)), Some(500.0));
        let waited = gauge.pace_now(at(800 + 50_000)).unwrap();
        assert!(waited > 1500.0, "{waited}");
        for number in 1..=8 {
            gauge.acknowledged(at(800 + 5000 * number), 1000);
        }
        assert!(gauge.pace().unwrap() > 1500.0, "{gauge:?}");
    }
}
