//! What rails show of themselves: how fast they carry packets to a node, and how long one is on its
//! way.

use crosstie_units::{Rate, Time};

use crate::node_map::NodeMap;
use crate::{NodeId, RailId};

/// What the way to one node on one rail has shown. Times are in picoseconds.
///
/// A packet that had to wait for the one before it is acknowledged as much later than that as the
/// way takes for it. One that had nothing to wait for, which is seen by its being there as soon as
/// any, shows how long it is on its way besides. Who took the time between the acknowledgements of
/// any two packets for what the way takes would find it slow whenever there is little to send, send
/// less, and find it slower. Packets shorter than others tell nothing of these.
#[derive(Debug, Clone, Copy, Default)]
pub struct Gauge {
    /// Bytes handed over that the receiver does not have yet, as far as is known, and since when
    /// there are any.
    under_way: u64,
    since: Time,
    /// When the first packet was handed over that has been acknowledged, and when the last was
    /// acknowledged.
    first: Option<Time>,
    last: Option<Time>,
    /// The bytes of the latest packets, how long they took, and how many they were.
    bytes: f64,
    time: f64,
    packets: u32,
    /// The bytes of the last one, and of the longest of late.
    packet: f64,
    longest: f64,
    /// Bytes acknowledged, and in which time, since it last was as long as a packet is on its way;
    /// and what a byte took then.
    run: (f64, f64),
    recent: f64,
    /// How long one that did not wait was under way besides its bytes, on average; and with them,
    /// at least.
    latency: Option<f64>,
    quickest: f64,
    /// What the channel has found out, if there is one that does.
    told: Option<Told>,
}

/// What a channel has found out about its way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told {
    /// What a byte takes, as so many bytes have shown.
    pace: f64,
    seen: f64,
    /// How long a packet is on its way at least.
    latency: f64,
    /// Bytes that may be under way.
    window: u64,
}

impl Told {
    pub fn new(rate: Rate, seen: u64, round_trip: Time, window: u64) -> Told {
        let pace = 1e12 / rate.bytes_per_second().max(1) as f64;
        Told { pace, seen: seen as f64, latency: round_trip.ps() as f64, window }
    }
}

/// Packets whose speed is remembered; when there are as many, they count half.
const MEMORY: u32 = 32;

/// How much the latest packet counts for the latency.
const NEWEST: f64 = 0.25;

/// And how much for the quickest, if it took longer: ways may become longer.
const RISE: f64 = 1.0 / 64.0;

/// Who is there later than the quickest by so much of the time since the one before had to wait for
/// that.
const WAITED: f64 = 0.1;

/// A way that takes so many times as long as on average has become much slower.
const SLUMP: f64 = 2.0;

/// Packets of a smaller part of the longest are shorter.
const SHORTER: f64 = 0.9;

/// By how much the longest packet is forgotten with each that is shorter.
const FADING: f64 = 1.0 / 256.0;

impl Gauge {
    /// Bytes that the receiver does not have yet.
    pub fn under_way(&self) -> u64 {
        self.under_way
    }

    /// Bytes that may be under way, where a channel has told.
    pub fn window(&self) -> Option<u64> {
        self.told.map(|told| told.window)
    }

    /// For how long a packet has been under way, if none of those under way now has been
    /// acknowledged.
    pub fn silent(&self, now: Time) -> f64 {
        match self.under_way {
            0 => 0.0,
            _ => (now - self.last.map_or(self.since, |last| last.max(self.since))).ps() as f64,
        }
    }

    /// For how long nothing has been under way.
    pub fn unused(&self, now: Time) -> f64 {
        match (self.under_way, self.last) {
            (0, Some(last)) => (now - last).ps() as f64,
            _ => 0.0,
        }
    }

    /// For how long it had been known when it was used last, where a channel goes by so many bytes:
    /// a host may have been busy with something else while these went. Otherwise for ever.
    pub fn age(&self) -> f64 {
        let doubtful = self.told.is_some_and(|told| told.seen < u64::MAX as f64);
        let known = self.first.zip(self.last).filter(|_| doubtful);
        known.map_or(f64::INFINITY, |(first, last)| (last - first).ps() as f64)
    }

    /// The bytes of the longest packet of late.
    pub(crate) fn longest(&self) -> f64 {
        self.longest
    }

    pub(crate) fn handed(&mut self, now: Time, bytes: u64) {
        if self.under_way == 0 {
            self.since = now;
        }
        self.under_way += bytes;
    }

    /// A packet is acknowledged that was handed over at a time.
    pub(crate) fn acknowledged(&mut self, now: Time, handed: Time, bytes: u64) {
        self.under_way = self.under_way.saturating_sub(bytes);
        let carried = bytes.max(1) as f64;
        let before = self.last.replace(now);
        self.first.get_or_insert(handed);
        self.packet = carried;
        if carried > 2.0 * self.longest {
            // What shorter ones have shown is of no use for these.
            (self.latency, self.bytes, self.time, self.packets) = (None, 0.0, 0.0, 0);
            (self.run, self.recent) = ((0.0, 0.0), 0.0);
        }
        if carried < SHORTER * self.longest {
            self.longest -= FADING * self.longest;
            return;
        }
        self.longest = self.longest.max(carried);
        let total = (now - handed).ps() as f64;
        let interval = before.map_or(total, |before| (now - before).ps() as f64);
        let Some(latency) = self.latency else {
            (self.latency, self.quickest, self.packets) = (Some(total), total, 1);
            return;
        };
        let queued = before.is_some_and(|before| handed <= before);
        if queued && total - self.quickest > WAITED * interval {
            self.carried(carried, interval);
            return;
        }
        match self.pace() {
            // It did not wait, but the way is faster than it was thought to be: so fast, if it was
            // there sooner than its bytes.
            Some(pace) if total < pace * carried => {
                (self.bytes, self.time, self.packets) = (carried, total, 1);
                (self.run, self.recent) = ((0.0, 0.0), 0.0);
            }
            Some(pace) if interval < pace * carried => self.carried(carried, interval),
            None if interval == 0.0 => self.carried(carried, 0.0),
            _ => {}
        }
        let found = (total - self.pace().unwrap_or(0.0) * carried).max(0.0);
        self.latency = Some(latency + NEWEST * (found - latency));
        self.quickest = total.min(self.quickest + RISE * (total - self.quickest));
    }

    /// So many bytes took so long.
    fn carried(&mut self, carried: f64, time: f64) {
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

    /// What it takes for a byte, by what has been acknowledged; `None` if nothing is known. A way
    /// that has become much slower is as slow as it was last. Otherwise it is what it was on
    /// average of late: acknowledgements come unevenly, above all where they wait for data that
    /// go the other way.
    pub fn pace(&self) -> Option<f64> {
        if let Some(told) = self.told {
            return Some(told.pace);
        }
        let mean = (self.time > 0.0).then(|| self.time / self.bytes)?;
        Some(if self.recent > SLUMP * mean { self.recent } else { mean })
    }

    /// The same for packets of so many bytes, if it takes as long as it already does for the one
    /// that is due next. `None` also if only much shorter ones have been seen.
    pub fn pace_now(&self, now: Time, packet: u64) -> Option<f64> {
        if let Some(told) = self.told {
            return (packet as f64 <= 2.0 * told.seen).then_some(told.pace);
        }
        let pace = self.pace().filter(|_| packet as f64 <= 2.0 * self.longest)?;
        if self.under_way == 0 {
            return Some(pace);
        }
        let due = self.since.ps() as f64 + self.latency();
        let due = self.last.map_or(due, |last| due.max(last.ps() as f64));
        let waited = (now.ps() as f64 - due).max(0.0);
        Some(pace.max((self.time + waited) / (self.bytes + self.packet)))
    }

    /// Packets of about so many bytes that have been acknowledged and do not tell the pace.
    pub fn tried(&self, packet: u64) -> u32 {
        let alike = packet as f64 <= 2.0 * self.longest;
        if alike && self.time == 0.0 { self.packets } else { 0 }
    }

    /// How long a packet is on its way besides what its bytes take.
    pub fn latency(&self) -> f64 {
        self.told.map_or(self.latency.unwrap_or(0.0), |told| told.latency)
    }
}

/// The gauges of a node.
#[derive(Debug)]
pub(crate) struct Gauges {
    rails: u32,
    ways: NodeMap<Vec<Gauge>>,
    /// Bytes under way on each rail, to all nodes.
    under_way: Vec<u64>,
    /// What nothing is known of.
    unknown: Gauge,
}

impl Gauges {
    pub fn new(rails: u32) -> Gauges {
        Gauges {
            rails,
            ways: NodeMap::default(),
            under_way: vec![0; rails as usize],
            unknown: Gauge::default(),
        }
    }

    pub fn get(&self, to: NodeId, rail: RailId) -> &Gauge {
        self.ways.get(to).map_or(&self.unknown, |ways| &ways[rail.0 as usize])
    }

    /// Bytes under way on a rail, to all nodes.
    pub fn under_way(&self, rail: RailId) -> u64 {
        self.under_way[rail.0 as usize]
    }

    fn way(&mut self, to: NodeId, rail: RailId) -> &mut Gauge {
        let Gauges { rails, ways, .. } = self;
        let new = || vec![Gauge::default(); *rails as usize];
        &mut ways.get_or_insert_with(to, new)[rail.0 as usize]
    }

    pub fn handed(&mut self, now: Time, to: NodeId, rail: RailId, bytes: u64) {
        self.way(to, rail).handed(now, bytes);
        self.under_way[rail.0 as usize] += bytes;
    }

    /// Bytes handed over are not going to be sent this way.
    pub fn withdrawn(&mut self, to: NodeId, rail: RailId, bytes: u64) {
        let gauge = self.way(to, rail);
        gauge.under_way = gauge.under_way.saturating_sub(bytes);
        let under_way = &mut self.under_way[rail.0 as usize];
        *under_way = under_way.saturating_sub(bytes);
    }

    /// What the channel has found out about a way.
    pub fn shown(&mut self, to: NodeId, rail: RailId, told: Told) {
        self.way(to, rail).told = Some(told);
    }

    /// Forgets what a way has shown, but not what it has under way.
    pub fn begin_anew(&mut self, to: NodeId, rail: RailId) {
        let way = self.way(to, rail);
        *way = Gauge { under_way: way.under_way, since: way.since, ..Gauge::default() };
    }

    /// Forgets what a way has shown and has under way.
    pub fn forget(&mut self, to: NodeId, rail: RailId) {
        let gauge = std::mem::take(self.way(to, rail));
        let under_way = &mut self.under_way[rail.0 as usize];
        *under_way = under_way.saturating_sub(gauge.under_way);
    }

    pub fn acknowledged(&mut self, now: Time, to: NodeId, rail: RailId, handed: Time, bytes: u64) {
        self.way(to, rail).acknowledged(now, handed, bytes);
        let under_way = &mut self.under_way[rail.0 as usize];
        *under_way = under_way.saturating_sub(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of 1000 bytes at 2 bytes per nanosecond, 300 ns on their way, handed over so many at
    /// once.
    fn shown(spells: &[u32]) -> Gauge {
        let (mut gauge, mut now) = (Gauge::default(), 0);
        for &packets in spells {
            let handed = Time::from_ns(now);
            gauge.handed(handed, 1000 * u64::from(packets));
            for number in 1..=u64::from(packets) {
                gauge.acknowledged(Time::from_ns(now + 300 + 500 * number), handed, 1000);
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
        gauge.acknowledged(at(800), at(0), 1000);
        assert_eq!(gauge.pace_now(at(900), 1000), Some(500.0));
        let waited = gauge.pace_now(at(800 + 50_000), 1000).unwrap();
        assert!(waited > 1500.0, "{waited}");
        for number in 1..=8 {
            gauge.acknowledged(at(800 + 5000 * number), at(0), 1000);
        }
        assert!(gauge.pace().unwrap() > 1500.0, "{gauge:?}");
    }
}
