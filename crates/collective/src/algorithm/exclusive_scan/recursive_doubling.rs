//! One further on, then a scan.

use super::Declaration;
use crate::Access;
use crate::algorithm::scan;
use crate::program::builder::{ProgramBuilder, Side, one};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "recursive-doubling",
    sentence: "Every rank gives its vector to the next one; of these, ranks 1 to p - 1 make a scan by \
               recursive doubling: 1 + ceil(log2 (p - 1)) steps.",
};

pub(super) fn write(program: &mut ProgramBuilder) {
    let rank = program.rank;
    let to = (rank + 1 < program.ranks).then(|| Side::new(rank + 1, 0, one(0)));
    let from = rank.checked_sub(1).map(|before| Side::new(before, 0, one(0)));
    program.exchange_some(to, Access::Replace, from);
    scan::recursive_doubling::steps(program, 1, 1);
}
