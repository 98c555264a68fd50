//! Down a tree, one segment behind the other.

use super::Declaration;
use crate::algorithm::binomial;
use crate::algorithm::round::Round;
use crate::program::builder::{ProgramBuilder, Side, one};
use crate::{Access, OpId};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "segmented-binomial",
    sentence: "Segments of the vector go down a binomial tree one behind the other: whoever has one sends \
               it to all below, where most follow first.",
};

pub(super) fn write(program: &mut ProgramBuilder, root: u32, parts: u32) {
    let round = Round { root, ranks: program.ranks };
    let number = round.number(program.rank);
    let above = (number > 0).then(|| round.rank(binomial::far_parent(number)));
    let mut received: Option<OpId> = None;
    for segment in 0..parts {
        if let Some(above) = above {
            let next = program.receive(Access::Store, Side::new(above, segment, one(segment)));
            received.into_iter().for_each(|last| program.after(last));
            received = Some(next);
        }
        // None of these waits for another: what comes first is sent first.
        for child in binomial::far_children(number, round.ranks).rev() {
            program.send(Side::new(round.rank(child), segment, one(segment)));
            received.into_iter().for_each(|last| program.after(last));
        }
    }
}
