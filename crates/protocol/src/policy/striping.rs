//! Striping: long messages are cut, and take all rails at once [liu, 4.4 and 4.5].

use std::collections::BTreeMap;

use super::multiplex::{Multiplexer, Rule, Shares, named};
use super::{Feedback, Policy};
use crate::weights::{Adaptation, AdaptiveWeights, Fared, cut};
use crate::{Dispatch, MessageId, NodeId, NodeSpec, PeId, RailId, RailSet, Stripe};

/// How long the stripes of a message are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cutting {
    /// As fixed weights say; equal ones make equal stripes.
    Weighted(Shares),
    /// As weights say that follow what rails carry.
    Adaptive(Adaptation),
}

/// A message whose weights follow.
#[derive(Debug)]
struct Cut {
    to: NodeId,
    /// Stripes that have not fared yet, and those that have.
    left: usize,
    weights: Vec<(RailId, f64)>,
    fared: Vec<Fared>,
}

/// Messages of at least so many bytes are cut; shorter ones take one rail each.
#[derive(Debug)]
pub struct Striping {
    cutting: Cutting,
    threshold: u64,
    rails: u32,
    short: Multiplexer,
    /// The weights to each node, where they follow.
    weights: BTreeMap<NodeId, AdaptiveWeights>,
    /// Messages under way, where weights follow.
    cuts: BTreeMap<MessageId, Cut>,
}

impl Striping {
    /// The policy of one node.
    pub fn new(spec: &NodeSpec, cutting: Cutting, threshold: u64, short: Rule) -> Striping {
        Striping {
            cutting,
            threshold,
            rails: spec.rails,
            short: Multiplexer::new(short, spec.rails),
            weights: BTreeMap::new(),
            cuts: BTreeMap::new(),
        }
    }

    /// The weights of the rails to a node, where they follow and something has been sent there.
    pub fn weights(&self, to: NodeId) -> Option<&[f64]> {
        self.weights.get(&to).map(AdaptiveWeights::get)
    }

    /// The weights of those rails that are up.
    fn weigh(&mut self, to: NodeId, up: RailSet) -> Vec<(RailId, f64)> {
        match self.cutting {
            Cutting::Weighted(shares) => {
                up.iter().map(|rail| (rail, f64::from(shares.of(rail)))).collect()
            }
            Cutting::Adaptive(adaptation) => {
                let new = || AdaptiveWeights::new(adaptation, self.rails);
                let weights = self.weights.entry(to).or_insert_with(new).get();
                up.iter().map(|rail| (rail, weights[rail.0 as usize])).collect()
            }
        }
    }
}

impl Policy for Striping {
    fn ready(&mut self, pe: PeId, dispatch: &mut Dispatch) {
        while let Some(&head) = dispatch.head(pe) {
            let up = dispatch.up_to(head.to);
            if head.whole || head.bytes < self.threshold {
                let rail = named(&head, up).or_else(|| self.short.next(pe, head.to, up));
                let Some(rail) = rail else { return };
                dispatch.send(pe, [Stripe { rail, bytes: 0..head.bytes }], false);
                continue;
            }
            let weights = self.weigh(head.to, up);
            if !weights.iter().any(|&(_, weight)| weight > 0.0) {
                return;
            }
            let stripes = cut(head.bytes, &weights);
            if let Cutting::Adaptive(_) = self.cutting {
                let cut = Cut { to: head.to, left: stripes.len(), weights, fared: Vec::new() };
                self.cuts.insert(head.message, cut);
            }
            dispatch.send(pe, stripes, false);
        }
    }

    /// A message that has lost a stripe tells nothing of the others. A rail that is taken back has
    /// the weight that it had.
    fn lives(&mut self, to: NodeId, rail: RailId, _lives: bool, _dispatch: &mut Dispatch) {
        let lost = |cut: &Cut| cut.to == to && cut.weights.iter().any(|&(other, _)| other == rail);
        self.cuts.retain(|_, cut| !lost(cut));
    }

    fn forget(&mut self, peer: NodeId, _dispatch: &Dispatch) {
        self.cuts.retain(|_, cut| cut.to != peer);
        self.weights.remove(&peer);
    }

    fn finished(&mut self, feedback: &Feedback, _dispatch: &mut Dispatch) {
        if feedback.again {
            return;
        }
        let &Feedback { message, rail, handed_over, done, .. } = feedback;
        let Some(cut) = self.cuts.get_mut(&message) else { return };
        let weight = cut.weights.iter().find(|&&(other, _)| other == rail);
        let weight = weight.expect("a stripe takes a rail that it was cut for").1;
        cut.fared.push(Fared { rail, weight, time: (done - handed_over).ps().max(1) as f64 });
        cut.left -= 1;
        if cut.left == 0 {
            let Cut { to, fared, .. } = self.cuts.remove(&message).expect("it is there");
            if let Some(weights) = self.weights.get_mut(&to) {
                weights.update(&fared);
            }
        }
    }
}
