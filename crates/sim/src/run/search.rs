//! The search for the saturation load, one run per load tried.

use super::{Ending, Findings, Trial};
use crosstie_measure::{Aim, Answer, Saturation, SaturationSearch, SearchError, Step};
use crosstie_work::traffic::TrafficError;
use std::ops::ControlFlow;

/// What a search found.
#[derive(Debug, Clone)]
pub struct Searched {
    /// Where saturation lies; `None` if a run deadlocked, which ended the search.
    pub saturation: Option<Saturation>,
    /// A run that shows the network at its limit: at the lowest load that was refused, else at the
    /// highest that was tried; or the one that deadlocked.
    pub limit: Findings,
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
    /// Each load is run until it is known whether it is carried, or the limit comes. The load at the
    /// limit is then run once more, until its means are known.
    pub fn search(
        &self,
        precision: f64,
        watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Option<Searched>, TrialError> {
        let mut search = SaturationSearch::new(precision, 1.0, precision)?;
        let (mut cycles, mut runs, mut highest, mut refused) = (0, 0, 0.0f64, None);
        let saturation = loop {
            let (aim, load) = match search.step() {
                Step::Try(load) => (Aim::Answer, load),
                Step::Confirm(load) => (Aim::Confirmation, load),
                Step::Done(saturation) => break saturation,
            };
            let ended = self.run_for(aim, load, &mut |now| watch(cycles + now))?;
            let Some(ended) = ended else { return Ok(None) };
            cycles += ended.steady.cycles();
            runs += 1;
            if ended.deadlock.is_some() {
                let (saturation, limit) = (None, ended.findings(load));
                return Ok(Some(Searched { saturation, limit, runs, cycles }));
            }
            highest = highest.max(load);
            if ended.steady.answer() == Answer::Refused {
                refused = Some(refused.map_or(load, |refused: f64| refused.min(load)));
            }
            search.report(ended.steady.answer(), ended.offered());
        };
        let load = refused.unwrap_or(highest);
        let Some(limit) = self.run(load, &mut |now| watch(cycles + now))? else { return Ok(None) };
        let saturation = match limit.ending {
            Ending::Deadlocked(_) => None,
            _ => Some(saturation),
        };
        cycles += limit.cycles;
        Ok(Some(Searched { saturation, limit, runs: runs + 1, cycles }))
    }
}
