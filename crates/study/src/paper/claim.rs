//! One published fact.

use serde::{Deserialize, Serialize};

use super::series::{self, Series};
use crate::document::Fault;

/// How sure it is what a paper says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    /// Legible, as a number or in words.
    Stated,
    /// It follows from something stated, or is the only reading that fits.
    Inferred,
    /// Digits are lost; only bounds are known.
    Unreadable,
}

impl Certainty {
    /// The word used in files and tables.
    pub fn word(self) -> &'static str {
        match self {
            Certainty::Stated => "stated",
            Certainty::Inferred => "inferred",
            Certainty::Unreadable => "unreadable",
        }
    }
}

/// What a published number is to a reproduction. Only an outcome can be reproduced: the others are
/// listed apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// It is what experiments are judged by.
    #[default]
    Outcome,
    /// It follows from other published numbers, and is recomputed.
    Arithmetic,
    /// It is an input of the machine or of the experiments.
    Parameter,
}

impl Role {
    /// The word used in files and tables.
    pub fn word(self) -> &'static str {
        match self {
            Role::Outcome => "outcome",
            Role::Arithmetic => "arithmetic",
            Role::Parameter => "parameter",
        }
    }
}

/// How far a measurement may be from what was published.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tolerance {
    /// Not at all.
    Exact,
    /// By so much, in the unit of the claim.
    Abs(f64),
    /// By this share of the published value.
    Rel(f64),
    /// Up to so many times more or less.
    Factor(f64),
}

impl Tolerance {
    /// The least and the largest value that is still `published`.
    pub fn around(self, published: f64) -> (f64, f64) {
        match self {
            Tolerance::Exact => (published, published),
            Tolerance::Abs(by) => (published - by, published + by),
            Tolerance::Rel(share) => {
                let by = share * published.abs();
                (published - by, published + by)
            }
            Tolerance::Factor(times) => {
                let ends = (published / times, published * times);
                if ends.0 <= ends.1 { ends } else { (ends.1, ends.0) }
            }
        }
    }

    fn is_sound(self) -> bool {
        match self {
            Tolerance::Exact => true,
            Tolerance::Abs(by) | Tolerance::Rel(by) => by.is_finite() && by >= 0.0,
            Tolerance::Factor(times) => times.is_finite() && times >= 1.0,
        }
    }
}

/// What was published.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// A number.
    Value(f64),
    /// A number of which only bounds are known, or a bound; at least one end is there.
    Range {
        /// It is at least this.
        min: Option<f64>,
        /// It is at most this.
        max: Option<f64>,
    },
    /// A property in words.
    Shape(String),
    /// A column that is judged as a whole.
    Series(Series),
}

/// One published fact.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Claim {
    /// Its name, unique within the paper.
    pub id: String,
    /// Where the paper says it: "Figure 12".
    pub source: String,
    /// What it is about, in plain words.
    pub says: String,
    /// How sure it is.
    pub kind: Certainty,
    /// What it is to a reproduction.
    pub role: Role,
    /// What the experiments fitted to it, if anything.
    pub fitted: Option<String>,
    /// The claim that it restates, if any: both count once.
    pub same_as: Option<String>,
    /// What was published.
    pub target: Target,
    /// How a damaged number looks; `d` is a lost digit.
    pub pattern: Option<String>,
    /// The unit of the numbers; empty for none.
    pub unit: String,
    /// How far a measurement may be off. There is one for every [`Target::Value`]; it widens a
    /// range, and tells a shape what still counts as the same.
    pub tolerance: Option<Tolerance>,
    /// Why it is read this way.
    pub note: Option<String>,
}

impl Claim {
    /// Returns true if the claim counts in totals: it is an outcome that nothing was fitted to, and
    /// no other claim is the same.
    pub fn counts(&self) -> bool {
        self.role == Role::Outcome && self.fitted.is_none() && self.same_as.is_none()
    }

    /// The least and the largest number that agrees with the claim; none for a shape or a series.
    pub fn accepted(&self) -> Option<(f64, f64)> {
        let tolerance = self.tolerance.unwrap_or(Tolerance::Exact);
        match self.target {
            Target::Value(value) => Some(tolerance.around(value)),
            Target::Range { min, max } => Some((
                min.map_or(f64::NEG_INFINITY, |min| tolerance.around(min).0),
                max.map_or(f64::INFINITY, |max| tolerance.around(max).1),
            )),
            Target::Shape(_) | Target::Series(_) => None,
        }
    }
}

/// A claim as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Draft {
    id: String,
    source: String,
    says: String,
    kind: Certainty,
    #[serde(default)]
    role: Role,
    fitted: Option<String>,
    same_as: Option<String>,
    value: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
    shape: Option<String>,
    series: Option<series::Draft>,
    pattern: Option<String>,
    unit: Option<String>,
    tolerance: Option<Tolerance>,
    note: Option<String>,
}

impl Draft {
    /// The claim, if its keys fit together.
    pub fn checked(self) -> Result<Claim, Fault> {
        let id = &self.id;
        let unfit = |label: &str| Err(Fault::new(format!("claim `{id}`"), label));
        let target = match (self.value, self.min, self.max, self.shape, self.series) {
            (Some(value), None, None, None, None) => Target::Value(value),
            (None, None, None, Some(shape), None) => Target::Shape(shape),
            (None, None, None, None, Some(series)) => Target::Series(series.checked(id)?),
            (None, min, max, None, None) if min.is_some() || max.is_some() => {
                Target::Range { min, max }
            }
            _ => return unfit("expected one of `value`, `min` and `max`, `shape`, or `series`"),
        };
        let numbers = [self.value, self.min, self.max];
        if numbers.into_iter().flatten().any(|number| !number.is_finite()) {
            return unfit("expected finite numbers");
        }
        if let Target::Range { min: Some(min), max: Some(max) } = target
            && min > max
        {
            return unfit("found `min` above `max`");
        }
        if self.kind == Certainty::Unreadable && matches!(target, Target::Value(_)) {
            return unfit("found a `value` that is unreadable: give `min` and `max`");
        }
        if matches!(target, Target::Value(_)) && self.tolerance.is_none() {
            return unfit("expected a `tolerance` beside `value`");
        }
        if self.tolerance.is_some_and(|tolerance| !tolerance.is_sound()) {
            return unfit("expected a tolerance of at least 0, a factor of at least 1");
        }
        if matches!(target, Target::Series(_)) && self.tolerance.is_some() {
            return unfit("found a `tolerance` beside `series`, whose criteria say what agrees");
        }
        if self.fitted.is_some() && self.role != Role::Outcome {
            return unfit("found `fitted` at what is no outcome");
        }
        Ok(Claim {
            id: self.id,
            source: self.source,
            says: self.says,
            kind: self.kind,
            role: self.role,
            fitted: self.fitted,
            same_as: self.same_as,
            target,
            pattern: self.pattern,
            unit: self.unit.unwrap_or_default(),
            tolerance: self.tolerance,
            note: self.note,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tolerance_says_what_is_still_the_same() {
        assert_eq!(Tolerance::Exact.around(6.0), (6.0, 6.0));
        assert_eq!(Tolerance::Abs(15.0).around(49.0), (34.0, 64.0));
        assert_eq!(Tolerance::Rel(0.25).around(-4.0), (-5.0, -3.0));
        assert_eq!(Tolerance::Factor(2.0).around(16.0), (8.0, 32.0));
        assert_eq!(Tolerance::Factor(2.0).around(-16.0), (-32.0, -8.0));
    }
}
