//! The partners of each rank in each step of an exchange.
//!
//! In every step a rank sends to at most one other and receives from at most one, so that no two
//! meet at a rank. After all steps each rank has sent to each other rank once.

use super::Pairs;
use crate::OperationError;
use crate::program::builder::on;
use serde::{Deserialize, Serialize};

/// A permutation of the ranks for every step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Permutation {
    /// In step k to the rank k further on: p - 1 steps.
    Shift,
    /// In step k with rank xor k: one step less than the next power of two has ranks.
    Xor,
    /// Pairs by a colouring of the edges of the complete graph: p - 1 steps, and p if p is odd, in
    /// each of which one rank rests.
    EdgeColour,
}

impl From<Pairs> for Permutation {
    fn from(pairs: Pairs) -> Permutation {
        match pairs {
            Pairs::Xor => Permutation::Xor,
            Pairs::EdgeColour => Permutation::EdgeColour,
        }
    }
}

/// The steps of an exchange among ranks that may be renumbered.
#[derive(Debug, Clone, Copy)]
pub(super) struct Steps {
    permutation: Permutation,
    ranks: u32,
    numbering: Numbering,
}

impl Steps {
    /// The steps of a permutation. With `per_switch` hosts at each switch, ranks are renumbered so
    /// that consecutive steps lead to different switches [tam, 6.3].
    pub fn new(
        permutation: Permutation,
        ranks: u32,
        per_switch: Option<u32>,
    ) -> Result<Steps, OperationError> {
        let numbering = match per_switch {
            None => Numbering { per_switch: 1, switches: ranks },
            Some(per_switch) if per_switch > 0 && ranks.is_multiple_of(per_switch) => {
                Numbering { per_switch, switches: ranks / per_switch }
            }
            Some(per_switch) => return Err(OperationError::UnevenSwitches { per_switch, ranks }),
        };
        Ok(Steps { permutation, ranks, numbering })
    }

    /// How many there are.
    pub fn count(self) -> u32 {
        match self.permutation {
            Permutation::Shift => self.ranks - 1,
            Permutation::Xor => self.ranks.next_power_of_two() - 1,
            Permutation::EdgeColour => colours(self.ranks),
        }
    }

    /// Returns true if there are steps in which some rank rests.
    pub fn rests(self) -> bool {
        self.count() > self.ranks - 1
    }

    /// To whom a rank sends in a step, counted from 1, unless it rests.
    pub fn to(self, rank: u32, step: u32) -> Option<u32> {
        let logical = self.numbering.logical(rank);
        let to = match self.permutation {
            Permutation::Shift => Some(on(logical, step, self.ranks)),
            Permutation::Xor => Some(logical ^ step).filter(|&to| to < self.ranks),
            Permutation::EdgeColour => edge_colour(logical, step, self.ranks),
        };
        to.map(|to| self.numbering.physical(to))
    }

    /// From whom it receives.
    pub fn from(self, rank: u32, step: u32) -> Option<u32> {
        match self.permutation {
            Permutation::Shift => {
                let logical = self.numbering.logical(rank);
                let from = on(logical, self.ranks - step, self.ranks);
                Some(self.numbering.physical(from))
            }
            Permutation::Xor | Permutation::EdgeColour => self.to(rank, step),
        }
    }
}

/// Another numbering of the ranks of a two-level network, in which neighbours are at different
/// switches [tam, 6.3].
#[derive(Debug, Clone, Copy)]
struct Numbering {
    /// d_1, or 1: then both numbers of a rank are the same.
    per_switch: u32,
    switches: u32,
}

impl Numbering {
    fn logical(self, physical: u32) -> u32 {
        physical / self.per_switch + physical % self.per_switch * self.switches
    }

    fn physical(self, logical: u32) -> u32 {
        logical % self.switches * self.per_switch + logical / self.switches
    }
}

/// The colours of the edges of a complete graph: chi.
fn colours(ranks: u32) -> u32 {
    if ranks.is_multiple_of(2) { ranks - 1 } else { ranks }
}

/// With whom a rank exchanges in the step of a colour, counted from 1, unless it rests.
///
/// All but the last sit in a circle of odd length, and those meet whose numbers add up to the
/// colour; a rank that would meet itself meets the last. Among an odd number of ranks the last is
/// nobody.
fn edge_colour(rank: u32, colour: u32, ranks: u32) -> Option<u32> {
    let circle = u64::from(colours(ranks));
    let (rank, colour) = (u64::from(rank), u64::from(colour));
    let partner = if rank == circle {
        // Half of the colour in a circle of odd length.
        colour * circle.div_ceil(2) % circle
    } else {
        match (colour + circle - rank) % circle {
            partner if partner == rank => circle,
            partner => partner,
        }
    };
    (partner < u64::from(ranks)).then_some(partner as u32)
}

#[cfg(test)]
mod tests;
