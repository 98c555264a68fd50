//! In parts, all of which travel at once.

use super::Declaration;
use crate::Access;
use crate::algorithm::ring::{self, Place};
use crate::algorithm::round::Round;
use crate::algorithm::scatter;
use crate::program::builder::{ProgramBuilder, run};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "scatter-all-gather",
    sentence: "A binomial scatter gives everybody a part of the vector, and the parts go round a ring.",
};

pub(super) fn write(program: &mut ProgramBuilder, root: u32) {
    let round = Round { root, ranks: program.ranks };
    scatter::binomial::steps(program, round, |numbers| run(numbers.start, numbers.end));
    let number = round.number(program.rank);
    let place = Place { number, before: program.back(1), behind: program.on(1) };
    // The scatter uses tag 0.
    ring::steps(program, &place, 0, Access::Store, 1);
}
