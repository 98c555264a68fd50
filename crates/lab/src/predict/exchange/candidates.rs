//! The algorithms of an exchange, with the keys that fit a machine.

use super::{ExchangeQuestion, risk};
use crosstie_collective::algorithm::{AllToAll, Pairs};
use crosstie_collective::{Counting, Reading};
use crosstie_model::{Architecture, Exchange, Parameters};

/// The algorithms for one exchange on one machine.
pub(super) struct Candidates<'a> {
    parameters: &'a Parameters,
    exchange: Exchange,
    question: &'a ExchangeQuestion<'a>,
}

impl<'a> Candidates<'a> {
    pub fn new(
        parameters: &'a Parameters,
        exchange: Exchange,
        question: &'a ExchangeQuestion<'a>,
    ) -> Candidates<'a> {
        Candidates { parameters, exchange, question }
    }

    pub fn exchange(&self) -> Exchange {
        self.exchange
    }

    /// All of them. Of two that take the same time the first bears more: it waits for less, or
    /// keeps nodes in step.
    pub fn all(&self) -> Vec<AllToAll> {
        let group = AllToAll::GroupShuffle {
            group: self.omega(),
            pairs: Pairs::EdgeColour,
            hosts_per_switch: None,
        };
        let plain = [AllToAll::SYNCHRONOUS_SHUFFLE, group, AllToAll::PAIRWISE, AllToAll::Shift {}];
        self.modified().into_iter().chain(plain).collect()
    }

    /// What a reader should know of them.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.parameters.buffer.is_none() {
            remarks.push(
                "the parameters say nothing of B_L: modified-shuffle has no W_g, and what is lost is not known"
                    .to_owned(),
            );
        }
        if let Some(uplink) = self.parameters.uplink
            && self.hosts_per_switch().is_none()
            && self.exchange.ranks > uplink.hosts
        {
            remarks.push(format!(
                "{} nodes are not so many at each switch, which has {} hosts: steps are not spread over switches",
                self.exchange.ranks, uplink.hosts
            ));
        }
        remarks
    }

    /// d_1, if all switches have as many of the nodes and there are several.
    fn hosts_per_switch(&self) -> Option<u32> {
        let here = self.parameters.uplink?.hosts;
        let ranks = self.exchange.ranks;
        (ranks > here && ranks.is_multiple_of(here)).then_some(here)
    }

    /// A synchronous shuffle with the map of the switches and the window that follows from B_L of
    /// the bottleneck: of the uplink, or of a port; of all ports if they share memory.
    fn modified(&self) -> Option<AllToAll> {
        let own = self.parameters.buffer?;
        let hosts_per_switch = self.hosts_per_switch();
        let at_uplink = match (self.parameters.uplink, own.architecture) {
            (Some(uplink), Architecture::Input | Architecture::Output)
                if self.exchange.ranks > uplink.hosts =>
            {
                uplink.frames
            }
            _ => None,
        };
        Some(AllToAll::ModifiedShuffle {
            hosts_per_switch,
            buffer: at_uplink.unwrap_or(own.frames).min(1 << 24),
            reading: Reading::Published,
            permutation: None,
            counts: Counting::Received,
        })
    }

    /// The largest group whose packets a port bears if they do not come in step; at least 2, and
    /// small enough for two rounds.
    fn omega(&self) -> u32 {
        let most = self.exchange.colours().div_ceil(2);
        let bears = |&omega: &u32| {
            risk::of_fan_out(self.parameters, self.exchange, self.question.window, omega).is_none()
        };
        (2..=most).rev().find(bears).unwrap_or(2.min(most))
    }
}
