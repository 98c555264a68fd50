//! What rails have carried, and what is known of them.

use std::time::Duration;

use super::Rank;
use super::queues::RailCount;
use crate::rail::Capabilities;

/// What a rail has carried, and what is known of it.
#[derive(Debug, Clone, PartialEq)]
pub struct RailStatistics {
    /// Its name.
    pub name: String,
    /// The most bytes of a datagram that passes to every peer: fewer than the rail takes if a path
    /// drops longer ones.
    pub longest: usize,
    /// What its driver can do.
    pub capabilities: Capabilities,
    /// What it has carried.
    pub count: RailCount,
    /// Packets that were sent again.
    pub retransmissions: u64,
    /// Packets that came whole and had come before: sent again in vain, or repeated on the way.
    pub duplicates: u64,
    /// The smoothed round trip to the peer that is farthest away, if one was measured.
    pub round_trip: Option<Duration>,
    /// What it delivers to all peers together, in bytes per second, if that was measured.
    pub rate: Option<f64>,
    /// Its share of that of all rails.
    pub weight: Option<f64>,
}

impl Rank {
    /// What rails have carried, and what is known of them.
    pub fn statistics(&self) -> Vec<RailStatistics> {
        let drivers = self.queues.drivers().enumerate();
        // A rail that no rank is known to use is none yet.
        let is_spare = |number: usize| {
            self.lookout.as_ref().is_some_and(|lookout| lookout.is_spare(number as u8))
        };
        let drivers = drivers.filter(|&(number, _)| !is_spare(number));
        let mut all: Vec<RailStatistics> = drivers
            .map(|(number, (rail, &count))| {
                let links = self.links.of_rail(number);
                let tallies = links.clone().map(|link| link.endpoint.tally());
                let paths = links.clone().filter_map(|link| link.endpoint.path());
                let round_trip = paths.clone().filter_map(|path| path.smoothed).max();
                let rates = paths.filter_map(|path| path.rate);
                let rate: f64 = rates.map(|rate| rate.bytes_per_second() as f64).sum();
                RailStatistics {
                    name: rail.name().to_owned(),
                    longest: links
                        .clone()
                        .map(|link| link.mtu.longest())
                        .min()
                        .unwrap_or(rail.longest()),
                    capabilities: rail.capabilities(),
                    count,
                    retransmissions: tallies.clone().map(|tally| tally.retransmissions()).sum(),
                    duplicates: tallies.map(|tally| tally.duplicates).sum(),
                    round_trip: round_trip.map(|time| Duration::from_nanos(time.ps() / 1000)),
                    rate: (rate > 0.0).then_some(rate),
                    weight: None,
                }
            })
            .collect();
        let sum: f64 = all.iter().filter_map(|rail| rail.rate).sum();
        for rail in &mut all {
            rail.weight = rail.rate.map(|rate| rate / sum);
        }
        all
    }
}
