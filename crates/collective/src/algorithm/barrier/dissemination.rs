//! Rumours that double.

use super::Declaration;
use crate::Access;
use crate::program::builder::{ProgramBuilder, Side, one};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "dissemination",
    sentence: "In step k everybody tells the rank 2^k further on: ceil(log2 p) steps for p ranks.",
};

pub(super) fn write(program: &mut ProgramBuilder) {
    for step in 0..program.doublings() {
        let (to, from) = (program.on(1 << step), program.back(1 << step));
        program.exchange(Side::new(to, step, one(0)), Access::Merge, Side::new(from, step, one(0)));
    }
}
