//! From measurements to parameters: lines, planes, means that outliers do not move, and what slopes
//! tell about the buffers of a router [tam, app. A].

mod architecture;
mod line;
mod mean;
mod plane;

pub use architecture::{Finding, Slope, classify};
pub use line::{Line, line};
pub use mean::trimmed_mean;
pub use plane::{Plane, Sample, Term, plane};

/// Why nothing can be fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FitError {
    /// There are too few measurements.
    #[error("found {found} measurements, expected at least {expected}")]
    TooFew {
        /// How many there are.
        found: usize,
        /// How many there must be.
        expected: usize,
    },
    /// They do not tell terms apart, such as when all packets have one length.
    #[error(
        "the measurements do not tell the terms apart: vary what they depend on, or fit fewer terms"
    )]
    Degenerate,
    /// One of them is no number.
    #[error("measurement {place} is no finite number")]
    NotFinite {
        /// Which, counted from 0.
        place: usize,
    },
    /// A term is named twice, or there is none.
    #[error(
        "found {found} different terms among those to be fitted, expected {expected}, each once"
    )]
    Terms {
        /// How many different ones there are.
        found: usize,
        /// How many are named, or one.
        expected: usize,
    },
}
