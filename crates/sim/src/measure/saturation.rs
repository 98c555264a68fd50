//! The search for the saturation load: the least offered load that a network does not carry.
//!
//! A pure state machine. It asks for one load after another and is told whether the network carried
//! it ([`Verdict::carried`](super::Verdict::carried)). It comes from below, because a run costs as
//! much as it carries: from a small part of the highest load it doubles until a load is refused,
//! then halves the interval in between until it is narrow enough. Loads below the first are tried
//! only if the first is refused: few messages make for unsure answers.
//!
//! Near saturation an answer may be wrong by chance. The search then ends on a neighbouring
//! interval, off by about the width over which answers are uncertain; it always ends.

/// What the search wants next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// Run the network at this offered load and [`report`](SaturationSearch::report) back.
    Try(f64),
    /// The search is over.
    Done(Saturation),
}

/// Where saturation lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Saturation {
    /// Between two loads no further apart than the precision.
    Between {
        /// The highest load that was carried.
        carried: f64,
        /// The lowest load that was not.
        refused: f64,
    },
    /// Nowhere in the range: even the highest load was carried.
    Above {
        /// The highest load.
        carried: f64,
    },
    /// Below the range: not even the lowest load was carried.
    Below {
        /// The lowest load.
        refused: f64,
    },
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

/// A search for the saturation load.
#[derive(Debug, Clone)]
pub struct SaturationSearch {
    lowest: f64,
    highest: f64,
    precision: f64,
    /// The highest load carried and the lowest refused so far.
    carried: Option<f64>,
    refused: Option<f64>,
}

impl SaturationSearch {
    /// A search between two offered loads, to an absolute precision in the same unit.
    pub fn new(lowest: f64, highest: f64, precision: f64) -> Result<SaturationSearch, SearchError> {
        if !(0.0 < lowest && lowest < highest && highest.is_finite()) {
            return Err(SearchError::Range { lowest, highest });
        }
        if !(precision > 0.0 && precision.is_finite()) {
            return Err(SearchError::Precision { precision });
        }
        Ok(SaturationSearch { lowest, highest, precision, carried: None, refused: None })
    }

    /// The next load to try, or the answer.
    pub fn step(&self) -> Step {
        match (self.carried, self.refused) {
            (None, None) => Step::Try(self.lowest.max(FIRST * self.highest)),
            (None, Some(refused)) if refused > self.lowest => Step::Try(self.lowest),
            (None, Some(refused)) => Step::Done(Saturation::Below { refused }),
            (Some(carried), None) if carried < self.highest => {
                Step::Try((2.0 * carried).min(self.highest))
            }
            (Some(carried), None) => Step::Done(Saturation::Above { carried }),
            (Some(carried), Some(refused)) => {
                let middle = f64::midpoint(carried, refused);
                // The second test ends a search for more digits than a number has.
                if refused - carried <= self.precision || middle <= carried || middle >= refused {
                    Step::Done(Saturation::Between { carried, refused })
                } else {
                    Step::Try(middle)
                }
            }
        }
    }

    /// Tells whether the network carried the load last asked for. Has no effect once the search
    /// is over.
    pub fn report(&mut self, carried: bool) {
        if let Step::Try(load) = self.step() {
            let bound = if carried { &mut self.carried } else { &mut self.refused };
            *bound = Some(load);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Runs a search against a network that answers for itself; also counts the questions.
    fn search(mut search: SaturationSearch, carries: impl Fn(f64) -> bool) -> (Saturation, u32) {
        let mut questions = 0;
        loop {
            match search.step() {
                Step::Try(load) => search.report(carries(load)),
                Step::Done(saturation) => return (saturation, questions),
            }
            questions += 1;
        }
    }

    #[test]
    fn closes_in_on_the_load_in_few_questions() {
        let (found, questions) =
            search(SaturationSearch::new(0.02, 1.0, 0.011).unwrap(), |load| load < 0.43);
        let Saturation::Between { carried, refused } = found else { panic!("{found:?}") };
        assert!(carried < 0.43 && refused >= 0.43 && refused - carried <= 0.011, "{found:?}");
        assert_eq!(questions, 6 + 5, "0.02 to 0.64 by doubling, then 0.32 / 2^5 < 0.011");
    }

    #[test]
    fn low_loads_are_tried_last() {
        let all = || SaturationSearch::new(0.001, 1.0, 0.001).unwrap();
        assert_eq!(all().step(), Step::Try(1.0 / 64.0));
        let (found, questions) = search(all(), |load| load < 0.0105);
        let Saturation::Between { carried, refused } = found else { panic!("{found:?}") };
        assert!(carried < 0.0105 && refused >= 0.0105 && refused - carried <= 0.001, "{found:?}");
        assert_eq!(questions, 2 + 4);
        assert_eq!(search(all(), |_| false), (Saturation::Below { refused: 0.001 }, 2));
    }

    #[test]
    fn tells_when_saturation_lies_outside() {
        let all = || SaturationSearch::new(0.1, 1.0, 0.01).unwrap();
        assert_eq!(search(all(), |_| true), (Saturation::Above { carried: 1.0 }, 5));
        assert_eq!(search(all(), |_| false), (Saturation::Below { refused: 0.1 }, 1));
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
            lowest in 1e-3..0.5, width in 1e-3..1.0, precision in 1e-18..0.1, answers: u64,
        ) {
            let start = SaturationSearch::new(lowest, lowest + width, precision).unwrap();
            let asked = std::cell::Cell::new(0u32);
            let (found, questions) = search(start, |load| {
                assert!((lowest..=lowest + width).contains(&load));
                asked.set(asked.get() + 1);
                answers.rotate_right(asked.get()) & 1 == 1
            });
            prop_assert!(questions <= 70, "{} questions", questions);
            if let Saturation::Between { carried, refused } = found {
                prop_assert!(carried < refused);
            }
        }
    }
}
