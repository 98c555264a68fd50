//! What a run may claim.

use crate::Estimate;
use std::fmt;

/// The means of a run after its warm-up. Loads are in flits per cycle of the whole network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Means {
    /// Cycles simulated, warm-up included.
    pub cycles: u64,
    /// Cycles at the start that were left out.
    pub warm_up: u64,
    /// Flits generated per cycle.
    pub offered: f64,
    /// Flits delivered per cycle.
    pub accepted: Estimate,
    /// Mean latency of a packet in cycles; not given for a saturated network, where it grows with
    /// the length of the run, nor if no packet was delivered.
    pub latency: Option<Estimate>,
}

/// The state of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// More data are needed.
    Continue,
    /// The means are steady and known to the precision asked for.
    Converged(Means),
    /// The network carries less than it is offered, and the rest piles up.
    Saturated(Means),
    /// The limit came before an answer; the doubts say why.
    NotConverged(Means, Vec<Doubt>),
}

impl Verdict {
    /// Whether the run is over.
    pub fn is_final(&self) -> bool {
        *self != Verdict::Continue
    }

    /// The means found; `None` while the run goes on.
    pub fn outcome(&self) -> Option<&Means> {
        match self {
            Verdict::Continue => None,
            Verdict::Converged(outcome)
            | Verdict::Saturated(outcome)
            | Verdict::NotConverged(outcome, _) => Some(outcome),
        }
    }
}

/// Whether a network carries a load, as far as a run can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It does: nothing piles up.
    Carried,
    /// It does not: part of what is offered piles up.
    Refused,
    /// The run was too short to tell.
    Open,
}

/// Why a run did not converge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Doubt {
    /// The series still drifts: the best warm-up cut lies in its second half.
    WarmUp,
    /// No packet was delivered after the warm-up.
    NothingDelivered,
    /// The backlog rises: perhaps the network is saturated.
    Rising,
    /// All is well, but so far at one judgement only.
    Unconfirmed,
    /// The run is too short for a network that fills slowly.
    Short {
        /// How many mean latencies it lasted after the warm-up.
        latencies: f64,
    },
    /// Too few messages were delivered to have seen every kind of them.
    Few {
        /// How many after the warm-up.
        messages: u64,
        /// How many there should be.
        wanted: u64,
    },
    /// The accepted load is not known well enough.
    Accepted(Precision),
    /// The mean latency is not known well enough.
    Latency(Precision),
}

/// How well a mean is known against how well it should be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precision {
    /// Relative half-width of its interval.
    pub found: f64,
    /// Relative half-width asked for.
    pub wanted: f64,
}

impl Doubt {
    /// How a mean falls short of the precision wanted, if it does.
    pub(super) fn about(mean: &Estimate, wanted: f64) -> Option<Precision> {
        let found = mean.relative();
        // A mean of zero is known to no relative precision at all.
        let sure = found <= wanted;
        (!sure).then_some(Precision { found, wanted })
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Doubt::WarmUp => write!(f, "still warming up: the means drift"),
            Doubt::NothingDelivered => write!(f, "no packet was delivered after warm-up"),
            Doubt::Rising => write!(f, "the backlog rises: perhaps the network is saturated"),
            Doubt::Unconfirmed => write!(f, "precise only at the very end, not confirmed"),
            Doubt::Short { latencies } => {
                write!(f, "the run lasted only {latencies:.0} mean latencies after warm-up")
            }
            Doubt::Few { messages, wanted } => write!(
                f,
                "only {messages} messages after warm-up, while some kind of them is rare: at least \
                 {wanted} are needed"
            ),
            Doubt::Accepted(precision) => write!(f, "accepted load {precision}"),
            Doubt::Latency(precision) => write!(f, "mean latency {precision}"),
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (found, wanted) = (100.0 * self.found, 100.0 * self.wanted);
        if found.is_finite() {
            write!(f, "known to ±{found:.1} %, asked for ±{wanted:.1} %")
        } else {
            write!(f, "is zero, asked for to ±{wanted:.1} %")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubts_are_told_in_words() {
        for (doubt, words) in [
            (
                Doubt::Latency(Precision { found: 0.073, wanted: 0.02 }),
                "mean latency known to ±7.3 %, asked for ±2.0 %",
            ),
            (
                Doubt::Accepted(Precision { found: f64::NAN, wanted: 0.02 }),
                "accepted load is zero, asked for to ±2.0 %",
            ),
            (
                Doubt::Short { latencies: 12.3 },
                "the run lasted only 12 mean latencies after warm-up",
            ),
        ] {
            assert_eq!(doubt.to_string(), words);
        }
    }
}
