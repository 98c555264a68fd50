//! Measures of section 5.2: barriers.

use super::Answer;
use crate::paper::Evidence;
use crosstie_study::paper::{Measured, Missing, Truth};

/// Measures a claim; nothing if it is about something else.
pub(super) fn measure(id: &str, e: &Evidence) -> Option<Answer> {
    Some(match id {
        "f7.barrier2" => time(e, 2).map(Measured::exact),
        "f7.barrier8" => time(e, HOSTS).map(Measured::exact),
        "f7.shape" => line(e),
        "f7.tree" => growth(e),
        _ => return None,
    })
}

const RANKS: &str = "schedule.ranks";
const HOSTS: u32 = 8;

/// The time of the paper's barrier among this many hosts.
pub(super) fn time(e: &Evidence, hosts: u32) -> Result<f64, Missing> {
    Ok(e.estimate("barrier", &[(RANKS, &hosts.to_string())], "time_mean")?.value)
}

/// How far 3 to 7 hosts are from the straight line through 2 and 8.
fn line(e: &Evidence) -> Answer {
    let (first, last) = (time(e, 2)?, time(e, HOSTS)?);
    let slope = (last - first) / f64::from(HOSTS - 2);
    let mut most = (0.0f64, 2);
    for hosts in 3..HOSTS {
        let apart = (time(e, hosts)? - first - slope * f64::from(hosts - 2)).abs();
        if apart > most.0 {
            most = (apart, hosts);
        }
    }
    let (apart, hosts) = most;
    let text =
        format!("{slope:.3} us for each host; {apart:.3} us off at most, with {hosts} hosts");
    Ok(Measured::shape(Truth::of(apart <= 0.1), text))
}

/// What a tree adds from 256 to 1024 hosts, against what it adds from 16 to 64.
fn growth(e: &Evidence) -> Answer {
    let added = |algorithm: &str, (from, to): (u32, u32)| {
        let at = |hosts: u32| {
            let settings = [("work.barrier.algorithm", algorithm), (RANKS, &hosts.to_string())];
            Ok(e.estimate("barriers", &settings, "time_mean")?.value)
        };
        Ok(at(to)? - at(from)?)
    };
    let grown = |algorithm| Ok((added(algorithm, (16, 64))?, added(algorithm, (256, 1024))?));
    let (few, many) = grown("k-ary-tree")?;
    let (linear_few, linear_many) = grown("hardware")?;
    let text = format!(
        "{few:.2} us from 16 to 64 hosts, {many:.2} us from 256 to 1024; with arrivals at one host {linear_few:.0} and {linear_many:.0} us"
    );
    Ok(Measured::shape(Truth::of((many / few - 1.0).abs() <= 0.2), text))
}
