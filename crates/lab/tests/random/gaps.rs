//! What is known to go wrong today. Cases that would meet it are left out, and counted.
//!
//! A gap is removed with the change that closes it; an empty list is the aim.

use crate::experiment::Experiment;
use crosstie_study::Study;
use toml::Value;

/// A defect that is known.
pub struct Gap {
    /// What is wrong.
    pub reason: &'static str,
    /// The tests that it breaks; if there are none, the experiment is not run at all.
    pub checks: &'static [&'static str],
    /// Whether an experiment may meet it.
    pub meets: fn(&Experiment) -> bool,
}

/// All of them.
pub const GAPS: &[Gap] = &[
    Gap {
        reason: "a study written out lists keys swept over tables last, so that points change places",
        checks: &["with every default spelled out it is the same study"],
        meets: |file| study(file).is_some_and(|study| study.keys().len() > 1),
    },
    Gap {
        reason: "a study written out loses a choice whose only key differs between points: \
                 `balanced-itb` where `seed` is swept becomes the default routing",
        checks: &["with every default spelled out it is the same study"],
        meets: |file| {
            let swept = study(file).is_some_and(|study| study.keys().contains(&"seed".to_owned()));
            swept && mentions(file, "balanced-itb")
        },
    },
    Gap {
        reason: "of two points that are the same, the journal names the one that finished last",
        checks: &["a second run writes the same bytes", "threads do not matter"],
        meets: |file| {
            study(file).is_some_and(|study| {
                let points = study.points();
                (1..points.len()).any(|i| points[..i].iter().any(|p| p.spec == points[i].spec))
            })
        },
    },
];

/// The first known gap that keeps an experiment from being run, or one test from being made.
pub fn met_by(file: &Experiment, check: Option<&str>) -> Option<&'static Gap> {
    let broken = |gap: &&Gap| match check {
        None => gap.checks.is_empty(),
        Some(check) => gap.checks.contains(&check),
    };
    GAPS.iter().filter(broken).find(|gap| (gap.meets)(file))
}

/// Whether a word stands in any key or choice of an experiment.
fn mentions(file: &Experiment, word: &str) -> bool {
    let keys = Value::Table(file.keys.clone());
    keys.to_string().contains(word)
}

fn study(file: &Experiment) -> Option<Study> {
    Study::parse("experiment", &file.text()).ok()
}
