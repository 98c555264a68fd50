//! A claim beside what was measured.

use std::fmt;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::claim::{Claim, Target};
use crate::row;

/// What was measured about a claim.
#[derive(Debug, Clone, PartialEq)]
pub enum Measured {
    /// A number, for a claim with a value or a range, in the unit of the claim.
    Number {
        /// The number.
        value: f64,
        /// How far off it may be for lack of statistics, where that is known.
        spread: Option<f64>,
    },
    /// Whether a property holds, for a claim with a shape. For a claim with a number: there is no
    /// such number, because what it would measure does not happen.
    Shape {
        /// Whether it does.
        holds: bool,
        /// Why, in numbers.
        text: String,
    },
    /// Nothing that this laboratory can measure.
    Beyond {
        /// Why not.
        why: String,
    },
}

impl Measured {
    /// A number that is exact, or whose spread is not known.
    pub fn number(value: f64) -> Measured {
        Measured::Number { value, spread: None }
    }

    /// A number with its spread.
    pub fn about(value: f64, spread: f64) -> Measured {
        Measured::Number { value, spread: Some(spread) }
    }

    /// Whether a property holds, and why.
    pub fn shape(holds: bool, text: impl Into<String>) -> Measured {
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Agreement {
    /// The measurement is what was published, within the tolerance.
    Agrees,
    /// It is not.
    Differs,
    /// This laboratory cannot tell.
    NotCheckable,
    /// What it takes has not been run.
    Missing,
}

impl Agreement {
    /// All of them, in the order above.
    pub const ALL: [Agreement; 4] =
        [Agreement::Agrees, Agreement::Differs, Agreement::NotCheckable, Agreement::Missing];

    /// The words used in tables.
    pub fn words(self) -> &'static str {
        match self {
            Agreement::Agrees => "agrees",
            Agreement::Differs => "differs",
            Agreement::NotCheckable => "not checkable",
            Agreement::Missing => "missing",
        }
    }

    /// The same fit for a key or a class.
    pub fn word(self) -> &'static str {
        match self {
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
    /// The reason or the open question where the two differ.
    pub remark: Option<String>,
}

impl Finding {
    /// Whether they agree. A number cannot be compared with a shape.
    pub fn agreement(&self) -> Agreement {
        let holds = match (&self.outcome, &self.claim.target) {
            (Err(_), _) => return Agreement::Missing,
            (Ok(Measured::Shape { holds, .. }), _) => *holds,
            (Ok(Measured::Number { value, .. }), Target::Value(_) | Target::Range { .. }) => {
                let accepted = self.claim.accepted();
                accepted.is_some_and(|(min, max)| min <= *value && *value <= max)
            }
            (Ok(_), _) => return Agreement::NotCheckable,
        };
        if holds { Agreement::Agrees } else { Agreement::Differs }
    }

    /// Measured over published, where both are numbers of one sign.
    pub fn ratio(&self) -> Option<f64> {
        let (Ok(Measured::Number { value, .. }), Target::Value(published)) =
            (&self.outcome, &self.claim.target)
        else {
            return None;
        };
        let ratio = value / published;
        (ratio.is_finite() && ratio > 0.0).then_some(ratio)
    }
}

/// One flat object: the keys of the claim's file, `measured` (a number), `spread`, `finding` (words),
/// `agreement` and `remark`, null where there is none.
impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Claim { id, source, says, kind, target, pattern, unit, tolerance, note } = &self.claim;
        let mut object = to.serialize_map(None)?;
        let mut text = |key, text: Option<&str>| object.serialize_entry(key, &text);
        text("id", Some(id))?;
        text("source", Some(source))?;
        text("says", Some(says))?;
        text("kind", Some(kind.word()))?;
        let (value, min, max, shape) = match target {
            Target::Value(value) => (Some(*value), None, None, None),
            Target::Range { min, max } => (None, *min, *max, None),
            Target::Shape(shape) => (None, None, None, Some(shape.as_str())),
        };
        text("shape", shape)?;
        text("pattern", pattern.as_deref())?;
        text("unit", Some(unit))?;
        let (measured, spread, words) = match &self.outcome {
            Ok(Measured::Number { value, spread }) => (Some(*value), *spread, None),
            Ok(Measured::Shape { text, .. }) => (None, None, Some(text.clone())),
            Ok(Measured::Beyond { why }) => (None, None, Some(why.clone())),
            Err(missing) => (None, None, Some(missing.to_string())),
        };
        let numbers = [("value", value), ("min", min), ("max", max)];
        for (key, number) in numbers.into_iter().chain([("measured", measured), ("spread", spread)])
        {
            object.serialize_entry(key, &number.and_then(row::number))?;
        }
        object.serialize_entry("ratio", &self.ratio().and_then(row::number))?;
        object.serialize_entry("tolerance", tolerance)?;
        let mut text = |key, text: Option<&str>| object.serialize_entry(key, &text);
        text("finding", words.as_deref())?;
        text("agreement", Some(self.agreement().word()))?;
        text("note", note.as_deref())?;
        text("remark", self.remark.as_deref())?;
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use super::super::claim::{Certainty, Tolerance};
    use super::*;

    fn finding(target: Target, tolerance: Option<Tolerance>, measured: Measured) -> Finding {
        let claim = Claim {
            id: "f12.gain".into(),
            source: "Figure 12".into(),
            says: "gain".into(),
            kind: Certainty::Stated,
            target,
            pattern: None,
            unit: "%".into(),
            tolerance,
            note: None,
        };
        Finding { claim, outcome: Ok(measured), remark: None }
    }

    #[test]
    fn numbers_agree_within_the_tolerance() {
        let value = |measured| {
            let tolerance = Some(Tolerance::Abs(15.0));
            finding(Target::Value(49.0), tolerance, Measured::number(measured)).agreement()
        };
        assert_eq!(value(34.0), Agreement::Agrees);
        assert_eq!(value(64.1), Agreement::Differs);
        assert_eq!(value(f64::NAN), Agreement::Differs);
        let range = |min, max, measured| {
            finding(Target::Range { min, max }, None, Measured::about(measured, 1.0)).agreement()
        };
        assert_eq!(range(Some(20.0), Some(37.0), 37.0), Agreement::Agrees);
        assert_eq!(range(Some(20.0), Some(37.0), 37.1), Agreement::Differs);
        assert_eq!(range(None, Some(50.0), -3.0), Agreement::Agrees);
    }

    #[test]
    fn a_shape_holds_or_not_and_what_does_not_fit_cannot_be_compared() {
        let shape = || Target::Shape("rises".into());
        let agreement = |measured| finding(shape(), None, measured).agreement();
        assert_eq!(agreement(Measured::shape(true, "1 to 2")), Agreement::Agrees);
        assert_eq!(agreement(Measured::shape(false, "2 to 1")), Agreement::Differs);
        assert_eq!(agreement(Measured::number(2.0)), Agreement::NotCheckable);
        assert_eq!(agreement(Measured::beyond("no such bus")), Agreement::NotCheckable);
        let none = finding(Target::Value(15.0), None, Measured::shape(false, "never crosses"));
        assert_eq!(none.agreement(), Agreement::Differs);
        let unmeasured = Finding {
            outcome: Err(Missing("fig12 has not been run".into())),
            ..finding(shape(), None, Measured::number(0.0))
        };
        assert_eq!(unmeasured.agreement(), Agreement::Missing);
    }

    #[test]
    fn as_json_a_finding_is_flat() {
        let tolerance = Some(Tolerance::Abs(15.0));
        let finding = finding(Target::Value(49.0), tolerance, Measured::about(44.25, 2.5));
        let json = serde_json::to_value(&finding).unwrap();
        assert_eq!(json["value"], 49);
        assert_eq!(json["measured"], 44.25);
        assert_eq!(json["tolerance"]["abs"], 15.0);
        assert_eq!(json["agreement"], "agrees");
        assert!(json["shape"].is_null() && json["remark"].is_null());
    }
}
