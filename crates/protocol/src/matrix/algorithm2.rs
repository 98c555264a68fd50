//! Algorithm 2 of Coll: as many nodes as the rails can join.

use super::{MAX_NODES, MAX_RAILS, Matrix, MatrixError, largest_cluster, rails_optimal};
use crate::{NodeId, RailId};

/// The matrix of Algorithm 2: every node transmits on `floor(r/2)` rails, no two on the same ones.
///
/// Columns come in descending lexicographic order, rail 0 first, as the recursion of the paper
/// emits them.
pub fn algorithm2(rails: u32, nodes: u32) -> Result<Matrix, MatrixError> {
    room(rails, nodes)?;
    let mut matrix = Matrix::silent(rails, nodes);
    let mut ones: Vec<u32> = (0..rails / 2).collect();
    for node in 0..nodes {
        for &rail in &ones {
            matrix.set(RailId(rail), NodeId(node));
        }
        advance(&mut ones, rails);
    }
    Ok(matrix)
}

/// Whether there is such a matrix.
pub fn room(rails: u32, nodes: u32) -> Result<(), MatrixError> {
    if nodes < 2 {
        return Err(MatrixError::TooFewNodes { nodes });
    }
    let most = largest_cluster(rails);
    if u128::from(nodes) > most {
        let needed = rails_optimal(nodes);
        return Err(MatrixError::TooManyNodes { nodes, rails, most, needed });
    }
    if rails > MAX_RAILS || nodes > MAX_NODES {
        return Err(MatrixError::TooLarge { rails, nodes });
    }
    Ok(())
}

/// The next set of rails in lexicographic order, which is the next lower column. After the last
/// set nothing changes.
fn advance(ones: &mut [u32], rails: u32) {
    let count = ones.len();
    let room = |place: usize| rails - (count - place) as u32;
    if let Some(place) = (0..count).rev().find(|&place| ones[place] < room(place)) {
        ones[place] += 1;
        for next in place + 1..count {
            ones[next] = ones[next - 1] + 1;
        }
    }
}
