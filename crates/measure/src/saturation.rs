//! The search for the saturation load: the least offered load that a network does not carry.
//!
//! A pure state machine. It asks for one load after another and is told whether the network carried
//! it ([`Steady::answer`](crate::Steady::answer)). It comes from below, because a run costs as much
//! as it carries: from a small part of the highest load it doubles until a load is refused. Then it
//! halves the interval between the highest load that was carried and the lowest that was refused,
//! until it is narrow enough.
//!
//! An answer may be *open*: the run was too short to tell, which is no evidence for either side.
//! Few messages make for open answers at low loads, where the search just goes on; and at
//! saturation itself every finite run leaves some loads open. So the search narrows the two
//! intervals beside the open loads, and those stay part of what it says about saturation: what is
//! not known is inside.
//!
//! Some networks look steady at a load for a long time and then break down. So at the end the
//! highest load that was carried is confirmed by a run as long as any may be; if it is not carried
//! then, the search goes on below.
//!
//! In a short run sources send more or less than they should by chance, by several per cent if
//! messages are few and long, and with one seed at all loads alike. What such a run has shown is
//! shown for what was *offered*: a load is taken to be carried up to the smaller of the two, and
//! refused from the larger one on.
//!
//! A search that ends with an interval that is too wide may go on with longer runs
//! ([`SaturationSearch::ask_again`]). These halve the interval that the shorter ones left, and then
//! run the loads at its two ends again. A search that must end before that
//! ([`SaturationSearch::stop`]) returns what all runs so far have shown.
//!
//! ```text
//!      carried                      open                      refused
//!  ----|----|------------------|------?------?------|---------|--------|----> load
//!           carried                                           refused
//!           └───────────────── saturation ────────────────────┘
//! ```

use crate::Answer;

/// What the search wants next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// Run the network at this offered load and [`report`](SaturationSearch::report) back.
    Try(f64),
    /// Run the network at this load once more, for as long as possible, and report back.
    Confirm(f64),
    /// The search is over.
    Done(Saturation),
}

/// Where saturation lies: above the highest load that was carried, and not above the lowest that
/// was refused.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Saturation {
    /// The highest load that was carried, if any was.
    pub carried: Option<f64>,
    /// The lowest load that was refused, if any was. Where chance has made sources send less at
    /// the load that was carried, or more here, these are the loads that they sent.
    pub refused: Option<f64>,
    /// Whether both are there, and twice the precision apart at most; or the highest load of all
    /// was carried, so that there is no saturation to be found.
    pub resolved: bool,
}

/// Why a search cannot start.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum SearchError {
    /// The loads do not make a range.
    #[error("found loads from {lowest} to {highest}, expected 0 < lowest < highest")]
    Range {
        /// The lowest load.
        lowest: f64,
        /// The highest load.
        highest: f64,
    },
    /// The precision is none.
    #[error("found a precision of {precision}, expected a positive load")]
    Precision {
        /// The precision asked for.
        precision: f64,
    },
}

/// The first load that is tried, as a part of the highest.
const FIRST: f64 = 1.0 / 64.0;

/// A load that was tried.
#[derive(Debug, Clone, Copy)]
struct Trial {
    load: f64,
    /// What sources made of it.
    offered: f64,
    answer: Answer,
    /// Whether the run was as long as any may be.
    confirmed: bool,
    /// True if the caller has asked for longer runs since.
    stale: bool,
}

/// A search for the saturation load.
#[derive(Debug, Clone)]
pub struct SaturationSearch {
    lowest: f64,
    highest: f64,
    precision: f64,
    tried: Vec<Trial>,
    /// True if no further load is tried.
    stopped: bool,
}

impl SaturationSearch {
    /// A search between two offered loads. The precision is absolute and in the same unit: without
    /// open answers saturation is found to lie between two loads that are this far apart at most.
    pub fn new(lowest: f64, highest: f64, precision: f64) -> Result<SaturationSearch, SearchError> {
        if !(0.0 < lowest && lowest < highest && highest.is_finite()) {
            return Err(SearchError::Range { lowest, highest });
        }
        if !(precision > 0.0 && precision.is_finite()) {
            return Err(SearchError::Precision { precision });
        }
        Ok(SaturationSearch { lowest, highest, precision, tried: Vec::new(), stopped: false })
    }

    /// The next load to try, or the answer.
    pub fn step(&self) -> Step {
        let refused = self.refused();
        let next = match refused {
            _ if self.stopped => None,
            None => self.climb(),
            Some(refused) => self.narrow(refused.load),
        };
        let again = |trial: &Trial| trial.stale && !self.stopped;
        match (next, self.carried(), refused) {
            (Some(load), ..) => Step::Try(load),
            (_, Some(carried), _) if !carried.confirmed || again(carried) => {
                Step::Confirm(carried.load)
            }
            (.., Some(refused)) if again(refused) => Step::Try(refused.load),
            _ => Step::Done(self.saturation()),
        }
    }

    /// Twice the highest load tried. If not even the highest of all is refused, what is left to ask
    /// is how far the carried loads reach.
    fn climb(&self) -> Option<f64> {
        let tried = self.tried.iter().max_by(|a, b| a.load.total_cmp(&b.load));
        match tried {
            None => Some(self.lowest.max(FIRST * self.highest)),
            Some(tried) if tried.load < self.highest => Some((2.0 * tried.load).min(self.highest)),
            Some(tried) if tried.stale => Some(tried.load),
            Some(_) => {
                let low = self.carried().map_or(self.lowest, |carried| carried.load);
                self.middle(low, self.open()?.0)
            }
        }
    }

    /// The middle of the wider of the two intervals beside the open loads, or of the only one.
    fn narrow(&self, refused: f64) -> Option<f64> {
        let open = self.open();
        let (first, last) = match (self.carried(), open) {
            (Some(carried), None) => return self.middle(carried.load, refused),
            (Some(carried), Some((first, last))) => ((carried.load, first), (last, refused)),
            (None, Some((first, last))) => ((self.lowest, first), (last, refused)),
            (None, None) if self.with(Answer::Open).any(|trial| trial.load < refused) => {
                return self.middle(self.lowest, refused);
            }
            (None, None) => return (refused > self.lowest).then_some(self.lowest),
        };
        let (wider, other) =
            if last.1 - last.0 >= first.1 - first.0 { (last, first) } else { (first, last) };
        self.middle(wider.0, wider.1).or_else(|| self.middle(other.0, other.1))
    }

    /// The middle between two loads, unless they are close enough.
    fn middle(&self, low: f64, high: f64) -> Option<f64> {
        let middle = f64::midpoint(low, high);
        // The second test ends a search for more digits than a number has.
        (high - low > self.close() && low < middle && middle < high).then_some(middle)
    }

    /// Returns the width below which an interval is not halved any more: the precision, or half of
    /// it beside open loads, so that a single open load leaves the whole within twice the
    /// precision. If more than half of what is left is open, runs are too short: the search does
    /// not look at the rest of it before they become longer.
    fn close(&self) -> f64 {
        if self.open().is_none() {
            return self.precision;
        }
        let fine = self.precision / 2.0;
        let is_first = !self.tried.iter().any(|trial| trial.stale);
        match self.carried() {
            Some(_) if is_first => fine,
            carried => {
                let low = carried.map_or(self.lowest, |carried| carried.load);
                let high = self.refused().map_or(self.highest, |refused| refused.load);
                fine.max((high - low) / 4.0)
            }
        }
    }

    /// Goes on after a search that was not resolved, with runs that are longer: what lies between
    /// the two ends of the interval is asked again, and then these.
    pub fn ask_again(&mut self) {
        self.tried.iter_mut().for_each(|trial| trial.stale = true);
    }

    /// Tries no further load. What was carried may still have to be confirmed.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// The load that shows the network at its limit: the lowest that was refused, else the highest
    /// that was tried.
    pub fn limit(&self) -> f64 {
        let highest = || self.tried.iter().map(|trial| trial.load).fold(0.0, f64::max);
        self.refused().map_or_else(highest, |refused| refused.load)
    }

    fn with(&self, answer: Answer) -> impl Iterator<Item = &Trial> + Clone {
        self.tried.iter().filter(move |trial| trial.answer == answer)
    }

    /// The highest load that was carried, below all that were refused.
    fn carried(&self) -> Option<&Trial> {
        let refused = self.refused().map_or(f64::INFINITY, |refused| refused.load);
        self.with(Answer::Carried)
            .filter(|trial| trial.load < refused)
            .max_by(|a, b| a.load.total_cmp(&b.load))
    }

    fn refused(&self) -> Option<&Trial> {
        self.with(Answer::Refused).min_by(|a, b| a.load.total_cmp(&b.load))
    }

    /// The lowest and the highest of the loads between the carried and the refused ones that runs
    /// of the present length have left open.
    fn open(&self) -> Option<(f64, f64)> {
        let low = self.carried().map_or(0.0, |carried| carried.load);
        let high = self.refused().map_or(f64::INFINITY, |refused| refused.load);
        let fresh = self.with(Answer::Open).filter(|trial| !trial.stale);
        let open = || fresh.clone().map(|trial| trial.load);
        let between = || open().filter(|&load| low < load && load < high);
        between().min_by(f64::total_cmp).zip(between().max_by(f64::total_cmp))
    }

    fn saturation(&self) -> Saturation {
        let carried = self.carried().map(|trial| trial.load.min(trial.offered));
        let refused = self.with(Answer::Refused).map(|trial| trial.load.max(trial.offered));
        let refused = refused.min_by(f64::total_cmp).map(|load| load.min(self.highest));
        let resolved = match (carried, refused) {
            // The least of all slacks, for loads that are multiples of the precision.
            (Some(carried), Some(refused)) => refused - carried <= 2.0 * self.precision + 1e-12,
            (Some(carried), None) => !self.with(Answer::Open).any(|trial| trial.load > carried),
            (None, _) => false,
        };
        Saturation { carried, refused, resolved }
    }

    /// Returns what is known if a last run at the [`limit`](SaturationSearch::limit), offered
    /// this much, was refused.
    pub fn refused_at_limit(&mut self, offered: f64) -> Saturation {
        let load = self.limit();
        self.learn(Trial { load, offered, answer: Answer::Refused, confirmed: true, stale: false });
        self.saturation()
    }

    /// Tells what became of the load last asked for, and what was offered in its place. Has no
    /// effect once the search is over.
    pub fn report(&mut self, answer: Answer, offered: f64) {
        let (load, confirmed) = match self.step() {
            Step::Try(load) => (load, false),
            Step::Confirm(load) => (load, true),
            Step::Done(_) => return,
        };
        self.learn(Trial { load, offered, answer, confirmed, stale: false });
    }

    fn learn(&mut self, trial: Trial) {
        self.tried.retain(|other| other.load != trial.load);
        self.tried.push(trial);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Runs a search against a network that answers for itself; also counts the questions.
    fn search(mut search: SaturationSearch, answer: impl Fn(f64) -> Answer) -> (Saturation, u32) {
        let mut questions = 0;
        loop {
            match search.step() {
                Step::Try(load) | Step::Confirm(load) => search.report(answer(load), load),
                Step::Done(saturation) => return (saturation, questions),
            }
            questions += 1;
        }
    }

    /// A network that tells for sure what it carries.
    fn sure(limit: f64) -> impl Fn(f64) -> Answer {
        move |load| if load < limit { Answer::Carried } else { Answer::Refused }
    }

    /// The ends of what was found, if there are both.
    fn ends(found: &Saturation) -> (f64, f64) {
        (found.carried.unwrap(), found.refused.unwrap())
    }

    #[test]
    fn closes_in_on_the_load_in_few_questions() {
        let (found, questions) =
            search(SaturationSearch::new(0.02, 1.0, 0.011).unwrap(), sure(0.43));
        let (carried, refused) = ends(&found);
        assert!(carried < 0.43 && refused >= 0.43 && refused - carried <= 0.011, "{found:?}");
        assert!(found.resolved);
        assert_eq!(questions, 6 + 5 + 1, "0.02 to 0.64 by doubling, 0.32 / 2^5 < 0.011, confirmed");
    }

    #[test]
    fn low_loads_are_tried_last() {
        let all = || SaturationSearch::new(0.001, 1.0, 0.001).unwrap();
        assert_eq!(all().step(), Step::Try(1.0 / 64.0));
        let (found, questions) = search(all(), sure(0.0105));
        let (carried, refused) = ends(&found);
        assert!(carried < 0.0105 && refused >= 0.0105 && refused - carried <= 0.001, "{found:?}");
        assert_eq!(questions, 2 + 4 + 1);
        let nothing = Saturation { carried: None, refused: Some(0.001), resolved: false };
        assert_eq!(search(all(), |_| Answer::Refused), (nothing, 2));
    }

    #[test]
    fn a_last_run_at_the_limit_counts() {
        let mut search = SaturationSearch::new(0.1, 1.0, 0.01).unwrap();
        while let Step::Try(load) = search.step() {
            search.report(if load < 0.3 { Answer::Carried } else { Answer::Open }, load);
        }
        assert_eq!((search.saturation().refused, search.limit()), (None, 1.0));
        let found = search.refused_at_limit(0.98);
        assert_eq!((found.refused, found.resolved), (Some(1.0), false));
        assert!(found.carried.unwrap() < 0.3);
    }

    #[test]
    fn tells_when_saturation_lies_outside() {
        let all = || SaturationSearch::new(0.1, 1.0, 0.01).unwrap();
        let above = Saturation { carried: Some(1.0), refused: None, resolved: true };
        assert_eq!(search(all(), |_| Answer::Carried), (above, 5 + 1));
        let below = Saturation { carried: None, refused: Some(0.1), resolved: false };
        assert_eq!(search(all(), |_| Answer::Refused), (below, 1));
    }

    #[test]
    fn what_is_open_stays_inside() {
        let all = || SaturationSearch::new(0.01, 1.0, 0.01).unwrap();
        // Too few messages to tell up to 0.1, and nothing to tell from 0.27 to 0.34.
        let answer = |load: f64| match load {
            _ if load < 0.1 || (0.27..0.34).contains(&load) => Answer::Open,
            _ if load < 0.3 => Answer::Carried,
            _ => Answer::Refused,
        };
        let (found, questions) = search(all(), answer);
        let (carried, refused) = ends(&found);
        assert!((0.26..0.27).contains(&carried) && (0.34..0.35).contains(&refused), "{found:?}");
        assert!(!found.resolved && questions < 20, "{questions}");
        // A single open load is within the precision.
        let narrow = |load: f64| match load {
            _ if (0.429..0.431).contains(&load) => Answer::Open,
            _ => sure(0.43)(load),
        };
        assert!(search(all(), narrow).0.resolved);
        let (blind, questions) = search(all(), |_| Answer::Open);
        let nothing = Saturation { carried: None, refused: None, resolved: false };
        assert_eq!((blind, questions), (nothing, 7));
    }

    #[test]
    fn what_looked_steady_is_confirmed() {
        // The network looks well up to 0.5, and breaks down in the long run from 0.3 on.
        let mut search = SaturationSearch::new(0.01, 1.0, 0.01).unwrap();
        let mut confirmations = 0;
        let found = loop {
            match search.step() {
                Step::Try(load) => search.report(sure(0.5)(load), load),
                Step::Confirm(load) => {
                    confirmations += 1;
                    search.report(sure(0.3)(load), load);
                }
                Step::Done(found) => break found,
            }
        };
        let (carried, refused) = ends(&found);
        assert!(carried < 0.3 && refused >= 0.3 && found.resolved, "{found:?}");
        assert!(confirmations < 30, "{confirmations}");
    }

    #[test]
    fn longer_runs_narrow_what_was_open() {
        let mut search = SaturationSearch::new(0.01, 1.0, 0.01).unwrap();
        // Runs of length n leave loads within 0.2 / n of saturation open.
        let answer = |load: f64, length: f64| match load - 0.43 {
            off if off.abs() < 0.2 / length => Answer::Open,
            off if off < 0.0 => Answer::Carried,
            _ => Answer::Refused,
        };
        let (mut length, mut widths) = (1.0, Vec::new());
        loop {
            match search.step() {
                Step::Try(load) | Step::Confirm(load) => search.report(answer(load, length), load),
                Step::Done(found) => {
                    let (carried, refused) = ends(&found);
                    assert!(carried < 0.43 && refused >= 0.43, "{found:?}");
                    assert_eq!(search.limit(), refused);
                    widths.push(refused - carried);
                    if found.resolved {
                        break;
                    }
                    search.ask_again();
                    length *= 2.0;
                }
            }
        }
        assert!(widths.len() == 6 && widths.is_sorted_by(|a, b| a > b), "{widths:?}");
    }

    #[test]
    fn a_search_that_is_stopped_says_what_all_runs_have_shown() {
        let mut search = SaturationSearch::new(0.01, 1.0, 0.01).unwrap();
        // Runs of length 1 tell what is refused from 0.5 on; longer ones what is carried up to 0.3.
        let answer = |load: f64, length: f64| match load {
            _ if load >= 0.5 => Answer::Refused,
            _ if load < 0.3 && length > 1.0 => Answer::Carried,
            _ => Answer::Open,
        };
        let mut questions = 0;
        while let Step::Try(load) | Step::Confirm(load) = search.step() {
            search.report(answer(load, 1.0), load);
            questions += 1;
        }
        let unknown = Saturation { carried: None, refused: Some(0.5), resolved: false };
        assert_eq!(search.step(), Step::Done(unknown));
        assert_eq!(
            questions,
            6 + 2,
            "0.016 to 0.5 by doubling, 0.375, 0.44: longer runs tell more"
        );
        search.ask_again();
        let Step::Try(first) = search.step() else { panic!("{:?}", search.step()) };
        assert!((0.25..0.26).contains(&first), "{first}: the middle of what is not known");
        search.report(answer(first, 2.0), first);
        search.stop();
        assert_eq!(search.step(), Step::Confirm(first), "what looked steady is confirmed anyway");
        search.report(Answer::Carried, first);
        let known = Saturation { carried: Some(first), refused: Some(0.5), resolved: false };
        assert_eq!(search.step(), Step::Done(known));
    }

    #[test]
    fn longer_runs_look_below_a_highest_load_that_stays_open() {
        let mut search = SaturationSearch::new(0.05, 1.0, 0.05).unwrap();
        while let Step::Try(load) | Step::Confirm(load) = search.step() {
            search.report(Answer::Open, load);
        }
        search.ask_again();
        while let Step::Try(load) | Step::Confirm(load) = search.step() {
            search.report(if load < 0.7 { Answer::Carried } else { Answer::Open }, load);
        }
        let Step::Done(found) = search.step() else { panic!() };
        assert!(found.carried.is_some_and(|it| it > 0.4) && !found.resolved, "{found:?}");
    }

    #[test]
    fn what_was_carried_and_confirmed_by_shorter_runs_counts_when_a_search_is_stopped() {
        let mut search = SaturationSearch::new(0.01, 1.0, 0.01).unwrap();
        let answer = |load: f64| match load {
            _ if load < 0.3 => Answer::Carried,
            _ if load < 0.5 => Answer::Open,
            _ => Answer::Refused,
        };
        while let Step::Try(load) | Step::Confirm(load) = search.step() {
            search.report(answer(load), load);
        }
        let Step::Done(found) = search.step() else { panic!() };
        search.ask_again();
        assert!(matches!(search.step(), Step::Try(load) if (0.3..0.5).contains(&load)));
        search.stop();
        assert_eq!(search.step(), Step::Done(found));
    }

    #[test]
    fn a_load_is_what_was_offered() {
        let mut search = SaturationSearch::new(0.01, 1.0, 0.01).unwrap();
        // Sources send five per cent less than they should.
        while let Step::Try(load) | Step::Confirm(load) = search.step() {
            search.report(sure(0.42)(0.95 * load), 0.95 * load);
        }
        let Step::Done(found) = search.step() else { panic!() };
        let (carried, refused) = ends(&found);
        assert!(carried < 0.42 && refused > 0.42 && !found.resolved, "{found:?}");
        assert!(carried > 0.40 && refused < 0.46, "{found:?}");
    }

    #[test]
    fn refuses_a_search_without_a_range() {
        let error = |l, h, p| SaturationSearch::new(l, h, p).unwrap_err().to_string();
        let range = "found loads from 1 to 0.1, expected 0 < lowest < highest";
        assert_eq!(error(1.0, 0.1, 0.01), range);
        let precision = "found a precision of 0, expected a positive load";
        assert_eq!(error(0.1, 1.0, 0.0), precision);
        assert!(SaturationSearch::new(f64::NAN, 1.0, 0.01).is_err());
    }

    proptest! {
        #[test]
        fn any_answers_lead_to_an_end(
            lowest in 1e-3..0.5, width in 1e-3..1.0, precision in 1e-18..0.1,
            answers in prop::collection::vec(0..3u8, 32),
        ) {
            let start = SaturationSearch::new(lowest, lowest + width, precision).unwrap();
            let asked = std::cell::Cell::new(0);
            let (found, questions) = search(start, |load| {
                assert!((lowest..=lowest + width).contains(&load));
                asked.set(asked.get() + 1);
                match answers[asked.get() % answers.len()] {
                    0 => Answer::Carried,
                    1 => Answer::Refused,
                    _ => Answer::Open,
                }
            });
            prop_assert!(questions <= 300, "{} questions", questions);
            if let (Some(carried), Some(refused)) = (found.carried, found.refused) {
                prop_assert!(carried < refused);
            }
        }
    }
}
