//! What a run may claim: warm-up, means with confidence intervals, latency quantiles, saturation.
//!
//! Nothing here knows the simulator. It hands in counters, window by window, and is told when to
//! stop and what was found:
//!
//! - [`Steady`] judges a run: detected warm-up ([`WarmUp`], MSER-5), batch means ([`Estimate`]),
//!   and a [`Verdict`] that tells *converged*, *saturated* and *not converged* apart;
//! - [`LatencyLog`] keeps latencies as histograms over time, so that the warm-up can be taken out
//!   of quantiles too once the verdict has named it;
//! - [`Iterations`] judges the times that closed-loop work took;
//! - [`SaturationSearch`] asks for one load after another until saturation is bracketed, and keeps
//!   what runs could not tell inside the bracket.
//!
//! ```
//! use crosstie_measure::{Aim, Steady, SteadySpec, Verdict, Window};
//!
//! let spec = SteadySpec {
//!     aim: Aim::Means,
//!     window: 100,
//!     precision: 0.02,
//!     confidence: 0.95,
//!     messages: 0,
//!     lump: 10.0,
//!     sources: 1,
//!     limit: 1_000_000,
//! };
//! let mut run = Steady::new(spec);
//! // A network that delivers every cycle what it is given, in 10 cycles.
//! let window =
//!     Window { generated: 100, delivered: 100, messages: 10, latency: 100, backlog: 10 };
//! while !run.observe(window).is_final() {}
//! let Verdict::Converged(outcome) = run.verdict() else { panic!("nothing could be steadier") };
//! assert_eq!((outcome.accepted.mean, outcome.latency.unwrap().mean), (1.0, 10.0));
//! ```

mod batch;
mod iterations;
mod latency;
#[cfg(test)]
mod queue;
mod saturation;
mod steady;
mod student;
mod trend;
mod verdict;
mod warmup;

pub use batch::Estimate;
pub use iterations::Iterations;
pub use latency::{Latency, LatencyLog};
pub use saturation::{Saturation, SaturationSearch, SearchError, Step};
pub use steady::{Aim, Steady, SteadySpec, Window};
pub use student::student_t;
pub use verdict::{Answer, Doubt, Means, Precision, Verdict};
pub use warmup::WarmUp;
