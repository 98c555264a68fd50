//! What a paper publishes, and how it compares with what was measured.
//!
//! A paper makes [`Claim`]s: numbers, ranges of numbers, or shapes in words. [`Published::parse`]
//! reads them from a TOML file. A measurement of each ([`Measured`]) makes it a [`Finding`], which
//! says whether the two agree, as far as the interval of the measurement ([`Estimate`]) tells.

mod claim;
mod estimate;
mod finding;
mod grid;
mod published;
mod truth;

pub use claim::{Certainty, Claim, Target, Tolerance};
pub use estimate::Estimate;
pub use finding::{Agreement, Finding, Measured, Missing};
pub use grid::{Grid, GridRow};
pub use published::{Parameter, Published};
pub use truth::Truth;
