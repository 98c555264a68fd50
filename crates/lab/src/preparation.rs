//! Every point of a study built and checked before the first one runs.

use crate::{LabError, Progress, RoutedFabric, RunOptions, World};
use crosstie_study::{Arrival, Fingerprint, Goal, Point, Spec, Study, Work};
use crosstie_units::Seed;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A point to run, and the network it runs on.
pub(crate) struct Job<'a> {
    pub point: &'a Point,
    pub network: Arc<RoutedFabric>,
    /// Roughly how much work it is.
    pub weight: f64,
}

/// Builds what [`run`](crate::run) would build and refuses what it would refuse, without running
/// anything; only routes that are searched for are not searched for long. Whether it came to an end
/// before it was cancelled.
pub fn check(
    study: &Study,
    options: RunOptions<'_>,
    progress: &dyn Progress,
) -> Result<bool, LabError> {
    let mut points = study.points().to_vec();
    points.iter_mut().for_each(|point| point.spec.routing = point.spec.routing.soonest());
    let points: Vec<&Point> = points.iter().collect();
    Ok(prepare(study, &points, options, progress)?.is_some())
}

/// Builds every network once and checks every point on it; `None` if it is cancelled meanwhile.
pub(crate) fn prepare<'a>(
    study: &Study,
    points: &[&'a Point],
    options: RunOptions<'_>,
    progress: &dyn Progress,
) -> Result<Option<Vec<Job<'a>>>, LabError> {
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
    for (point, built) in firsts.iter().zip(build(&firsts, &locate, options, progress)) {
        let Some(network) = built else { return Ok(None) };
        networks.push(Arc::new(network.map_err(|error| error.found_at(point))?));
    }
    let mut sound = BTreeSet::new();
    let mut jobs = Vec::new();
    for (&point, place) in points.iter().zip(places) {
        if options.cancel.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let (spec, network) = (&point.spec, Arc::clone(&networks[place]));
        if sound.insert(checked_part(point)) {
            World::on(Arc::clone(&network), spec, &locate).map_err(|e| e.found_at(point))?;
        }
        let size = network.fabric.hosts().len() as f64 * f64::from(spec.cluster.rails.count());
        let length = spec.measure.max_cycles as f64;
        let runs = match &spec.work {
            Work::Traffic(traffic) => match spec.measure.goal(traffic) {
                Goal::Load(load) => load,
                // About eight runs around half of the full load.
                Goal::Saturation(_) => 4.0,
            },
            _ => 1.0,
        };
        jobs.push(Job { point, network, weight: size * length * runs });
    }
    Ok(Some(jobs))
}

/// Builds the networks of points on several threads; `None` where cancelled before.
fn build(
    points: &[&Point],
    locate: &(dyn Fn(&str) -> PathBuf + Sync),
    options: RunOptions<'_>,
    progress: &dyn Progress,
) -> Vec<Option<Result<RoutedFabric, LabError>>> {
    let built: Vec<OnceLock<_>> = points.iter().map(|_| OnceLock::new()).collect();
    let left = Mutex::new(points.iter().zip(&built));
    let done = AtomicUsize::new(0);
    let take = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        while !options.cancel.load(Ordering::Relaxed)
            && let Some((point, place)) = take()
        {
            let Spec { fabric, routing, .. } = &point.spec;
            place.get_or_init(|| RoutedFabric::build(fabric, routing, locate));
            progress.networks_built(1 + done.fetch_add(1, Ordering::Relaxed), points.len());
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
    if let Work::Traffic(traffic) = &mut spec.work
        && traffic.arrival != (Arrival::Bernoulli {})
    {
        traffic.load = None;
    }
    Fingerprint::of(spec.to_toml().as_bytes())
}
