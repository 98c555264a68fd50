//! Random places for real ranks. Their points are checked here and not run.

use crate::draw::Draw;
use crate::experiment::Experiment;
use crosstie_study::WorkKind;
use toml::Value;

/// Keys that could make what is drawn here impossible.
pub const BOUND: [&str; 1] = ["world"];

/// The file of a box.
const BOX: &str = "box.toml";

/// Gives an experiment a place for real ranks, and may have them do its work; whether it does.
pub fn live(draw: &mut Draw, kind: WorkKind, hosts: i64, file: &mut Experiment) -> bool {
    let rails = file.get("cluster.rails").and_then(Value::as_array);
    let shares = rails.is_some_and(|rails| rails.iter().any(|rail| rail.get("port").is_some()));
    match draw.one(&["box", "own", "hosts", "here"]) {
        "own" if !shares => file.put("live.own-box", true),
        "box" => {
            let count = match file.get("cluster.rails") {
                Some(Value::Array(rails)) => rails.len() as i64,
                rails => rails.and_then(Value::as_integer).unwrap_or(1),
            };
            let rails = "[[rail]]\nrate = '1 Gbit/s'\n"
                .repeat((count + draw.one(&[0, 1])).min(16) as usize);
            file.files
                .insert(BOX.to_owned(), format!("hosts = {}\n{rails}", hosts + draw.one(&[0, 2])));
            file.put("live.box", BOX);
        }
        "hosts" => {
            let names = draw.one(&[&["localhost"][..], &["node-1.example.org", "10.0.0.7", "c_3"]]);
            file.put("live.hosts", names.to_vec());
        }
        _ => {}
    }
    if draw.chance(0.5) {
        file.put("live.memory", draw.chance(0.5));
    }
    if draw.chance(0.5) {
        file.put("live.patience", draw.one(&["100 ms", "5 s", "1000 s"]));
    }
    if draw.chance(0.5) {
        file.put("live.limit", draw.one(&["1 s", "86400 s"]));
    }
    // A policy chooses rails, which some schedules do themselves.
    let does = !matches!(kind, WorkKind::Traffic | WorkKind::Goal) && draw.chance(0.7);
    if does {
        file.put("world", "live");
        for key in ["event", "competitor"] {
            file.remove(key);
        }
        // Real rails have no NICs to reserve.
        for key in ["scheme", "policy"] {
            if file.choice(key).is_some_and(|name| ["dynamic", "hybrid"].contains(&name)) {
                file.remove(key);
            }
        }
    }
    does
}
