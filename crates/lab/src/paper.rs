//! Papers and how to reproduce them.
//!
//! A [`Paper`] has *parts*, which are experiment files, and a file of what it *publishes*. The rows
//! of the parts are the [`Evidence`]; a module per paper measures each claim on it, and
//! [`Paper::findings`] puts published and measured side by side.
//!
//! To add a paper: a folder `experiments/NAME` with its parts and `published.toml`, a module here
//! with its measures, and its line in [`PAPERS`].

/// A file of `experiments`, whose path may be in pieces, for the modules of papers.
macro_rules! text {
    ($($piece:literal),+) => {
        include_str!(concat!("../../../../experiments/", $($piece,)+ ".toml"))
    };
}

/// The parts of a paper: experiment files of its folder, each with the changes to it in `quick`
/// and, where that is said, in `full`. A part that another reading changes names it: `"fig12" @
/// "64"` takes the changes from `reading-64`.
macro_rules! parts {
    ($paper:literal: $($name:literal $($full:ident)? $(@ $reading:literal)*),+ $(,)?) => {
        &[$(Part {
            name: $name,
            experiment: text!($paper, "/", $name),
            quick: text!($paper, "/quick/", $name),
            full: parts!(@changes $paper, $name $(, $full)?),
            readings: &[$(($reading, text!($paper, "/reading-", $reading, "/", $name))),*],
        }),+]
    };
    (@changes $paper:literal, $name:literal) => {
        None
    };
    (@changes $paper:literal, $name:literal, full) => {
        Some(text!($paper, "/full/", $name))
    };
}

mod allocation;
mod coll;
mod drawing;
mod evidence;
mod flich;
mod liu;
mod part;
mod petrini;
mod remark;
mod statistic;
mod tam;

use crosstie_study::Diagnostic;
use crosstie_study::paper::{Claim, Finding, Grid, Measured, Missing, Published, Target};
use std::collections::BTreeMap;

pub use allocation::rails_by_nodes;
pub use drawing::Drawing;
pub use evidence::Evidence;
pub use part::{Form, Machine, OtherReading, Part, Scale};
pub use remark::Remark;

/// What the name of a part ends with that real ranks run.
pub const LIVE: &str = "-live";

/// What a measure returns: nothing if the paper's module has no measure for the claim.
pub type Reading = Option<Result<Measured, Missing>>;

/// A paper that can be reproduced.
#[derive(Debug)]
pub struct Paper {
    /// Its name on the command line and of its folder of results.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Who published it, and where.
    pub citation: &'static str,
    /// Its experiments, in the order of the paper.
    pub parts: &'static [Part],
    /// What else the paper may mean where it is damaged or silent.
    pub readings: &'static [OtherReading],
    /// Editions of some of them that real ranks run: that of `NAME` is `NAME-live`.
    pub live: &'static [Part],
    /// Whether these can tell of a claim; by its id.
    tells_live: fn(&str) -> bool,
    /// Its figures that no part draws: calculated, or drawn from the channels of one; with the
    /// rows they are drawn from.
    pub drawings: fn(&Evidence) -> Vec<Drawing>,
    /// Its tables, whose cells are claims.
    pub grids: fn() -> Vec<Grid>,
    /// The text of its file of claims.
    published: &'static str,
    /// Measures a claim.
    measure: fn(&Claim, &Evidence) -> Reading,
    /// What is to be said of a claim that does not agree; by its id.
    remark: fn(&str) -> Option<Remark>,
}

/// All papers.
pub const PAPERS: &[Paper] = &[
    coll::PAPER,
    flich::PAPER,
    liu::PAPER,
    petrini::PAPER,
    tam::CONGESTION,
    tam::EXCHANGE,
    tam::MODEL,
];

/// The numbers that a file of claims publishes, by the ids of the claims.
fn numbers(paper: &Paper) -> BTreeMap<String, f64> {
    let published: Published =
        paper.published().unwrap_or_else(|mistake| panic!("{}: {mistake}", paper.name));
    let number = |target| match target {
        Target::Value(value) => Some(value),
        _ => None,
    };
    published
        .claims
        .into_iter()
        .filter_map(|claim| Some((claim.id, number(claim.target)?)))
        .collect()
}

impl Paper {
    /// The paper of that name.
    pub fn named(name: &str) -> Option<&'static Paper> {
        PAPERS.iter().find(|paper| paper.name == name)
    }

    /// The part of that name.
    pub fn part(&self, name: &str) -> Option<&'static Part> {
        self.parts.iter().chain(self.live).find(|part| part.name == name)
    }

    /// The other reading of that name.
    pub fn reading(&self, name: &str) -> Option<&'static OtherReading> {
        self.readings.iter().find(|reading| reading.name == name)
    }

    /// What it publishes.
    pub fn published(&self) -> Result<Published, Diagnostic> {
        Published::parse(&format!("{}/published.toml", self.name), self.published)
    }

    /// Every claim beside what the evidence, of parts of this form, says of it; in the order of
    /// the paper.
    pub fn findings(
        &self,
        claims: &[Claim],
        evidence: &Evidence,
        form: impl Into<Form>,
    ) -> Vec<Finding> {
        let form = form.into();
        claims.iter().map(|claim| self.finding(claim, evidence, form)).collect()
    }

    fn finding(&self, claim: &Claim, evidence: &Evidence, form: Form) -> Finding {
        let unmeasured = || Err(Missing("no measure is defined for this claim".to_owned()));
        let outcome = (self.measure)(claim, evidence).unwrap_or_else(unmeasured);
        let live = (self.tells_live)(&claim.id).then(|| match evidence.live() {
            Ok(live) => (self.measure)(claim, &live).unwrap_or_else(unmeasured),
            Err(why) => Ok(Measured::beyond(why)),
        });
        let mut finding = Finding { claim: claim.clone(), outcome, live, remark: None };
        // Remarks explain what the machine of the experiment files does.
        let is_other = form.reading.is_some_and(|reading| reading.machine.is_some());
        let remark = (self.remark)(&claim.id)
            .filter(|remark| !is_other && remark.fits(finding.agreement(), form.scale));
        finding.remark = remark.map(|remark| remark.text.to_owned());
        finding
    }
}
