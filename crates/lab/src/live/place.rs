//! Where ranks run, from their start to what they have found.

use crosstie_box::Spec as BoxSpec;
use crosstie_study::Live;
use serde::de::DeserializeOwned;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{Assignment, Lead, LiveError, hydra};
use crate::Progress;

/// The variable by which ranks are told what to do.
pub(super) const ASSIGNMENT: &str = "CROSSTIE_ASSIGNMENT";

/// The longest text that the kernel lets a variable have, less its name.
const LONGEST: usize = 120_000;

/// A place where ranks can run, again and again.
pub struct Place<'a>(Kind<'a>);

enum Kind<'a> {
    Here,
    Job(&'a Lead),
    Machines(Vec<String>),
    #[cfg(target_os = "linux")]
    Box(Box<crosstie_box::Cluster>),
}

/// Why this machine allows no boxes; `None` if it does.
pub fn why_no_box() -> Option<String> {
    #[cfg(target_os = "linux")]
    {
        let findings = crosstie_box::permissions();
        let refused = findings.iter().find(|finding| finding.works != Some(true))?;
        let why = refused.problem.as_ref().map_or("make hosts", crosstie_box::BoxError::doing);
        Some(format!("this machine allows no boxes: it cannot {why}"))
    }
    #[cfg(not(target_os = "linux"))]
    {
        Some("boxes are made of namespaces, which only Linux has".to_owned())
    }
}

/// The ranks that are wanted in a place.
#[derive(Clone, Copy)]
pub struct Company<'a> {
    /// The program that ranks are: `crosstie` itself.
    pub executable: &'a Path,
    /// The host of each rank, counted from 0. Machines take hosts in their turn.
    pub hosts: &'a [usize],
    /// How long they may take.
    pub limit: Duration,
    /// Once set, they are ended.
    pub cancel: &'a AtomicBool,
    /// Is told what their launcher says.
    pub progress: &'a dyn Progress,
}

/// Why ranks are ended before they have ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    Late,
    Cancelled,
}

/// How ranks have ended: what rank 0 wrote, what all of them said beside, and what went wrong.
pub(super) struct Ended {
    pub found: Vec<u8>,
    pub said: String,
    pub failure: Option<Failure>,
}

/// What went wrong.
pub(super) enum Failure {
    Stopped(Stop),
    Rank(String),
}

impl<'a> Place<'a> {
    /// This machine.
    pub fn here() -> Place<'a> {
        Place(Kind::Here)
    }

    /// Wherever a launcher has started the ranks of the job that this one leads. Ranks are taken in
    /// their order, whatever hosts they are wanted on, and those that are not wanted wait.
    pub fn of_job(lead: &'a Lead) -> Place<'a> {
        Place(Kind::Job(lead))
    }

    /// The hosts of a box, which is made now. It stands until the place is dropped. What its file
    /// lets happen to rails happens whenever ranks run, from their start on.
    pub fn of_box(spec: &BoxSpec) -> Result<Place<'a>, LiveError> {
        #[cfg(target_os = "linux")]
        {
            let cluster = crosstie_box::Cluster::start(spec).map_err(|error| {
                let help = error.help().unwrap_or("`crosstie box --check` says what is allowed");
                let text = error.to_string();
                let problem = text.split("\nhelp: ").next().unwrap_or(&text);
                LiveError::place(format!("this machine allows no box: {problem}"), help)
            })?;
            Ok(Place(Kind::Box(Box::new(cluster))))
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = spec;
            let help = "run it on Linux, or leave `live.box` out";
            Err(LiveError::place("boxes are made of namespaces, which only Linux has", help))
        }
    }

    /// Machines by name: ranks are started by `mpiexec.hydra`, or by ourselves where `localhost` is
    /// the only one.
    pub fn of_machines(names: &[impl AsRef<str>]) -> Result<Place<'a>, LiveError> {
        let names: Vec<String> = names.iter().map(|name| name.as_ref().to_owned()).collect();
        if names.iter().all(|name| name == Live::THIS) {
            return Ok(Place::here());
        }
        hydra::find()?;
        Ok(Place(Kind::Machines(names)))
    }

    /// Does something there, and tells how many frames the rails of a box dropped meanwhile; `None`
    /// elsewhere.
    pub(crate) fn counting<R>(&self, what: impl FnOnce() -> R) -> (R, Option<u64>) {
        #[cfg(target_os = "linux")]
        if let Kind::Box(cluster) = &self.0
            && let Ok(mut trace) = crosstie_box::Trace::new(cluster)
        {
            let found = what();
            let samples = trace.look(Duration::ZERO).ok();
            let drops = samples.map(|samples| samples.iter().map(|sample| sample.drops).sum());
            return (found, drops);
        }
        (what(), None)
    }

    /// Runs ranks until all have ended: what each of them [reported](super::report), or `None` if
    /// they were told to end.
    pub fn run<T: DeserializeOwned>(
        &self,
        company: &Company<'_>,
        assignment: &Assignment,
    ) -> Result<Option<Vec<T>>, LiveError> {
        let text = serde_json::to_string(assignment)
            .map_err(|error| LiveError::Unreadable { problem: error.to_string() })?;
        if text.len() > LONGEST {
            let problem = format!(
                "found an assignment of {} bytes, expected at most {LONGEST}, which a variable holds",
                text.len()
            );
            return Err(LiveError::place(problem, "take less at once"));
        }
        // Who waits for the slowest rank waits as long as that may take.
        let timeout = format!("{} s", company.limit.as_secs_f64().ceil());
        let variables = [(ASSIGNMENT, text), ("CROSSTIE_TIMEOUT", timeout)];
        let ended = match &self.0 {
            Kind::Job(lead) => {
                let (found, failure) = match lead.run(company, assignment)? {
                    Ok(found) => (found, None),
                    Err(stop) => (Vec::new(), Some(Failure::Stopped(stop))),
                };
                Ended { found, said: String::new(), failure }
            }
            #[cfg(unix)]
            Kind::Here => super::here::run(company, &variables)?,
            #[cfg(not(unix))]
            Kind::Here => {
                let help = "run it on Linux or another Unix";
                return Err(LiveError::place("ranks cannot be started on this system yet", help));
            }
            Kind::Machines(names) => hydra::run(names, company, &variables)?,
            #[cfg(target_os = "linux")]
            Kind::Box(cluster) => super::boxed::run(cluster, company, &variables)?,
        };
        let Ended { found, said, failure } = ended;
        match failure {
            Some(_) if company.is_cancelled() => Ok(None),
            Some(Failure::Stopped(Stop::Cancelled)) => Ok(None),
            Some(Failure::Stopped(Stop::Late)) => {
                Err(LiveError::Late { after: company.limit, said })
            }
            Some(Failure::Rank(what)) => Err(LiveError::Rank { what, said }),
            None => {
                let mut all: Vec<T> = serde_json::from_slice(&found)
                    .map_err(|error| LiveError::Unreadable { problem: error.to_string() })?;
                if let Kind::Job(_) = self.0 {
                    all.truncate(company.hosts.len());
                }
                if all.len() != company.hosts.len() {
                    let (found, expected) = (all.len(), company.hosts.len());
                    let problem = format!("found reports of {found} ranks, expected {expected}");
                    return Err(LiveError::Unreadable { problem });
                }
                Ok(Some(all))
            }
        }
    }
}

impl Company<'_> {
    /// The words by which a rank is started.
    pub(super) fn words(&self) -> [&std::ffi::OsStr; 2] {
        [self.executable.as_os_str(), "rank".as_ref()]
    }

    /// Whether there is a reason to end ranks that began then.
    pub(super) fn stop(&self, begin: Instant) -> Option<Stop> {
        if self.cancel.load(Ordering::Relaxed) {
            Some(Stop::Cancelled)
        } else {
            (begin.elapsed() > self.limit).then_some(Stop::Late)
        }
    }

    /// Whether somebody has told ranks to end. Ctrl-C reaches them and us at the same time, and
    /// they may have ended by it before we were told.
    fn is_cancelled(&self) -> bool {
        const MOMENT: Duration = Duration::from_millis(50);
        let begin = Instant::now();
        while !self.cancel.load(Ordering::Relaxed) && begin.elapsed() < MOMENT {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.cancel.load(Ordering::Relaxed)
    }
}
