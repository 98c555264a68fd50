//! A claim beside what was measured.

use std::fmt;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::claim::{Claim, Target};
use super::estimate::Estimate;
use super::truth::Truth;
use crate::row;

/// What was measured about a claim.
#[derive(Debug, Clone, PartialEq)]
pub enum Measured {
    /// A number, for a claim with a value or a range, in the unit of the claim.
    Number(Estimate),
    /// Whether a property holds, for a claim with a shape. For a claim with a number: there is no
    /// such number, because what it would measure does not happen, or may not.
    Shape {
        /// Whether it does.
        holds: Truth,
        /// Why, in numbers.
        text: String,
    },
    /// A number for each label of a claim with a series, in their order.
    Series(Vec<Estimate>),
    /// Nothing that this laboratory can measure.
    Beyond {
        /// Why not.
        why: String,
    },
}

impl Measured {
    /// A number that is exact, or of which no interval is known.
    pub fn exact(value: f64) -> Measured {
        Measured::Number(Estimate::exact(value))
    }

    /// Whether a property holds, and why.
    pub fn shape(holds: Truth, text: impl Into<String>) -> Measured {
        Measured::Shape { holds, text: text.into() }
    }

    /// Why nothing can be measured.
    pub fn beyond(why: impl Into<String>) -> Measured {
        Measured::Beyond { why: why.into() }
    }
}

/// Why a claim has not been measured: rows that are not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Missing(
    /// What is missing, in words.
    pub String,
);

/// How a claim and its measurement stand to each other.
///
/// One rule for numbers, ranges and shapes: a measurement is all that its intervals allow. If all
/// of that is what was published, within the tolerance, the two agree; if none of it is, they
/// differ; and if some of it is, the run does not resolve the claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Agreement {
    /// The measurement is what was published, within the tolerance.
    Agrees,
    /// It is not.
    Differs,
    /// The run cannot tell: its intervals cover both.
    NotResolved,
    /// This laboratory cannot tell.
    NotCheckable,
    /// What it takes has not been run.
    Missing,
}

impl Agreement {
    /// All of them, in the order above.
    pub const ALL: [Agreement; 5] = [
        Agreement::Agrees,
        Agreement::Differs,
        Agreement::NotResolved,
        Agreement::NotCheckable,
        Agreement::Missing,
    ];

    /// The words used in tables.
    pub fn words(self) -> &'static str {
        match self {
            Agreement::Agrees => "agrees",
            Agreement::Differs => "differs",
            Agreement::NotResolved => "not resolved",
            Agreement::NotCheckable => "not checkable",
            Agreement::Missing => "missing",
        }
    }

    /// The same fit for a key or a class.
    pub fn word(self) -> &'static str {
        match self {
            Agreement::NotResolved => "not-resolved",
            Agreement::NotCheckable => "not-checkable",
            other => other.words(),
        }
    }
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.words())
    }
}

/// A claim beside what was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// What was published.
    pub claim: Claim,
    /// What was measured, or what it would take.
    pub outcome: Result<Measured, Missing>,
    /// What real ranks have measured about it, or what that would take; nothing where it is not
    /// about what they can do.
    pub live: Option<Result<Measured, Missing>>,
    /// The reason or the open question where the two do not agree.
    pub remark: Option<String>,
}

impl Finding {
    /// Whether they agree. A number cannot be compared with a shape.
    pub fn agreement(&self) -> Agreement {
        self.agreement_of(&self.outcome)
    }

    /// The same of what real ranks have measured.
    pub fn live_agreement(&self) -> Option<Agreement> {
        self.live.as_ref().map(|live| self.agreement_of(live))
    }

    fn agreement_of(&self, outcome: &Result<Measured, Missing>) -> Agreement {
        let holds = match (outcome, self.claim.accepted()) {
            (Err(_), _) => return Agreement::Missing,
            (Ok(Measured::Series(found)), _) => match &self.claim.target {
                Target::Series(series) => series.judge(found).0,
                _ => return Agreement::NotCheckable,
            },
            (Ok(Measured::Shape { holds, .. }), _) => *holds,
            (Ok(Measured::Number(number)), Some((min, max))) => number.within(min, max),
            (Ok(_), _) => return Agreement::NotCheckable,
        };
        match holds {
            Truth::Holds => Agreement::Agrees,
            Truth::Fails => Agreement::Differs,
            Truth::Open => Agreement::NotResolved,
        }
    }

    /// What was measured, in words, where it is no number: a shape, a series, why nothing was.
    pub fn words(&self, outcome: &Result<Measured, Missing>) -> Option<String> {
        match (outcome, &self.claim.target) {
            (Ok(Measured::Number(_)), _) => None,
            (Ok(Measured::Shape { text, .. }), _) => Some(text.clone()),
            (Ok(Measured::Series(found)), Target::Series(series)) => Some(series.judge(found).1),
            (Ok(Measured::Series(found)), _) => Some(format!("{} values", found.len())),
            (Ok(Measured::Beyond { why }), _) => Some(why.clone()),
            (Err(missing), _) => Some(missing.to_string()),
        }
    }

    /// Measured over published, where both are numbers of one sign.
    pub fn ratio(&self) -> Option<f64> {
        let (Ok(Measured::Number(number)), Target::Value(published)) =
            (&self.outcome, &self.claim.target)
        else {
            return None;
        };
        let ratio = number.value / published;
        (ratio.is_finite() && ratio > 0.0).then_some(ratio)
    }
}

/// One flat object: the keys of the claim's file, `measured` (a number), the ends `low` and `high`
/// of its interval, `finding` (words), `agreement` and `remark`, null where there is none. Of a
/// series also `measured_series`, its values.
impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Claim { id, source, says, kind, role, target, pattern, unit, tolerance, note, .. } =
            &self.claim;
        let mut object = to.serialize_map(None)?;
        let mut text = |key, text: Option<&str>| object.serialize_entry(key, &text);
        text("id", Some(id))?;
        text("source", Some(source))?;
        text("says", Some(says))?;
        text("kind", Some(kind.word()))?;
        text("role", Some(role.word()))?;
        text("fitted", self.claim.fitted.as_deref())?;
        text("same_as", self.claim.same_as.as_deref())?;
        let (value, min, max, shape) = match target {
            Target::Value(value) => (Some(*value), None, None, None),
            Target::Range { min, max } => (None, *min, *max, None),
            Target::Shape(shape) => (None, None, None, Some(shape.as_str())),
            Target::Series(_) => (None, None, None, None),
        };
        text("shape", shape)?;
        text("pattern", pattern.as_deref())?;
        text("unit", Some(unit))?;
        let measured = match &self.outcome {
            Ok(Measured::Number(number)) => Some(number),
            _ => None,
        };
        let words = self.words(&self.outcome);
        for (key, number) in [
            ("value", value),
            ("min", min),
            ("max", max),
            ("measured", measured.map(|number| number.value)),
            ("low", measured.map(|number| number.low)),
            ("high", measured.map(|number| number.high)),
        ] {
            object.serialize_entry(key, &number.and_then(row::number))?;
        }
        object.serialize_entry("ratio", &self.ratio().and_then(row::number))?;
        object.serialize_entry("tolerance", tolerance)?;
        if let Target::Series(series) = target {
            object.serialize_entry("series", series)?;
            if let Ok(Measured::Series(found)) = &self.outcome {
                let found: Vec<_> = found.iter().map(|found| row::number(found.value)).collect();
                object.serialize_entry("measured_series", &found)?;
            }
        }
        let mut text = |key, text: Option<&str>| object.serialize_entry(key, &text);
        text("finding", words.as_deref())?;
        text("agreement", Some(self.agreement().word()))?;
        text("note", note.as_deref())?;
        text("remark", self.remark.as_deref())?;
        if let Some(live) = &self.live {
            let words = match live {
                Ok(Measured::Number(number)) => Some(number.value.to_string()),
                other => self.words(other),
            };
            text("live", words.as_deref())?;
            text("live_agreement", self.live_agreement().map(Agreement::word))?;
        }
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use super::super::claim::{Certainty, Role, Tolerance};
    use super::*;

    fn finding(target: Target, tolerance: Option<Tolerance>, measured: Measured) -> Finding {
        let claim = Claim {
            id: "f12.gain".into(),
            source: "Figure 12".into(),
            says: "gain".into(),
            kind: Certainty::Stated,
            role: Role::Outcome,
            fitted: None,
            same_as: None,
            target,
            pattern: None,
            unit: "%".into(),
            tolerance,
            note: None,
        };
        Finding { claim, outcome: Ok(measured), live: None, remark: None }
    }

    #[test]
    fn a_number_is_judged_with_its_interval() {
        let value = |measured, half_width| {
            let measured = Measured::Number(Estimate::about(measured, half_width));
            finding(Target::Value(49.0), Some(Tolerance::Abs(15.0)), measured).agreement()
        };
        assert_eq!(value(34.0, 0.0), Agreement::Agrees);
        assert_eq!(value(40.0, 5.0), Agreement::Agrees);
        assert_eq!(value(64.1, 0.0), Agreement::Differs);
        assert_eq!(value(15.0, 10.0), Agreement::Differs);
        assert_eq!(value(15.0, 52.0), Agreement::NotResolved, "it may well be 49");
        assert_eq!(value(49.0, 52.0), Agreement::NotResolved, "it may well not be 49");
        assert_eq!(value(f64::NAN, 0.0), Agreement::NotResolved);
        let range = |min, max, measured, half_width| {
            let measured = Measured::Number(Estimate::about(measured, half_width));
            finding(Target::Range { min, max }, None, measured).agreement()
        };
        assert_eq!(range(Some(20.0), Some(37.0), 37.0, 0.0), Agreement::Agrees);
        assert_eq!(range(Some(20.0), Some(37.0), 37.0, 1.0), Agreement::NotResolved);
        assert_eq!(range(Some(20.0), Some(37.0), 39.0, 1.0), Agreement::Differs);
        assert_eq!(range(None, Some(50.0), -3.0, 20.0), Agreement::Agrees);
    }

    #[test]
    fn a_shape_holds_or_not_and_what_does_not_fit_cannot_be_compared() {
        let shape = || Target::Shape("rises".into());
        let agreement = |measured| finding(shape(), None, measured).agreement();
        assert_eq!(agreement(Measured::shape(Truth::Holds, "1 to 2")), Agreement::Agrees);
        assert_eq!(agreement(Measured::shape(Truth::Fails, "2 to 1")), Agreement::Differs);
        assert_eq!(agreement(Measured::shape(Truth::Open, "1 to 1")), Agreement::NotResolved);
        assert_eq!(agreement(Measured::exact(2.0)), Agreement::NotCheckable);
        assert_eq!(agreement(Measured::beyond("no such bus")), Agreement::NotCheckable);
        let never = Measured::shape(Truth::Fails, "never crosses");
        let none = finding(Target::Value(15.0), None, never);
        assert_eq!(none.agreement(), Agreement::Differs);
        let unmeasured = Finding {
            outcome: Err(Missing("fig12 has not been run".into())),
            ..finding(shape(), None, Measured::exact(0.0))
        };
        assert_eq!(unmeasured.agreement(), Agreement::Missing);
    }

    #[test]
    fn as_json_a_finding_is_flat() {
        let tolerance = Some(Tolerance::Abs(15.0));
        let finding =
            finding(Target::Value(49.0), tolerance, Measured::Number(Estimate::about(44.25, 2.5)));
        let json = serde_json::to_value(&finding).unwrap();
        assert_eq!(json["value"], 49);
        assert_eq!(json["measured"], 44.25);
        assert_eq!((&json["low"], &json["high"]), (&41.75.into(), &46.75.into()));
        assert_eq!(json["tolerance"]["abs"], 15.0);
        assert_eq!(json["agreement"], "agrees");
        assert!(json["shape"].is_null() && json["remark"].is_null());
    }
}
