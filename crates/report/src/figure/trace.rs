//! What the rails of a box carried in time: a figure for each, and one for what was dropped.

use crosstie_box::Happening;
use crosstie_study::Status;
use crosstie_study::trace::{EndTrace, Reading, TraceFolder};
use crosstie_units::Rate;

use super::scale::Scale;
use super::{Look, Mark, Note, Picture, Point, Series};
use crate::carried::{self, Unit};
use crate::number;

/// More curves than that cannot be told apart.
const MOST_CURVES: usize = 16;
/// More points than that would be less than a pixel apart.
const MOST_POINTS: f64 = 600.0;
/// More lines than that would be a grey area.
const MOST_MARKS: usize = 200;
/// The usual time between two readings, in seconds.
const USUAL: f64 = 0.1;
/// The colour of the line rate, which no end has.
const GREY: usize = 7;

/// A figure, and the name of its file.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    /// Its name.
    pub name: String,
    /// A stand-alone SVG document.
    pub svg: String,
}

/// Draws what every rail carried, and what was dropped if anything was.
pub fn rails(trace: &TraceFolder) -> Vec<Drawing> {
    let mut drawings: Vec<Drawing> =
        trace.spec.rail_names().iter().map(|rail| draw_rail(trace, rail)).collect();
    drawings.extend(draw_drops(trace));
    drawings
}

/// What is drawn of readings.
type Amount = fn(&Reading) -> u64;

fn draw_rail(trace: &TraceFolder, rail: &str) -> Drawing {
    let chosen = choose(trace, |i| {
        let end = &trace.summary.ends[i];
        if end.rail == rail { end.bytes } else { 0 }
    });
    let limit = line_rate(trace, rail);
    let grain = Grain::of(trace.summary.seconds);
    let curves: Vec<Vec<(f64, f64)>> = chosen
        .drawn
        .iter()
        .map(|&i| grain.curve(&trace.ends[i], |reading| reading.bytes))
        .collect();
    let values = || curves.iter().flatten().map(|(_, y)| 8.0 * y);
    let limits = || limit.iter().map(|(_, y)| 8.0 * y);
    let unit = Unit::of_rates(values().chain(limits()));
    let mut series: Vec<Series> = chosen
        .drawn
        .iter()
        .zip(&curves)
        .enumerate()
        .map(|(k, (&i, curve))| {
            let number = (k, curves.len());
            curve_of(trace, i, number, curve, (8.0 / unit.worth, unit.name), false)
        })
        .collect();
    if !limit.is_empty() {
        let points = limit.iter().map(|&(x, y)| point(x, 8.0 * y / unit.worth, String::new()));
        series.push(Series {
            label: "line rate".to_owned(),
            colour: GREY,
            dash: 0,
            look: Look::Thin,
            points: points.collect(),
            ends: Vec::new(),
        });
    }
    let mut notes = chosen.notes(&grain);
    if chosen.drawn.is_empty() {
        notes.push(Note::plain("nothing was carried".to_owned()));
    }
    let marks = marks(trace, |happening| happening.rail == rail, false, &mut notes);
    let y = values().chain(limits()).map(|y| y / unit.worth).chain([0.0]);
    let y_label = format!("rate [{}]", unit.name);
    let svg = picture(trace, &format!("Carried by {rail}"), &y_label, y, &series, &marks, notes);
    Drawing { name: format!("rail-{rail}"), svg }
}

fn draw_drops(trace: &TraceFolder) -> Option<Drawing> {
    let chosen = choose(trace, |i| trace.summary.ends[i].drops);
    if chosen.drawn.is_empty() {
        return None;
    }
    let grain = Grain::of(trace.summary.seconds);
    let curves = chosen.drawn.iter().enumerate().map(|(k, &i)| {
        let curve = grain.curve(&trace.ends[i], |reading| reading.drops);
        curve_of(trace, i, (k, chosen.drawn.len()), &curve, (1.0, "frames/s"), true)
    });
    let series: Vec<Series> = curves.collect();
    let mut notes = chosen.notes(&grain);
    let marks = marks(trace, |_| true, true, &mut notes);
    let y = series.iter().flat_map(|series| &series.points).map(|point| point.y).chain([0.0]);
    let label = "dropped [frames/s]";
    let svg = picture(trace, "Frames that found no room", label, y, &series, &marks, notes);
    Some(Drawing { name: "drops".to_owned(), svg })
}

fn picture(
    trace: &TraceFolder,
    title: &str,
    y_label: &str,
    y: impl Iterator<Item = f64>,
    series: &[Series],
    marks: &[Mark],
    notes: Vec<Note>,
) -> String {
    let seconds = trace.summary.seconds;
    let x = Scale::fitting([0.0, seconds].into_iter(), false, Some([0.0, seconds]));
    // A little room, so that what is carried at the line rate is not taken for the border.
    let top = y.filter(|y| y.is_finite()).fold(0.0, f64::max) * 1.06;
    let y = Scale::fitting([0.0, top].into_iter(), false, Some([0.0, top]));
    let x_label = "time [s]";
    Picture { title, x_label, y_label, x, y, series, marks, notes, room: 0.0 }.draw()
}

/// Which ends are drawn, by number, and how many have something to draw.
struct Chosen {
    drawn: Vec<usize>,
    all: usize,
}

/// The ends with the largest amounts, in order; none without any.
fn choose(trace: &TraceFolder, amount: impl Fn(usize) -> u64) -> Chosen {
    let mut ends: Vec<usize> = (0..trace.ends.len()).filter(|&i| amount(i) > 0).collect();
    let all = ends.len();
    ends.sort_by_key(|&i| std::cmp::Reverse(amount(i)));
    ends.truncate(MOST_CURVES);
    ends.sort_unstable();
    Chosen { drawn: ends, all }
}

impl Chosen {
    fn notes(&self, grain: &Grain) -> Vec<Note> {
        let mut notes = Vec::new();
        if let Grain::Bins(width) = grain {
            let width = number::chosen(*width);
            notes.push(Note::plain(format!("every point is the mean over {width} s")));
        }
        if self.all > self.drawn.len() {
            let (drawn, all) = (self.drawn.len(), self.all);
            notes.push(Note::plain(format!("{drawn} of {all} ends are drawn, those with most")));
        }
        notes
    }
}

/// So many curves may lie on each other and all be seen: what one host sends, another receives.
const LEVELS: usize = 4;

/// The curve of an end, which is number `k` of all in its figure.
fn curve_of(
    trace: &TraceFolder,
    i: usize,
    (k, all): (usize, usize),
    curve: &[(f64, f64)],
    (factor, unit): (f64, &str),
    with_rail: bool,
) -> Series {
    let end = &trace.summary.ends[i];
    let levels = all.clamp(1, LEVELS);
    let mut label = carried::way(end);
    if with_rail {
        label = format!("{}, {label}", end.rail);
    }
    let points: Vec<Point> = curve
        .iter()
        .map(|&(x, y)| {
            let y = y * factor;
            let (time, value) = (number::measured(x), number::measured(y));
            point(x, y, format!("{label}\n{time} s\n{value} {unit}"))
        })
        .collect();
    Series {
        label,
        colour: k / GREY * (GREY + 1) + k % GREY,
        dash: 0,
        // A line of one point would not be seen. The first curve is the widest, and lies below the
        // others.
        look: if points.len() < 3 { Look::Marked } else { Look::Plain(levels - 1 - k % levels) },
        points,
        ends: Vec::new(),
    }
}

fn point(x: f64, y: f64, tip: String) -> Point {
    Point { x, y, interval: None, status: Status::Completed, tip }
}

/// How finely time is cut.
enum Grain {
    /// As it was read.
    Readings,
    /// Into pieces of so many seconds.
    Bins(f64),
}

impl Grain {
    /// As fine as a figure can show.
    fn of(seconds: f64) -> Grain {
        if seconds <= MOST_POINTS * USUAL {
            return Grain::Readings;
        }
        let power = 10f64.powi((seconds / MOST_POINTS).log10().floor() as i32);
        let widths = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power);
        let wide = widths.into_iter().find(|width| seconds / width <= MOST_POINTS);
        Grain::Bins(wide.unwrap_or(seconds))
    }

    /// An amount per second in the course of time.
    fn curve(&self, end: &EndTrace, amount: Amount) -> Vec<(f64, f64)> {
        match *self {
            Grain::Readings => as_read(&end.readings, amount),
            Grain::Bins(width) => in_bins(&end.readings, width, amount),
        }
    }
}

/// A point in the middle of every reading. A last one that is short counts with the one before,
/// since what a bucket lets through at once would look like a peak.
fn as_read(readings: &[Reading], amount: Amount) -> Vec<(f64, f64)> {
    // Since when, until when, how much.
    let mut spans: Vec<(f64, f64, f64)> = Vec::new();
    for reading in readings {
        let amount = amount(reading) as f64;
        match spans.last_mut() {
            Some((_, until, sum)) if reading.time - reading.since < USUAL / 2.0 => {
                (*until, *sum) = (reading.time, *sum + amount);
            }
            _ => spans.push((reading.since, reading.time, amount)),
        }
    }
    let middle = |(since, until, amount): (f64, f64, f64)| {
        // Of a stretch in which an end was idle, only its last reading was written.
        let since = if amount == 0.0 { since.max(until - USUAL) } else { since };
        (f64::midpoint(since, until), amount / (until - since).max(USUAL / 2.0))
    };
    spans.into_iter().map(middle).collect()
}

/// A point in the middle of every piece of time; what a reading has is spread over its time.
fn in_bins(readings: &[Reading], width: f64, amount: Amount) -> Vec<(f64, f64)> {
    let last = readings.last().map_or(0.0, |reading| reading.time);
    let mut bins = vec![0.0; (last / width).ceil().clamp(1.0, MOST_POINTS + 1.0) as usize];
    for reading in readings {
        let amount = amount(reading) as f64;
        if amount == 0.0 {
            continue;
        }
        let bin = |time: f64| ((time / width) as usize).min(bins.len() - 1);
        let (first, until) = (bin(reading.since), bin(reading.time));
        let seconds = reading.time - reading.since;
        for (i, sum) in bins.iter_mut().enumerate().take(until + 1).skip(first) {
            let from = reading.since.max(i as f64 * width);
            let to = if i == until { reading.time } else { (i + 1) as f64 * width };
            let share = if seconds > 0.0 { (to - from) / seconds } else { 1.0 };
            *sum += amount * share;
        }
    }
    // The last piece may be shorter than the others.
    let seconds = |i: usize| (last - i as f64 * width).clamp(width / 2.0, width);
    let place = |i: usize| (i as f64 + 0.5) * width;
    bins.iter().enumerate().map(|(i, sum)| (place(i).min(last), sum / seconds(i))).collect()
}

/// What a rail as a whole carries at most, in bytes per second, in the course of time; empty if it
/// has no rate. What happens to the port of one host alone is left out.
fn line_rate(trace: &TraceFolder, rail: &str) -> Vec<(f64, f64)> {
    let number = trace.spec.rail_names().iter().position(|name| name == rail);
    let Some(rate) = number.and_then(|number| trace.spec.rails[number].rate) else {
        return Vec::new();
    };
    let seconds = trace.summary.seconds;
    let (mut rate, mut up) = (rate.bytes_per_second() as f64, true);
    let mut steps = vec![(0.0, rate)];
    for happening in &trace.happenings {
        if happening.rail != rail || !happening.host.is_empty() || steps.len() > MOST_MARKS * 2 {
            continue;
        }
        let time = (happening.time + happening.late).min(seconds);
        let before = if up { rate } else { 0.0 };
        match happening.what.as_str() {
            "down" => up = false,
            "up" => up = true,
            what => rate = what.parse().map_or(rate, |r: Rate| r.bytes_per_second() as f64),
        }
        steps.extend([(time, before), (time, if up { rate } else { 0.0 })]);
    }
    steps.push((seconds, if up { rate } else { 0.0 }));
    steps
}

/// What happened to rails, as lines.
fn marks(
    trace: &TraceFolder,
    concerns: impl Fn(&Happening) -> bool,
    with_rail: bool,
    notes: &mut Vec<Note>,
) -> Vec<Mark> {
    let all: Vec<&Happening> =
        trace.happenings.iter().filter(|happening| concerns(happening)).collect();
    if all.len() > MOST_MARKS {
        let count = number::measured(all.len() as f64);
        notes.push(Note::plain(format!("the first {MOST_MARKS} of {count} events are marked")));
    }
    let mark = |happening: &&Happening| {
        let what = carried::happened(happening, with_rail);
        let (time, late) = (number::chosen(happening.time), happening.late * 1e3);
        let tip = format!("{what}\n{time} s, {} ms late", number::measured(late));
        Mark { x: happening.time + happening.late, words: what, tip }
    };
    all.iter().take(MOST_MARKS).map(mark).collect()
}
