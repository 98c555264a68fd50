//! Random rails that differ, what happens to them, and who else uses them.

use crate::draw::{Draw, choice};
use crate::experiment::{Experiment, table};
use crosstie_study::WorkKind;
use toml::{Table, Value};

/// Keys that could make what is drawn here impossible.
pub const BOUND: [&str; 3] = ["world", "ideal.gap", "cluster.blocking"];

const RATES: [&str; 4] = ["50 MB/s", "250 MB/s", "400 MB/s", "1 GB/s"];

/// Puts the work of an experiment on rails that differ, on frames or on the ideal network; false if
/// its world is on paper.
pub fn rails(draw: &mut Draw, kind: WorkKind, hosts: i64, file: &mut Experiment) -> bool {
    match file.choice("world") {
        Some("model") => return false,
        Some("frame") => {}
        _ => file.put("world", "ideal"),
    }
    let count = file.get("cluster.rails").and_then(Value::as_integer).unwrap_or(1);
    if draw.chance(0.7) {
        let list: Vec<Value> = (0..count).map(|_| rail(draw).into()).collect();
        file.put("cluster.rails", list);
    }
    if draw.chance(0.5) {
        file.put("node.bus", bus(draw));
    }
    if draw.chance(0.6) {
        events(draw, kind, (count, hosts), file);
    }
    if draw.chance(0.5) {
        file.remove("ideal.gap");
        let list: Vec<Value> =
            (0..draw.one(&[1, 1, 2])).map(|_| competitor(draw, (count, hosts)).into()).collect();
        file.put("competitor", list);
    }
    true
}

/// Of rails that share a port none names a rate or a bus, so that they agree.
fn rail(draw: &mut Draw) -> Table {
    let mut rail = Table::new();
    if draw.chance(0.3) {
        rail.insert("port".to_owned(), draw.one(&[0, 3]).into());
        return rail;
    }
    if draw.chance(0.6) {
        rail.insert("rate".to_owned(), draw.one(&RATES).into());
    }
    if draw.chance(0.4) {
        rail.insert("bus".to_owned(), draw.one(&[0, 1, 15]).into());
    }
    rail
}

fn bus(draw: &mut Draw) -> Value {
    let name = draw.one(&["half", "full", "asymmetric"]);
    let mut keys = Table::new();
    let rates: &[&str] = if name == "asymmetric" { &["read", "write"] } else { &["rate"] };
    for key in rates {
        if name == "asymmetric" || draw.chance(0.6) {
            keys.insert((*key).to_owned(), draw.one(&RATES).into());
        }
    }
    if draw.chance(0.5) {
        keys.insert("overhead".to_owned(), draw.one(&["0 ns", "100 ns"]).into());
    }
    if keys.is_empty() { draw.named(name) } else { choice(name, keys) }
}

fn events(draw: &mut Draw, kind: WorkKind, (rails, hosts): (i64, i64), file: &mut Experiment) {
    let list: Vec<Value> = (0..draw.one(&[1, 2, 3]))
        .map(|_| {
            let mut event = table([("at", Value::from(draw.one(&["0 ns", "1 us", "7 us"])))]);
            let mut add = |key: &str, value: Value| event.insert(key.to_owned(), value);
            add("rail", draw.whole(0..=rails - 1).into());
            if draw.chance(0.4) {
                let first = draw.whole(0..=hosts - 2);
                add("hosts", format!("{first}-{}", first + 1).into());
            }
            let what = draw.one(&["rate", "down", "up"]);
            match what {
                "rate" => add("rate", draw.one(&RATES).into()),
                what => add(what, true.into()),
            };
            // No link is down for good.
            if what == "down" || what == "rate" && draw.chance(0.5) {
                add("for", draw.one(&["1 ns", "2 us"]).into());
            }
            if draw.chance(0.5) {
                add("every", draw.one(&["3 us", "10 us"]).into());
                add("times", draw.one(&[1, 2, 20]).into());
                add("random", draw.chance(0.5).into());
            }
            Value::from(event)
        })
        .collect();
    file.put("event", list);
    if kind == WorkKind::Traffic {
        // Losses without end would keep every run from an end.
        file.remove("measure.saturation");
        if file.get("traffic.load").is_none() {
            file.put("traffic.load", 0.1);
        }
    } else if file.get("channel").is_none() || file.choice("channel") == Some("raw") {
        // Without a channel, work whose messages are lost never ends.
        file.put("channel", choice("go-back-n", table([("timeout", "10 ms")])));
    }
}

fn competitor(draw: &mut Draw, (rails, hosts): (i64, i64)) -> Table {
    let from = draw.whole(0..=hosts - 1);
    let to = (from + draw.whole(1..=hosts - 1)) % hosts;
    let mut keys = table([
        ("rail", Value::from(draw.whole(0..=rails - 1))),
        ("from", from.into()),
        ("to", to.into()),
        ("size", draw.size(64..=5000, &["64 KiB"]).into()),
        ("end", draw.one(&["500 ns", "20 us"]).into()),
    ]);
    if draw.chance(0.5) {
        keys.insert("begin".to_owned(), draw.one(&["0 ns", "100 ns"]).into());
    }
    if draw.chance(0.5) {
        keys.insert("window".to_owned(), draw.one(&[1, 4]).into());
    }
    keys
}
