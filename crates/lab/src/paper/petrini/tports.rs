//! Measures of section 5.8: messages by tagged ports, one way and both ways. MPI stands on tagged
//! ports; what it adds is not published.

use super::puts::{BOTH, Kind, MAIN_MAIN, MAPPINGS, Mapping, PUT, at, furthest_from, line};
use super::{Answer, Line};
use crate::paper::Evidence;
use crosstie_study::paper::{Claim, Measured, Missing};

pub(super) const ONE_WAY: Kind = ("tports", "work.ping.size");
pub(super) const BOTH_WAYS: Kind = ("tports-both", "work.all-to-all.size");

/// Measures a claim; nothing if it is about something else.
pub(super) fn measure(claim: &Claim, e: &Evidence) -> Option<Answer> {
    let words: Vec<&str> = claim.id.split('.').collect();
    let number = match words[..] {
        ["f13", what] => peak(e, &mapping(what)?),
        ["f14", "tports_mpi"] => short(e, claim),
        ["f14", "increase"] => {
            short(e, claim).and_then(|slow| Ok(slow - at(e, PUT, &MAIN_MAIN, 64.0, "time_mean")?))
        }
        ["f14", "diverge"] => diverges(e),
        ["f15", "elan3lib"] => faster(e),
        _ => return None,
    };
    Some(number.map(Measured::exact))
}

/// The memories of a curve of Figure 13.
fn mapping(what: &str) -> Option<Mapping> {
    let memories = match what {
        "tports_main" => ("main", "main"),
        "tports_main_elan" => ("main", "elan"),
        "tports_elan_main" => ("elan", "main"),
        "tports_elan_elan" => ("elan", "elan"),
        _ => return None,
    };
    MAPPINGS.into_iter().find(|mapping| (mapping[0].1, mapping[1].1) == memories)
}

/// Half of the round trip that stands in the middle, by size: the first one finds receives posted
/// that wait for nothing else.
pub(super) fn latency(e: &Evidence, mapping: &Mapping) -> Result<Line, Missing> {
    let times = line(e, ONE_WAY, mapping, "time_p50")?;
    Ok(times.into_iter().map(|(size, time)| (size, time / 2.0)).collect())
}

/// Bytes per microsecond of half a round trip, by size.
pub(super) fn bandwidth(e: &Evidence, mapping: &Mapping) -> Result<Line, Missing> {
    let times = latency(e, mapping)?.into_iter();
    Ok(times.filter(|(size, _)| *size > 0.0).map(|(size, time)| (size, size / time)).collect())
}

fn peak(e: &Evidence, mapping: &Mapping) -> Result<f64, Missing> {
    let rates = bandwidth(e, mapping)?;
    Ok(rates.into_iter().map(|(_, rate)| rate).fold(0.0, f64::max))
}

/// The latency from main memory to main memory of messages that fill one block at most with their
/// envelope, where it is furthest from what is published.
fn short(e: &Evidence, claim: &Claim) -> Result<f64, Missing> {
    let times = latency(e, &MAIN_MAIN)?.into_iter();
    let block = times.filter(|(size, _)| (1.0..=32.0).contains(size));
    furthest_from(claim, block.map(|(_, time)| time))
}

/// By how much more a message of 4 KiB is slower than a put than one of 64 bytes is, where that is
/// least.
fn diverges(e: &Evidence) -> Result<f64, Missing> {
    let more = |mapping: &Mapping| {
        let times = latency(e, mapping)?;
        let slower = |size: f64| {
            let found = times.iter().find(|(at, _)| *at == size).map(|(_, time)| *time);
            let message = found.ok_or_else(|| Missing(format!("tports has no {size} bytes")))?;
            Ok(message - at(e, PUT, mapping, size, "time_mean")?)
        };
        Ok(slower(4096.0)? - slower(64.0)?)
    };
    let all = MAPPINGS.iter().map(more).collect::<Result<Vec<f64>, Missing>>()?;
    Ok(all.into_iter().fold(f64::INFINITY, f64::min))
}

/// Bandwidth of puts both ways over that of messages, between main memories: the geometric mean
/// over sizes from 64 bytes to 32 KiB, where Figure 13 says that curves differ.
fn faster(e: &Evidence) -> Result<f64, Missing> {
    let messages = line(e, BOTH_WAYS, &MAIN_MAIN, "bandwidth")?.into_iter();
    let middle = messages.filter(|(size, _)| (64.0..=32768.0).contains(size));
    let puts = line(e, BOTH, &MAIN_MAIN, "bandwidth")?;
    let ratio = |(size, rate): (f64, f64)| {
        let put = puts.iter().find(|(at, _)| *at == size)?;
        Some((put.1 / rate).ln())
    };
    let logs: Vec<f64> = middle.filter_map(ratio).collect();
    match logs.is_empty() {
        true => Err(Missing("no size was sent both by puts and by messages".to_owned())),
        false => Ok((logs.iter().sum::<f64>() / logs.len() as f64).exp()),
    }
}
