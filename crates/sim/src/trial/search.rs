//! The search for the saturation load, one run per load tried.

use super::{Ending, Findings, Trial};
use crate::measure::{Saturation, SaturationSearch, SearchError, Step};
use crate::traffic::TrafficError;
use std::ops::ControlFlow;

/// What a search found.
#[derive(Debug, Clone)]
pub struct Searched {
    /// Where saturation lies; `None` if a run deadlocked, which ended the search.
    pub saturation: Option<Saturation>,
    /// The run that shows the network at its limit: the one at the lowest load not carried, else
    /// (if all was carried) at the highest, or the one that deadlocked.
    pub limit: Findings,
    /// Loads whose runs did not converge, so that accepted against offered load alone decided.
    pub unsure: Vec<f64>,
    /// Runs made.
    pub runs: u32,
    /// Cycles simulated in all of them.
    pub cycles: u64,
}

/// Why a search could not be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TrialError {
    /// The traffic makes no sense.
    #[error(transparent)]
    Traffic(#[from] TrafficError),
    /// The search makes no sense.
    #[error(transparent)]
    Search(#[from] SearchError),
}

impl Trial<'_> {
    /// Finds the least load that the network does not carry, to an absolute precision, between the
    /// precision itself and 1. `watch` is called as in [`Trial::run`], with the cycles of all runs.
    ///
    /// A run that did not converge counts as carried if accepted falls short of offered by no more
    /// than the relative precision of the means.
    pub fn search(
        &self,
        precision: f64,
        watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Option<Searched>, TrialError> {
        let mut search = SaturationSearch::new(precision, 1.0, precision)?;
        let (mut cycles, mut runs, mut unsure) = (0, 0, Vec::new());
        let (mut refused, mut carried): (Option<Findings>, Option<Findings>) = (None, None);
        loop {
            let (saturation, limit) = match search.step() {
                Step::Try(load) => {
                    let Some(found) = self.run(load, &mut |now| watch(cycles + now))? else {
                        return Ok(None);
                    };
                    cycles += found.cycles;
                    runs += 1;
                    search.report(found.carried);
                    match found.ending {
                        Ending::Deadlocked(_) => (None, found),
                        _ => {
                            if matches!(found.ending, Ending::NotConverged(_)) {
                                unsure.push(load);
                            }
                            let side = if found.carried { &mut carried } else { &mut refused };
                            *side = Some(found);
                            continue;
                        }
                    }
                }
                Step::Done(saturation) => {
                    let limit = refused.or(carried).expect("a search is not over before it tries");
                    (Some(saturation), limit)
                }
            };
            unsure.sort_by(f64::total_cmp);
            return Ok(Some(Searched { saturation, limit, unsure, runs, cycles }));
        }
    }
}
