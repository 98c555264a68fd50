//! Weights of rails, and messages cut by them [liu, 4.4 and 4.5].

use crate::{RailId, Stripe};

/// Cuts a message into contiguous stripes, one for each rail in the order given, in proportion to
/// weights: each stripe ends at the floor of `bytes * (w_1 + ... + w_i) / total`. So lengths add
/// up, and differ from what the weights say by less than a byte. There is no empty stripe, unless
/// the message is empty.
///
/// # Panics
/// If no weight is positive.
pub fn cut(bytes: u64, weights: &[(RailId, f64)]) -> Vec<Stripe> {
    let total: f64 = weights.iter().map(|&(_, weight)| weight).sum();
    assert!(total > 0.0, "a message is cut by positive weights, not {weights:?}");
    let last = weights.iter().rposition(|&(_, weight)| weight > 0.0).expect("one is positive");
    let (mut sum, mut start) = (0.0, 0);
    let mut stripes = Vec::with_capacity(weights.len());
    for (place, &(rail, weight)) in weights[..=last].iter().enumerate() {
        sum += weight;
        // Multiplied before it is divided: quotients of small shares would lose bytes.
        let end = if place == last { bytes } else { (bytes as f64 * sum / total) as u64 };
        if end > start || (bytes == 0 && place == last) {
            stripes.push(Stripe { rail, bytes: start..end });
        }
        start = end;
    }
    stripes
}

/// How weights follow what was measured [liu, equations 3 and 4].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Adaptation {
    /// How much a measurement counts beside what was before, alpha: above 0, up to 1.
    pub alpha: f64,
    /// The least weight of a rail, as a share of the sum: a rail without weight carries nothing,
    /// and would never be seen to have become faster.
    pub floor: f64,
    /// The sum of all weights, `W_total`, if they are whole numbers. `None`: they are real, and
    /// their sum is 1.
    pub units: Option<u32>,
}

impl Adaptation {
    /// The sum of all weights.
    pub fn total(&self) -> f64 {
        self.units.map_or(1.0, f64::from)
    }
}

/// How a stripe has fared: the rail, the weight that its message was cut with, and how long it
/// took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fared {
    /// The rail.
    pub rail: RailId,
    /// Its weight when the message was cut.
    pub weight: f64,
    /// From handing the stripe over until the receiver had it, in any unit.
    pub time: f64,
}

/// The weights of the rails to one node, which follow what rails carry.
#[derive(Debug, Clone, PartialEq)]
pub struct AdaptiveWeights {
    adaptation: Adaptation,
    weights: Vec<f64>,
}

impl AdaptiveWeights {
    /// Equal weights.
    pub fn new(adaptation: Adaptation, rails: u32) -> AdaptiveWeights {
        let each = adaptation.total() / f64::from(rails);
        let mut weights = AdaptiveWeights { adaptation, weights: vec![each; rails as usize] };
        weights.round();
        weights
    }

    /// Weights to start from, which are scaled to their sum.
    pub fn starting_at(adaptation: Adaptation, weights: &[f64]) -> AdaptiveWeights {
        let mut weights = AdaptiveWeights { adaptation, weights: weights.to_vec() };
        weights.restore();
        weights
    }

    /// The weights, by rail.
    pub fn get(&self) -> &[f64] {
        &self.weights
    }

    /// All stripes of a message have fared. Rails that had none keep their weight.
    pub fn update(&mut self, fared: &[Fared]) {
        let Adaptation { alpha, .. } = self.adaptation;
        // Nothing takes no time; the ratio of two such times is 1.
        let speed = |stripe: &Fared| stripe.weight / stripe.time.max(f64::MIN_POSITIVE);
        let speeds: f64 = fared.iter().map(speed).sum();
        let carried: f64 = fared.iter().map(|stripe| self.weights[stripe.rail.0 as usize]).sum();
        if !(speeds.is_normal() && carried > 0.0) {
            return;
        }
        for stripe in fared {
            let weight = &mut self.weights[stripe.rail.0 as usize];
            *weight = (1.0 - alpha) * *weight + alpha * carried * speed(stripe) / speeds;
        }
        self.restore();
    }

    /// Lifts weights to the floor at the cost of the others, and lets the sum be what it must.
    fn restore(&mut self) {
        let total = self.adaptation.total();
        let least = (self.adaptation.floor * total).min(total / self.weights.len() as f64);
        let mut raised = vec![false; self.weights.len()];
        loop {
            let (mut free, mut fixed) = (0.0, 0.0);
            for (&weight, &raised) in self.weights.iter().zip(&raised) {
                if raised { fixed += least } else { free += weight }
            }
            // Those above the floor share what is left, which may push others below it.
            let scale = if free > 0.0 { (total - fixed) / free } else { 0.0 };
            let mut changed = false;
            for (weight, raised) in self.weights.iter_mut().zip(&mut raised).filter(|pair| !*pair.1)
            {
                *weight *= scale;
                if *weight < least {
                    (*weight, *raised, changed) = (least, true, true);
                }
            }
            if !changed {
                break;
            }
        }
        self.round();
    }

    /// Rounds to whole numbers by the largest remainder, where weights are whole; of equals the
    /// first.
    fn round(&mut self) {
        let Some(units) = self.adaptation.units else { return };
        let mut short = u64::from(units);
        let mut remainders = Vec::with_capacity(self.weights.len());
        for (place, weight) in self.weights.iter_mut().enumerate() {
            // A whole number that arithmetic has missed by a hair is that number.
            let below = (*weight + 1e-9).floor();
            remainders.push((place, *weight - below));
            *weight = below;
            short -= (below as u64).min(short);
        }
        remainders.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        for &(place, _) in remainders.iter().take(short as usize) {
            self.weights[place] += 1.0;
        }
    }
}

#[cfg(test)]
mod tests;
