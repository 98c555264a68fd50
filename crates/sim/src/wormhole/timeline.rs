//! Event times as runs: what happened at one end of a buffer, and what is already certain to happen.
//!
//! Each virtual-channel buffer has two timelines, numbered by event: flits *sent* into it and
//! credits *granted* for it. A timeline knows how many events it has in all; it remembers the
//! times of the latest ones as [`Run`]s (`start, start + stride, ...`) and forgets those so old that
//! their effect has reached the other end of the wire. The end of a timeline may lie in the future:
//! those events are planned, and [`Timelines::cut`] takes back the last of them.

use super::{NEVER, Tick};

/// The time of an event so long ago that nobody needs to know when it was. Simulated time begins at
/// [`super::EPOCH`], after it.
const PAST: Tick = 0;

/// Evenly spaced events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Run {
    pub start: Tick,
    pub stride: u32,
    pub count: u32,
}

impl Run {
    fn last(self) -> Tick {
        self.start + u64::from(self.stride) * u64::from(self.count - 1)
    }

    /// Whether `next` continues this run; if so, the stride of both together.
    fn joined_by(self, next: Run) -> Option<u32> {
        let gap = u32::try_from(next.start - self.last()).ok()?;
        let fits =
            (self.count == 1 || self.stride == gap) && (next.count == 1 || next.stride == gap);
        fits.then_some(gap)
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Line {
    /// Events in all, planned ones included.
    known: u64,
    /// How many runs are remembered.
    runs: u32,
}

/// All timelines of a network in one flat store.
#[derive(Debug)]
pub(super) struct Timelines {
    lines: Vec<Line>,
    runs: Vec<Run>,
    /// Room for runs per line: one for the plan, one for each tick during which an event can be on
    /// the wire.
    room: usize,
}

impl Timelines {
    /// `latency` is the longest time, in units of the shortest event spacing, for which an event
    /// must be remembered.
    pub fn new(lines: usize, latency: u32) -> Self {
        let room = latency as usize + 2;
        Self { lines: vec![Line::default(); lines], runs: vec![Run::default(); lines * room], room }
    }

    /// How many events are known, planned ones included.
    #[inline]
    pub fn known(&self, line: usize) -> u64 {
        self.lines[line].known
    }

    /// Adds events that happened before time began.
    pub fn grant_past(&mut self, line: usize, events: u64) {
        self.lines[line].known += events;
    }

    /// Appends events; runs whose last event took effect `latency` ago or earlier are forgotten.
    #[inline]
    pub fn push(&mut self, line: usize, run: Run, now: Tick, latency: u32) {
        let Line { known, runs: len } = &mut self.lines[line];
        *known += u64::from(run.count);
        let base = line * self.room;
        let mut n = *len as usize;
        let runs = &mut self.runs[base..base + self.room];
        if n > 0 {
            if let Some(stride) = runs[n - 1].joined_by(run) {
                runs[n - 1].count += run.count;
                runs[n - 1].stride = stride;
                return;
            }
            let old = runs[..n].iter().take_while(|r| r.last() + u64::from(latency) <= now).count();
            if old > 0 {
                runs.copy_within(old..n, 0);
                n -= old;
            }
        }
        runs[n] = run;
        *len = n as u32 + 1;
    }

    /// Takes back the last `events` events.
    pub fn cut(&mut self, line: usize, mut events: u32) {
        let Line { known, runs: len } = &mut self.lines[line];
        *known -= u64::from(events);
        let base = line * self.room;
        while events > 0 {
            let last = &mut self.runs[base + *len as usize - 1];
            let taken = events.min(last.count);
            last.count -= taken;
            events -= taken;
            if last.count == 0 {
                *len -= 1;
            }
        }
    }

    /// When event `index` takes effect at the other end of the wire, `latency` after it happens;
    /// [`NEVER`] if that is not yet known.
    #[inline]
    pub fn effect(&self, line: usize, index: u64, latency: u32) -> Tick {
        if index >= self.lines[line].known {
            return NEVER;
        }
        match self.from(line, index).start {
            PAST => PAST,
            start => start + u64::from(latency),
        }
    }

    /// The events from `index` on, as far as they are evenly spaced.
    #[inline]
    fn from(&self, line: usize, index: u64) -> Run {
        let Line { known, runs } = self.lines[line];
        let base = line * self.room;
        let mut first = known;
        for run in self.runs[base..base + runs as usize].iter().rev() {
            first -= u64::from(run.count);
            if index >= first {
                let skipped = (index - first) as u32;
                return Run {
                    start: run.start + u64::from(run.stride) * u64::from(skipped),
                    stride: run.stride,
                    count: run.count - skipped,
                };
            }
        }
        let count = u32::try_from(first - index).unwrap_or(u32::MAX);
        Run { start: PAST, stride: 0, count }
    }

    /// How many events happened before `now`.
    pub fn before(&self, line: usize, now: Tick) -> u64 {
        let Line { known, runs } = self.lines[line];
        let base = line * self.room;
        let mut count = known;
        for run in self.runs[base..base + runs as usize].iter().rev() {
            if run.start < now {
                let happened = match run.count {
                    1 => 1,
                    _ => ((now - run.start).div_ceil(u64::from(run.stride)))
                        .min(u64::from(run.count)),
                };
                return count - u64::from(run.count) + happened;
            }
            count -= u64::from(run.count);
        }
        count
    }

    /// How many events in a row, from `index` on and at most `limit`, have taken effect (`latency`
    /// after they happened) by the times `by`, `by + step`, `by + 2 step`, ...
    #[inline]
    pub fn in_time(
        &self,
        line: usize,
        index: u64,
        limit: u32,
        latency: u32,
        by: Tick,
        step: u32,
    ) -> u32 {
        let known = self.lines[line].known;
        let limit = u64::from(limit).min(known.saturating_sub(index)) as u32;
        let mut counted = 0;
        while counted < limit {
            let run = self.from(line, index + u64::from(counted));
            let events = run.count.min(limit - counted);
            let due = by + u64::from(step) * u64::from(counted);
            let effect = run.start + u64::from(latency);
            if run.start == PAST {
                counted += events;
                continue;
            }
            if effect > due {
                break;
            }
            if run.stride <= step {
                counted += events;
                continue;
            }
            let fitting = (due - effect) / u64::from(run.stride - step) + 1;
            counted += u64::from(events).min(fitting) as u32;
            if fitting < u64::from(events) {
                break;
            }
        }
        counted
    }

    /// How many events in a row, from `index` on and at most `limit`, take effect exactly at the
    /// times `at`, `at + step`, ...
    pub fn on_time(
        &self,
        line: usize,
        index: u64,
        limit: u32,
        latency: u32,
        at: Tick,
        step: u32,
    ) -> u32 {
        let known = self.lines[line].known;
        let limit = u64::from(limit).min(known.saturating_sub(index)) as u32;
        let mut counted = 0;
        while counted < limit {
            let run = self.from(line, index + u64::from(counted));
            if run.start == PAST
                || run.start + u64::from(latency) != at + u64::from(step) * u64::from(counted)
            {
                break;
            }
            counted += if run.stride == step { run.count.min(limit - counted) } else { 1 };
        }
        counted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same thing as a plain list of times.
    #[derive(Default)]
    struct Plain(Vec<Tick>);

    impl Plain {
        fn in_time(&self, index: u64, limit: u32, latency: u32, by: Tick, step: u32) -> u32 {
            let late =
                |(j, t): (usize, &Tick)| t + u64::from(latency) > by + j as u64 * u64::from(step);
            let events = self.0.iter().skip(index as usize).take(limit as usize);
            events.enumerate().take_while(|&x| !late(x)).count() as u32
        }

        fn on_time(&self, index: u64, limit: u32, latency: u32, at: Tick, step: u32) -> u32 {
            let exact =
                |(j, t): (usize, &Tick)| t + u64::from(latency) == at + j as u64 * u64::from(step);
            let events = self.0.iter().skip(index as usize).take(limit as usize);
            events.enumerate().take_while(|&x| exact(x)).count() as u32
        }
    }

    proptest! {
        /// Pushes and cuts in any order leave the timeline equal to the plain list, for every
        /// question about events that may still be on the wire.
        #[test]
        fn equals_a_plain_list_of_times(
            latency in 1u32..6,
            operations in prop::collection::vec((1u32..6, 1u32..4, 0u64..4, 0u32..5), 1..40),
            (limit, step, delay) in (1u32..20, 1u32..4, 0u64..10),
        ) {
            let mut lines = Timelines::new(1, latency);
            let mut plain = Plain::default();
            let mut now = 1;
            for (count, stride, gap, cut) in operations {
                let start = plain.0.last().map_or(now, |last| (last + 1).max(now)) + gap;
                // A plan starts when the one before it is over.
                now = start;
                lines.push(0, Run { start, stride, count }, now, latency);
                plain.0.extend((0..u64::from(count)).map(|j| start + j * u64::from(stride)));
                let cut = cut.min(count - 1);
                lines.cut(0, cut);
                plain.0.truncate(plain.0.len() - cut as usize);

                prop_assert_eq!(lines.known(0), plain.0.len() as u64);
                let on_wire = plain.0.iter().filter(|&&t| t + u64::from(latency) > now).count();
                for index in plain.0.len() - on_wire..plain.0.len() {
                    let effect = plain.0[index] + u64::from(latency);
                    prop_assert_eq!(lines.effect(0, index as u64, latency), effect);
                    let index = index as u64;
                    let by = now + delay;
                    prop_assert_eq!(
                        lines.in_time(0, index, limit, latency, by, step),
                        plain.in_time(index, limit, latency, by, step)
                    );
                    let at = plain.0[index as usize] + u64::from(latency);
                    prop_assert_eq!(
                        lines.on_time(0, index, limit, latency, at, step),
                        plain.on_time(index, limit, latency, at, step)
                    );
                }
                for t in now..now + 20 {
                    let count = plain.0.iter().filter(|&&e| e < t).count() as u64;
                    prop_assert_eq!(lines.before(0, t), count);
                }
                prop_assert_eq!(lines.effect(0, plain.0.len() as u64, latency), NEVER);
            }
        }
    }
}
