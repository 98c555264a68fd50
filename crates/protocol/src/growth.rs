//! Packets that grow with the rate of their way, for hosts that have something to do for each.

use crosstie_units::Time;

use crate::{Gauge, NodeId, NodeSpec, RailId};

/// What a node keeps ahead of its rails, because hosts have other things to do now and then, and
/// how large packets become, because hosts have something to do for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ahead {
    /// The queue ahead of a rail, as the time that the rail takes for it, beside what it takes to
    /// keep it busy.
    pub time: Time,
    /// How many times as long as at first a packet becomes at most; it grows as long as it takes a
    /// small part of that time.
    pub most: u32,
}

/// A packet takes such a part of the time that is kept ahead.
const PART: f64 = 16.0;

/// Packets become shorter when they take so many times as long as they should.
const TOO_LONG: f64 = 4.0;

/// How long packets are on each way. They double one step at a time, since those of very different
/// length tell nothing of each other.
#[derive(Debug)]
pub(crate) struct Growth {
    ahead: Ahead,
    payload: u32,
    rails: usize,
    /// How often they have doubled, by peer and rail.
    doublings: Vec<u8>,
}

impl Growth {
    /// Where packets have no limit, they do not grow.
    pub fn new(spec: &NodeSpec) -> Option<Growth> {
        let (ahead, payload) = (spec.ahead?, spec.packing.payload?);
        Some(Growth { ahead, payload, rails: spec.rails as usize, doublings: Vec::new() })
    }

    fn place(&self, to: NodeId, rail: RailId) -> usize {
        to.0 as usize * self.rails + rail.0 as usize
    }

    /// The most bytes of a packet on a way.
    #[inline]
    pub fn payload(&self, to: NodeId, rail: RailId) -> u32 {
        let doublings = self.doublings.get(self.place(to, rail)).copied().unwrap_or(0);
        self.payload.saturating_mul((1 << doublings).min(self.ahead.most.max(1)))
    }

    /// A way has shown something; true if packets become shorter, of which longer ones tell
    /// nothing.
    #[inline]
    pub fn see(&mut self, to: NodeId, rail: RailId, gauge: &Gauge) -> bool {
        let Some(pace) = gauge.pace() else { return false };
        let wanted = self.ahead.time.ps() as f64 / PART;
        let takes = |payload: u32| f64::from(payload) * pace;
        let place = self.place(to, rail);
        if self.doublings.len() <= place {
            self.doublings.resize(place + 1, 0);
        }
        let now = self.payload(to, rail);
        let doublings = &mut self.doublings[place];
        // Not before those of this length have been seen.
        let grown = 2 * now <= self.payload.saturating_mul(self.ahead.most);
        if grown && takes(2 * now) <= wanted && gauge.longest() >= 0.9 * f64::from(now) {
            *doublings += 1;
        } else if *doublings > 0 && takes(now) > TOO_LONG * wanted {
            while *doublings > 0 && takes(self.payload << *doublings) > wanted {
                *doublings -= 1;
            }
            return true;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Packing;

    const TO: NodeId = NodeId(1);
    const RAIL: RailId = RailId(0);

    /// What a way shows that carries so many bytes in a microsecond, in packets of this length.
    fn shown(speed: u64, payload: u64) -> Gauge {
        let mut gauge = Gauge::default();
        gauge.handed(Time::ZERO, 20 * payload);
        for number in 1..=20 {
            let at = Time::from_ns(50_000 + 1000 * number * payload / speed);
            gauge.acknowledged(at, Time::ZERO, payload);
        }
        gauge
    }

    #[test]
    fn packets_grow_with_the_rate_and_shrink_with_it() {
        let packing = Packing { payload: Some(1000), overhead: 0 };
        let ahead = Some(Ahead { time: Time::from_ns(1_000_000), most: 40 });
        let spec = NodeSpec { packing, ahead, ..NodeSpec::new(NodeId(0), 2) };
        let mut growth = Growth::new(&spec).unwrap();
        let settled = |growth: &mut Growth, speed| {
            let mut forgot = false;
            for _ in 0..10 {
                let gauge = shown(speed, growth.payload(TO, RAIL).into());
                forgot |= growth.see(TO, RAIL, &gauge);
            }
            (growth.payload(TO, RAIL), forgot)
        };
        // 62.5 us are 6250 bytes at 100 bytes a microsecond.
        assert_eq!(settled(&mut growth, 10), (1000, false));
        assert_eq!(settled(&mut growth, 100), (4000, false));
        assert_eq!(settled(&mut growth, 60), (4000, false), "not for a little");
        assert_eq!(settled(&mut growth, 10_000), (32_000, false));
        assert_eq!(settled(&mut growth, 20), (1000, true));
        assert_eq!(growth.payload(TO, RailId(1)), 1000);
        assert!(Growth::new(&NodeSpec { ahead: None, ..spec }).is_none());
    }
}
