//! Runs the points of a study on several threads.

use crate::outcome::{self, Outcome};
use crate::{LabError, Network, Progress, World};
use crosstie_study::{Arrival, Fingerprint, Goal, Point, Row, Spec, Store, Study};
use crosstie_units::Seed;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// How to run.
#[derive(Debug, Clone, Copy)]
pub struct RunOptions<'a> {
    /// How many points to run at a time.
    pub threads: NonZeroUsize,
    /// Once set, running points are given up and no new ones start. What is done is kept.
    pub cancel: &'a AtomicBool,
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
    let mut jobs = prepare(study, &pending, options)?;
    // The long ones first, so that no core is left with one of them at the end.
    jobs.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    let total = study.points().len();
    let skipped = total - pending.len();
    progress.begin(skipped, total);
    let crew = Crew {
        study,
        jobs,
        next: AtomicUsize::new(0),
        ledger: Mutex::new(Ledger { store, done: skipped, error: None }),
        failed: AtomicBool::new(false),
        cancel: options.cancel,
        progress,
    };
    std::thread::scope(|scope| {
        for _ in 0..options.threads.get().min(crew.jobs.len()) {
            scope.spawn(|| crew.work());
        }
    });
    let ledger = crew.ledger.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = ledger.error {
        return Err(error);
    }
    let rows = ledger.store.rows();
    ledger.store.close()?;
    Ok(RunSummary { points: total, skipped, cancelled: ledger.done < total, rows })
}

/// A point to run, and the network it runs on.
struct Job<'a> {
    point: &'a Point,
    network: Arc<Network>,
    /// Roughly how much work it is.
    weight: f64,
}

/// Builds every network once and checks every point on it. No jobs if it is cancelled meanwhile.
fn prepare<'a>(
    study: &Study,
    points: &[&'a Point],
    options: RunOptions<'_>,
) -> Result<Vec<Job<'a>>, LabError> {
    let locate = |path: &str| study.locate(path);
    // The first point on each network, and for each point which of them it shares a network with.
    let mut firsts: Vec<&Point> = Vec::new();
    let places: Vec<usize> = (points.iter())
        .map(|point| {
            let Spec { fabric, routing, .. } = &point.spec;
            let alike = |p: &&Point| p.spec.fabric == *fabric && p.spec.routing == *routing;
            firsts.iter().position(alike).unwrap_or_else(|| {
                firsts.push(point);
                firsts.len() - 1
            })
        })
        .collect();
    let mut networks = Vec::new();
    for (point, built) in firsts.iter().zip(build(&firsts, &locate, options)) {
        let Some(network) = built else { return Ok(Vec::new()) };
        networks.push(Arc::new(network.map_err(|error| error.found_at(point))?));
    }
    let mut sound = BTreeSet::new();
    let mut jobs = Vec::new();
    for (&point, place) in points.iter().zip(places) {
        let (spec, network) = (&point.spec, Arc::clone(&networks[place]));
        if sound.insert(checked_part(point)) {
            World::on(Arc::clone(&network), spec, &locate).map_err(|e| e.found_at(point))?;
        }
        let size = network.fabric.hosts().len() as f64 * f64::from(spec.cluster.rails);
        let length = spec.measure.max_cycles as f64;
        let runs = match spec.goal() {
            Goal::Load(load) => load,
            // About eight runs around half of the full load.
            Goal::Saturation(_) => 4.0,
        };
        jobs.push(Job { point, network, weight: size * length * runs });
    }
    Ok(jobs)
}

/// Builds the networks of points on several threads; `None` where cancelled before.
fn build(
    points: &[&Point],
    locate: &(dyn Fn(&str) -> PathBuf + Sync),
    options: RunOptions<'_>,
) -> Vec<Option<Result<Network, LabError>>> {
    let built: Vec<OnceLock<_>> = points.iter().map(|_| OnceLock::new()).collect();
    let left = Mutex::new(points.iter().zip(&built));
    let take = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        while !options.cancel.load(Ordering::Relaxed)
            && let Some((point, place)) = take()
        {
            let Spec { fabric, routing, .. } = &point.spec;
            place.get_or_init(|| Network::build(fabric, routing, locate));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..options.threads.get().min(points.len()) {
            scope.spawn(work);
        }
    });
    built.into_iter().map(OnceLock::into_inner).collect()
}

/// Names everything that decides whether a point is sound: all but the seed, and the load unless
/// arrivals care for it.
fn checked_part(point: &Point) -> Fingerprint {
    let mut spec = point.spec.clone();
    spec.seed = Seed(0);
    if spec.traffic.arrival != (Arrival::Bernoulli {}) {
        spec.traffic.load = None;
    }
    Fingerprint::of(spec.to_toml().as_bytes())
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
    store: Store<'a>,
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
            if let Err(error) = self.finish(job) {
                self.failed.store(true, Ordering::Relaxed);
                let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
                ledger.error.get_or_insert(error);
            }
        }
    }

    fn stopped(&self) -> bool {
        self.cancel.load(Ordering::Relaxed) || self.failed.load(Ordering::Relaxed)
    }

    /// Runs a point and keeps its row, unless it is given up.
    fn finish(&self, job: &Job<'_>) -> Result<(), LabError> {
        self.progress.point_started(job.point);
        let locate = |path: &str| self.study.locate(path);
        let world = World::on(Arc::clone(&job.network), &job.point.spec, &locate)
            .map_err(|error| error.found_at(job.point))?;
        let mut watch = |cycles| {
            self.progress.advanced(job.point, cycles);
            if self.stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let Some(Outcome { row, channels }) = outcome::of(job.point, &world, &mut watch)? else {
            return Ok(());
        };
        let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        ledger.store.record(&row, &channels)?;
        ledger.done += 1;
        self.progress.point_done(&row, ledger.done, self.study.points().len());
        Ok(())
    }
}
