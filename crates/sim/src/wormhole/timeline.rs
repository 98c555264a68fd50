//! Event times as runs: what happened at one end of a buffer, and what is already certain to
//! happen.
//!
//! Each virtual-channel buffer has two timelines, numbered by event: flits *sent* into it and
//! credits *granted* for it. A timeline knows how many events it has in all; it remembers the
//! times of the latest ones as [`Run`]s (`start, start + stride, ...`) and forgets those so old
//! that their effect has reached the other end of the wire. The end of a timeline may lie in the
//! future: those events are planned, and [`Timelines::cut`] takes back the last of them.

use super::prefetch::fetch;
use super::{NEVER, Tick};
use std::ops::{Index, IndexMut};

/// The time of an event so long ago that nobody needs to know when it was. Simulated time begins at
/// [`super::EPOCH`], after it.
const PAST: Tick = 0;

/// Evenly spaced times, `at`, `at + step`, ..., at which events are to have taken effect, `latency`
/// after they happened.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beat {
    pub at: Tick,
    pub step: u32,
    pub latency: u32,
}

impl Beat {
    /// The same beat from its time number `n` on.
    #[inline]
    fn skip(self, n: u32) -> Beat {
        Beat { at: self.at + u64::from(self.step) * u64::from(n), ..self }
    }
}

/// Evenly spaced events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Run {
    pub start: Tick,
    pub stride: u32,
    pub count: u32,
}

impl Run {
    #[inline]
    fn last(self) -> Tick {
        self.start + u64::from(self.stride) * u64::from(self.count - 1)
    }

    /// Whether `next` continues this run; if so, the stride of both together.
    #[inline]
    fn joined_by(self, next: Run) -> Option<u32> {
        let gap = u32::try_from(next.start - self.last()).ok()?;
        let fits =
            (self.count == 1 || self.stride == gap) && (next.count == 1 || next.stride == gap);
        fits.then_some(gap)
    }

    /// What is left of it after `events`.
    #[inline]
    fn skip(self, events: u32) -> Run {
        Run {
            start: self.start + u64::from(self.stride) * u64::from(events),
            stride: self.stride,
            count: self.count - events,
        }
    }

    /// How many of its first `limit` events have taken effect in time for a beat.
    #[inline]
    fn in_time(self, limit: u32, beat: Beat) -> u32 {
        let effect = self.start + u64::from(beat.latency);
        if effect > beat.at {
            return 0;
        }
        if self.stride <= beat.step {
            return limit;
        }
        let fitting = (beat.at - effect) / u64::from(self.stride - beat.step) + 1;
        u64::from(limit).min(fitting) as u32
    }

    /// Events that took effect long ago.
    fn past(events: u64) -> Run {
        Run { start: PAST, stride: 0, count: u32::try_from(events).unwrap_or(u32::MAX) }
    }

    /// How many of its events happen before a tick.
    #[inline]
    fn before(self, tick: Tick) -> u32 {
        if tick <= self.start || self.count == 0 {
            0
        } else if tick > self.last() {
            self.count
        } else {
            (tick - self.start).div_ceil(u64::from(self.stride)) as u32
        }
    }
}

/// One timeline. The latest run stands here, where nearly every question is answered.
#[derive(Debug, Clone, Copy, Default)]
struct Line {
    /// Events in all, planned ones included.
    known: u64,
    /// The latest run; its count is 0 if nothing is remembered.
    latest: Run,
    /// How many earlier runs are remembered.
    earlier: u32,
}

/// What has two timelines, and the two. Whoever asks for the one nearly always asks for the other:
/// two neighbouring cache lines, which the processor fetches together.
#[derive(Debug)]
#[repr(align(128))]
struct Entry<T> {
    owner: T,
    lines: [Line; 2],
}

/// Things with two timelines each, in one flat store: `timelines[i]` is thing `i`, and its lines
/// are `2i` and `2i + 1`.
#[derive(Debug)]
pub(super) struct Timelines<T> {
    entries: Vec<Entry<T>>,
    earlier: Vec<Run>,
    /// Room for earlier runs per line: one for each event that can be on the wire.
    room: usize,
}

impl<T> Index<u32> for Timelines<T> {
    type Output = T;

    #[inline]
    fn index(&self, owner: u32) -> &T {
        &self.entries[owner as usize].owner
    }
}

impl<T> IndexMut<u32> for Timelines<T> {
    #[inline]
    fn index_mut(&mut self, owner: u32) -> &mut T {
        &mut self.entries[owner as usize].owner
    }
}

impl<T> Timelines<T> {
    /// `events` is how many events may at most be on the wire at a time.
    pub fn new(owners: impl ExactSizeIterator<Item = T>, events: u32) -> Self {
        let room = events as usize + 1;
        Self {
            earlier: vec![Run::default(); 2 * owners.len() * room],
            entries: owners.map(|owner| Entry { owner, lines: Default::default() }).collect(),
            room,
        }
    }

    /// Makes room for `runs` more runs of each line.
    pub fn widen(&mut self, runs: usize) {
        let room = self.room + runs;
        let mut earlier = vec![Run::default(); 2 * self.entries.len() * room];
        for (new, old) in earlier.chunks_mut(room).zip(self.earlier.chunks(self.room)) {
            new[..old.len()].copy_from_slice(old);
        }
        (self.earlier, self.room) = (earlier, room);
    }

    /// Adds a thing with two lines on which nothing has happened.
    pub fn add(&mut self, owner: T) -> u32 {
        self.entries.push(Entry { owner, lines: Default::default() });
        self.earlier.resize(2 * self.entries.len() * self.room, Run::default());
        self.entries.len() as u32 - 1
    }

    /// Lets the lines of one thing be as those of another.
    pub fn copy_lines(&mut self, from: u32, to: u32) {
        self.entries[to as usize].lines = self.entries[from as usize].lines;
        let [from, to] = [from, to].map(|owner| 2 * owner as usize * self.room);
        self.earlier.copy_within(from..from + 2 * self.room, to);
    }

    /// Asks for a thing and its lines without waiting for them.
    #[inline]
    pub fn fetch(&self, owner: u32) {
        if let Some(entry) = self.entries.get(owner as usize) {
            fetch(std::slice::from_ref(&entry.owner), 0);
            fetch(&entry.lines, 0);
        }
    }

    /// How many things there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    fn line(&self, line: usize) -> &Line {
        &self.entries[line / 2].lines[line % 2]
    }

    #[inline]
    fn line_mut(&mut self, line: usize) -> &mut Line {
        &mut self.entries[line / 2].lines[line % 2]
    }

    /// How many events are known, planned ones included.
    #[inline]
    pub fn known(&self, line: usize) -> u64 {
        self.line(line).known
    }

    /// Adds events that happened before time began.
    pub fn grant_past(&mut self, line: usize, events: u64) {
        self.line_mut(line).known += events;
    }

    /// Appends events; runs whose last event took effect by now, `latency` after it happened, are
    /// forgotten.
    #[inline]
    pub fn push(&mut self, line: usize, run: Run, now: Tick, latency: u32) {
        let state = self.line_mut(line);
        state.known += u64::from(run.count);
        let latest = state.latest;
        if latest.count > 0 {
            if let Some(stride) = latest.joined_by(run) {
                state.latest.count += run.count;
                state.latest.stride = stride;
                return;
            }
            if latest.last() + u64::from(latency) > now {
                return self.push_behind(line, run, now, latency);
            }
        }
        state.earlier = 0;
        state.latest = run;
    }

    /// Appends events to a line whose latest run must still be remembered.
    #[cold]
    fn push_behind(&mut self, line: usize, run: Run, now: Tick, latency: u32) {
        let Line { latest, earlier, .. } = &mut self.entries[line / 2].lines[line % 2];
        let store = &mut self.earlier[line * self.room..(line + 1) * self.room];
        let mut n = *earlier as usize;
        let old = store[..n].iter().take_while(|r| r.last() + u64::from(latency) <= now).count();
        store.copy_within(old..n, 0);
        n -= old;
        store[n] = *latest;
        *earlier = n as u32 + 1;
        *latest = run;
    }

    /// Takes back the last `events` events.
    pub fn cut(&mut self, line: usize, mut events: u32) {
        let Line { known, latest, earlier } = &mut self.entries[line / 2].lines[line % 2];
        *known -= u64::from(events);
        loop {
            let taken = events.min(latest.count);
            latest.count -= taken;
            events -= taken;
            if latest.count == 0 && *earlier > 0 {
                *earlier -= 1;
                *latest = self.earlier[line * self.room + *earlier as usize];
            }
            if events == 0 {
                return;
            }
        }
    }

    /// When event `index` takes effect at the other end of the wire, `latency` after it happens;
    /// [`NEVER`] if that is not yet known.
    #[inline]
    pub fn effect(&self, line: usize, index: u64, latency: u32) -> Tick {
        if index >= self.line(line).known {
            return NEVER;
        }
        match self.seek(line, index).start {
            PAST => PAST,
            start => start + u64::from(latency),
        }
    }

    /// The events from `index` on, as far as they are evenly spaced.
    #[inline]
    pub fn seek(&self, line: usize, index: u64) -> Run {
        let Line { known, latest, earlier } = *self.line(line);
        let first = known - u64::from(latest.count);
        if index >= first {
            return latest.skip((index - first) as u32);
        }
        if earlier == 0 {
            return Run::past(first - index);
        }
        self.seek_earlier(line, index, first)
    }

    #[cold]
    fn seek_earlier(&self, line: usize, index: u64, mut first: u64) -> Run {
        let base = line * self.room;
        let earlier = self.line(line).earlier as usize;
        for run in self.earlier[base..base + earlier].iter().rev() {
            first -= u64::from(run.count);
            if index >= first {
                return run.skip((index - first) as u32);
            }
        }
        Run::past(first - index)
    }

    /// How many events of a line happened before a tick.
    // Switches ask it of every output they compare; a call would show.
    #[inline(always)]
    pub fn before(&self, line: usize, tick: Tick) -> u64 {
        let Line { known, latest, earlier } = *self.line(line);
        let mut count = known - u64::from(latest.count) + u64::from(latest.before(tick));
        if latest.count == 0 || latest.start < tick {
            return count;
        }
        let base = line * self.room;
        for run in self.earlier[base..base + earlier as usize].iter().rev() {
            let before = run.before(tick);
            count -= u64::from(run.count - before);
            if before > 0 {
                break;
            }
        }
        count
    }

    /// How many events in a row, from `index` on and at most `limit`, have taken effect in time for
    /// a beat.
    #[inline]
    pub fn in_time(&self, line: usize, index: u64, limit: u32, beat: Beat) -> u32 {
        let Line { known, latest, earlier } = *self.line(line);
        if index >= known {
            return 0;
        }
        let limit = u64::from(limit).min(known - index) as u32;
        let first = known - u64::from(latest.count);
        let mut counted = 0;
        if index < first {
            if earlier > 0 {
                return self.in_time_earlier(line, index, limit, beat);
            }
            counted = u64::from(limit).min(first - index) as u32;
            if counted == limit {
                return limit;
            }
        }
        let run = latest.skip((index + u64::from(counted) - first) as u32);
        counted + run.in_time(limit - counted, beat.skip(counted))
    }

    #[cold]
    fn in_time_earlier(&self, line: usize, index: u64, limit: u32, beat: Beat) -> u32 {
        let mut counted = 0;
        while counted < limit {
            let run = self.seek(line, index + u64::from(counted));
            let events = run.count.min(limit - counted);
            let in_time = match run.start {
                PAST => events,
                _ => run.in_time(events, beat.skip(counted)),
            };
            counted += in_time;
            if in_time < events {
                break;
            }
        }
        counted
    }

    /// How many events in a row, from `index` on and at most `limit`, take effect exactly on the
    /// times of a beat.
    pub fn on_time(&self, line: usize, index: u64, limit: u32, beat: Beat) -> u32 {
        let known = self.line(line).known;
        let limit = u64::from(limit).min(known.saturating_sub(index)) as u32;
        let mut counted = 0;
        while counted < limit {
            let run = self.seek(line, index + u64::from(counted));
            let effect = run.start + u64::from(beat.latency);
            if run.start == PAST || effect != beat.skip(counted).at {
                break;
            }
            counted += if run.stride == beat.step { run.count.min(limit - counted) } else { 1 };
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
        /// How many events from `index` on pass a test against the times of a beat.
        fn count(&self, index: u64, limit: u32, beat: Beat, test: fn(&u64, &u64) -> bool) -> u32 {
            let effects = self.0.iter().map(|t| t + u64::from(beat.latency));
            let times = (0..).map(|j| beat.at + j * u64::from(beat.step));
            let pairs = effects.skip(index as usize).zip(times).take(limit as usize);
            pairs.take_while(|(effect, time)| test(effect, time)).count() as u32
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
            let mut lines = Timelines::new([()].into_iter(), 2 * latency);
            let mut plain = Plain::default();
            let mut now = 1;
            for (count, stride, gap, cut) in operations {
                // Two events, but no more, may fall in one tick.
                let start = match plain.0.as_slice() {
                    [] => now,
                    [.., before, last] if before == last => now.max(last + 1 + gap),
                    [.., last] => now.max(last + gap),
                };
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
                    let beat = Beat { at: now + delay, step, latency };
                    prop_assert_eq!(
                        lines.in_time(0, index, limit, beat),
                        plain.count(index, limit, beat, u64::le)
                    );
                    let beat = Beat { at: plain.0[index as usize] + u64::from(latency), ..beat };
                    prop_assert_eq!(
                        lines.on_time(0, index, limit, beat),
                        plain.count(index, limit, beat, u64::eq)
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
