//! Events spread out in time: what happens to which ports, one after the other.

use std::fmt;

use crosstie_units::{Rate, Seed, Time};

use super::Spec;

/// One thing that happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrence {
    /// When, from the start of the programs on.
    pub at: Time,
    /// The rail.
    pub rail: usize,
    /// The host whose port it is; `None`: all of the rail.
    pub host: Option<usize>,
    /// What happens.
    pub change: Change,
}

/// What happens to ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// They have another rate.
    Rate(Rate),
    /// They carry nothing.
    Down,
    /// They carry again.
    Up,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Rate(rate) => rate.fmt(f),
            Change::Down => f.write_str("down"),
            Change::Up => f.write_str("up"),
        }
    }
}

/// Everything that happens, in order of time; what happens at the same time in the order of the
/// file. What an event changed for a while goes back to what the rail began with.
pub(super) fn all(spec: &Spec) -> Vec<Occurrence> {
    let seed = spec.seed.unwrap_or(Seed(0));
    let rails = spec.rail_names();
    let mut all = Vec::new();
    for (number, event) in spec.events.iter().enumerate() {
        let Some(rail) = event.rail.find(&rails) else { continue };
        let host = event.host.as_ref().and_then(|host| host.find(spec.hosts.names()));
        let (change, back) = match (event.rate, event.down) {
            (Some(rate), _) => (Change::Rate(rate), spec.rails[rail].rate.map(Change::Rate)),
            (None, true) => (Change::Down, Some(Change::Up)),
            (None, false) => (Change::Up, None),
        };
        for at in event.recurrence().moments(seed.stream("event", number as u64)) {
            all.push(Occurrence { at, rail, host, change });
            if let (Some(lasts), Some(change)) = (event.lasts, back) {
                all.push(Occurrence { at: at + lasts, rail, host, change });
            }
        }
    }
    all.sort_by_key(|occurrence| occurrence.at);
    all
}
