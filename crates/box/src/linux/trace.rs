//! What the rails of a box carry in time.

use std::collections::HashMap;
use std::io;
use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};

use super::cluster::Count;
use super::netlink::Counters;
use super::{Cluster, Timetable};
use crate::{End, Sample};

/// Looks at the rails of a cluster again and again, and tells what was carried in between.
#[derive(Debug)]
pub struct Trace<'a> {
    cluster: &'a Cluster,
    before: HashMap<(usize, usize, End), Counters>,
}

impl<'a> Trace<'a> {
    /// From one look to the next.
    pub const INTERVAL: Duration = Duration::from_millis(100);

    /// What is read this soon after the beginning of a look has its time.
    const AT_ONCE: Duration = Duration::from_millis(1);

    /// Begins at what has been carried so far.
    pub fn new(cluster: &'a Cluster) -> io::Result<Trace<'a>> {
        let mut trace = Trace { cluster, before: HashMap::new() };
        trace.look(Duration::ZERO)?;
        Ok(trace)
    }

    /// What was carried since the last look, at every end of every rail. The time is that of the
    /// beginning of the look, but of ends that had to wait for it, when they were read.
    pub fn look(&mut self, time: Duration) -> io::Result<Vec<Sample>> {
        let begin = Instant::now();
        let mut samples = Vec::new();
        for Count { rail, host, end, counters: now, read } in self.cluster.counters()? {
            let waited = read - begin;
            let time = if waited > Self::AT_ONCE { time + waited } else { time };
            let before = self.before.insert((rail, host, end), now).unwrap_or_default();
            let spec = self.cluster.spec();
            samples.push(Sample {
                time: time.as_secs_f64(),
                rail: spec.rail_name(rail),
                host: spec.hosts.names()[host].clone(),
                end,
                // A counter that begins again has counted from 0.
                bytes: now.bytes.checked_sub(before.bytes).unwrap_or(now.bytes),
                // The kernel counts these with 32 bits where a rail has a rate.
                frames: u64::from((now.frames as u32).wrapping_sub(before.frames as u32)),
                drops: u64::from((now.drops as u32).wrapping_sub(before.drops as u32)),
                queue: now.queue,
            });
        }
        Ok(samples)
    }

    /// Looks until the clock is stopped, and once more then. Where a look takes long, because there
    /// are many hosts, looks are further apart: they take a tenth of one processor at most.
    pub fn record(
        &mut self,
        clock: &Timetable,
        mut tell: impl FnMut(Vec<Sample>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut due = clock.elapsed() + Self::INTERVAL;
        while clock.wait_until(due) {
            let before = processor_time();
            tell(self.look(clock.elapsed())?)?;
            let rest = processor_time().saturating_sub(before) * 9;
            due = (due + Self::INTERVAL).max(clock.elapsed() + rest);
        }
        tell(self.look(clock.elapsed())?)
    }
}

/// What this thread has taken of processors.
fn processor_time() -> Duration {
    // Every Linux has this clock; without it looks would not spread.
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}
