//! What the nodes send, in the units of an application: bytes, and a load per rail.

use crate::Flits;
use crate::traffic::{Arrival, Demand, Pattern, Size, Traffic, TrafficError, in_bytes};
use crosstie_units::{Bytes, Seed};

/// What every node sends, but for how much.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// When messages start.
    pub arrival: Arrival,
    /// How long they are.
    pub size: Size,
    /// To which nodes they go.
    pub pattern: Pattern,
    /// How they become packets and flits.
    pub flits: Flits,
}

impl Workload {
    /// The messages of all nodes at a load, their sizes in bytes.
    ///
    /// Load is in flits per cycle, per rail and per node that sends. It counts what crosses the
    /// wire, overhead and padding included, so that a load of 1 fills the links whatever the
    /// packing. A node with r rails has r links to fill and generates r times as much.
    pub fn traffic(&self, seed: Seed, rails: u32, load: f64) -> Result<Traffic, TrafficError> {
        let node_load = load * f64::from(rails);
        let mean_flits = self.flits.mean(&self.size);
        if self.arrival == (Arrival::Bernoulli {}) && mean_flits < node_load {
            return Err(TrafficError::Crowded { load: node_load, mean: mean_flits });
        }
        let demand = Demand {
            // Bytes per cycle: the interval between messages is then mean_flits / node_load.
            load: node_load * self.size.mean() / mean_flits,
            arrival: self.arrival,
            size: self.size,
            pattern: self.pattern.clone(),
        };
        Traffic::new(seed, &demand)
    }

    /// Flits of the message to which a flit belongs, on average: the mean square of lengths over
    /// their mean.
    pub fn lump(&self) -> f64 {
        let flits = |size: Bytes| self.flits.of_message(in_bytes(size)) as f64;
        match self.size {
            Size::Fixed { size } => flits(size),
            Size::Exponential { .. } => 2.0 * self.flits.mean(&self.size),
            Size::Bimodal { small, large, small_share } => {
                let moment = |power| {
                    small_share * flits(small).powi(power)
                        + (1.0 - small_share) * flits(large).powi(power)
                };
                moment(2) / moment(1)
            }
        }
    }

    /// Messages that a run should have seen before it says what a message takes: so many that
    /// sixteen of the rarest kind are to be expected.
    pub fn least_messages(&self) -> u64 {
        let rarest =
            |shares: Vec<f64>| shares.into_iter().filter(|&share| share > 0.0).fold(1.0, f64::min);
        (EACH_KIND / (rarest(self.size.shares()) * rarest(self.pattern.shares()))).ceil() as u64
    }
}

/// Messages of each kind that a run should have seen.
const EACH_KIND: f64 = 16.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::{Destination, HotSpot, Mixture, Portion};
    use crosstie_fabric::single;
    use crosstie_protocol::Packing;

    fn on_eight(destination: Destination) -> Pattern {
        let no_files = |_: &str| panic!("no pattern here names a file");
        destination.on(&single(8).unwrap(), &no_files).unwrap()
    }

    fn workload(arrival: Arrival) -> Workload {
        Workload {
            arrival,
            size: Size::Fixed { size: Bytes::new(60) },
            pattern: on_eight(Destination::Uniform {}),
            flits: Flits { flit: 2, packing: Packing { payload: None, overhead: 4 } },
        }
    }

    #[test]
    fn load_counts_what_crosses_the_wire_on_each_rail() {
        let interval = |rails, load| {
            workload(Arrival::Constant {}).traffic(Seed(1), rails, load).unwrap().interval()
        };
        // 60 bytes and 4 of overhead are 32 flits.
        assert!((interval(1, 0.5) - 64.0).abs() < 1e-9);
        assert!((interval(4, 0.5) - 16.0).abs() < 1e-9);
    }

    #[test]
    fn rare_messages_ask_for_many() {
        let plain = workload(Arrival::Constant {});
        assert_eq!((plain.least_messages(), plain.lump()), (16, 32.0));
        let (small, large) = (Bytes::new(8), Bytes::new(800));
        let size = Size::Bimodal { small, large, small_share: 0.75 };
        let hot = Destination::HotSpot(HotSpot { host: 3, share: 0.5 });
        let parts = [(0.25, Destination::Uniform {}), (0.75, hot), (0.0, Destination::Shuffle {})];
        let parts = parts.map(|(share, destination)| Portion { share, destination }).into();
        let pattern = on_eight(Destination::Mixture(Mixture { parts }));
        let rare = Workload { size, pattern, ..plain };
        assert_eq!(rare.least_messages(), 16 * 4 * 4);
        // Of 6 and 402 flits, one in four of the latter.
        assert!((rare.lump() - (0.75 * 36.0 + 0.25 * 161_604.0) / 105.0).abs() < 1e-9);
    }

    #[test]
    fn a_coin_per_cycle_starts_at_most_one_message() {
        let size = Size::Fixed { size: Bytes::new(1) };
        let crowded = Workload { size, ..workload(Arrival::Bernoulli {}) };
        assert!(crowded.traffic(Seed(1), 3, 1.0).is_ok());
        let error = crowded.traffic(Seed(1), 4, 1.0).unwrap_err();
        assert_eq!(error, TrafficError::Crowded { load: 4.0, mean: 3.0 });
    }
}
