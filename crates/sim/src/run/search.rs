//! The search for the saturation load, one run per load tried.

use super::{Ending, Findings, Trial};
use crosstie_measure::{Aim, Saturation, SaturationSearch, SearchError, Step};
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
    /// How long a run was allowed to be in the end, in cycles.
    pub longest: u64,
    /// What the search has spent of its [budget](SearchSpec::budget).
    pub work: u64,
}

/// How exactly saturation is to be known, and what may be spent on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchSpec {
    /// The precision, an absolute load.
    pub precision: f64,
    /// The search goes on with longer runs until this much has been done: messages handed over,
    /// packets that have crossed a switch or arrived, [steps](crate::network::Network::steps) of
    /// the network, and looks at all that. That is about what a simulation costs, and the same on
    /// any machine.
    pub budget: u64,
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
    /// Each load is run until it is known whether it is carried, or the limit comes. If saturation
    /// is not known to the precision then, the limit is doubled and the search goes on, until
    /// it is or the budget is spent. The load at the limit is then run once more, until its
    /// means are known.
    pub fn search(
        &self,
        spec: SearchSpec,
        watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Option<Searched>, TrialError> {
        let mut search = SaturationSearch::new(spec.precision, 1.0, spec.precision)?;
        let (mut cycles, mut runs, mut work) = (0, 0, 0);
        let mut trial = *self;
        // How long a run was allowed to be when the last one came to its end.
        let mut longest = self.effort.max_cycles;
        // The first search comes to its end, whatever the budget; so does the one that confirms.
        let mut budget = None;
        let saturation = loop {
            let (aim, load) = match search.step() {
                Step::Try(load) => (Aim::Answer, load),
                Step::Confirm(load) => (Aim::Confirmation, load),
                Step::Done(saturation) => {
                    let longer = trial.effort.max_cycles.checked_mul(2);
                    match longer.filter(|_| may_tell_more(&saturation, spec) && work < spec.budget)
                    {
                        None => break saturation,
                        Some(longer) => trial.effort.max_cycles = longer,
                    }
                    budget = Some(spec.budget);
                    search.ask_again();
                    continue;
                }
            };
            let left = budget.map(|budget| budget.saturating_sub(work));
            let ended = trial.run_for(aim, load, left, &mut |now| watch(cycles + now))?;
            let Some(ended) = ended else { return Ok(None) };
            cycles += ended.steady.cycles();
            work += ended.work();
            runs += 1;
            if ended.deadlock.is_some() {
                let (saturation, limit) = (None, ended.findings(load));
                longest = trial.effort.max_cycles;
                return Ok(Some(Searched { saturation, limit, runs, cycles, longest, work }));
            }
            // A run that was broken off tells nothing.
            if ended.steady.verdict().is_final() {
                search.report(ended.steady.answer(), ended.offered());
                longest = trial.effort.max_cycles;
            }
            if budget.is_some_and(|budget| work >= budget) {
                search.stop();
                budget = None;
            }
        };
        let load = search.limit();
        trial.effort.max_cycles = longest;
        let Some(limit) = trial.run(load, &mut |now| watch(cycles + now))? else { return Ok(None) };
        let saturation = match (&limit.ending, &limit.measured) {
            (Ending::Deadlocked(_), _) => None,
            // This run may be longer than the one that left the load open.
            (Ending::Saturated, Some(measured)) if saturation.refused.is_none() => {
                Some(search.refused_at_limit(measured.offered))
            }
            _ => Some(saturation),
        };
        cycles += limit.cycles;
        Ok(Some(Searched { saturation, limit, runs: runs + 1, cycles, longest, work }))
    }
}

/// Returns true if longer runs may narrow what is known. They do not where the lowest load of all
/// is refused.
fn may_tell_more(found: &Saturation, spec: SearchSpec) -> bool {
    !found.resolved
        && (found.carried.is_some() || found.refused.is_none_or(|it| it > spec.precision))
}
