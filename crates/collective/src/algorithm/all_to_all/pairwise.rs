//! A tournament.

use super::{Declaration, block};
use crate::Access;
use crate::score::{Score, Side};
use std::iter::once;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "pairwise",
    sentence: "Pairs exchange their blocks, round after round: in round k with rank xor k among a power of \
               two, else as in a round-robin tournament, in which one rests if their number is odd.",
};

pub(super) fn write(score: Score) -> Score {
    score.each(|part| {
        let (rank, ranks) = (part.rank, part.ranks());
        for round in 1..=rounds(ranks) {
            let Some(partner) = partner(rank, round, ranks) else { continue };
            part.exchange(
                Side::new(partner, round, once(block(rank, partner, ranks))),
                Access::Store,
                Side::new(partner, round, once(block(partner, rank, ranks))),
            );
        }
    })
}

/// The number of rounds. One rests in each of them if the ranks are odd.
fn rounds(ranks: u32) -> u32 {
    if ranks.is_multiple_of(2) { ranks - 1 } else { ranks }
}

/// With whom a rank exchanges in a round, counted from 1, unless it rests.
fn partner(rank: u32, round: u32, ranks: u32) -> Option<u32> {
    if ranks.is_power_of_two() {
        return Some(rank ^ round);
    }
    // The circle method. All but the last sit in a circle of odd length, and those meet whose
    // numbers add up to the round; who would meet itself meets the last. Among an odd number of
    // ranks the last is nobody.
    let circle = u64::from(rounds(ranks));
    let (rank, round) = (u64::from(rank), u64::from(round));
    let partner = if rank == circle {
        // Half of the round in a circle of odd length.
        round * circle.div_ceil(2) % circle
    } else {
        match (round + circle - rank) % circle {
            partner if partner == rank => circle,
            partner => partner,
        }
    };
    (partner < u64::from(ranks)).then_some(partner as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_is_a_matching_and_every_pair_meets_once() {
        for ranks in 2..=40 {
            let mut met = vec![0; (ranks * ranks) as usize];
            for round in 1..=rounds(ranks) {
                let mut resting = 0;
                for rank in 0..ranks {
                    match super::partner(rank, round, ranks) {
                        Some(partner) => {
                            assert_ne!(rank, partner);
                            assert_eq!(super::partner(partner, round, ranks), Some(rank));
                            met[(rank * ranks + partner) as usize] += 1;
                        }
                        None => resting += 1,
                    }
                }
                assert_eq!(resting, ranks % 2);
            }
            let once = |pair: usize| i32::from(pair as u32 / ranks != pair as u32 % ranks);
            assert!(met.iter().enumerate().all(|(pair, &times)| times == once(pair)), "{ranks}");
        }
    }
}
