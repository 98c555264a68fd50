//! What a paper publishes, and how it compares with what was measured.
//!
//! A paper makes [`Claim`]s: numbers, ranges of numbers, or shapes in words. [`Published::parse`]
//! reads them from a TOML file. A measurement of each ([`Measured`]) makes it a [`Finding`], which
//! says whether the two agree.

mod claim;
mod finding;
mod grid;
mod published;

pub use claim::{Certainty, Claim, Target, Tolerance};
pub use finding::{Agreement, Finding, Measured, Missing};
pub use grid::{Grid, GridRow};
pub use published::{Parameter, Published};
