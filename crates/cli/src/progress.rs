//! How far a run is: a bar on a terminal, elsewhere a plain line now and then.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crosstie_lab::Progress;
use crosstie_study::{Point, Row};
use crosstie_units::Time;
use indicatif::{ProgressBar, ProgressStyle};

use crate::console::{self, Console};

/// The least time between two plain lines.
const LINE_EVERY: Duration = Duration::from_secs(15);

/// The least time between two texts beside the bar.
const TEXT_EVERY: Duration = Duration::from_millis(200);

/// The progress of one experiment, told by any number of threads.
#[derive(Debug)]
pub struct Meter {
    view: View,
    began: Instant,
    state: Mutex<State>,
}

#[derive(Debug)]
enum View {
    Bar(ProgressBar),
    Lines,
    Nothing,
}

#[derive(Debug)]
struct State {
    /// What runs.
    name: String,
    /// Networks built and to build, until the points begin.
    networks: Option<(usize, usize)>,
    tally: Tally,
    /// The time simulated so far for each point that runs.
    running: BTreeMap<u32, Time>,
    /// When it was last shown, counted from the beginning.
    shown: Duration,
}

/// What has been done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tally {
    points: usize,
    done: usize,
    running: usize,
    simulated: Time,
    elapsed: Duration,
}

impl Meter {
    /// The progress of an experiment with so many points to run.
    pub fn new(name: &str, points: usize, console: &Console) -> Meter {
        let view = if console.quiet || points == 0 {
            View::Nothing
        } else if console.draws_progress() {
            View::Bar(bar(name, points))
        } else {
            View::Lines
        };
        let tally =
            Tally { points, done: 0, running: 0, simulated: Time::ZERO, elapsed: Duration::ZERO };
        let running = BTreeMap::new();
        let state =
            State { name: name.to_owned(), networks: None, tally, running, shown: Duration::ZERO };
        Meter { view, began: Instant::now(), state: Mutex::new(state) }
    }

    /// Goes on under another name: the next part of the same work.
    pub fn rename(&self, name: &str) {
        if let View::Bar(bar) = &self.view {
            bar.set_prefix(name.to_owned());
        }
        self.change(|state| name.clone_into(&mut state.name));
    }

    /// Clears the bar: what it says is no longer true.
    pub fn close(&self) {
        if let View::Bar(bar) = &self.view {
            bar.finish_and_clear();
        }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        // Whoever panicked while holding it left whole numbers behind.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut state);
        let State { name, networks, tally, running, shown } = &mut *state;
        tally.running = running.len();
        tally.elapsed = self.began.elapsed();
        let every = match self.view {
            View::Bar(_) => TEXT_EVERY,
            View::Lines => LINE_EVERY,
            View::Nothing => return,
        };
        if tally.elapsed.saturating_sub(*shown) < every {
            return;
        }
        *shown = tally.elapsed;
        let text = match networks {
            Some((built, all)) => format!("{built} of {all} networks built"),
            None => tally.to_string(),
        };
        match &self.view {
            View::Bar(bar) => {
                bar.set_position(tally.done as u64);
                bar.set_message(text);
            }
            View::Lines => console::complain(&format!("{name}: {text}")),
            View::Nothing => {}
        }
    }
}

impl Progress for Meter {
    fn networks_built(&self, done: usize, total: usize) {
        self.change(|state| state.networks = Some((done, total)));
    }

    fn begin(&self, _: usize, _: usize) {
        self.change(|state| state.networks = None);
    }

    fn advanced(&self, point: &Point, cycles: u64) {
        let now = Time::from_ps(point.spec.link.cycle().ps().saturating_mul(cycles));
        self.change(|state| {
            let before = state.running.insert(point.index, now).unwrap_or(Time::ZERO);
            let more = now.ps().saturating_sub(before.ps());
            let simulated = &mut state.tally.simulated;
            *simulated = Time::from_ps(simulated.ps().saturating_add(more));
        });
    }

    fn said(&self, line: &str) {
        let line = console::harmless(line);
        match &self.view {
            View::Bar(bar) => bar.suspend(|| console::complain(&line)),
            View::Lines => console::complain(&line),
            View::Nothing => {}
        }
    }

    fn point_done(&self, row: &Row, _: usize, _: usize) {
        self.change(|state| {
            state.running.remove(&row.point);
            state.tally.done += 1;
        });
    }
}

fn bar(name: &str, points: usize) -> ProgressBar {
    let bar = ProgressBar::new(points as u64).with_prefix(name.to_owned());
    let style = ProgressStyle::with_template("{prefix} [{bar:16}] {wide_msg}");
    bar.set_style(style.expect("the template is sound").progress_chars("=> "));
    bar.set_message(format!("0 of {points} points"));
    bar.enable_steady_tick(TEXT_EVERY);
    bar
}

impl Tally {
    /// How long the rest takes if it goes on like this, where a point that runs counts half;
    /// unknown before the first point is done.
    fn left(&self) -> Option<Duration> {
        let done = self.done as f64 + self.running as f64 / 2.0;
        let rest = (self.points as f64 - done).max(0.0);
        (self.done > 0).then(|| self.elapsed.mul_f64(rest / done))
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { points, done, simulated, .. } = self;
        write!(f, "{done} of {points} points")?;
        // Real ranks simulate nothing.
        if *simulated > Time::ZERO {
            write!(f, ", {} simulated", short(*simulated))?;
        }
        match self.left() {
            Some(left) => write!(f, ", about {} left", rough(left)),
            None => Ok(()),
        }
    }
}

/// A simulated time to three digits.
fn short(time: Time) -> String {
    let seconds = time.seconds();
    let units = [("s", 1.0), ("ms", 1e-3), ("us", 1e-6)];
    let (name, unit) = units.into_iter().find(|(_, unit)| seconds >= *unit).unwrap_or(("ns", 1e-9));
    let value = seconds / unit;
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$} {name}")
}

/// A real time, as exactly as anyone wants to know it.
pub fn rough(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Colour, Global};

    #[test]
    fn a_tally_in_words() {
        let tally = Tally {
            points: 20,
            done: 4,
            running: 2,
            simulated: Time::from_ns(12_345_678),
            elapsed: Duration::from_secs(40),
        };
        assert_eq!(tally.to_string(), "4 of 20 points, 12.3 ms simulated, about 2 min 0 s left");
        let first = Tally { done: 0, ..tally };
        assert_eq!(first.to_string(), "0 of 20 points, 12.3 ms simulated", "nothing to go by yet");
    }

    #[test]
    fn times_in_words() {
        assert_eq!(short(Time::ZERO), "0.00 ns");
        assert_eq!(short(Time::from_ns(1_500)), "1.50 us");
        assert_eq!(short(Time::from_ps(u64::MAX)), "18446744 s");
        assert_eq!(rough(Duration::from_millis(900)), "0 s");
        assert_eq!(rough(Duration::from_secs(3725)), "1 h 2 min");
    }

    #[test]
    fn cycles_are_counted_once_and_in_the_clock_of_their_point() {
        let study = crosstie_study::Study::parse(
            "example",
            "title = 'Two'\nseed = 1\nfabric.tree = {k = 4, n = 2}\n\
             traffic = {load = 0.1, size.fixed.size = '64 B'}\n\
             sweep.product.link.rate = ['400 MB/s', '800 MB/s']\n",
        )
        .unwrap();
        let quiet = Global { json: false, quiet: true, color: Colour::Never, threads: None };
        let meter = Meter::new("example", 2, &Console::new(&quiet));
        std::thread::scope(|scope| {
            for point in study.points() {
                let meter = &meter;
                scope.spawn(move || (1..=10).for_each(|i| meter.advanced(point, i * 100)));
            }
        });
        let tally = meter.state.into_inner().unwrap().tally;
        assert_eq!(tally.simulated, Time::from_ns(1000 * 5 + 1000 * 5 / 2));
    }
}
