//! From hand to hand.

use super::Declaration;
use crate::algorithm::round::Round;
use crate::program::builder::{ProgramBuilder, Side, one};
use crate::{Access, OpId};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "chain",
    sentence: "Segments of the vector go from each rank to the next, one behind the other: \
               p - 2 + the number of segments is the number of steps.",
};

pub(super) fn write(program: &mut ProgramBuilder, root: u32, parts: u32) {
    let round = Round { root, ranks: program.ranks };
    let number = round.number(program.rank);
    let before = (number > 0).then(|| program.back(1));
    let behind = (number + 1 < round.ranks).then(|| program.on(1));
    let (mut received, mut sent): (Option<OpId>, Option<OpId>) = (None, None);
    for segment in 0..parts {
        if let Some(before) = before {
            let next = program.receive(Access::Store, Side::new(before, segment, one(segment)));
            received.into_iter().for_each(|last| program.after(last));
            received = Some(next);
        }
        if let Some(behind) = behind {
            let next = program.send(Side::new(behind, segment, one(segment)));
            received.into_iter().chain(sent).for_each(|last| program.after(last));
            sent = Some(next);
        }
    }
}
