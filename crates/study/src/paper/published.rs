//! The file of a paper's claims.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::claim::{Certainty, Claim, Draft};
use crate::diagnostic::Diagnostic;
use crate::document::{self, Fault};

/// What a paper's experiments take from it: a part of the machine or of the workload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Parameter {
    /// Its name, unique within the paper.
    pub id: String,
    /// Where the paper gives it.
    pub source: String,
    /// What it is.
    pub says: String,
    /// How sure it is.
    pub kind: Certainty,
    /// What the paper gives, as it can be read.
    pub published: String,
    /// What the experiments use.
    pub used: String,
    /// Why.
    #[serde(default)]
    pub note: Option<String>,
}

/// Something that a reproduction must show, and where it does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Check {
    /// Its name, unique within the paper.
    pub id: String,
    /// What is asked for.
    pub asks: String,
    /// Claims that tell of it.
    #[serde(default)]
    pub claims: Vec<String>,
    /// Tests that hold it: a file, and the name of a test in it.
    #[serde(default)]
    pub tests: Vec<String>,
}

/// Everything that is held against a paper.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// What it claims, in the order of the paper.
    pub claims: Vec<Claim>,
    /// What the experiments take from it.
    pub parameters: Vec<Parameter>,
    /// What a reproduction must show.
    pub checks: Vec<Check>,
}

impl Published {
    /// Reads a file of `[[claim]]`, `[[parameter]]` and `[[check]]`; `name` stands for it in error
    /// messages.
    pub fn parse(name: &str, text: &str) -> Result<Published, Diagnostic> {
        Published::read(text).map_err(|fault| Diagnostic::in_text(name, text, fault))
    }

    fn read(text: &str) -> Result<Published, Fault> {
        let root = document::parse(text)?;
        let known = ["claim", "parameter", "check"];
        if let Some(key) = root.keys().find(|key| !known.contains(&key.get_ref().as_ref())) {
            let fault = Fault::unknown("key", key.get_ref(), known.into_iter());
            return Err(fault.at(key.span()));
        }
        let mut ids = BTreeSet::new();
        let claims = list(&root, "claim")?
            .iter()
            .map(|item| {
                let draft: Draft = document::decode(item).map_err(|fault| fault.within("claim"))?;
                let claim = draft.checked().map_err(|fault| fault.at(item.span()))?;
                unique(&mut ids, &claim.id).map_err(|fault| fault.at(item.span()))?;
                Ok(claim)
            })
            .collect::<Result<Vec<Claim>, Fault>>()?;
        for (claim, item) in claims.iter().zip(list(&root, "claim")?) {
            if let Some(other) =
                claim.same_as.as_deref().filter(|o| *o == claim.id || !ids.contains(*o))
            {
                let label = format!("restates `{other}`, which is no other claim");
                return Err(Fault::new(format!("claim `{}`", claim.id), label).at(item.span()));
            }
        }
        let parameters = list(&root, "parameter")?
            .iter()
            .map(|item| {
                let parameter: Parameter =
                    document::decode(item).map_err(|fault| fault.within("parameter"))?;
                unique(&mut ids, &parameter.id).map_err(|fault| fault.at(item.span()))?;
                Ok(parameter)
            })
            .collect::<Result<Vec<Parameter>, Fault>>()?;
        let checks = list(&root, "check")?
            .iter()
            .map(|item| {
                let check: Check = document::decode(item).map_err(|fault| fault.within("check"))?;
                unique(&mut ids, &check.id).map_err(|fault| fault.at(item.span()))?;
                check.checked(&claims).map_err(|fault| fault.at(item.span()))?;
                Ok(check)
            })
            .collect::<Result<Vec<Check>, Fault>>()?;
        Ok(Published { claims, parameters, checks })
    }
}

impl Check {
    /// Fails if it is held nowhere, or by what is no claim.
    fn checked(&self, claims: &[Claim]) -> Result<(), Fault> {
        let unfit = |label: String| Err(Fault::new(format!("check `{}`", self.id), label));
        if self.claims.is_empty() && self.tests.is_empty() {
            return unfit("expected `claims` or `tests` that hold it".to_owned());
        }
        match self.claims.iter().find(|id| claims.iter().all(|claim| claim.id != **id)) {
            Some(id) => unfit(format!("found `{id}`, which is no claim")),
            None => Ok(()),
        }
    }
}

/// The tables headed `[[key]]`.
fn list<'r, 'i>(root: &'r DeTable<'i>, key: &str) -> Result<&'r [Spanned<DeValue<'i>>], Fault> {
    match root.get(key) {
        None => Ok(&[]),
        Some(value) => match value.get_ref() {
            DeValue::Array(list) => Ok(list),
            _ => Err(Fault::value("a single value", format!("a list, headed `[[{key}]]`"))
                .at(value.span())
                .within(key)),
        },
    }
}

fn unique(ids: &mut BTreeSet<String>, id: &str) -> Result<(), Fault> {
    match ids.insert(id.to_owned()) {
        true => Ok(()),
        false => Err(Fault::new(format!("two entries are called `{id}`"), "the second of that id")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::claim::{Target, Tolerance};
    use super::*;

    const CLAIM: &str =
        "[[claim]]\nid = 'a'\nsource = 'Figure 1'\nsays = 'gain'\nkind = 'stated'\n";
    const PARAMETER: &str = "[[parameter]]\nid = 'p'\nsource = '5.1'\nsays = 'rails'\n\
                             kind = 'inferred'\npublished = 'd'\nused = '4'\n";

    #[test]
    fn claims_and_parameters_are_read() {
        let text =
            format!("{CLAIM}value = 49\nunit = '%'\ntolerance = {{ abs = 15 }}\n{PARAMETER}");
        let published = Published::parse("x", &text).unwrap_or_else(|mistake| panic!("{mistake}"));
        let claim = &published.claims[0];
        assert_eq!(claim.target, Target::Value(49.0));
        assert_eq!(claim.tolerance, Some(Tolerance::Abs(15.0)));
        assert_eq!(claim.accepted(), Some((34.0, 64.0)));
        assert_eq!(published.parameters[0].used, "4");
        let text = format!("{CLAIM}max = 50\ntolerance = {{ rel = 0.02 }}");
        let bound = Published::parse("x", &text).unwrap();
        assert_eq!(bound.claims[0].accepted(), Some((f64::NEG_INFINITY, 51.0)));
    }

    #[test]
    fn mistakes_are_told_with_their_claim() {
        for (rest, words) in [
            ("", "expected one of `value`, `min` and `max`, `shape`, or `series`"),
            ("value = 1\nshape = 'rises'", "expected one of"),
            ("value = 1\nmin = 1", "expected one of"),
            ("value = 1", "expected a `tolerance` beside `value`"),
            ("value = nan\ntolerance = 'exact'", "expected finite numbers"),
            ("value = 1\ntolerance = { abs = -1 }", "expected a tolerance of at least 0"),
            ("value = 1\ntolerance = { factor = 0.5 }", "a factor of at least 1"),
            ("value = 1\ntolerance = { about = 1 }", "unknown choice `about`"),
            ("min = 2\nmax = 1", "found `min` above `max`"),
            ("shape = 'x'\nvalues = 1", "unknown key `values`"),
            ("shape = 'x'\nrole = 'parameter'\nfitted = 'jitter'", "at what is no outcome"),
            ("shape = 'x'\nrole = 'income'", "unknown choice `income`"),
            ("shape = 'x'\nsame-as = 'b'", "restates `b`, which is no other claim"),
            (
                "series = { labels = ['a'], values = [1, 2], rank-min = 1 }",
                "found 1 `labels` and 2 `values`",
            ),
            ("shape = 'x'\n[[clame]]\n", "unknown key `clame`"),
            ("shape = 'x'\n[[check]]\nid = 'c'\nasks = 'y'", "expected `claims` or `tests`"),
            ("shape = 'x'\n[[check]]\nid = 'c'\nasks = 'y'\nclaims = ['b']", "which is no claim"),
            ("shape = 'x'\n[parameter]\nid = 'x'", "a list, headed `[[parameter]]`"),
        ] {
            let mistake = Published::parse("x", &format!("{CLAIM}{rest}")).unwrap_err();
            assert!(mistake.to_string().contains(words), "{rest}: {mistake}");
        }
        let unreadable = CLAIM.replace("stated", "unreadable") + "value = 1\ntolerance = 'exact'";
        let mistake = Published::parse("x", &unreadable).unwrap_err();
        assert!(mistake.to_string().contains("a `value` that is unreadable"), "{mistake}");
        let twice = format!("{CLAIM}shape = 'x'\n{}", PARAMETER.replace("'p'", "'a'"));
        let mistake = Published::parse("x", &twice).unwrap_err();
        assert!(mistake.to_string().contains("two entries are called `a`"), "{mistake}");
    }
}
