//! Algorithm 1 of Coll: simple, with `2 ceil(log2 n)` rails.

use super::{MAX_NODES, Matrix, MatrixError};
use crate::{NodeId, RailId};

/// The rails that Algorithm 1 needs for `nodes` nodes: `2 ceil(log2 n)`.
///
/// ```
/// assert_eq!(crosstie_protocol::rails_algorithm1(20), 10);
/// ```
pub fn rails_algorithm1(nodes: u32) -> u32 {
    2 * bits(nodes)
}

/// `ceil(log2 n)`: the bits it takes to tell the nodes apart.
fn bits(nodes: u32) -> u32 {
    u32::BITS - nodes.saturating_sub(1).leading_zeros()
}

/// The matrix of Algorithm 1: on rail `2i` nodes in consecutive groups of `2^i` are transmitters
/// and receivers in turn, on rail `2i+1` receivers and transmitters.
pub fn algorithm1(nodes: u32) -> Result<Matrix, MatrixError> {
    let rails = rails_algorithm1(nodes);
    match nodes {
        0 | 1 => return Err(MatrixError::TooFewNodes { nodes }),
        _ if nodes > MAX_NODES => return Err(MatrixError::TooLarge { rails, nodes }),
        _ => {}
    }
    let mut matrix = Matrix::silent(rails, nodes);
    for node in 0..nodes {
        for i in 0..rails / 2 {
            // The group of 2^i in which a node lies is even or odd as bit i of its number.
            let odd = node >> i & 1;
            matrix.set(RailId(2 * i + odd), NodeId(node));
        }
    }
    Ok(matrix)
}
