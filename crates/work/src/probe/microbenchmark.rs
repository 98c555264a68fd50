//! Any of the microbenchmarks, for whoever has others run it.

use super::{Burst, Inflow, Pairs, ReceiveOverhead, TransmitRing};
use crate::Program;
use crosstie_collective::Rank;
use serde::{Deserialize, Serialize};

/// A microbenchmark as a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Microbenchmark {
    /// O_s and g_s.
    TransmitRing(TransmitRing),
    /// RTT, U_r and O_r.
    ReceiveOverhead(ReceiveOverhead),
    /// g_r.
    Inflow(Inflow),
    /// RTT of many pairs.
    Pairs(Pairs),
    /// What comes through of bursts.
    Burst(Burst),
}

impl Microbenchmark {
    /// What its ranks do.
    pub fn program(self) -> Program {
        match self {
            Microbenchmark::TransmitRing(probe) => probe.program(),
            Microbenchmark::ReceiveOverhead(probe) => probe.program(),
            Microbenchmark::Inflow(probe) => probe.program(),
            Microbenchmark::Pairs(probe) => probe.program(),
            Microbenchmark::Burst(probe) => probe.program(),
        }
    }

    /// The ranks that take part, in order.
    pub fn ranks(&self) -> Vec<Rank> {
        let mut ranks = Vec::new();
        self.clone().each_rank(|rank| ranks.push(*rank));
        ranks.sort_unstable();
        ranks.dedup();
        ranks
    }

    /// The same between ranks that have other numbers: those that take part are counted from 0, in
    /// the order of [`ranks`](Microbenchmark::ranks).
    pub fn among_themselves(mut self) -> Microbenchmark {
        let ranks = self.ranks();
        self.each_rank(|rank| {
            let place = ranks.binary_search(rank).expect("it takes part");
            *rank = Rank(place as u32);
        });
        self
    }

    fn each_rank(&mut self, mut each: impl FnMut(&mut Rank)) {
        match self {
            Microbenchmark::TransmitRing(TransmitRing { from: one, to: other, .. })
            | Microbenchmark::ReceiveOverhead(ReceiveOverhead {
                master: one, slave: other, ..
            }) => [one, other].into_iter().for_each(each),
            Microbenchmark::Inflow(Inflow { senders, receiver, .. }) => {
                senders.iter_mut().chain([receiver]).for_each(each);
            }
            Microbenchmark::Pairs(Pairs { pairs, .. }) => {
                for (left, right) in pairs {
                    each(left);
                    each(right);
                }
            }
            Microbenchmark::Burst(Burst { sources, sinks, .. }) => {
                sources.iter_mut().chain(sinks).for_each(each);
            }
        }
    }
}

impl From<TransmitRing> for Microbenchmark {
    fn from(probe: TransmitRing) -> Microbenchmark {
        Microbenchmark::TransmitRing(probe)
    }
}

impl From<ReceiveOverhead> for Microbenchmark {
    fn from(probe: ReceiveOverhead) -> Microbenchmark {
        Microbenchmark::ReceiveOverhead(probe)
    }
}

impl From<Inflow> for Microbenchmark {
    fn from(probe: Inflow) -> Microbenchmark {
        Microbenchmark::Inflow(probe)
    }
}

impl From<Pairs> for Microbenchmark {
    fn from(probe: Pairs) -> Microbenchmark {
        Microbenchmark::Pairs(probe)
    }
}

impl From<Burst> for Microbenchmark {
    fn from(probe: Burst) -> Microbenchmark {
        Microbenchmark::Burst(probe)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Application;
    use crosstie_units::Time;

    #[test]
    fn ranks_are_counted_anew_and_all_take_part() {
        let us = Time::from_ns(1_000);
        let ranks = |ranks: &[u32]| ranks.iter().map(|&rank| Rank(rank)).collect::<Vec<_>>();
        let (bytes, settle, drain, rest) = (1, us, us, us);
        let (sources, sinks) = (ranks(&[9, 4]), ranks(&[6]));
        let bursts = vec![3];
        let burst = Burst { sources, sinks, bytes, bursts, settle, drain, rest };
        let pairs = vec![(Rank(7), Rank(1)), (Rank(3), Rank(2))];
        let pairs = Pairs { pairs, bytes, iterations: 1, every: None };
        let probes: [(Microbenchmark, &[u32]); 2] =
            [(burst.into(), &[4, 6, 9]), (pairs.into(), &[1, 2, 3, 7])];
        for (probe, expected) in probes {
            assert_eq!(probe.ranks(), ranks(expected));
            let anew = probe.clone().among_themselves();
            assert_eq!(anew.ranks(), ranks(&(0..expected.len() as u32).collect::<Vec<_>>()));
            assert_eq!(anew.clone().among_themselves(), anew);
            assert_eq!(probe.program().ranks(), ranks(expected));
            let text = serde_json::to_string(&anew).unwrap();
            assert_eq!(serde_json::from_str::<Microbenchmark>(&text).unwrap(), anew, "{text}");
        }
    }
}
