//! Measures of what chapter 4 says in words: what efficiency depends on, and how.

use super::super::flow::{Flow, at, flows};
use super::formulas::cell;
use super::{
    Answer, CISCO, IBM326, IBM416, SENDERS, TIMEOUTS, WINDOWS, average, demanded, lossy, table_4_1,
};
use crate::paper::Evidence;
use crate::paper::statistic::{fitted, largest, mean};
use crosstie_model::Architecture;
use crosstie_model::congestion::{Cycle, loses};
use crosstie_model::fit::line;
use crosstie_study::paper::{Claim, Estimate, Measured, Missing, Truth};

/// Measures a claim; nothing if it is none of these.
pub(super) fn measure(claim: &Claim, e: &Evidence) -> Option<Answer> {
    let tolerated = |around: f64| claim.tolerance.map_or(around, |t| t.around(around).1);
    Some(match claim.id.as_str() {
        "ch4.shape.overflow.input" => overflow(e, "input", Architecture::Input, IBM326),
        "ch4.shape.overflow.output" => overflow(e, "overflow", Architecture::Output, IBM416),
        "ch4.shape.input.w" => steeper(e),
        "ch4.shape.input.p" => nearly_level(e, tolerated(0.0)),
        "ch4.shape.input.to" => level(e, tolerated(0.0)),
        "ch4.shape.input.simple" => swings(e, tolerated(1.0)),
        "ch4.shape.input.own" => mostly_better(e, tolerated(1.0) - 1.0),
        "ch4.shape.output.w" => falls(e, "output", Axis::Window),
        "ch4.shape.output.p" => falls(e, "output", Axis::Senders),
        "ch4.shape.output.to" => logarithm(e),
        "ch4.shape.output.simple" => extremely_low(e, tolerated(0.0)),
        "ch4.shape.output.own" => better(e),
        "ch4.shape.output.overestimate" => overestimates(e),
        "ch4.shape.cisco.trends" => trends(e, "cisco"),
        "ch4.shape.weights" => weights(e),
        "ch4.shape.buffer" => larger_buffers(e),
        "ch4.input.max_measured" => most(e, &["input"]),
        "ch4.input.max_both" => most(e, &["input", "input-simple"]),
        "ch4.error.input" => input_error(e).map(Measured::exact),
        "ours.input.eq42" => input_errors(e).map(|errors| {
            Measured::exact(errors.iter().map(|(distance, _)| *distance).fold(0.0, f64::max))
        }),
        "ch4.error.out416" => output_error(e, "output", IBM416).map(Measured::exact),
        "ch4.error.out2980" => output_error(e, "cisco", CISCO).map(Measured::exact),
        "ch4.error.series" => all_errors(e),
        "ours.jitter" => in_step(e, tolerated(0.0)),
        "ours.jitter.simple" => out_of_step(e),
        _ => return None,
    })
}

/// What efficiency depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Axis {
    Senders,
    Window,
    Timeout,
}

impl Axis {
    fn name(self) -> &'static str {
        match self {
            Axis::Senders => "senders",
            Axis::Window => "window",
            Axis::Timeout => "time-out",
        }
    }

    fn of(self, flow: &Flow<'_>) -> u32 {
        match self {
            Axis::Senders => flow.senders(),
            Axis::Window => flow.window(),
            Axis::Timeout => flow.slots(),
        }
    }

    /// All that does not lie along it.
    fn others(self, flow: &Flow<'_>) -> Vec<u32> {
        let all = [Axis::Senders, Axis::Window, Axis::Timeout].into_iter();
        all.filter(|axis| *axis != self).map(|axis| axis.of(flow)).collect()
    }
}

/// Flows that differ along an axis alone, from its least value to its largest; lines of two and
/// more.
pub(super) fn lines<'f, 'e>(
    flows: impl IntoIterator<Item = &'f Flow<'e>>,
    along: Axis,
) -> Vec<Vec<&'f Flow<'e>>>
where
    'e: 'f,
{
    let mut lines: Vec<Vec<&Flow<'e>>> = Vec::new();
    for flow in flows {
        match lines.iter_mut().find(|line| along.others(line[0]) == along.others(flow)) {
            Some(line) => line.push(flow),
            None => lines.push(vec![flow]),
        }
    }
    lines.iter_mut().for_each(|line| line.sort_by_key(|flow| along.of(flow)));
    lines.retain(|line| line.len() > 1);
    lines
}

/// Whether efficiency falls, or rises, from the first to the last flow of every line.
pub(super) fn changes(lines: &[Vec<&Flow<'_>>], rises: bool, along: &str) -> (Truth, String) {
    let ends = |line: &Vec<&Flow<'_>>| (line[0].efficiency(), line[line.len() - 1].efficiency());
    let holds = lines.iter().map(ends).map(|(first, last)| match rises {
        true => last.above(first),
        false => first.above(last),
    });
    let holds = Truth::all(holds.collect::<Vec<_>>());
    let mean = |of: fn((Estimate, Estimate)) -> f64| {
        average(&lines.iter().map(|line| of(ends(line))).collect::<Vec<f64>>())
    };
    let (first, last) = (mean(|ends| ends.0.value), mean(|ends| ends.1.value));
    (holds, format!("{along}: from {first:.3} to {last:.3} on average over {} lines", lines.len()))
}

fn falls(e: &Evidence, part: &str, along: Axis) -> Answer {
    let all = flows(e, part)?;
    let lines = lines(lossy(&all), along);
    let (mut holds, mut words) = changes(&lines, false, along.name());
    if e.is_live() {
        // One line may hide it: runs of real ranks vary. What all of them say together counts.
        let fall = |line: &Vec<&Flow<'_>>| {
            let [first, last] = [line[0], line[line.len() - 1]].map(|flow| flow.efficiency().value);
            Estimate::exact(first - last)
        };
        let falls: Vec<Estimate> = lines.iter().map(fall).collect();
        let Estimate { value, low, high } = mean(&falls);
        holds = Estimate { value, low, high }.above(Estimate::exact(0.0));
        words += &format!(", which is {value:.3} less ({low:.3} to {high:.3})");
    }
    demanded(vec![(holds, words)])
}

fn trends(e: &Evidence, part: &str) -> Answer {
    let all = flows(e, part)?;
    let change =
        |along: Axis| changes(&lines(lossy(&all), along), along == Axis::Timeout, along.name());
    demanded([Axis::Window, Axis::Senders, Axis::Timeout].map(change).to_vec())
}

fn overflow(e: &Evidence, part: &str, architecture: Architecture, frames: u32) -> Answer {
    let all = flows(e, part)?;
    let (mut holds, mut words) = (Vec::new(), Vec::new());
    let (mut runs, mut lossy) = (0, 0);
    for flow in &all {
        let expected = loses(architecture, flow.window(), flow.senders(), frames);
        let losses = flow.losses();
        let (count, lost) = (losses.len(), losses.iter().filter(|lost| **lost > 0.0).count());
        (runs, lossy) = (runs + count, lossy + lost);
        // Of simulated runs one that loses is enough: whether the last packet of a burst finds
        // room, seeds may decide.
        let met = match (e.is_live(), expected) {
            (true, true) => lost,
            (true, false) => count - lost,
            (false, _) => {
                if (lost > 0) == expected {
                    count
                } else {
                    0
                }
            }
        };
        holds.push(match met {
            0 => Truth::Fails,
            met if met < count => Truth::Open,
            _ => Truth::Holds,
        });
        if met < count {
            let (senders, window) = (flow.senders(), flow.window());
            let times =
                if e.is_live() { format!(" ({met} of {count} runs)") } else { String::new() };
            words.push(format!("{senders} senders, window {window}{times}"));
        }
    }
    let count = all.len();
    let mut text = match words.is_empty() {
        true => format!("at all of {count} settings"),
        false => format!("not at {} of {count} settings: {}", words.len(), words.join("; ")),
    };
    if e.is_live() {
        text += &format!(
            "; {lossy} of {runs} runs lost packets, and all of them had everything in the end"
        );
    }
    Ok(Measured::shape(Truth::all(holds), text))
}

/// Eq. 4.2 at a setting; nothing where packets are not lost.
pub(super) fn eq_4_2(flow: &Flow<'_>) -> Option<f64> {
    Some(Cycle::new(flow.senders(), flow.window(), IBM326)?.efficiency())
}

/// How far Eq. 4.2 is from each setting of `input`: as it is, and as a share.
fn input_errors(e: &Evidence) -> Result<Vec<(f64, f64)>, Missing> {
    let all = flows(e, "input")?;
    let error = |flow: &Flow<'_>| {
        let (found, expected) = (flow.efficiency().value, eq_4_2(flow)?);
        let apart = (expected - found).abs();
        Some((apart, apart / found))
    };
    Ok(all.iter().filter_map(error).collect())
}

fn steeper(e: &Evidence) -> Answer {
    let all = flows(e, "input")?;
    let lossy = all.iter().filter(|flow| eq_4_2(flow).is_some());
    let (mut holds, mut words) = (Vec::new(), Vec::new());
    for line_of in lines(lossy, Axis::Window) {
        let slope = |y: &dyn Fn(&Flow<'_>) -> f64| {
            let points = line_of.iter().map(|flow| (f64::from(flow.window()), y(flow)));
            let fitted = line(&points.collect::<Vec<_>>());
            fitted.map_err(|error| Missing(error.to_string()))
        };
        let expected = |flow: &Flow<'_>| eq_4_2(flow).unwrap_or(0.0);
        let simulated = slope(&|flow| flow.efficiency().value)?;
        let beyond = slope(&|flow| flow.efficiency().value - expected(flow))?;
        let freedom = line_of.len() as u32 - 2;
        let falls = fitted(simulated.slope, simulated.slope_error, freedom);
        let steeper = fitted(beyond.slope, beyond.slope_error, freedom);
        holds.extend([falls, steeper].map(|slope| Estimate::exact(0.0).above(slope)));
        if line_of[0].slots() == all[0].slots() {
            let senders = line_of[0].senders();
            let [found, less] = [falls.value, steeper.value].map(|slope| 1e4 * slope);
            let around = 1e4 * (steeper.high - steeper.value);
            words.push(format!("{senders} senders: {found:.1}, of which {less:.1} ± {around:.1}"));
        }
    }
    let text = format!("1/10000 for a packet, and beyond Eq. 4.2, {}", words.join("; "));
    Ok(Measured::shape(Truth::all(holds), text))
}

fn nearly_level(e: &Evidence, most: f64) -> Answer {
    let all = flows(e, "input")?;
    let lossy = all.iter().filter(|flow| eq_4_2(flow).is_some());
    let rises: Vec<f64> = lines(lossy, Axis::Senders)
        .iter()
        .map(|line| line[line.len() - 1].efficiency().value - line[0].efficiency().value)
        .collect();
    let holds = Truth::of(rises.iter().all(|rise| (0.0..=most).contains(rise)));
    let (least, largest) = ends(&rises);
    let text = format!("from 7 to 23 senders it rises by {least:.3} to {largest:.3}");
    Ok(Measured::shape(holds, text))
}

/// The least and the largest of some numbers.
fn ends(numbers: &[f64]) -> (f64, f64) {
    let fold = |from: f64, pick: fn(f64, f64) -> f64| numbers.iter().copied().fold(from, pick);
    (fold(f64::INFINITY, f64::min), fold(f64::NEG_INFINITY, f64::max))
}

/// The efficiencies of a line.
fn heights(line: &[&Flow<'_>]) -> Vec<f64> {
    line.iter().map(|flow| flow.efficiency().value).collect()
}

fn level(e: &Evidence, most: f64) -> Answer {
    let all = flows(e, "input")?;
    let spread = |line: &Vec<&Flow<'_>>| {
        let (least, largest) = ends(&heights(line));
        largest - least
    };
    let apart = lines(&all, Axis::Timeout).iter().map(spread).fold(0.0, f64::max);
    let text = format!("time-outs of 3000 and 6000 slots differ by at most {apart:.4}");
    Ok(Measured::shape(Truth::of(apart <= most), text))
}

fn swings(e: &Evidence, factor: f64) -> Answer {
    let all = flows(e, "input-simple")?;
    let mut demands = Vec::new();
    for along in [Axis::Senders, Axis::Window, Axis::Timeout] {
        let ratio = |line: &Vec<&Flow<'_>>| {
            let (least, largest) = ends(&heights(line));
            largest / least
        };
        let ratios: Vec<f64> = lines(&all, along).iter().map(ratio).collect();
        let mean = average(&ratios);
        let words = format!("along {} by a factor of {mean:.2} on average", along.name());
        demands.push((Truth::of(mean >= factor), words));
    }
    // The best time-out of each number of senders, over all windows.
    let mut best: Vec<(u32, u32)> = Vec::new();
    for line in lines(&all, Axis::Window) {
        let (senders, slots) = (line[0].senders(), line[0].slots());
        let mean = |slots: u32| {
            let there = all.iter().filter(|f| (f.senders(), f.slots()) == (senders, slots));
            average(&there.map(|flow| flow.efficiency().value).collect::<Vec<_>>())
        };
        match best.iter_mut().find(|(known, _)| *known == senders) {
            Some((_, known)) if mean(slots) > mean(*known) => *known = slots,
            Some(_) => {}
            None => best.push((senders, slots)),
        }
    }
    let mut different: Vec<u32> = best.iter().map(|(_, slots)| *slots).collect();
    different.sort_unstable();
    different.dedup();
    let words: Vec<String> =
        best.iter().map(|(senders, slots)| format!("{slots} for {senders}")).collect();
    let words = format!("best time-out in slots {} senders", words.join(", "));
    demands.push((Truth::of(different.len() == best.len()), words));
    demanded(demands)
}

/// Our go-back-N waits long enough; simple go-back-N with every time-out.
fn mostly_better(e: &Evidence, few: f64) -> Answer {
    let (own, simple) = (flows(e, "input")?, flows(e, "input-simple")?);
    let slots = own.iter().map(Flow::slots).min().unwrap_or(0);
    let (mut better, mut all) = (0, 0);
    for flow in &simple {
        let own = at(&own, "input", (flow.senders(), flow.window(), slots))?;
        all += 1;
        better += usize::from(own.efficiency().value > flow.efficiency().value);
    }
    let enough = better as f64 >= (1.0 - few) * all as f64;
    Ok(Measured::shape(Truth::of(enough), format!("better at {better} of {all}")))
}

fn better(e: &Evidence) -> Answer {
    let (own, simple) = (flows(e, "output")?, flows(e, "output-simple")?);
    let (mut holds, mut worse) = (Vec::new(), Vec::new());
    for flow in lossy(&simple) {
        let (senders, window, slots) = (flow.senders(), flow.window(), flow.slots());
        let own = at(&own, "output", (senders, window, slots))?;
        let truth = own.efficiency().above(flow.efficiency());
        holds.push(truth);
        if truth != Truth::Holds {
            let (own, simple) = (own.efficiency().value, flow.efficiency().value);
            worse.push(format!(
                "{senders} senders, window {window}, {slots} slots: {own:.2} and {simple:.2}"
            ));
        }
    }
    let text = match worse.is_empty() {
        true => format!("at all of {} settings", holds.len()),
        false => format!("not surely at {} of {}: {}", worse.len(), holds.len(), worse.join("; ")),
    };
    Ok(Measured::shape(Truth::all(holds), text))
}

fn extremely_low(e: &Evidence, most: f64) -> Answer {
    let all = flows(e, "output-simple")?;
    let found: Vec<(u32, Estimate)> =
        lossy(&all).map(|flow| (flow.slots(), flow.efficiency())).collect();
    let low = Truth::all(found.iter().map(|(_, found)| found.within(0.0, most)));
    let mean = |slots: u32| {
        let there = found.iter().filter(|(at, _)| *at == slots);
        average(&there.map(|(_, found)| found.value).collect::<Vec<_>>())
    };
    let (least, largest) = ends(&found.iter().map(|(_, found)| found.value).collect::<Vec<_>>());
    let [short, long] = TIMEOUTS.map(mean);
    let text = format!(
        "{least:.2} to {largest:.2}; {short:.2} and {long:.2} on average with time-outs of 400 and 1600 slots"
    );
    Ok(Measured::shape(low, text))
}

fn logarithm(e: &Evidence) -> Answer {
    let all = flows(e, "patience")?;
    let bound = 2 * IBM416;
    let point = |flow: &Flow<'_>| (f64::from(flow.slots()).ln(), flow.efficiency().value);
    let above: Vec<_> = all.iter().filter(|flow| flow.slots() >= bound).map(point).collect();
    let fitted = line(&above).map_err(|error| Missing(error.to_string()))?;
    let straight = format!(
        "from {bound} slots on {:.3} more for every doubling, which explains {:.1} % of the variance",
        fitted.slope * std::f64::consts::LN_2,
        100.0 * fitted.r_squared
    );
    let mut demands = vec![(Truth::of(fitted.slope > 0.0 && fitted.r_squared > 0.95), straight)];
    for flow in all.iter().filter(|flow| flow.slots() < bound) {
        let (x, found) = point(flow);
        let expected = fitted.intercept + fitted.slope * x;
        let words = format!("{} slots: {found:.3} instead of {expected:.3}", flow.slots());
        demands.push((Truth::of(found < expected), words));
    }
    demanded(demands)
}

/// What Eq. 4.10 promises too much at a setting of Table 4.1, as a share of what was simulated.
fn excess(all: &[Flow<'_>], place: (u32, u32, u32)) -> Result<f64, Missing> {
    let flow = at(all, "output", place)?;
    let unknown = || Missing("output counted no chances".to_owned());
    let predicted = flow.predicted(IBM416).ok_or_else(unknown)?;
    Ok(predicted / flow.efficiency().value - 1.0)
}

/// The mean over the settings of Table 4.1 that fit.
fn over_table(
    fits: impl Fn((u32, u32, u32)) -> bool,
    number: impl Fn((u32, u32, u32)) -> Result<f64, Missing>,
) -> Result<f64, Missing> {
    let places = table_4_1().into_iter().filter(|&place| fits(place));
    Ok(average(&places.map(number).collect::<Result<Vec<f64>, Missing>>()?))
}

/// The axes of Table 4.1 with their least and their largest values.
fn table_axes() -> [(Axis, u32, u32); 3] {
    [
        (Axis::Window, WINDOWS[0], WINDOWS[2]),
        (Axis::Timeout, TIMEOUTS[0], TIMEOUTS[1]),
        (Axis::Senders, SENDERS[0], SENDERS[2]),
    ]
}

fn along(axis: Axis, (senders, window, slots): (u32, u32, u32)) -> u32 {
    match axis {
        Axis::Senders => senders,
        Axis::Window => window,
        Axis::Timeout => slots,
    }
}

fn overestimates(e: &Evidence) -> Answer {
    let all = flows(e, "output")?;
    let mut demands = Vec::new();
    for (axis, least, most) in table_axes() {
        let at =
            |value| over_table(|place| along(axis, place) == value, |place| excess(&all, place));
        let (first, last) = (100.0 * at(least)?, 100.0 * at(most)?);
        let words = format!("{} {least} to {most}: {first:+.1} % to {last:+.1} %", axis.name());
        demands.push((Truth::of(last > first), words));
    }
    demanded(demands)
}

fn weights(e: &Evidence) -> Answer {
    let all = flows(e, "output")?;
    let (mut simulated, mut words) = (Vec::new(), Vec::new());
    for (axis, least, most) in table_axes() {
        let doublings = (f64::from(most) / f64::from(least)).log2();
        let change = |number: &dyn Fn((u32, u32, u32)) -> Result<f64, Missing>| {
            let at = |value| over_table(|place| along(axis, place) == value, number);
            Ok::<f64, Missing>((at(most)? - at(least)?).abs() / doublings)
        };
        let here = change(&|place| Ok(at(&all, "output", place)?.efficiency().value))?;
        let there = change(&|place| {
            cell(place, "measured").ok_or_else(|| Missing("no such cell".to_owned()))
        })?;
        simulated.push(here);
        words.push(format!("{} {here:.3} (measured column: {there:.3})", axis.name()));
    }
    let ordered = simulated.windows(2).all(|pair| pair[0] > pair[1]);
    let text = format!("change of efficiency for a doubling, {}", words.join(", "));
    Ok(Measured::shape(Truth::of(ordered), text))
}

fn larger_buffers(e: &Evidence) -> Answer {
    let (uplink, ibm, cisco) = (flows(e, "uplink")?, flows(e, "output")?, flows(e, "cisco")?);
    let mut words = Vec::new();
    let (mut better, mut count) = (0, 0);
    for (name, small, large) in
        [("128 over 95 frames", &ibm, &cisco), ("95 over 45 frames", &uplink, &ibm)]
    {
        let (mut wins, mut met) = (0, 0);
        for flow in lossy(large) {
            let place = (flow.senders(), flow.window(), flow.slots());
            if let Ok(other) = at(small, "", place) {
                met += 1;
                wins += usize::from(flow.efficiency().value > other.efficiency().value);
            }
        }
        (better, count) = (better + wins, count + met);
        words.push(format!("{name}: better at {wins} of {met}"));
    }
    let holds = Truth::of(2 * better > count);
    Ok(Measured::shape(holds, words.join("; ")))
}

fn most(e: &Evidence, parts: &[&str]) -> Answer {
    let mut found = Vec::new();
    for part in parts {
        found.extend(lossy(&flows(e, part)?).map(Flow::efficiency));
    }
    match found.is_empty() {
        true => Err(Missing(format!("{} lost nothing", parts.join(" and ")))),
        false => Ok(Measured::Number(largest(&found))),
    }
}

/// The mean distance of Eq. 4.2 from what was simulated, as a share of it.
fn input_error(e: &Evidence) -> Result<f64, Missing> {
    let shares: Vec<f64> = input_errors(e)?.iter().map(|(_, share)| *share).collect();
    Ok(average(&shares))
}

fn all_errors(e: &Evidence) -> Answer {
    let errors =
        [input_error(e)?, output_error(e, "output", IBM416)?, output_error(e, "cisco", CISCO)?];
    Ok(Measured::Series(errors.map(Estimate::exact).to_vec()))
}

/// The mean distance of Eq. 4.10 from what was simulated, as a share of it.
fn output_error(e: &Evidence, part: &str, frames: u32) -> Result<f64, Missing> {
    let all = flows(e, part)?;
    let error = |flow: &Flow<'_>| {
        let found = flow.efficiency().value;
        Some((flow.predicted(frames)? - found).abs() / found)
    };
    let errors: Vec<f64> = lossy(&all).filter_map(error).collect();
    match errors.is_empty() {
        true => Err(Missing(format!("{part} counted no chances"))),
        false => Ok(average(&errors)),
    }
}

/// The mean efficiency by how much hosts jitter.
fn by_jitter(all: &[Flow<'_>]) -> Vec<(f64, f64)> {
    let mut jitters: Vec<f64> = all.iter().map(Flow::jitter).collect();
    jitters.sort_by(f64::total_cmp);
    jitters.dedup();
    let mean = |jitter: f64| {
        let there = all.iter().filter(|flow| flow.jitter() == jitter);
        average(&there.map(|flow| flow.efficiency().value).collect::<Vec<_>>())
    };
    jitters.into_iter().map(|jitter| (jitter, mean(jitter))).collect()
}

fn told(means: &[(f64, f64)]) -> String {
    let words: Vec<String> =
        means.iter().map(|(jitter, mean)| format!("{jitter:.0} us {mean:.3}")).collect();
    format!("mean efficiency by jitter: {}", words.join(", "))
}

fn in_step(e: &Evidence, most: f64) -> Answer {
    let all = flows(e, "readings-jitter")?;
    let means = by_jitter(&all);
    let (still, moving) = means.split_at(1);
    let below: Vec<f64> =
        moving.iter().filter(|(jitter, _)| *jitter < 123.04 / 2.0).map(|(_, mean)| *mean).collect();
    let (least, largest) = ends(&below);
    let holds = largest - least <= most && still[0].1 > largest + most;
    Ok(Measured::shape(Truth::of(holds), told(&means)))
}

fn out_of_step(e: &Evidence) -> Answer {
    let means = by_jitter(&flows(e, "readings-simple")?);
    let holds = means.windows(2).all(|pair| pair[0].1 > pair[1].1);
    Ok(Measured::shape(Truth::of(holds), told(&means)))
}
