//! What a run found, in numbers and in words.

use crate::network::{Blueprint, ChannelTally, Deadlock};
use crate::premises::Carried;
use crosstie_measure::{Doubt, Estimate, Latency};

/// What one run found.
#[derive(Debug, Clone)]
pub struct Findings {
    /// The load asked for, in flits per cycle, rail and sending host.
    pub load: f64,
    /// How it ended.
    pub ending: Ending,
    /// Cycles simulated, warm-up included.
    pub cycles: u64,
    /// What was measured after warm-up; `None` if the network deadlocked, for means of a network
    /// that has stopped say nothing.
    pub measured: Option<Measured>,
    /// A header that has waited suspiciously long without being part of a deadlock.
    pub starving: Option<Starvation>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    /// The mean latency is known to the precision asked for.
    Converged,
    /// More was offered than the network accepts.
    Saturated,
    /// The limit came first, for these reasons.
    NotConverged(Vec<Doubt>),
    /// Packets wait for each other and will never move.
    Deadlocked(Deadlock),
}

/// What was measured after warm-up. Loads are in flits per cycle, rail and sending host.
///
/// Loads and the mean latency are cut at the warm-up exactly. Everything from `latencies` on is cut
/// at the next of at most 32 moments kept in memory: at most a sixteenth of the run later.
#[derive(Debug, Clone)]
pub struct Measured {
    /// Cycles at the start that were left out.
    pub warm_up: u64,
    /// Flits generated.
    pub offered: f64,
    /// Flits delivered.
    pub accepted: Estimate,
    /// Mean latency of messages, from handing over to the last flit delivered, in cycles; `None`
    /// for a saturated network, where it has no mean.
    pub latency: Option<Estimate>,
    /// The latencies of all messages delivered.
    pub latencies: Latency,
    /// Packets delivered.
    pub packets: u64,
    /// Their mean latency without the wait at the source, in cycles.
    pub network_mean: Option<f64>,
    /// The mean number of switches that they crossed.
    pub switches_mean: Option<f64>,
    /// The most flits that were in the in-transit buffers of one virtual channel of a host,
    /// warm-up included; `None` without such buffers.
    pub pool_peak: Option<u32>,
    /// What each competitor has got across, from the beginning.
    pub carried: Vec<Carried>,
    /// The use of every channel, numbered as in
    /// [`Network::channels`](crate::network::Network::channels).
    pub channels: Vec<ChannelUse>,
}

/// What a channel did while measuring.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ChannelUse {
    /// Flits carried.
    pub flits: u64,
    /// Share of time in which it was busy with them.
    pub utilisation: f64,
    /// Share of time in which it had flits but no credit to send them.
    pub blocked: f64,
    /// Headers that waited at its end for a way on, mean over time.
    pub waiting: f64,
}

impl ChannelUse {
    /// The use between two states of a counter that are so many ticks apart.
    pub(super) fn between(before: &ChannelTally, after: &ChannelTally, ticks: u64) -> ChannelUse {
        let share = |part: u64| part as f64 / ticks as f64;
        ChannelUse {
            flits: after.flits - before.flits,
            // A flit that is half way when the counting ends counts as a whole one.
            utilisation: share(after.busy - before.busy).min(1.0),
            blocked: share(after.blocked - before.blocked),
            waiting: share(after.waiting - before.waiting),
        }
    }
}

/// A header that has waited suspiciously long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Starvation {
    /// How many cycles.
    pub cycles: u64,
    /// At the end of which channel, numbered as in
    /// [`Network::channels`](crate::network::Network::channels).
    pub channel: u32,
}

/// The most channels of a circle that a note names.
const MOST_NAMED: usize = 32;

impl Findings {
    /// Anything unusual, in a sentence; empty if there is nothing to say.
    pub fn note(&self, blueprint: &dyn Blueprint) -> String {
        let mut sentences = Vec::new();
        match &self.ending {
            Ending::Converged | Ending::Saturated => {}
            Ending::NotConverged(doubts) => {
                let doubts: Vec<_> = doubts.iter().map(Doubt::to_string).collect();
                sentences.push(format!("stopped at {} cycles: {}", self.cycles, doubts.join("; ")));
            }
            Ending::Deadlocked(deadlock) => {
                let name = |&channel: &u32| blueprint.channel_name(channel);
                let mut circle: Vec<_> =
                    deadlock.circle.iter().take(MOST_NAMED).map(name).collect();
                if let Some(more) = deadlock.circle.len().checked_sub(MOST_NAMED + 1) {
                    circle.push(format!("{} more", more + 1));
                }
                sentences.push(format!(
                    "deadlock found at cycle {}: packets wait for each other along {}, and back to \
                     the first ({} buffers stuck in all)",
                    self.cycles,
                    circle.join(", then "),
                    deadlock.stuck
                ));
            }
        }
        if let Some(Starvation { cycles, channel }) = self.starving {
            sentences.push(format!(
                "starvation suspected: the header at the end of {} has waited {cycles} cycles, \
                 though it is not part of a deadlock",
                blueprint.channel_name(channel)
            ));
        }
        sentences.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wormhole::{Config, WormholeSpec};
    use crosstie_measure::Precision;
    use crosstie_routing::Shortest;
    use crosstie_units::Time;

    #[test]
    fn endings_are_told_in_words() {
        let fabric = crosstie_fabric::single(2).unwrap();
        let (routing, config) = (Shortest::new(&fabric), Config::default());
        let cycle = Time::from_ns(5);
        let on = |rails| WormholeSpec {
            fabric: &fabric,
            routing: &routing,
            rails,
            config: &config,
            flit: 2,
            cycle,
        };
        let findings =
            |ending| Findings { load: 0.5, ending, cycles: 1000, measured: None, starving: None };
        assert_eq!(findings(Ending::Saturated).note(&on(1)), "");
        let doubts = vec![Doubt::WarmUp, Doubt::Latency(Precision { found: 0.1, wanted: 0.02 })];
        assert_eq!(
            findings(Ending::NotConverged(doubts)).note(&on(1)),
            "stopped at 1000 cycles: still warming up: the means drift; mean latency known to \
             ±10.0 %, asked for ±2.0 %"
        );
        let deadlock = Deadlock { circle: vec![1, 6, 9], stuck: 5 };
        assert_eq!(
            findings(Ending::Deadlocked(deadlock)).note(&on(2)),
            "deadlock found at cycle 1000: packets wait for each other along switch:0 -> 0 on rail \
             0, then 1 -> switch:1 on rail 1, then the bus of host 1 (reading) on rail 0, and back \
             to the first (5 buffers stuck in all)"
        );
        let long = Deadlock { circle: vec![0; 40], stuck: 99 };
        let note = findings(Ending::Deadlocked(long)).note(&on(1));
        assert!(note.contains("switch:0, then 8 more, and back to the first"), "{note}");
        let starving = Some(Starvation { cycles: 30_000, channel: 0 });
        assert_eq!(
            Findings { starving, ..findings(Ending::Converged) }.note(&on(1)),
            "starvation suspected: the header at the end of 0 -> switch:0 has waited 30000 \
             cycles, though it is not part of a deadlock"
        );
    }

    #[test]
    fn use_is_a_share_of_time() {
        let before = ChannelTally { flits: 10, busy: 20, blocked: 5, waiting: 0 };
        let after = ChannelTally { flits: 35, busy: 70, blocked: 30, waiting: 300 };
        assert_eq!(
            ChannelUse::between(&before, &after, 100),
            ChannelUse { flits: 25, utilisation: 0.5, blocked: 0.25, waiting: 3.0 }
        );
    }
}
