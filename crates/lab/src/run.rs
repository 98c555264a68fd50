//! Runs the points of a study on several threads.

use crate::live::{Company, Found, Lead, LiveError, Place, Site};
use crate::outcome::{self, Outcome};
use crate::preparation::{Job, prepare};
use crate::{LabError, Progress, World};
use crosstie_study::{self as study, Point, Row, Store, Study};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// How to run.
#[derive(Debug, Clone, Copy)]
pub struct RunOptions<'a> {
    /// How many points to run at a time.
    pub threads: NonZeroUsize,
    /// Once set, running points are given up and no new ones start. What is done is kept.
    pub cancel: &'a AtomicBool,
    /// The program that real ranks are, which calls [`live::rank`](crate::live::rank) for its verb
    /// `rank`; without it points of `world = "live"` can be checked but not run.
    pub executable: Option<&'a Path>,
    /// The ranks of a launcher's job, which are taken if there are any.
    pub lead: Option<&'a Lead>,
}

/// What became of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    /// The rows of all finished points, those of earlier runs included, in order.
    pub rows: Vec<Row>,
    /// How many points the study has.
    pub points: usize,
    /// How many of them had been finished before.
    pub skipped: usize,
    /// Whether it was cancelled before all points were done.
    pub cancelled: bool,
}

/// Runs the points that the store does not have yet, keeps each as soon as it is done, and closes
/// the store.
///
/// All points are built and checked before the first one runs. After an error the journal of the
/// store still has what was finished.
pub fn run(
    study: &Study,
    store: Store<'_>,
    options: RunOptions<'_>,
    progress: &dyn Progress,
) -> Result<RunSummary, LabError> {
    let pending = store.pending();
    // Cancelled meanwhile, there are no jobs, and nothing is left to do but to close the store.
    let jobs = prepare(study, &pending, options, progress)?.unwrap_or_default();
    let total = study.points().len();
    let skipped = total - pending.len();
    // From now on the folder says what it is for, and can be read while points come in.
    store.publish()?;
    let (store, done) =
        finish(study, jobs, Keeper::Store(Box::new(store)), skipped, options, progress)?;
    let Keeper::Store(store) = store else { unreachable!("it is the one that was given") };
    let rows = store.rows();
    store.close()?;
    Ok(RunSummary { points: total, skipped, cancelled: done < total, rows })
}

/// Runs all points and gives their rows in order, without keeping anything; `None` if it was
/// cancelled.
pub fn rows(
    study: &Study,
    options: RunOptions<'_>,
    progress: &dyn Progress,
) -> Result<Option<Vec<Row>>, LabError> {
    let points: Vec<&Point> = study.points().iter().collect();
    let Some(jobs) = prepare(study, &points, options, progress)? else { return Ok(None) };
    let (keeper, done) = finish(study, jobs, Keeper::Rows(Vec::new()), 0, options, progress)?;
    let Keeper::Rows(mut rows) = keeper else { unreachable!("it is the one that was given") };
    rows.sort_by_key(|row| row.point);
    Ok((done == points.len()).then_some(rows))
}

/// Runs jobs on several threads; who keeps the rows, and how many points are done then.
fn finish<'a>(
    study: &'a Study,
    mut jobs: Vec<Job<'a>>,
    keeper: Keeper<'a>,
    skipped: usize,
    options: RunOptions<'a>,
    progress: &'a dyn Progress,
) -> Result<(Keeper<'a>, usize), LabError> {
    // Real ranks have the machine for themselves.
    let live: Vec<_> =
        jobs.extract_if(.., |job| job.point.spec.world == study::World::Live).collect();
    // The long ones first, so that no core is left with one of them at the end.
    jobs.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    progress.begin(skipped, study.points().len());
    let crew = Crew {
        study,
        jobs,
        next: AtomicUsize::new(0),
        ledger: Mutex::new(Ledger { keeper, done: skipped, error: None }),
        failed: AtomicBool::new(false),
        cancel: options.cancel,
        progress,
    };
    if let Some(lead) = options.lead {
        crew.check_live(&live, lead)?;
    }
    std::thread::scope(|scope| {
        for _ in 0..options.threads.get().min(crew.jobs.len()) {
            scope.spawn(|| crew.work());
        }
    });
    crew.work_live(live, options.executable, options.lead);
    let ledger = crew.ledger.into_inner().unwrap_or_else(PoisonError::into_inner);
    match ledger.error {
        Some(error) => Err(error),
        None => Ok((ledger.keeper, ledger.done)),
    }
}

/// Who keeps what was found.
enum Keeper<'a> {
    /// A folder of results.
    Store(Box<Store<'a>>),
    /// Whoever asked.
    Rows(Vec<Row>),
}

/// What the threads share.
struct Crew<'a> {
    study: &'a Study,
    jobs: Vec<Job<'a>>,
    /// The first job that nobody has taken.
    next: AtomicUsize,
    ledger: Mutex<Ledger<'a>>,
    failed: AtomicBool,
    cancel: &'a AtomicBool,
    progress: &'a dyn Progress,
}

struct Ledger<'a> {
    keeper: Keeper<'a>,
    /// Points done, those of earlier runs included.
    done: usize,
    /// The first error.
    error: Option<LabError>,
}

impl Crew<'_> {
    /// Takes one job after the other until there is none, or no reason to go on.
    fn work(&self) {
        while !self.stopped()
            && let Some(job) = self.jobs.get(self.next.fetch_add(1, Ordering::Relaxed))
        {
            self.settle(self.finish(job));
        }
    }

    /// Has real ranks do one job after the other, those of one site together: it takes long to make
    /// a box.
    fn work_live(&self, jobs: Vec<Job<'_>>, executable: Option<&Path>, lead: Option<&Lead>) {
        let mut open: Option<(Site, Place<'_>)> = None;
        for job in together(jobs, |job| Some(self.world(job).ok()?.plan()?.site.clone())) {
            if self.stopped() {
                return;
            }
            self.settle(self.finish_live(&job, &mut open, executable, lead));
        }
    }

    /// Refuses what the ranks of a launcher's job cannot do, before anything takes time.
    fn check_live(&self, jobs: &[Job<'_>], lead: &Lead) -> Result<(), LabError> {
        for job in jobs {
            let world = self.world(job)?;
            let Some(plan) = world.plan() else { unreachable!("it is a point of real ranks") };
            plan.suits(lead).map_err(|error| told(job.point, error))?;
        }
        Ok(())
    }

    fn settle(&self, result: Result<(), LabError>) {
        if let Err(error) = result {
            self.failed.store(true, Ordering::Relaxed);
            let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
            ledger.error.get_or_insert(error);
        }
    }

    fn stopped(&self) -> bool {
        self.cancel.load(Ordering::Relaxed) || self.failed.load(Ordering::Relaxed)
    }

    fn world(&self, job: &Job<'_>) -> Result<World, LabError> {
        let locate = |path: &str| self.study.locate(path);
        let spec = &job.point.spec;
        let world = World::on(Arc::clone(&job.network), spec, &locate)
            .map_err(|error| error.found_at(job.point))?;
        Ok(world.with_remarks(self.study.remarks(job.point)))
    }

    /// Runs a point and keeps its row, unless it is given up.
    fn finish(&self, job: &Job<'_>) -> Result<(), LabError> {
        self.progress.point_started(job.point);
        let world = self.world(job)?;
        let mut watch = |cycles| {
            self.progress.advanced(job.point, cycles);
            if self.stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        match outcome::of(job.point, &world, &mut watch)? {
            Some(outcome) => self.keep(outcome),
            None => Ok(()),
        }
    }

    /// The same by real ranks. `open` is where they ran before.
    fn finish_live<'p>(
        &self,
        job: &Job<'_>,
        open: &mut Option<(Site, Place<'p>)>,
        executable: Option<&Path>,
        lead: Option<&'p Lead>,
    ) -> Result<(), LabError> {
        self.progress.point_started(job.point);
        let world = self.world(job)?;
        let Some(plan) = world.plan() else { unreachable!("it is a point of real ranks") };
        let told = |error: LiveError| told(job.point, error);
        let Some(executable) = executable else {
            let help = "run it by the command `crosstie`, or choose another world";
            return Err(told(LiveError::place("there is no program for real ranks to be", help)));
        };
        if open.as_ref().is_none_or(|(site, _)| *site != plan.site) {
            // The one before goes first.
            *open = None;
            *open = Some((plan.site.clone(), plan.site.open(lead).map_err(told)?));
        }
        let Some((_, place)) = open else { unreachable!("it was opened") };
        let company = Company {
            executable,
            hosts: &plan.hosts,
            limit: plan.limit,
            cancel: self.cancel,
            progress: self.progress,
        };
        let (found, lost) = place.counting(|| place.run::<Found>(&company, &plan.assignment));
        let found = match found {
            Ok(None) => return Ok(()),
            Ok(Some(found)) => Ok(found),
            Err(error) if error.is_an_outcome() => Err(error.to_string()),
            Err(error) => return Err(told(error)),
        };
        if found.is_err() || !plan.site.lasts() {
            *open = None;
        }
        self.keep(outcome::of_live(job.point, &world, found, lost))
    }

    fn keep(&self, Outcome { row, side }: Outcome) -> Result<(), LabError> {
        let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        ledger.done += 1;
        self.progress.point_done(&row, ledger.done, self.study.points().len());
        match &mut ledger.keeper {
            Keeper::Store(store) => store.record(&row, &side)?,
            Keeper::Rows(rows) => rows.push(row),
        }
        Ok(())
    }
}

/// The same jobs, those of one site behind each other, sites in the order of their first job. Each
/// job is asked once.
fn together<J, S: PartialEq>(jobs: Vec<J>, site: impl Fn(&J) -> S) -> Vec<J> {
    let mut groups: Vec<(S, Vec<J>)> = Vec::new();
    for job in jobs {
        let site = site(&job);
        match groups.iter_mut().find(|(known, _)| *known == site) {
            Some((_, group)) => group.push(job),
            None => groups.push((site, vec![job])),
        }
    }
    groups.into_iter().flat_map(|(_, group)| group).collect()
}

/// What is wrong with real ranks, at the key that wants them where they are.
fn told(point: &Point, error: LiveError) -> LabError {
    match error {
        LiveError::Place { problem, help } => {
            let live = &point.spec.live;
            let key = match (&live.boxed, live.own_box, &live.hosts) {
                (Some(_), ..) => "live.box",
                (_, true, _) => "live.own-box",
                (.., Some(_)) => "live.hosts",
                _ => "world",
            };
            LabError::setting(key, problem, help).found_at(point)
        }
        error => LabError::Unforeseen { point: point.index, reason: error.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn jobs_of_one_site_stand_together_and_each_is_asked_once() {
        let asked = Cell::new(0);
        let site = |job: &(u32, char)| {
            asked.set(asked.get() + 1);
            job.1
        };
        let jobs = vec![(0, 'a'), (1, 'b'), (2, 'a'), (3, 'c'), (4, 'b')];
        let found = together(jobs, site);
        assert_eq!(found.iter().map(|job| job.0).collect::<Vec<_>>(), [0, 2, 1, 4, 3]);
        assert_eq!(asked.get(), 5);
    }
}
