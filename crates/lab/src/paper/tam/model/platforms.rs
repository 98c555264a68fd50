//! Measures of what chapter 3 measures on its platforms, and of Figure A.4.

use super::super::flow::hosts;
use super::Answer;
use crate::paper::{Drawing, Evidence, drawing};
use crosstie_study::Row;
use crosstie_study::paper::{Estimate, Measured, Missing, Truth};

/// Measures a claim; nothing if it is none of these.
pub(super) fn measure(id: &str, e: &Evidence) -> Option<Answer> {
    let words: Vec<&str> = id.split('.').collect();
    let number = |found: Result<f64, Missing>| found.map(Measured::exact);
    Some(match words[..] {
        ["ch3", "lat1", platform] => number(trip(e, part(platform)?)),
        ["ch3", "uni", platform, "fraction"] => {
            let link = if platform == "fedp" { 12.5 } else { 125.0 };
            number(one_way(e, part(platform)?, RAW).map(|found| found / link))
        }
        ["ch3", "uni", platform, layer] => number(one_way(e, part(platform)?, channel(layer)?)),
        ["ch3", "fc", "drop", system] => {
            let part = if system == "up" { "gedp-up" } else { "gedp-smp" };
            number(cost_of_layer(e, part))
        }
        ["ch3", "bi", "loss"] => number(cost_of_both(e, "gedp-smp")),
        ["ch3", "bi", platform, _, layer] => number(both(e, part(platform)?, channel(layer)?)),
        ["ch3", "shape", "model"] => on_paper(e),
        ["figA", "4"] => ceilings(e),
        _ => return None,
    })
}

const RAW: &str = "raw";
const PING: &str = "ping";
const PAIRS: &str = "pairs";

fn part(platform: &str) -> Option<&'static str> {
    Some(match platform {
        "fedp" => "fedp",
        "gedpup" => "gedp-up",
        "gedpsmp" => "gedp-smp",
        _ => return None,
    })
}

fn channel(layer: &str) -> Option<&'static str> {
    Some(match layer {
        "raw" => RAW,
        "fc" => "go-back-n",
        _ => return None,
    })
}

/// A column of the one row with this channel, in this world, of this work.
fn found(
    e: &Evidence,
    part: &str,
    (channel, world): (&str, &str),
    (work, both): (&str, bool),
    column: &str,
) -> Result<f64, Missing> {
    let rows = e.pick(part, &[("channel", channel), ("world", world)])?;
    let fits = |row: &&&Row| {
        row.setting("work").is_some_and(|setting| {
            let text = setting.to_string();
            text.starts_with(work) && text.contains("both-ways=true") == both
        })
    };
    let row = rows.iter().find(fits);
    let value = row.and_then(|row| row.measured(column));
    value.ok_or_else(|| Missing(format!("{part} measured no {column} of {work}")))
}

fn trip(e: &Evidence, part: &str) -> Result<f64, Missing> {
    found(e, part, (RAW, "frame"), (PING, false), "latency")
}

fn one_way(e: &Evidence, part: &str, channel: &str) -> Result<f64, Missing> {
    found(e, part, (channel, "frame"), (PAIRS, false), "bandwidth")
}

/// For each of the two.
fn both(e: &Evidence, part: &str, channel: &str) -> Result<f64, Missing> {
    Ok(found(e, part, (channel, "frame"), (PAIRS, true), "bandwidth")? / 2.0)
}

fn cost_of_layer(e: &Evidence, part: &str) -> Result<f64, Missing> {
    Ok(1.0 - one_way(e, part, "go-back-n")? / one_way(e, part, RAW)?)
}

fn cost_of_both(e: &Evidence, part: &str) -> Result<f64, Missing> {
    Ok(1.0 - both(e, part, RAW)? / one_way(e, part, RAW)?)
}

/// How far paper and simulation are apart.
fn on_paper(e: &Evidence) -> Answer {
    let (mut most, mut count) = (0.0f64, 0);
    for part in ["fedp", "gedp-up", "gedp-smp"] {
        for work in [(PING, false), (PAIRS, false), (PAIRS, true)] {
            let [frame, model] =
                ["frame", "model"].map(|world| found(e, part, (RAW, world), work, "time_mean"));
            most = most.max((model? / frame? - 1.0).abs());
            count += 1;
        }
    }
    let text = format!("at most {:.2} % apart, over {count} times", 100.0 * most);
    Ok(Measured::shape(Truth::of(most < 0.02), text))
}

/// What crosses the bisection, by pairs, on one fabric.
fn crossing(e: &Evidence, fabric: &str) -> Result<Vec<(u32, Estimate)>, Missing> {
    let rows = e.pick("bisection", &[("fabric", fabric)])?;
    let point = |row: &&Row| {
        let pairs = hosts(&row.setting("schedule.hosts")?.to_string()).len() as u32 / 2;
        Some((pairs, Estimate::exact(row.measured("bandwidth")?)))
    };
    Ok(rows.iter().filter_map(point).collect())
}

const FABRICS: [(&str, &str); 3] = [
    ("one switch", "single(hosts=32)"),
    ("2 switches with 16", "two-level(leaves=2, hosts-per-leaf=16)"),
    ("4 switches with 8", "two-level(leaves=4, hosts-per-leaf=8)"),
];

fn ceilings(e: &Evidence) -> Answer {
    let (mut holds, mut words) = (Vec::new(), Vec::new());
    for (place, (name, fabric)) in FABRICS.into_iter().enumerate() {
        let curve = crossing(e, fabric)?;
        let (Some(first), Some(last)) = (curve.first(), curve.last()) else {
            return Err(Missing(format!("bisection has no {name}")));
        };
        let each = last.1.value / f64::from(last.0) / (first.1.value / f64::from(first.0));
        let level = each > 0.95;
        holds.push(Truth::of(level == (place == 0)));
        words.push(format!(
            "{name}: {:.0} MB/s for {} pairs, {:.0} % of as many alone",
            last.1.value,
            last.0,
            100.0 * each
        ));
    }
    Ok(Measured::shape(Truth::all(holds), words.join("; ")))
}

/// Figure A.4.
pub(super) fn drawing(e: &Evidence) -> Option<Drawing> {
    let mut rows = Vec::new();
    for (name, fabric) in FABRICS {
        let curve = crossing(e, fabric).ok()?;
        rows.extend(curve.into_iter().map(|(pairs, found)| {
            drawing::point(("line", name), ("pairs", f64::from(pairs)), ("MB/s", found.value))
        }));
    }
    let title = "Figure A.4: what crosses the bisection of 32 nodes".to_owned();
    Some((drawing::plain("figA-4", title, "pairs", "MB/s", "line"), rows))
}
