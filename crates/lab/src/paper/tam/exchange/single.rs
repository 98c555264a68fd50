//! Measures of exchanges on one switch: chapter 5, and the global window of section 6.3.1.

use super::super::congestion::demanded;
use super::formulas::{Cluster, group, rounds};
use super::runs::{Run, at, limit, line, peak, runs};
use super::{Answer, INPUT, machines};
use crate::paper::Evidence;
use crate::paper::evidence::estimate;
use crate::paper::statistic::{largest, smallest};
use crosstie_study::paper::{Estimate, Measured, Missing, Truth};

/// Measures a claim; nothing if it is not about one switch.
pub(super) fn measure(id: &str, e: &Evidence) -> Option<Answer> {
    let words: Vec<&str> = id.split('.').collect();
    Some(match words[..] {
        ["fig5", "3", "best", "series"] => bests(e),
        ["fig5", "3", "best", algorithm] => {
            let (algorithm, switch) =
                BEST.into_iter().find(|(name, _)| name.starts_with(algorithm))?;
            best(e, algorithm, switch).map(Measured::Number)
        }
        ["fig5", "3", "k4", "gap"] => short(e, SYNC)
            .and_then(|sync| Ok(sync.minus(short(e, PAIRWISE)?)))
            .map(Measured::Number),
        ["fig5", "3", "k4", "pairwise"] => short(e, PAIRWISE).map(Measured::Number),
        ["fig5", "3", "k4", "sync"] => short(e, SYNC).map(Measured::Number),
        ["fig5", "6", "sync", "limit"] => longest(e, SYNC),
        ["fig5", "6", "group", "limit"] => longest(e, GROUP),
        ["fig5", "6", "limit", "ratio"] => limits(e),
        ["fig5", "6", "shape"] => long(e),
        ["ch5", "hol", "uniform"] => leaves(e, 24, "inputs").map(Measured::Number),
        ["ch5", "hol", ports] => {
            let ports = ports.strip_prefix('n')?.parse().ok()?;
            leaves(e, ports, "inputs").map(Measured::Number)
        }
        ["ours", "hol", "early"] => leaves(e, 24, "inputs, early hand-over").map(Measured::Number),
        ["ch5", "shape", "order"] => order(e),
        ["ch5", "shape", "smallk"] => by_length(e),
        ["ch5", "shape", "omega"] => by_group(e),
        ["ch5", "shape", "buffering"] => buffering(e),
        ["ch5", "shape", "forwarding"] => forwarding(e),
        ["ch5", "shape", "piggyback"] => on_data(e),
        ["ch5", "shape", "pairhol"] => unblocked(e),
        ["ours", "formulas"] => by_the_formulas(e),
        ["ours", "acknowledgements"] => acknowledged(e),
        ["ch6", "16x1", "eff", "low"] => shares(e).map(|all| Measured::Number(smallest(&all))),
        ["ch6", "16x1", "eff", "high"] => shares(e).map(|all| Measured::Number(largest(&all))),
        ["ch6", "shape", "16x1"] => windowed(e),
        _ => return None,
    })
}

pub(super) const SYNC: &str = "synchronous-shuffle";
pub(super) const GROUP: &str = "group-shuffle";
pub(super) const PAIRWISE: &str = "pairwise";
pub(super) const SHIFT: &str = "shift";
pub(super) const ALL: [&str; 4] = [SYNC, GROUP, PAIRWISE, SHIFT];
/// IBM 8275-326, with cut-through and without it, and IBM 8275-416.
pub(super) const INPUTS: &str = "326";
pub(super) const STORING: &str = "326 stores";
pub(super) const OUTPUTS: &str = "416";

/// Each algorithm with the switch on which the thesis found it best.
const BEST: [(&str, &str); 4] =
    [(SYNC, OUTPUTS), (GROUP, OUTPUTS), (PAIRWISE, INPUTS), (SHIFT, OUTPUTS)];

const LENGTH: &str = "exchange-length";

fn best(e: &Evidence, algorithm: &str, switch: &str) -> Result<Estimate, Missing> {
    let all = runs(e, LENGTH)?;
    let found: Vec<Estimate> =
        line(&all, algorithm, switch)?.iter().map(|run| run.bandwidth()).collect();
    Ok(largest(&found))
}

fn bests(e: &Evidence) -> Answer {
    let found = BEST.into_iter().map(|(algorithm, switch)| best(e, algorithm, switch));
    Ok(Measured::Series(found.collect::<Result<_, _>>()?))
}

/// Share of Eq. 5.1 with 4 packets to each on the IBM 8275-416, to whose latency the published
/// numbers fit.
fn short(e: &Evidence, algorithm: &str) -> Result<Estimate, Missing> {
    let all = runs(e, LENGTH)?;
    let run = at(&line(&all, algorithm, OUTPUTS)?, 4)?;
    let bound = Cluster::of_table_5_2(OUTPUTS, 16).time(4, 16, 1);
    Ok(Estimate::exact(bound).over(run.time()))
}

fn longest(e: &Evidence, algorithm: &str) -> Answer {
    last(e, algorithm).map(Measured::Number)
}

/// Between the longest exchange that works and the next that was tried.
fn last(e: &Evidence, algorithm: &str) -> Result<Estimate, Missing> {
    let all = runs(e, "exchange-long")?;
    let (last, first) = limit(&line(&all, algorithm, "")?);
    let last = last.ok_or_else(|| Missing(format!("{algorithm} works at no length")))?;
    let high = first.map_or(f64::INFINITY, f64::from);
    Ok(Estimate { value: last.into(), low: last.into(), high })
}

fn limits(e: &Evidence) -> Answer {
    Ok(Measured::Number(last(e, GROUP)?.over(last(e, SYNC)?)))
}

fn long(e: &Evidence) -> Answer {
    let all = runs(e, "exchange-long")?;
    let [sync, group, pairwise] =
        [SYNC, GROUP, PAIRWISE].map(|algorithm| line(&all, algorithm, ""));
    let (sync, group, pairwise) = (sync?, group?, pairwise?);
    let (last, first) = limit(&sync);
    let works = |run: &&&Run<'_>| last.is_some_and(|last| run.packets <= last);
    let mut demands = Vec::new();
    for run in sync.iter().filter(works) {
        let k = run.packets;
        let [sync, group, pairwise] =
            [run.bandwidth(), at(&group, k)?.bandwidth(), at(&pairwise, k)?.bandwidth()];
        let holds = sync.value >= group.value
            && sync.value >= pairwise.value
            && group.value >= 0.97 * sync.value;
        let words = format!(
            "{k} packets: synchronous {:.2}, group {:.2}, pairwise {:.2} MB/s",
            sync.value, group.value, pairwise.value
        );
        demands.push((Truth::of(holds), words));
    }
    let words = match first {
        Some(first) => format!("synchronous falls by {first} packets"),
        None => "synchronous does not fall".to_owned(),
    };
    demands.push((Truth::of(first.is_some()), words));
    for (name, line) in [("group", &group), ("pairwise", &pairwise)] {
        let (last, first) = limit(line);
        let lost: f64 = line.iter().map(|run| run.lost()).sum();
        let beyond = last.zip(limit(&sync).0).is_some_and(|(own, sync)| own > sync);
        let words = match first {
            Some(first) => format!("{name} falls by {first} packets and loses {lost:.0} frames"),
            None => format!("{name} goes on to the end and loses {lost:.0} frames"),
        };
        demands.push((Truth::of(beyond && (name == "group" || lost == 0.0)), words));
    }
    demanded(demands)
}

/// Frames that leave under uniform traffic, as a share of those that the links carry.
fn leaves(e: &Evidence, ports: u32, memory: &str) -> Result<Estimate, Missing> {
    let ports = ports.to_string();
    let settings = [("fabric.single.hosts", ports.as_str()), ("frame.switch.memory", memory)];
    let rows = e.pick("exchange-hol", &settings)?;
    let accepted = rows.first().and_then(|row| estimate(row, "accepted"));
    let accepted = accepted.ok_or_else(|| Missing("exchange-hol measured no load".to_owned()))?;
    // A full packet occupies a link for 1538 bytes.
    Ok(accepted.scaled(1538.0 / 1492.0))
}

/// Holds if times rise from the first to the last. Returns the times in words, too.
fn rise(times: &[(&str, Estimate)]) -> (Truth, String) {
    let holds = times.windows(2).map(|pair| pair[1].1.above_independent(pair[0].1));
    let words: Vec<String> =
        times.iter().map(|(name, time)| format!("{name} {:.2}", time.value)).collect();
    (Truth::all(holds.collect::<Vec<_>>()), words.join(", "))
}

/// The exchanges of part `exchange-order` among p nodes, in the thesis's order of merit.
pub(super) fn ordered<'r, 'e>(
    all: &'r [Run<'e>],
    nodes: u32,
    switch: &str,
) -> Result<Vec<(&'static str, &'r Run<'e>)>, Missing> {
    let there = ALL.into_iter().filter(|name| *name != GROUP || nodes > 4);
    let find = |name: &'static str| {
        let algorithm = match name {
            GROUP => format!("{GROUP}-{}", group(nodes)),
            name => name.to_owned(),
        };
        let line = line(all, &algorithm, switch)?;
        let found = line.into_iter().find(|run| run.nodes == nodes);
        let found = found.ok_or_else(|| Missing(format!("no {algorithm} among {nodes}")))?;
        Ok((name, found))
    };
    there.map(find).collect()
}

fn order(e: &Evidence) -> Answer {
    let all = runs(e, "exchange-order")?;
    let mut demands = Vec::new();
    for switch in [INPUTS, OUTPUTS] {
        for nodes in [4, 8, 16] {
            let ordered = ordered(&all, nodes, switch)?;
            let times: Vec<(&str, Estimate)> =
                ordered.iter().map(|(name, run)| (*name, run.overhead())).collect();
            let (mut holds, words) = rise(&times);
            if let [sync, group, pairwise, _] = times[..] {
                let near = group.1.value - sync.1.value < pairwise.1.value - group.1.value;
                holds = Truth::all([holds, Truth::of(near)]);
            }
            demands.push((holds, format!("{nodes} nodes, {switch}: {words} us for a packet")));
        }
    }
    demanded(demands)
}

/// A line of `exchange-length` on a switch.
fn by_switch<'r, 'e>(all: &'r [Run<'e>], switch: &str) -> Result<[Vec<&'r Run<'e>>; 4], Missing> {
    let [sync, group, pairwise, shift] = ALL.map(|algorithm| line(all, algorithm, switch));
    Ok([sync?, group?, pairwise?, shift?])
}

fn by_length(e: &Evidence) -> Answer {
    let all = runs(e, LENGTH)?;
    let [sync, group, pairwise, shift] = by_switch(&all, OUTPUTS)?;
    let mut gaps = Vec::new();
    for run in &sync {
        let k = run.packets;
        let value = |line: &[&Run<'_>]| Ok::<f64, Missing>(at(line, k)?.bandwidth().value);
        let ahead = value(&sync)?.min(value(&group)?) / value(&pairwise)?.max(value(&shift)?);
        gaps.push((k, 100.0 * (ahead - 1.0)));
    }
    let clear = gaps.iter().filter(|(k, _)| *k <= 64).all(|(_, gap)| *gap > 2.0);
    let shrinks = gaps.first().zip(gaps.last()).is_some_and(|(first, last)| first.1 > 2.0 * last.1);
    let words: Vec<String> =
        gaps.iter().map(|(k, gap)| format!("{gap:.1} % with {k} packets")).collect();
    let text = format!("{OUTPUTS}: shuffles are ahead by {}", words.join(", "));
    Ok(Measured::shape(Truth::of(clear && shrinks), text))
}

/// Exchanges that are the same on paper.
fn alike(one: f64, other: f64) -> bool {
    (one / other - 1.0).abs() < 0.03
}

fn by_group(e: &Evidence) -> Answer {
    let all = runs(e, "exchange-omega")?;
    let of = |name: &str, k| Ok::<f64, Missing>(at(&line(&all, name, "")?, k)?.bandwidth().value);
    let mut demands = Vec::new();
    for k in [4, 40, 400] {
        let (first, last) = (of("group-1", k)?, of("group-15", k)?);
        let (pairwise, sync) = (of(PAIRWISE, k)?, of(SYNC, k)?);
        let best = (1..=15).filter_map(|omega| of(&format!("group-{omega}"), k).ok());
        let best = best.fold(0.0, f64::max);
        let small = of("group-2", k)?.max(of("group-3", k)?);
        let same = alike(first, pairwise) && alike(last, sync);
        let holds = same && last >= 0.995 * best && (k == 4 || small > 1.01 * first);
        let words = format!(
            "{k} packets: groups of 1 {first:.2} (pairwise {pairwise:.2}), of 2 or 3 {small:.2}, of 15 {last:.2} (synchronous \
             {sync:.2}), best {best:.2} MB/s"
        );
        demands.push((Truth::of(holds), words));
    }
    demanded(demands)
}

fn buffering(e: &Evidence) -> Answer {
    let all = runs(e, LENGTH)?;
    let outputs = line(&all, SYNC, OUTPUTS)?;
    let mut demands = Vec::new();
    for switch in [INPUTS, STORING] {
        let inputs = line(&all, SYNC, switch)?;
        let mut better = Vec::new();
        let mut worse = Vec::new();
        for run in &inputs {
            let (own, other) = (at(&outputs, run.packets)?.bandwidth(), run.bandwidth());
            let list = if own.value > other.value { &mut better } else { &mut worse };
            list.push(run.packets.to_string());
        }
        let words = format!(
            "{OUTPUTS} beside {switch}: better with {} packets, not with {}",
            listed(&better),
            listed(&worse)
        );
        demands.push((Truth::of(worse.is_empty()), words));
    }
    demanded(demands)
}

fn listed(words: &[String]) -> String {
    if words.is_empty() { "any".to_owned() } else { words.join(", ") }
}

fn forwarding(e: &Evidence) -> Answer {
    let all = runs(e, LENGTH)?;
    let [_, through, pairs_through, _] = by_switch(&all, INPUTS)?;
    let [_, stored, pairs_stored, _] = by_switch(&all, STORING)?;
    let [_, outputs, _, _] = by_switch(&all, OUTPUTS)?;
    let bandwidth = |line: &[&Run<'_>], k| Ok::<f64, Missing>(at(line, k)?.bandwidth().value);
    let mut demands = Vec::new();
    for (name, one, other) in
        [("pairwise", &pairs_through, &pairs_stored), ("group", &through, &stored)]
    {
        let k = 100;
        let [one, other] = [bandwidth(one, k)?, bandwidth(other, k)?];
        let words = format!("{name}, {k} packets: {one:.2} and {other:.2} MB/s");
        demands.push((Truth::of((one / other - 1.0).abs() < 0.05), words));
    }
    let k = 4;
    let [one, other, third] =
        [bandwidth(&through, k)?, bandwidth(&stored, k)?, bandwidth(&outputs, k)?];
    let words = format!(
        "group, {k} packets: cut-through {one:.2}, store-and-forward {other:.2} and {third:.2} MB/s"
    );
    demands.push((Truth::of(one > 1.02 * other && one > 1.02 * third), words));
    demanded(demands)
}

/// What pairwise carries more than shift, on average over the lengths, in per cent.
fn gain(all: &[Run<'_>], switch: &str) -> Result<(f64, bool), Missing> {
    let [_, _, pairwise, shift] = by_switch(all, switch)?;
    let mut gains = Vec::new();
    for run in &pairwise {
        gains.push(run.bandwidth().value / at(&shift, run.packets)?.bandwidth().value - 1.0);
    }
    let mean = gains.iter().sum::<f64>() / gains.len() as f64;
    Ok((100.0 * mean, gains.iter().all(|gain| *gain > 0.0)))
}

fn on_data(e: &Evidence) -> Answer {
    let all = runs(e, LENGTH)?;
    let [through, stored, outputs] =
        [gain(&all, INPUTS)?, gain(&all, STORING)?, gain(&all, OUTPUTS)?];
    let always = [through, stored, outputs].iter().all(|(_, always)| *always);
    let pattern = through.0 > outputs.0 && (stored.0 - outputs.0).abs() < through.0 - outputs.0;
    let text = format!(
        "pairwise carries more than shift by {:.1} % on {INPUTS}, {:.1} % on {STORING}, {:.1} % on {OUTPUTS} on average{}",
        through.0,
        stored.0,
        outputs.0,
        if always { "" } else { ", not at every length" }
    );
    Ok(Measured::shape(Truth::of(always && pattern), text))
}

fn unblocked(e: &Evidence) -> Answer {
    let (short, long) = (runs(e, LENGTH)?, runs(e, "exchange-long")?);
    let lines = [line(&short, PAIRWISE, INPUTS)?, line(&long, PAIRWISE, "")?];
    let lost: f64 = lines.iter().flatten().map(|run| run.lost()).sum();
    let most = lines.iter().flatten().map(|run| run.packets).max().unwrap_or(0);
    let (carried, best) = (at(&lines[1], most)?.bandwidth().value, peak(&lines[1]));
    let text = format!(
        "pairwise loses {lost:.0} frames of any exchange of up to {most} packets; the longest carries {carried:.2} of {best:.2} \
         MB/s"
    );
    Ok(Measured::shape(Truth::of(lost == 0.0), text))
}

fn by_the_formulas(e: &Evidence) -> Answer {
    let all = runs(e, "exchange-order")?;
    let mut furthest = 1.0f64;
    for nodes in [4, 8, 16] {
        let cluster = Cluster::of_table_5_2(OUTPUTS, nodes);
        for (name, run) in ordered(&all, nodes, OUTPUTS)? {
            let rounds = rounds(name, nodes, group(nodes))
                .ok_or_else(|| Missing(format!("{name} has no formula")))?;
            let ratio = run.time().value / cluster.time(run.packets, nodes, rounds);
            if (ratio - 1.0).abs() > (furthest - 1.0).abs() {
                furthest = ratio;
            }
        }
    }
    Ok(Measured::exact(furthest))
}

fn acknowledged(e: &Evidence) -> Answer {
    let all = runs(e, "exchange-readings")?;
    let mut found = Vec::new();
    for reading in ["on data", "one for two", "one for each"] {
        let fits = |run: &&Run<'_>| {
            run.reading == reading
                && run.algorithm == SYNC
                && run.switch == OUTPUTS
                && run.packets == 64
        };
        let run = all.iter().find(fits);
        found.push((reading, run.ok_or_else(|| Missing(format!("there is no {reading}")))?));
    }
    let falls = found.windows(2).all(|pair| {
        pair[0].1.bandwidth().value > pair[1].1.bandwidth().value
            && pair[0].1.acknowledgements() < pair[1].1.acknowledgements()
    });
    let words: Vec<String> = found
        .iter()
        .map(|(reading, run)| {
            let (bandwidth, own) = (run.bandwidth().value, run.acknowledgements());
            format!("{reading}: {bandwidth:.2} MB/s with {own:.2} for a packet")
        })
        .collect();
    Ok(Measured::shape(Truth::of(falls), words.join("; ")))
}

const WINDOWED: &str = "global window";
const ONE_SWITCH: &str = "exchange-16x1";

/// Shares of Eq. 5.3 at every length, with what the nodes and the switch of the part take.
fn shares(e: &Evidence) -> Result<Vec<Estimate>, Missing> {
    let all = runs(e, ONE_SWITCH)?;
    let cluster = machines::cluster(ONE_SWITCH)
        .ok_or_else(|| Missing(format!("{ONE_SWITCH} has no parameters")))?;
    let share = |run: &&Run<'_>| {
        let bound = cluster.time(run.packets, run.nodes, 1);
        Estimate::exact(bound).over(run.time())
    };
    Ok(line(&all, WINDOWED, "")?.iter().map(share).collect())
}

fn windowed(e: &Evidence) -> Answer {
    let all = runs(e, ONE_SWITCH)?;
    let (with, without, pairwise) =
        (line(&all, WINDOWED, "")?, line(&all, SYNC, "")?, line(&all, PAIRWISE, "")?);
    let lost: f64 = with.iter().map(|run| run.lost()).sum();
    let (last, first) = limit(&with);
    let stays = format!(
        "with a window of {} packets: to {} packets, {lost:.0} frames lost",
        INPUT / 2,
        last.unwrap_or(0)
    );
    let falls = limit(&without).1;
    let without = match falls {
        Some(packets) => format!("without it synchronous shuffle falls by {packets} packets"),
        None => "without it synchronous shuffle does not fall".to_owned(),
    };
    let mut worse = Vec::new();
    for run in &pairwise {
        if at(&with, run.packets)?.bandwidth().value <= run.bandwidth().value {
            worse.push(run.packets.to_string());
        }
    }
    let pairwise = match worse.is_empty() {
        true => "better than pairwise at every length".to_owned(),
        false => format!("not better than pairwise with {} packets", worse.join(", ")),
    };
    demanded(vec![
        (Truth::of(first.is_none() && lost == 0.0), stays),
        (Truth::of(falls.is_some()), without),
        (Truth::of(worse.is_empty()), pairwise),
    ])
}
