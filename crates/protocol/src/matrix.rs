//! Static allocation: which node transmits on which rail, fixed at start-up.
//!
//! A [`Matrix`] `A` has a row per rail and a column per node. `A[k][j] = 1`: node `j` transmits on
//! rail `k`; `0`: it receives there. Node `j` reaches node `i` directly when some rail `k` has
//! `A[k][j] = 1` and `A[k][i] = 0`. An [`Allocation`] is a matrix in which every node reaches every
//! other that way [coll, eq. 2]; nothing is relayed through third nodes.
//!
//! Let `S_j` be the rails on which `j` transmits. Node `j` fails to reach `i` exactly when `S_j` is
//! contained in `S_i`, so the columns must be an antichain, and Sperner's lemma bounds their
//! number: see [`largest_cluster`].

mod algorithm1;
mod algorithm2;
mod bound;
mod check;
mod error;
mod text;

pub use algorithm1::{algorithm1, rails_algorithm1};
pub use algorithm2::{algorithm2, room};
pub use bound::{largest_cluster, rails_optimal};
pub use check::{Allocation, Unconnected};
pub use error::{MatrixError, ReadError};

use crate::{NodeId, RailId};

/// The most nodes a matrix has.
pub const MAX_NODES: u32 = 1 << 16;

/// The most rails a matrix has.
pub const MAX_RAILS: u32 = 1 << 12;

const WORD: u32 = u64::BITS;

/// Rails x nodes of bits: 1 where the node transmits, 0 where it receives.
///
/// Reads from text with one row per rail, `0` and `1` per node, rows apart by newlines or `/`, and
/// `#` before a comment. Prints one row per line, or with `{:#}` all in one line.
///
/// ```
/// use crosstie_protocol::{Matrix, NodeId, RailId};
///
/// let matrix: Matrix = "1100 / 0011 / 1010 / 0101  # two pairs of rails".parse()?;
/// assert_eq!((matrix.rails(), matrix.nodes()), (4, 4));
/// assert!(matrix.transmits(RailId(0), NodeId(1)));
/// assert_eq!(matrix.check(), Ok(()));
/// assert_eq!(format!("{matrix:#}"), "1100 / 0011 / 1010 / 0101");
/// # Ok::<(), crosstie_protocol::ReadError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Matrix {
    rails: u32,
    nodes: u32,
    /// Node by node, so that comparing two nodes compares words.
    columns: Vec<u64>,
}

impl Matrix {
    /// A matrix in which all nodes receive everywhere.
    ///
    /// The callers have checked the size against [`MAX_RAILS`] and [`MAX_NODES`].
    fn silent(rails: u32, nodes: u32) -> Matrix {
        let words = rails.div_ceil(WORD) as usize * nodes as usize;
        Matrix { rails, nodes, columns: vec![0; words] }
    }

    /// The number of rails r.
    pub fn rails(&self) -> u32 {
        self.rails
    }

    /// The number of nodes n.
    pub fn nodes(&self) -> u32 {
        self.nodes
    }

    /// Whether a node transmits on a rail (otherwise it receives there).
    ///
    /// # Panics
    /// If the matrix has no such rail or node.
    pub fn transmits(&self, rail: RailId, node: NodeId) -> bool {
        let (word, bit) = self.place(rail, node);
        self.columns[word] >> bit & 1 == 1
    }

    fn set(&mut self, rail: RailId, node: NodeId) {
        let (word, bit) = self.place(rail, node);
        self.columns[word] |= 1 << bit;
    }

    fn place(&self, rail: RailId, node: NodeId) -> (usize, u32) {
        let (rails, nodes) = (self.rails, self.nodes);
        assert!(
            rail.0 < rails && node.0 < nodes,
            "rail {} of node {} is outside of a matrix of {rails} rails and {nodes} nodes",
            rail.0,
            node.0
        );
        let start = rails.div_ceil(WORD) as usize * node.0 as usize;
        (start + (rail.0 / WORD) as usize, rail.0 % WORD)
    }

    /// The rails on which a node transmits, as words of bits.
    fn column(&self, node: u32) -> &[u64] {
        let words = self.rails.div_ceil(WORD) as usize;
        &self.columns[words * node as usize..][..words]
    }
}

#[cfg(test)]
mod tests;
