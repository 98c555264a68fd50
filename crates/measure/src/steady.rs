//! When a run may stop, and what it may then claim.
//!
//! The simulator reports its counters in *windows* of equal duration. [`Steady`] keeps them (at
//! most 1024: when they are used up, neighbours are joined) and judges the run whenever the data
//! have grown by a quarter. To look more often would be to stop at the first lucky moment; for the
//! same reason a judgement counts only if it is repeated.
//!
//! **Warm-up.** MSER-5 runs on the accepted load and on the mean latency per window; the later of
//! the two cuts counts. A cut in the second half means that the run has not settled.
//!
//! **Converged.** The run has settled; batch means after the cut give the mean latency with a
//! relative half-width within the precision asked for; and what is left after the cut lasts at
//! least 50 mean latencies. The last rule guards against a network near saturation that fills so
//! slowly that every short stretch looks level. All this twice in a row. How well the accepted load
//! is known does not matter: what a network carries without a backlog that rises is what it is
//! offered, and at a light load chance alone decides how much that is in a run.
//!
//! **Few long messages.** Flits count as they arrive. A run that is shorter than its messages sees
//! few pairs of hosts, whose packets flow evenly: batch means are alike, and all are wrong by as
//! much. So until each source has sent two messages (of the size to which most flits belong), the
//! accepted load is known no better than `M` independent messages would tell it, to
//! `t(M - 1) / sqrt(M)`, and mean latency to as much times the coefficient of variation of their
//! sizes. With 1.3 to 3.6 such messages per source the intervals from the flow held
//! the value of runs ten times as long in 175 of 192 saturated runs (three schemes of rail
//! allocation, 4 and 16 KiB).
//!
//! **Short runs.** A queue remembers for longer than a mean latency. Batches of a run that lasts
//! `n` mean latencies after its warm-up, fewer than 50, see the same queues, and the interval of
//! mean latency is widened by `50 / n`. On M/M/1 queues at loads 0.7 and 0.8, nominal 95 %
//! intervals of runs of 15 to 40 mean latencies then held the true mean in 80 to 94 % of 400 runs,
//! as those of longer runs do; without it, in 32 to 73 %. At load 0.9 not even half of the runs of
//! 15 mean latencies had reached the true mean, and 61 to 85 % held it.
//!
//! **Saturated.** Flits pile up as long as the run lasts. A stable network near saturation piles
//! them up as well at first, but ever more slowly (like the square root of time), and one queue
//! may drift upwards for a while by chance. So all of this must hold, three times in a row:
//!
//! 1. *accepted is below offered*: over the second half of the run the share of generated flits
//!    that was not delivered lies above a quarter of the precision, with the confidence asked for;
//! 2. *the backlog rises steadily*: the least-squares line through the backlog of the second half
//!    rises (one per cent test on 16 means), at no less than 0.7 times the rate of the first half
//!    (the square root of time has 0.4);
//! 3. *the network has filled*: the run has lasted three times the mean latency of what was
//!    delivered in its first half. However large an overload is, what waits at the sources comes to
//!    a quarter of the run at most; a larger part is time of flight, and the network still fills;
//! 4. *more than chance*: from the first to the last quarter of the second half the number of
//!    messages in the backlog (of the size to which most flits belong) grows by four times what it
//!    scatters by if nobody waits for anybody, the square root of their number. Where messages are
//!    few, all other signs may deceive.
//!
//! The run then goes on until the accepted load is known to the precision asked for: what a
//! network carries beyond saturation is a result. Latency has no mean there and is not given.
//!
//! **Carried or not.** Who only wants to know whether a load is carried may stop earlier
//! ([`Aim::Answer`], [`Steady::answer`]). It is *refused* as soon as the rules of saturation hold,
//! and *carried* as soon as the backlog is level: what piles up according to the slope of the
//! backlog is no more than the same quarter of the precision, and certainly no more than the
//! precision, of what is offered, in a run that lasts ten mean latencies after its warm-up, three
//! times in a row. A load that is neither at the limit is *open*. Some networks look steady for a
//! long time and then break down. [`Aim::Confirmation`] gives an answer from the whole length that
//! a run may have.
//!
//! **Not converged.** The limit came first. The verdict keeps the best estimates and names every
//! doubt.
//!
//! **How far to trust it.** Stopping a run *because* its interval has become narrow makes the
//! interval hold less often than it says. The constants of these rules were chosen on M/M/1 queues.
//! On queues with other seeds, and on M/D/1 queues, nominal 95 % intervals of mean latency from
//! converged runs held the true mean in 81 to 94 % of 100 runs at loads 0.5 and 0.8. At load 0.9,
//! where the limit kept many runs from converging, they held in 30 of the 42 M/M/1 and 130 of the
//! 148 M/D/1 runs that did. At load 0.98 one run in 400 was called saturated.
//! Ask for a higher confidence, and allow a longer run, where that matters.

use crate::trend::Trend;
use crate::{Answer, Doubt, Estimate, Means, Verdict, WarmUp, student_t};

/// The counters of one window of time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Window {
    /// Flits handed over by applications.
    pub generated: u64,
    /// Flits delivered to applications.
    pub delivered: u64,
    /// Packets delivered.
    pub messages: u64,
    /// Sum of the latencies of those messages, in cycles.
    pub latency: u64,
    /// Flits generated and not yet delivered at the end of the window: those waiting at sources
    /// and those in the network.
    pub backlog: u64,
}

/// What a run is made for, and so when it may stop before its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aim {
    /// Means that are known to the precision asked for.
    Means,
    /// Whether the network carries the load, as soon as that seems clear.
    Answer,
    /// The same, from a run that goes to its limit whatever it looks like.
    Confirmation,
}

/// What is asked of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteadySpec {
    /// What for.
    pub aim: Aim,
    /// Cycles per window.
    pub window: u64,
    /// Largest relative half-width of the reported means, for example 0.02.
    pub precision: f64,
    /// Confidence of their intervals, for example 0.95.
    pub confidence: f64,
    /// Messages that must have been delivered after the warm-up before the mean latency counts as
    /// known. Where some kind of message is rare, a mean without any of it looks as sure as it is
    /// wrong.
    pub messages: u64,
    /// Flits of the message to which a flit belongs, on average: the mean square of sizes over
    /// their mean. A backlog comes and goes in lumps of this size.
    pub lump: f64,
    /// Sources of messages: processing elements that send.
    pub sources: u64,
    /// Cycles that are not exceeded; but at least 64 windows are always run.
    pub limit: u64,
}

/// The judge of one run: feed it windows until its verdict is final.
#[derive(Debug, Clone)]
pub struct Steady {
    spec: SteadySpec,
    /// Joined windows of `joined` windows each, and the one being filled.
    series: Vec<Window>,
    joined: u64,
    filling: (u64, Window),
    /// Windows fed so far, and how many there must be at the next judgement.
    fed: u64,
    next_judgement: u64,
    /// How often the run was judged; in how many judgements in a row up to the last the backlog
    /// was found rising, in how many level, and in how many there was nothing to doubt.
    judgements: u32,
    risings: u32,
    levels: u32,
    sures: u32,
    verdict: Verdict,
}

/// Windows before the first judgement: both halves make an estimate.
const LEAST: u64 = 2 * Estimate::LEAST_VALUES as u64;
/// Windows kept before neighbours are joined.
const MOST: usize = 1024;
/// Judgements in a row that make a run saturated, carried, and converged. The first two take one
/// more: they are found early, when chance plays its largest part.
const RISINGS: u32 = 3;
const LEVELS: u32 = 3;
const SURES: u32 = 2;
/// How much slower than in the first half the backlog may rise in the second.
const STEADY_RISE: f64 = 0.7;
/// Mean latencies that a converged run lasts after its warm-up.
const LEAST_LATENCIES: f64 = 50.0;
/// Mean latencies that a run lasts after its warm-up if its backlog is to be called level.
const LEAST_TURNOVERS: f64 = 10.0;
/// Mean latencies of its first half that a saturated run lasts.
const LEAST_FILLINGS: f64 = 3.0;

/// Messages that each source has sent, on average, before the flow of their packets tells how well
/// means are known.
const LEAST_MESSAGES: f64 = 2.0;
/// By how many standard deviations of chance the backlog of a saturated run grows.
const LEAST_GROWTH: f64 = 4.0;

impl Steady {
    /// A judge that has seen nothing.
    ///
    /// # Panics
    /// If the window is empty or the confidence or precision does not lie between 0 and 1.
    pub fn new(spec: SteadySpec) -> Steady {
        let open_unit = |x: f64| x > 0.0 && x < 1.0;
        assert!(spec.window > 0, "a window has a length");
        assert!(open_unit(spec.confidence), "a confidence lies between 0 and 1");
        assert!(open_unit(spec.precision), "a relative precision lies between 0 and 1");
        Steady {
            spec,
            series: Vec::with_capacity(MOST),
            joined: 1,
            filling: (0, Window::default()),
            fed: 0,
            next_judgement: LEAST,
            judgements: 0,
            risings: 0,
            levels: 0,
            sures: 0,
            verdict: Verdict::Continue,
        }
    }

    /// Takes the counters of the next window and gives the verdict. A final verdict stays.
    pub fn observe(&mut self, window: Window) -> &Verdict {
        if self.verdict.is_final() {
            return &self.verdict;
        }
        self.fed += 1;
        self.filling.0 += 1;
        self.filling.1 = join(self.filling.1, window);
        if self.filling.0 == self.joined {
            self.series.push(self.filling.1);
            self.filling = (0, Window::default());
        }
        let at_limit = self.fed >= LEAST && self.cycles() + self.spec.window > self.spec.limit;
        if self.fed >= self.next_judgement || at_limit {
            self.next_judgement = self.fed + self.fed.div_ceil(4);
            self.verdict = self.judge(at_limit);
        }
        if self.series.len() == MOST {
            self.series = self.series.chunks(2).map(|pair| join(pair[0], pair[1])).collect();
            self.joined *= 2;
        }
        &self.verdict
    }

    /// The verdict so far.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// Whether the network carries the load, as far as the run can tell; open until it is over.
    pub fn answer(&self) -> Answer {
        // In a run of a fixed length there is one judgement, for which nobody has waited.
        let enough = |found: u32, wanted: u32| found >= wanted.min(self.judgements);
        match self.verdict {
            Verdict::Continue => Answer::Open,
            Verdict::Converged(_) => Answer::Carried,
            Verdict::Saturated(_) => Answer::Refused,
            Verdict::NotConverged(..) if enough(self.risings, RISINGS) => Answer::Refused,
            Verdict::NotConverged(..) if enough(self.levels, LEVELS) => Answer::Carried,
            Verdict::NotConverged(..) => Answer::Open,
        }
    }

    /// Cycles observed.
    pub fn cycles(&self) -> u64 {
        self.fed * self.spec.window
    }

    fn judge(&mut self, at_limit: bool) -> Verdict {
        self.judgements += 1;
        let rising = self.rises();
        self.risings = if rising { self.risings + 1 } else { 0 };
        let saturated = self.risings >= RISINGS;
        let (outcome, mut doubts) = self.assess(saturated);
        let known = doubts.is_empty();
        if rising && !saturated {
            doubts.push(Doubt::Rising);
        }
        self.levels = if self.is_level(&outcome) && !rising { self.levels + 1 } else { 0 };
        self.sures = if doubts.is_empty() && !rising { self.sures + 1 } else { 0 };
        let converged = self.sures >= SURES;
        let done = match self.spec.aim {
            Aim::Means => converged || (saturated && known),
            Aim::Answer => converged || saturated || self.levels >= LEVELS,
            Aim::Confirmation => false,
        };
        if !done && !at_limit {
            return Verdict::Continue;
        }
        if saturated {
            return Verdict::Saturated(outcome);
        }
        if converged {
            return Verdict::Converged(outcome);
        }
        if doubts.is_empty() {
            doubts.push(Doubt::Unconfirmed);
        }
        Verdict::NotConverged(outcome, doubts)
    }

    /// The means after warm-up, and all that is to be said against them.
    fn assess(&self, saturated: bool) -> (Means, Vec<Doubt>) {
        let SteadySpec { precision, confidence, .. } = self.spec;
        let mut warm_up = detect(self.series.iter().map(|w| w.delivered as f64));
        if !saturated {
            warm_up = warm_up.later(self.latency_warm_up());
        }
        // Without a trustworthy cut, half of the run is the best guess.
        let cut = if warm_up.settled { warm_up.cut } else { self.series.len() / 2 };
        let steady = &self.series[cut..];
        let cycles = (self.joined * self.spec.window) as f64;

        let delivered: Vec<_> = steady.iter().map(|w| w.delivered as f64).collect();
        let accepted = Estimate::of_rate(&delivered, cycles, confidence)
            .expect("half of the least number of windows makes an estimate");
        let flits: f64 = delivered.iter().sum();
        let least = self.least_relative(flits);
        let accepted = widened(accepted, least);
        let latency: Vec<_> =
            steady.iter().map(|w| (w.latency as f64, w.messages as f64)).collect();
        let latency = Estimate::of_ratio(&latency, confidence).filter(|_| !saturated);
        let messages: u64 = steady.iter().map(|w| w.messages).sum();
        // Latencies of messages of one size may be alike, however few there are.
        let variance = (self.spec.lump * messages as f64 / flits - 1.0).max(0.0);
        let latency = latency.map(|latency| widened(latency, least * variance.sqrt()));
        let measured = steady.len() as f64 * cycles;
        let latency = latency.map(|latency| of_short_run(latency, measured));
        let generated: f64 = steady.iter().map(|w| w.generated as f64).sum();

        let mut doubts = Vec::new();
        if !warm_up.settled {
            doubts.push(Doubt::WarmUp);
        }
        match latency {
            _ if saturated => {
                doubts.extend(Doubt::about(&accepted, precision).map(Doubt::Accepted));
            }
            None => doubts.push(Doubt::NothingDelivered),
            Some(latency) => {
                doubts.extend(Doubt::about(&latency, precision).map(Doubt::Latency));
                if messages < self.spec.messages {
                    doubts.push(Doubt::Few { messages, wanted: self.spec.messages });
                }
                if measured < LEAST_LATENCIES * latency.mean {
                    doubts.push(Doubt::Short { latencies: measured / latency.mean });
                }
            }
        }
        let outcome = Means {
            cycles: self.cycles(),
            warm_up: cut as u64 * self.joined * self.spec.window,
            offered: generated / measured,
            accepted,
            latency,
        };
        (outcome, doubts)
    }

    /// Returns the least relative half-width of a mean over `delivered` flits that few messages
    /// make up; 0 once each source has sent several.
    fn least_relative(&self, delivered: f64) -> f64 {
        let messages = delivered / self.spec.lump;
        if messages >= LEAST_MESSAGES * self.spec.sources as f64 {
            return 0.0;
        }
        let freedom = (messages as u32).saturating_sub(1).max(1);
        student_t(self.spec.confidence, freedom) / messages.max(1.0).sqrt()
    }

    /// The rules of saturation.
    fn rises(&self) -> bool {
        let (first, second) = self.series.split_at(self.series.len() / 2);
        let undelivered: Vec<_> = second
            .iter()
            .map(|w| (w.generated as f64 - w.delivered as f64, w.generated as f64))
            .collect();
        let Some(shortfall) = Estimate::of_ratio(&undelivered, self.spec.confidence) else {
            return false;
        };
        let filling = mean_latency(first);
        let (before, after) = (backlog_trend(first), backlog_trend(second));
        shortfall.lower() > self.least_shortfall()
            && after.rises()
            && after.slope >= STEADY_RISE * before.slope
            && filling.is_some_and(|filling| self.cycles() as f64 >= LEAST_FILLINGS * filling)
            && self.outgrows_chance(second)
    }

    /// Whether the messages of the backlog have become more than chance makes of them. If nobody
    /// waits for anybody, their number scatters by its square root.
    fn outgrows_chance(&self, half: &[Window]) -> bool {
        let quarter = half.len() / 4;
        let messages_in = |part: &[Window]| {
            let backlog = part.iter().map(|w| w.backlog as f64).sum::<f64>() / part.len() as f64;
            backlog / self.spec.lump
        };
        let before = messages_in(&half[..quarter]);
        let after = messages_in(&half[half.len() - quarter..]);
        after - before > LEAST_GROWTH * (before + after).sqrt()
    }

    /// Whether the backlog after warm-up is certainly level.
    fn is_level(&self, outcome: &Means) -> bool {
        let steady = &self.series[(outcome.warm_up / self.spec.window / self.joined) as usize..];
        let backlog: Vec<_> = steady.iter().map(|w| w.backlog as f64).collect();
        let generated =
            steady.iter().map(|w| w.generated as f64).sum::<f64>() / steady.len() as f64;
        let lasts =
            |latency: f64| (outcome.cycles - outcome.warm_up) as f64 >= LEAST_TURNOVERS * latency;
        Estimate::of_slope(&backlog, self.spec.confidence).is_some_and(|slope| {
            slope.mean <= self.least_shortfall() * generated
                && slope.upper() <= self.spec.precision * generated
        }) && mean_latency(steady).is_some_and(lasts)
    }

    /// The share of what is offered that a network may fail to carry, in the long run, before it
    /// counts as saturated.
    fn least_shortfall(&self) -> f64 {
        self.spec.precision / 4.0
    }

    fn latency_warm_up(&self) -> WarmUp {
        let mean = mean_latency(&self.series).unwrap_or(0.0);
        // A window without messages says nothing; the overall mean is what disturbs least.
        detect(self.series.iter().map(|w| match w.messages {
            0 => mean,
            messages => w.latency as f64 / messages as f64,
        }))
    }
}

/// Returns the estimate with a relative half-width of at least `relative`.
fn widened(estimate: Estimate, relative: f64) -> Estimate {
    Estimate { half_width: estimate.half_width.max(relative * estimate.mean), ..estimate }
}

/// Widens the interval of a mean latency from a run of `measured` cycles, if these are fewer than
/// 50 latencies: its batches meet the same queues and look more alike than batches of other runs.
fn of_short_run(latency: Estimate, measured: f64) -> Estimate {
    let short = (LEAST_LATENCIES * latency.mean / measured).max(1.0);
    Estimate { half_width: latency.half_width * short, ..latency }
}

/// The mean latency of what was delivered; `None` of nothing.
fn mean_latency(series: &[Window]) -> Option<f64> {
    let sums = series.iter().fold((0, 0), |s, w| (s.0 + w.latency, s.1 + w.messages));
    (sums.1 > 0).then(|| sums.0 as f64 / sums.1 as f64)
}

/// The backlog line over 16 means, in flits per sixteenth.
fn backlog_trend(half: &[Window]) -> Trend {
    let size = half.len() / 16;
    let chunks = half[half.len() % 16..].chunks_exact(size);
    let means: Vec<f64> =
        chunks.map(|c| c.iter().map(|w| w.backlog as f64).sum::<f64>() / size as f64).collect();
    Trend::of(&means)
}

fn detect(series: impl Iterator<Item = f64>) -> WarmUp {
    let series: Vec<f64> = series.collect();
    WarmUp::detect(&series).unwrap_or(WarmUp { cut: 0, settled: false })
}

fn join(a: Window, b: Window) -> Window {
    Window {
        generated: a.generated + b.generated,
        delivered: a.delivered + b.delivered,
        messages: a.messages + b.messages,
        latency: a.latency + b.latency,
        backlog: b.backlog,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::Queues;
    use proptest::prelude::*;

    const SPEC: SteadySpec = SteadySpec {
        aim: Aim::Means,
        window: 200,
        precision: 0.05,
        confidence: 0.95,
        messages: 0,
        lump: 2.0 * Queues::FLITS,
        sources: 1,
        limit: 400_000,
    };

    /// Runs queues at a load until the verdict is final.
    fn run(seed: u64, count: u64, load: f64, spec: SteadySpec) -> Verdict {
        let mut queues = Queues::new(seed, count, load, spec.window);
        let mut steady = Steady::new(spec);
        while !steady.observe(queues.window()).is_final() {}
        steady.verdict().clone()
    }

    #[test]
    fn a_run_shorter_than_its_messages_knows_no_more_than_their_number_tells() {
        // Messages of 200 sources arrive evenly: at most 1.6 from each, and then 2.8.
        let accepted = |windows: u64| {
            let spec = SteadySpec { sources: 200, lump: 1000.0, limit: windows * 200, ..SPEC };
            let mut steady = Steady::new(spec);
            let window = |i: u64| Window {
                generated: 8000,
                delivered: 4000 + i % 2,
                messages: 4,
                latency: 4000,
                backlog: 4000 * i,
            };
            for i in 0..windows {
                steady.observe(window(i));
            }
            steady.verdict().outcome().unwrap().accepted.relative()
        };
        let short = accepted(80);
        assert!((0.1..0.2).contains(&short), "1.97 / sqrt(4 per window of 60 or so): {short}");
        assert!(accepted(140) < 0.001);
    }

    #[test]
    fn few_messages_of_different_sizes_do_not_tell_their_mean_latency() {
        // Messages of 1000 flits on average arrive evenly, each after 1000 cycles.
        let latency = |lump: f64, sources: u64| {
            let spec = SteadySpec { sources, lump, limit: 100 * 200, ..SPEC };
            let mut steady = Steady::new(spec);
            let window =
                Window { generated: 4000, delivered: 4000, messages: 4, latency: 4000, backlog: 0 };
            (0..100).for_each(|_| _ = steady.observe(window));
            steady.verdict().outcome().unwrap().latency.unwrap().relative()
        };
        assert!(latency(2000.0, 400) > 0.1, "as many as 400, and half of the flits in larger ones");
        assert!(latency(2000.0, 50) < 0.001, "several from each source");
        assert!(latency(1000.0, 400) < 0.001, "all of one size");
    }

    #[test]
    fn intervals_of_short_runs_hold_the_mean() {
        for load in [0.7, 0.8] {
            let truth = Queues::mean_latency(load);
            for (latencies, count) in
                [(15.0, 4), (15.0, 64), (25.0, 4), (25.0, 64), (40.0, 4), (40.0, 64)]
            {
                let limit = (latencies * 1.15 * truth) as u64;
                let spec = SteadySpec { limit, window: limit / 64, ..SPEC };
                let held = (0..400).filter(|&seed| {
                    let latency = run(seed, count, load, spec).outcome().unwrap().latency.unwrap();
                    (latency.mean - truth).abs() <= latency.half_width
                });
                let held = held.count();
                assert!(held >= 320, "{held} of 400: {latencies} latencies, {count} at {load}");
            }
        }
    }

    #[test]
    fn a_light_load_converges_to_the_known_means() {
        let mut covered = 0;
        for seed in 0..40 {
            let Verdict::Converged(outcome) = run(seed, 32, 0.5, SPEC) else { panic!("{seed}") };
            let (latency, truth) = (outcome.latency.unwrap(), Queues::mean_latency(0.5));
            assert!(latency.relative() <= 0.05);
            assert!((outcome.accepted.mean / 16.0 - 1.0).abs() < 0.1, "{outcome:?}");
            assert!((latency.mean / truth - 1.0).abs() < 0.15, "{outcome:?}");
            covered += u32::from((latency.mean - truth).abs() <= latency.half_width);
        }
        assert!(covered >= 32, "{covered} of 40 intervals hold the mean");
    }

    #[test]
    fn a_heavy_but_stable_load_is_never_called_saturated() {
        for seed in 0..12 {
            for (count, load) in [(1, 0.9), (16, 0.9), (16, 0.97)] {
                let verdict = run(seed, count, load, SPEC);
                assert!(
                    !matches!(verdict, Verdict::Saturated(_)),
                    "{count} at {load}: {verdict:?}"
                );
            }
        }
    }

    #[test]
    fn an_overload_is_called_saturated_and_its_accepted_load_is_the_capacity() {
        for seed in 0..12 {
            for load in [1.08, 1.5] {
                let verdict = run(seed, 16, load, SPEC);
                let Verdict::Saturated(outcome) = &verdict else { panic!("{load}: {verdict:?}") };
                assert!((outcome.accepted.mean / 16.0 - 1.0).abs() < 0.05, "{outcome:?}");
                assert!(outcome.cycles < SPEC.limit / 2 && outcome.latency.is_none());
            }
        }
    }

    #[test]
    fn a_critical_load_is_told_from_a_converged_one() {
        let converged = (0..20u64)
            .filter(|&seed| matches!(run(seed, 16, 1.0, SPEC), Verdict::Converged(_)))
            .count();
        assert!(converged <= 1, "{converged} of 20 runs claim a mean that does not exist");
    }

    #[test]
    fn a_run_stopped_by_its_limit_says_what_it_lacks() {
        let spec = SteadySpec { precision: 0.001, limit: 64 * 200, ..SPEC };
        let Verdict::NotConverged(outcome, doubts) = run(1, 4, 0.5, spec) else { panic!() };
        assert_eq!(outcome.cycles, 64 * 200);
        assert!(doubts.iter().any(|d| matches!(d, Doubt::Latency(p) if p.found > 0.001)));
    }

    #[test]
    fn a_rare_kind_of_message_is_waited_for() {
        // Always the same latency, but too few messages to have seen all kinds of them.
        let window =
            Window { generated: 100, delivered: 100, messages: 1, latency: 50, backlog: 5 };
        let cycles = |messages| {
            let mut steady = Steady::new(SteadySpec { messages, ..SPEC });
            while !steady.observe(window).is_final() {}
            assert!(matches!(steady.verdict(), Verdict::Converged(_)));
            steady.cycles()
        };
        assert!(cycles(0) < 100 * 200 && cycles(500) >= 500 * 200);
        let mut steady = Steady::new(SteadySpec { messages: 10_000, ..SPEC });
        while !steady.observe(window).is_final() {}
        let Verdict::NotConverged(_, doubts) = steady.verdict() else { panic!() };
        assert_eq!(doubts[0], Doubt::Few { messages: 2000, wanted: 10_000 });
    }

    #[test]
    fn a_load_is_carried_refused_or_open() {
        let ask = |seed, load, limit| {
            let spec = SteadySpec { aim: Aim::Answer, limit, ..SPEC };
            let mut queues = Queues::new(seed, 16, load, spec.window);
            let mut steady = Steady::new(spec);
            while !steady.observe(queues.window()).is_final() {}
            (steady.answer(), steady.cycles())
        };
        for seed in 0..20 {
            for (load, wanted) in [(0.1, Answer::Carried), (0.8, Answer::Carried)] {
                let (answer, cycles) = ask(seed, load, SPEC.limit);
                assert_eq!(answer, wanted, "load {load}, seed {seed}");
                assert!(cycles < SPEC.limit, "known before the end");
            }
            let (answer, cycles) = ask(seed, 1.1, SPEC.limit);
            assert!(answer == Answer::Refused && cycles < SPEC.limit, "seed {seed}: {answer:?}");
            // Sixty-four windows of two messages per queue say nothing for sure.
            assert_ne!(ask(seed, 0.95, 64 * 200).0, Answer::Refused, "seed {seed}");
            assert_ne!(ask(seed, 1.1, 64 * 200).0, Answer::Carried, "seed {seed}");
        }
    }

    #[test]
    fn a_network_that_breaks_down_late_is_found_out() {
        // All is well for 100,000 cycles; then a third of the messages no longer gets through.
        let answer = |aim| {
            let mut steady = Steady::new(SteadySpec { aim, ..SPEC });
            let mut window =
                Window { generated: 30, delivered: 30, messages: 3, latency: 150, backlog: 5 };
            for index in 0u64.. {
                if index > 500 {
                    window.delivered = 20;
                    window.messages = 2;
                    window.backlog += 10;
                    window.latency = 2 * (50 + (index - 500) * 200 / 3);
                }
                if steady.observe(window).is_final() {
                    break;
                }
            }
            (steady.answer(), steady.cycles())
        };
        assert_eq!(answer(Aim::Answer).0, Answer::Carried);
        assert_ne!(answer(Aim::Confirmation).0, Answer::Carried);
        assert_eq!(answer(Aim::Confirmation).1, SPEC.limit, "whatever it looks like");
    }

    #[test]
    fn a_network_that_still_fills_is_not_saturated() {
        // A wire so long that what comes out now went in 10,000 cycles ago.
        let limit = 12_800;
        for latency in [5_000u64, 10_000, 20_000] {
            let spec = SteadySpec { aim: Aim::Answer, window: 100, limit, ..SPEC };
            let mut steady = Steady::new(spec);
            let mut now = 0;
            loop {
                now += 100;
                let out = now > latency;
                let (delivered, messages) = if out { (100, 1) } else { (0, 0) };
                let backlog = now.min(latency);
                let latency = if out { latency } else { 0 };
                let window = Window { generated: 100, delivered, messages, latency, backlog };
                if steady.observe(window).is_final() {
                    break;
                }
            }
            assert_eq!(steady.answer(), Answer::Open, "latency {latency}");
        }
    }

    #[test]
    fn silence_is_not_convergence() {
        let mut steady = Steady::new(SPEC);
        while !steady.observe(Window::default()).is_final() {}
        let Verdict::NotConverged(_, doubts) = steady.verdict() else { panic!() };
        assert!(doubts.contains(&Doubt::NothingDelivered), "{doubts:?}");
    }

    #[test]
    fn a_transient_is_left_out_of_the_means() {
        // Twice the latency during the first 100 windows.
        let mut queues = Queues::new(3, 32, 0.4, 200);
        let mut steady = Steady::new(SteadySpec { precision: 0.02, ..SPEC });
        for index in 0.. {
            let mut window = queues.window();
            if index < 100 {
                window.latency *= 2;
            }
            if steady.observe(window).is_final() {
                break;
            }
        }
        let Verdict::Converged(outcome) = steady.verdict() else { panic!() };
        assert!((90 * 200..130 * 200).contains(&outcome.warm_up), "{outcome:?}");
        let latency = outcome.latency.unwrap().mean;
        assert!((latency / Queues::mean_latency(0.4) - 1.0).abs() < 0.05, "{outcome:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn every_run_ends_by_its_limit(
            windows in prop::collection::vec((0..500u64, 0..500u64, 0..20u64, 0..9999u64), 1..40),
            limit in 0..3000u64,
        ) {
            let spec = SteadySpec { window: 1, limit, ..SPEC };
            let mut steady = Steady::new(spec);
            let mut fed = 0;
            let mut backlog = 0u64;
            for (generated, delivered, messages, latency) in windows.into_iter().cycle() {
                backlog = (backlog + generated).saturating_sub(delivered);
                fed += 1;
                let window = Window { generated, delivered, messages, latency, backlog };
                if steady.observe(window).is_final() {
                    break;
                }
                prop_assert!(fed < limit.max(64));
            }
            let outcome = steady.verdict().outcome().unwrap();
            prop_assert_eq!(outcome.cycles, fed);
            prop_assert!(outcome.warm_up <= fed / 2);
        }
    }
}
