//! What a paper publishes, and how it compares with what was measured.
//!
//! A paper makes [`Claim`]s: numbers, ranges of numbers, shapes in words, or whole
//! columns. [`Published::parse`]
//! reads them from a TOML file. A measurement of each ([`Measured`]) makes it a [`Finding`], which
//! says whether the two agree, as far as the interval of the measurement ([`Estimate`]) tells.

mod claim;
mod estimate;
mod finding;
mod grid;
mod published;
mod series;
mod truth;

pub use claim::{Certainty, Claim, Role, Target, Tolerance};
pub use estimate::Estimate;
pub use finding::{Agreement, Finding, Measured, Missing};
pub use grid::{Grid, GridRow};
pub use published::{Check, Parameter, Published};
pub use series::{Order, Series, rank_correlation};
pub use truth::Truth;
