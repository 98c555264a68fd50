//! `crosstie paper`: a paper's evaluation again, published beside measured.

mod catalogue;
mod session;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use crosstie_lab::paper::{Evidence, Form, OtherReading, Paper, Part, Scale};
use crosstie_report::{PaperPart, PaperReport};
use crosstie_study::paper::{Agreement, Claim, Finding, Role};
use serde::Serialize;

use crate::console::{self, Console};
use crate::exit::{Answer, Exit, Failure};
use crate::results::ResultsArguments;
use session::Session;

const EXAMPLES: &str = "\
Examples:
  crosstie paper                         which papers there are, and their parts
  crosstie paper coll-multirail --quick  smaller experiments: a few minutes
  crosstie paper coll-multirail          all of it, into results/coll-multirail/
  crosstie paper flich-itb --full        as many networks as the paper drew
  crosstie paper coll-multirail --only fig12,fig14
      run these parts; the others as they are
  crosstie paper coll-multirail --reading 64
      read lost digits otherwise
  crosstie paper coll-multirail --json | jq '.claims[].agreement'

Points that are finished already are skipped: after Ctrl-C, run the same command
again to go on. The exit code is 0 also when claims differ from what was
measured: that is a finding.";

/// Arguments of `crosstie paper`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct PaperArguments {
    /// The paper; without it, papers and their parts are listed
    #[arg(value_name = "NAME")]
    name: Option<String>,

    /// Run smaller experiments with the same questions, into a folder of their own
    #[arg(long, requires = "name")]
    quick: bool,

    /// Run as much as the paper did, where that takes much longer; into a folder of its own
    #[arg(long, requires = "name", conflicts_with = "quick")]
    full: bool,

    /// Read the paper otherwise where it is damaged; into a folder of its own
    #[arg(long, value_name = "NAME", requires = "name")]
    reading: Option<String>,

    /// Run only these parts; parts that were run before still count
    #[arg(long, value_name = "PART,...", value_delimiter = ',', requires = "name")]
    only: Vec<String>,

    #[command(flatten)]
    results: ResultsArguments,
}

/// What is printed as JSON.
#[derive(Serialize)]
struct Document<'a> {
    paper: Header<'a>,
    parts: Vec<PartState<'a>>,
    /// Of outcomes alone.
    counts: Counts,
    apart: Apart,
    claims: &'a [Finding],
}

#[derive(Serialize)]
struct Header<'a> {
    name: &'a str,
    title: &'a str,
    citation: &'a str,
    form: &'a str,
    reading: Option<&'a str>,
    report: PathBuf,
}

#[derive(Serialize)]
struct PartState<'a> {
    name: &'a str,
    title: &'a str,
    finished: bool,
}

#[derive(Serialize)]
struct Counts {
    agrees: usize,
    differs: usize,
    not_resolved: usize,
    not_checkable: usize,
    missing: usize,
}

/// Claims that do not count.
#[derive(Serialize)]
struct Apart {
    parameters: Counts,
    arithmetic: Counts,
    fitted: Counts,
    restated: Counts,
}

/// Lists papers, or reproduces one.
pub fn paper(arguments: &PaperArguments, threads: Option<NonZeroUsize>, console: &Console) -> Exit {
    let Some(name) = &arguments.name else { return catalogue::list(console) };
    let paper = catalogue::find(name)?;
    let chosen = chosen(paper, &arguments.only)?;
    let scale = match (arguments.quick, arguments.full) {
        (true, _) => Scale::Quick,
        (_, true) => Scale::Full,
        _ => Scale::Usual,
    };
    let reading = arguments.reading.as_deref().map(|name| reading(paper, name)).transpose()?;
    let form = Form { scale, reading };
    let rerun = [format!("crosstie paper {}", paper.name)].into_iter().chain(form.flags());
    let rerun = rerun.collect::<Vec<String>>().join(" ");
    let folder = arguments.results.out.join(form.folder(paper.name));
    // A paper's files are part of the program.
    let published = paper.published().map_err(Failure::ours)?;
    let session = Session { paper, form, folder: &folder, console };
    let (chosen, barred) = session.allowed(chosen);
    let progress = session.run(&chosen, arguments.results.fresh, threads)?;

    let parts = session.parts()?;
    let mut evidence = Evidence::default();
    for part in &parts {
        if let Some(results) = &part.results {
            evidence.add(&part.name, results.rows.clone());
            let beside = results.side_tables()?;
            evidence.add_channels(&part.name, beside.channels);
            evidence.add_timeline(&part.name, beside.timeline);
        }
    }
    if let Some(why) = barred {
        evidence.bar_live(why);
    }
    let findings = paper.findings(&published.claims, &evidence, form);
    let report = crosstie_report::write_paper(
        &PaperReport {
            title: paper.title,
            citation: paper.citation,
            quick: scale == Scale::Quick,
            version: env!("CARGO_PKG_VERSION"),
            rerun: &rerun,
            findings: &findings,
            parameters: &published.parameters,
            checks: &published.checks,
            drawings: &(paper.drawings)(&evidence),
            grids: &(paper.grids)(),
            parts: &parts,
        },
        &folder,
    )?;
    if progress.cancelled {
        // Also when quiet: whoever interrupted wants to know what is left.
        console::complain(&format!(
            "interrupted: {} of {} points are finished and kept in {}; run the same command again \
             to go on",
            progress.finished,
            progress.points,
            folder.display()
        ));
        return Ok(Answer::Interrupted);
    }
    if console.json {
        console.print_json(&Document {
            paper: Header {
                name: paper.name,
                title: paper.title,
                citation: paper.citation,
                form: scale.word().unwrap_or("usual"),
                reading: reading.map(|reading| reading.name),
                report,
            },
            parts: parts.iter().map(PartState::of).collect(),
            counts: Counts::of(findings.iter().filter(|f| f.claim.counts())),
            apart: Apart::of(&findings),
            claims: &findings,
        })?;
    } else {
        let claims = console.terminal().claims(&findings);
        console.print(&format!("{}\n\n{claims}\nreport: {}\n", paper.title, report.display()))?;
    }
    Ok(Answer::Yes)
}

impl PartState<'_> {
    fn of(part: &PaperPart) -> PartState<'_> {
        let PaperPart { name, title, results } = part;
        PartState { name, title, finished: results.is_some() }
    }
}

impl Counts {
    fn of<'f>(findings: impl Iterator<Item = &'f Finding>) -> Counts {
        let agreements: Vec<Agreement> = findings.map(Finding::agreement).collect();
        let count = |agreement| agreements.iter().filter(|found| **found == agreement).count();
        Counts {
            agrees: count(Agreement::Agrees),
            differs: count(Agreement::Differs),
            not_resolved: count(Agreement::NotResolved),
            not_checkable: count(Agreement::NotCheckable),
            missing: count(Agreement::Missing),
        }
    }
}

impl Apart {
    fn of(findings: &[Finding]) -> Apart {
        let role = |role| Counts::of(findings.iter().filter(move |f| f.claim.role == role));
        let outcomes = |is: fn(&Claim) -> bool| {
            let outcomes = findings.iter().filter(|f| f.claim.role == Role::Outcome);
            Counts::of(outcomes.filter(move |f| is(&f.claim)))
        };
        Apart {
            parameters: role(Role::Parameter),
            arithmetic: role(Role::Arithmetic),
            fitted: outcomes(|claim| claim.fitted.is_some()),
            restated: outcomes(|claim| claim.fitted.is_none() && claim.same_as.is_some()),
        }
    }
}

/// The other reading of that name.
fn reading(paper: &'static Paper, name: &str) -> Result<&'static OtherReading, Failure> {
    paper.reading(name).ok_or_else(|| {
        let help = match paper.readings {
            [] => "the text of this paper is whole: its experiments have one reading".to_owned(),
            all => {
                let known: Vec<&str> = all.iter().map(|reading| reading.name).collect();
                format!("its other readings are {}", known.join(", "))
            }
        };
        Failure::user(format!("`{}` has no other reading `{name}`\nhelp: {help}", paper.name))
    })
}

/// The parts to run: those named, in the order of the paper, or all.
fn chosen(paper: &'static Paper, only: &[String]) -> Result<Vec<&'static Part>, Failure> {
    if let Some(name) = only.iter().find(|name| paper.part(name).is_none()) {
        let all = paper.parts.iter().chain(paper.live);
        let known: Vec<&str> = all.map(|part| part.name).collect();
        return Err(Failure::user(format!(
            "`{}` has no part `{name}`\nhelp: its parts are {}",
            paper.name,
            known.join(", ")
        )));
    }
    let wanted = |part: &&Part| only.is_empty() || only.iter().any(|name| name == part.name);
    Ok(paper.parts.iter().chain(paper.live).filter(wanted).collect())
}
