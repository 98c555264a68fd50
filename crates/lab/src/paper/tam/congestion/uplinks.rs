//! Measures of what chapter 4 says about uplinks.

use super::super::flow::{Flow, flows};
use super::trends::{Axis, changes, lines};
use super::{Answer, UPLINK, average, demanded};
use crate::paper::Evidence;
use crosstie_study::paper::{Estimate, Measured, Missing, Truth};

/// Hosts of a switch in the parts `streams` and `duplex`.
const LEAF: u32 = 12;
/// What is as good as all that a stream has alone.
const FULL: f64 = 0.9;

/// Measures a claim; nothing if it is not about uplinks.
pub(super) fn measure(id: &str, e: &Evidence) -> Option<Answer> {
    Some(match id {
        "ch4.shape.uplink.manytoone" => like_output_buffers(e),
        "ch4.shape.uplink.w24" => gains(e),
        "ch4.shape.uplink.window" => windows_decide(e),
        "ch4.uplink.up" => streams(e, Way::Up).and_then(|found| in_full(&found)),
        "ch4.uplink.down" => streams(e, Way::Down).and_then(|found| in_full(&found)),
        "ch4.uplink.bidir" => duplex(e, "piggyback").and_then(|found| in_full(&found)),
        "ch4.shape.uplink.oneway" => one_way(e),
        "ch4.shape.uplink.bidir" => both_ways(e),
        _ => return None,
    })
}

fn like_output_buffers(e: &Evidence) -> Answer {
    let all = flows(e, "uplink")?;
    let small = all.iter().filter(|flow| flow.window() <= UPLINK);
    let losing = small.clone().filter(|flow| flow.lost() > 0.0).count();
    let lost = format!("windows up to 45 lose at {losing} of {} settings", small.clone().count());
    demanded(vec![
        (Truth::of(losing == small.count()), lost),
        changes(&lines(&all, Axis::Timeout), true, "time-out"),
        changes(&lines(&all, Axis::Senders), false, "senders"),
    ])
}

/// What a window gains from the longest time-out, on average over senders.
fn gains(e: &Evidence) -> Answer {
    let all = flows(e, "uplink")?;
    let mut gains: Vec<(u32, Vec<f64>)> = Vec::new();
    for line in lines(&all, Axis::Timeout) {
        let (first, last) = (line[0].efficiency().value, line[line.len() - 1].efficiency().value);
        let window = line[0].window();
        match gains.iter_mut().find(|(known, _)| *known == window) {
            Some((_, gains)) => gains.push(last / first - 1.0),
            None => gains.push((window, vec![last / first - 1.0])),
        }
    }
    let means: Vec<(u32, f64)> =
        gains.iter().map(|(window, gains)| (*window, 100.0 * average(gains))).collect();
    let best = means.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(window, _)| *window);
    let words: Vec<String> =
        means.iter().map(|(window, gain)| format!("window {window}: {gain:.0} %")).collect();
    let text = format!("gain from 200 to 1600 slots, {}", words.join(", "));
    Ok(Measured::shape(Truth::of(best == Some(24)), text))
}

/// How far efficiency spreads along windows, and along senders.
fn windows_decide(e: &Evidence) -> Answer {
    let all = flows(e, "uplink")?;
    let spread = |along| {
        let spread = |line: &Vec<&Flow<'_>>| {
            let heights = line.iter().map(|flow| flow.efficiency().value);
            let (least, most) = heights.fold((f64::INFINITY, 0.0f64), |(least, most), height| {
                (least.min(height), most.max(height))
            });
            most - least
        };
        average(&lines(&all, along).iter().map(spread).collect::<Vec<f64>>())
    };
    let (windows, senders) = (spread(Axis::Window), spread(Axis::Senders));
    let text = format!("mean spread along windows {windows:.3}, along senders {senders:.3}");
    Ok(Measured::shape(Truth::of(windows > senders), text))
}

/// Which way streams go through an uplink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// All of them up the same one.
    Up,
    /// All of them down the same one.
    Down,
}

/// So many streams, their window, and what each carries in MB/s.
pub(super) struct Streams {
    pub count: u32,
    pub window: u32,
    pub each: Estimate,
    pub lost: f64,
}

/// Streams one way.
pub(super) fn streams(e: &Evidence, way: Way) -> Result<Vec<Streams>, Missing> {
    let found: Vec<Streams> = flows(e, "streams")?
        .iter()
        .filter(|flow| {
            let hosts = flow.hosts();
            let (senders, receivers) = hosts.split_at(hosts.len() / 2);
            let switches = match way {
                Way::Up => senders,
                Way::Down => receivers,
            };
            switches.iter().all(|host| host / LEAF == switches[0] / LEAF)
        })
        .map(|flow| of(flow, flow.hosts().len() as u32 / 2))
        .collect();
    some(found, "streams")
}

/// Streams both ways, with acknowledgements of this style.
pub(super) fn duplex(e: &Evidence, style: &str) -> Result<Vec<Streams>, Missing> {
    let found: Vec<Streams> = flows(e, "duplex")?
        .iter()
        .filter(|flow| flow.text("acknowledge").starts_with(style))
        .map(|flow| of(flow, flow.hosts().len() as u32))
        .collect();
    some(found, "duplex")
}

fn of(flow: &Flow<'_>, count: u32) -> Streams {
    let each = flow.bandwidth().scaled(1.0 / f64::from(count.max(1)));
    Streams { count, window: flow.window(), each, lost: flow.lost() }
}

fn some(found: Vec<Streams>, part: &str) -> Result<Vec<Streams>, Missing> {
    match found.is_empty() {
        true => Err(Missing(format!("{part} has no such streams"))),
        false => Ok(found),
    }
}

/// The most streams that each carry, with every window, nearly as much as the fewest do.
fn most_in_full(found: &[Streams]) -> u32 {
    let full = |streams: &Streams| {
        let peers = found.iter().filter(|other| other.window == streams.window);
        let alone = peers.min_by_key(|other| other.count).map_or(0.0, |few| few.each.value);
        streams.each.value >= FULL * alone
    };
    let mut counts: Vec<u32> = found.iter().map(|streams| streams.count).collect();
    counts.sort_unstable();
    counts.dedup();
    let all = |count: &u32| found.iter().filter(|s| s.count == *count).all(full);
    counts.into_iter().take_while(all).last().unwrap_or(0)
}

fn in_full(found: &[Streams]) -> Answer {
    Ok(Measured::exact(f64::from(most_in_full(found))))
}

/// The least and the most that a stream carries, over windows, with the most streams.
fn beyond(found: &[Streams]) -> (u32, f64, f64, f64) {
    let most = found.iter().map(|streams| streams.count).max().unwrap_or(0);
    let there = || found.iter().filter(|streams| streams.count == most);
    let fold = |from: f64, pick: fn(f64, f64) -> f64| {
        there().map(|streams| streams.each.value).fold(from, pick)
    };
    let lost = there().map(|streams| streams.lost).sum();
    (most, fold(f64::INFINITY, f64::min), fold(0.0, f64::max), lost)
}

/// Whether windows matter.
fn apart(least: f64, most: f64) -> bool {
    most > 1.05 * least
}

fn one_way(e: &Evidence) -> Answer {
    let found = streams(e, Way::Down)?;
    let fit = most_in_full(&found);
    let (count, least, most, lost) = beyond(&found);
    let text = format!(
        "{fit} fit with every window; {count} carry {least:.2} to {most:.2} MB/s each, by window, and lose {lost:.0} \
         packets"
    );
    Ok(Measured::shape(Truth::of(fit > 0 && apart(least, most)), text))
}

fn both_ways(e: &Evidence) -> Answer {
    let (mut holds, mut words) = (Vec::new(), Vec::new());
    for style in ["piggyback", "immediate"] {
        let found = duplex(e, style)?;
        let fit = most_in_full(&found);
        let (count, least, most, lost) = beyond(&found);
        holds.push(Truth::of(lost > 0.0 && apart(least, most)));
        words.push(format!(
            "{style}: {fit} fit; {count} carry {least:.2} to {most:.2} MB/s each, by window, and lose {lost:.0} packets"
        ));
    }
    Ok(Measured::shape(Truth::at_least(1, holds), words.join("; ")))
}
