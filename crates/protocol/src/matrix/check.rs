//! Whether a matrix lets every node reach every other.

use super::Matrix;
use crate::NodeId;

/// Two nodes of which the first has no rail to the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "node {} cannot reach node {}: on every rail on which {} transmits, {} transmits too",
    from.0, to.0, from.0, to.0
)]
pub struct Unconnected {
    /// The node that wants to send.
    pub from: NodeId,
    /// The node it does not reach.
    pub to: NodeId,
}

impl Matrix {
    /// Verifies that every node reaches every other directly; otherwise names the first pair, by
    /// sender and then by receiver, that is not connected.
    pub fn check(&self) -> Result<(), Unconnected> {
        // A set lies only in sets that are larger or equal to it. Sorted by size, and alike
        // columns side by side, a matrix of equal sizes is checked without comparing all pairs.
        let weight =
            |node: u32| -> u32 { self.column(node).iter().map(|word| word.count_ones()).sum() };
        let mut order: Vec<(u32, u32)> = (0..self.nodes).map(|node| (weight(node), node)).collect();
        order.sort_unstable_by(|&(w, a), &(v, b)| {
            (w, self.column(a), a).cmp(&(v, self.column(b), b))
        });
        let mut found: Option<(u32, u32)> = None;
        for group in order.chunk_by(|a, b| self.column(a.1) == self.column(b.1)) {
            // Nodes ascend within a group: of all its pairs this one comes first.
            if let [(_, first), (_, next), ..] = *group {
                found = earlier(found, (first, next));
            }
        }
        let words = self.column(0).len();
        let sorted: Vec<u64> =
            order.iter().flat_map(|&(_, node)| self.column(node)).copied().collect();
        let mut heavier = 0;
        for &(weight, from) in &order {
            while order.get(heavier).is_some_and(|&(other, _)| other <= weight) {
                heavier += 1;
            }
            if found.is_some_and(|(first, _)| first < from) {
                continue;
            }
            let columns = sorted[heavier * words..].chunks_exact(words);
            for (&(_, to), column) in order[heavier..].iter().zip(columns) {
                if contains(column, self.column(from)) {
                    found = earlier(found, (from, to));
                }
            }
        }
        match found {
            None => Ok(()),
            Some((from, to)) => Err(Unconnected { from: NodeId(from), to: NodeId(to) }),
        }
    }
}

fn earlier(found: Option<(u32, u32)>, pair: (u32, u32)) -> Option<(u32, u32)> {
    Some(found.map_or(pair, |first| first.min(pair)))
}

fn contains(outer: &[u64], inner: &[u64]) -> bool {
    outer.iter().zip(inner).all(|(outer, inner)| inner & !outer == 0)
}

/// A matrix in which every node reaches every other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allocation(Matrix);

impl Allocation {
    /// Checks a matrix.
    pub fn new(matrix: Matrix) -> Result<Allocation, Unconnected> {
        matrix.check()?;
        Ok(Allocation(matrix))
    }

    /// The matrix.
    pub fn matrix(&self) -> &Matrix {
        &self.0
    }
}
