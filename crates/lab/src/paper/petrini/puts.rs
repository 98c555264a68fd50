//! Measures of sections 5.1, 5.3 and 5.4: hops, one put, and puts both ways.

use super::{Answer, Line, furthest, spread};
use crate::paper::Evidence;
use crosstie_study::paper::{Claim, Estimate, Measured, Missing, Truth};

/// Where puts come from, and where they go.
pub(super) type Mapping = [(&'static str, &'static str); 2];

pub(super) const ELAN_ELAN: Mapping = mapping("elan", "elan");
const ELAN_MAIN: Mapping = mapping("elan", "main");
const MAIN_ELAN: Mapping = mapping("main", "elan");
pub(super) const MAIN_MAIN: Mapping = mapping("main", "main");
pub(super) const MAPPINGS: [Mapping; 4] = [ELAN_ELAN, ELAN_MAIN, MAIN_ELAN, MAIN_MAIN];

const fn mapping(source: &'static str, destination: &'static str) -> Mapping {
    [("node.elan.source", source), ("node.elan.destination", destination)]
}

fn named(words: &str) -> Option<Mapping> {
    MAPPINGS.into_iter().find(|mapping| name(mapping).replace(" to ", "_") == words)
}

pub(super) fn name(mapping: &Mapping) -> String {
    format!("{} to {}", mapping[0].1, mapping[1].1)
}

const NS: f64 = 1e3;

/// Measures a claim; nothing if it is about something else.
pub(super) fn measure(claim: &Claim, e: &Evidence) -> Option<Answer> {
    let words: Vec<&str> = claim.id.split('.').collect();
    let number = match words[..] {
        ["f6", "hop"] => hop(e).map(|hop| NS * hop),
        ["f6", "wire"] => hop(e).map(|hop| NS * hop - 35.0),
        ["f6", "order"] => Ok(2.0).and_then(|hops: f64| Ok(hops * hop(e)?)),
        ["tree5", "latency"] => far(e).map(|hop| 9.0 * hop),
        ["tree5", "placement"] => far(e).map(|hop| 8.0 * hop),
        // There and back through one switch.
        ["nic", "latency_min"] => empty(e).and_then(|put| Ok(put - 2.0 * hop(e)?)),
        ["abs", "latency"] | ["f8", "lat0"] => empty(e),
        ["abs", "bw"] => peak(e, &MAIN_MAIN),
        ["abs" | "f8", "nhalf"] => return Some(half_bandwidths(claim, e)),
        ["f8", "bw", "asymmetry"] => {
            peak(e, &ELAN_MAIN).and_then(|up| Ok(up / peak(e, &MAIN_ELAN)?))
        }
        ["f8", "bw", "overlap"] => {
            peak(e, &MAIN_ELAN).and_then(|one| Ok(one / peak(e, &MAIN_MAIN)?))
        }
        ["f8", "bw", mapping] => peak(e, &named(mapping)?),
        ["f8", "lat64", mapping] | ["f9", "lat_oneway", mapping] => {
            short(e, PUT, &named(mapping)?, claim)
        }
        ["f14", "elan3lib"] => short(e, PUT, &MAIN_MAIN, claim),
        ["f8", "lat_flat"] => flat(e),
        ["f8", "lat1"] => first_byte(e),
        ["f8", "lat_order"] => at(e, PUT, &MAIN_ELAN, 64.0, "time_mean")
            .and_then(|slow| Ok(slow - at(e, PUT, &ELAN_MAIN, 64.0, "time_mean")?)),
        ["f8", "intra"] => line(e, WITHIN, &[], "bandwidth").map(|line| highest(&line)),
        ["f9", "intra"] => line(e, WITHIN_BOTH, &[], "bandwidth").map(|line| highest(&line) / 2.0),
        ["f9", "lat", "intra"] => line(e, WITHIN_BOTH, &[], "time_mean")
            .and_then(|line| Ok(lowest(&line) - at(e, BOTH, &MAIN_MAIN, 64.0, "time_mean")?)),
        ["f9", "lat", mapping] => short(e, BOTH, &named(mapping)?, claim),
        ["f9", "lat_increase"] => slower(claim, e),
        ["f9", "bw", mapping] => both_ways(e, &named(mapping)?),
        ["ours", "path"] => alone(e, "elan", ("1000 GB/s", "true")),
        ["ours", "bus"] => alone(e, "main", ("540 MB/s", "false")),
        ["f12", "bound"] | ["f15", "pci"] => both_ways(e, &MAIN_MAIN),
        _ => return None,
    };
    Some(number.map(Measured::exact))
}

/// Half a round trip of empty puts.
fn ping(e: &Evidence, levels: &str, to: &str) -> Result<f64, Missing> {
    let settings = [("fabric.tree.n", levels), ("work.ping.to", to)];
    Ok(e.estimate("hop", &settings, "latency")?.value)
}

/// What a switch more takes, one way, in us: the mean of two pairs near and two far.
fn hop(e: &Evidence) -> Result<f64, Missing> {
    let mean = |one, other| Ok((ping(e, "2", one)? + ping(e, "2", other)?) / 2.0);
    Ok((mean("4", "7")? - mean("1", "3")?) / 2.0)
}

/// The same among 1024 hosts, of which the farthest are behind nine switches.
fn far(e: &Evidence) -> Result<f64, Missing> {
    Ok((ping(e, "5", "1023")? - ping(e, "5", "1")?) / 8.0)
}

/// An empty put, until it is noticed at its source: what the answer of a round trip takes until the
/// host that sent it is done, which is last.
fn empty(e: &Evidence) -> Result<f64, Missing> {
    let settings = [("fabric.tree.n", "2"), ("work.ping.to", "1")];
    let last = e.estimate("hop", &settings, "finish_last")?.value;
    Ok(last - ping(e, "2", "1")?)
}

/// A part, and its key of sizes.
pub(super) type Kind = (&'static str, &'static str);

pub(super) const PUT: Kind = ("put", "work.scatter.size");
const STREAM: Kind = ("stream", "work.stream.size");
/// Between two processes of a host, whose shortest message fills a write block with its envelope.
const WITHIN: Kind = ("within", "work.scatter.size");
const WITHIN_BOTH: Kind = ("within-both", "work.all-to-all.size");
pub(super) const BOTH: Kind = ("both", "work.all-to-all.size");

/// A column by size, with these settings.
pub(super) fn line(
    e: &Evidence,
    (part, size): Kind,
    settings: &[(&str, &str)],
    column: &str,
) -> Result<Line, Missing> {
    let curve = e.curve(part, settings, size, column)?;
    Ok(curve.into_iter().map(|(size, height)| (size, height.value)).collect())
}

fn lowest(line: &[(f64, f64)]) -> f64 {
    line.iter().map(|(_, height)| *height).fold(f64::INFINITY, f64::min)
}

fn highest(line: &[(f64, f64)]) -> f64 {
    line.iter().map(|(_, height)| *height).fold(f64::NEG_INFINITY, f64::max)
}

/// The highest bandwidth of one put after another.
fn peak(e: &Evidence, mapping: &Mapping) -> Result<f64, Missing> {
    Ok(highest(&line(e, PUT, mapping, "bandwidth")?))
}

/// The highest bandwidth of one direction while both are busy.
pub(super) fn both_ways(e: &Evidence, mapping: &Mapping) -> Result<f64, Missing> {
    Ok(highest(&line(e, BOTH, mapping, "bandwidth")?) / 2.0)
}

/// Bandwidth of one direction while both are busy over that of one put as long, with this path
/// through the NIC and a bus that is shared or not.
fn alone(e: &Evidence, memory: &str, (path, shared): (&str, &str)) -> Result<f64, Missing> {
    let settings =
        [("node.elan.source", memory), ("node.elan.path", path), ("node.elan.pci.shared", shared)];
    let both = e.estimate("path", &settings, "bandwidth")?.value / 2.0;
    let mapping = if memory == "elan" { ELAN_ELAN } else { MAIN_MAIN };
    Ok(both / peak(e, &mapping)?)
}

/// A column at a size.
pub(super) fn at(
    e: &Evidence,
    kind: Kind,
    mapping: &Mapping,
    size: f64,
    column: &str,
) -> Result<f64, Missing> {
    let line = line(e, kind, mapping, column)?;
    let found = line.iter().find(|(at, _)| *at == size);
    found.map(|(_, time)| *time).ok_or_else(|| Missing(format!("{} has no {size} bytes", kind.0)))
}

/// Times from 2 to 64 bytes.
fn block(e: &Evidence, kind: Kind, mapping: &Mapping) -> Result<Vec<f64>, Missing> {
    let line = line(e, kind, mapping, "time_mean")?;
    let short = line.into_iter().filter(|(size, _)| (2.0..=64.0).contains(size));
    Ok(short.map(|(_, time)| time).collect())
}

/// The time from 2 to 64 bytes that lies furthest from the middle of what is published.
fn short(e: &Evidence, kind: Kind, mapping: &Mapping, claim: &Claim) -> Result<f64, Missing> {
    furthest_from(claim, block(e, kind, mapping)?)
}

/// Of some numbers that which lies furthest from the middle of what is published.
pub(super) fn furthest_from(
    claim: &Claim,
    numbers: impl IntoIterator<Item = f64>,
) -> Result<f64, Missing> {
    let all = numbers.into_iter().map(|number| Ok(Estimate::exact(number)));
    Ok(furthest(middle(claim), all)?.value)
}

fn middle(claim: &Claim) -> f64 {
    claim.accepted().map_or(0.0, |(low, high)| f64::midpoint(low, high))
}

fn flat(e: &Evidence) -> Result<f64, Missing> {
    let spreads = MAPPINGS.iter().map(|mapping| Ok(spread(&block(e, PUT, mapping)?)));
    spreads.collect::<Result<Vec<f64>, Missing>>().map(|all| all.into_iter().fold(0.0, f64::max))
}

/// By how much one byte is slower than 64, where that is least.
fn first_byte(e: &Evidence) -> Result<f64, Missing> {
    let time = |mapping: &Mapping, size| at(e, PUT, mapping, size, "time_mean");
    let more = |mapping: &Mapping| Ok(time(mapping, 1.0)? - time(mapping, 64.0)?);
    let all: Vec<f64> = MAPPINGS.iter().map(more).collect::<Result<_, Missing>>()?;
    Ok(all.into_iter().fold(f64::INFINITY, f64::min))
}

/// What both ways add to a short put, where that is furthest from what is published.
fn slower(claim: &Claim, e: &Evidence) -> Result<f64, Missing> {
    let more = [ELAN_ELAN, MAIN_MAIN].map(|mapping| {
        let (both, one) =
            (at(e, BOTH, &mapping, 64.0, "time_mean")?, at(e, PUT, &mapping, 64.0, "time_mean")?);
        Ok(Estimate::exact(both - one))
    });
    Ok(furthest(middle(claim), more)?.value)
}

/// The size at which half of the highest bandwidth is reached, between those measured.
fn half(line: &[(f64, f64)]) -> Option<f64> {
    let half = highest(line) / 2.0;
    let crossed = line.windows(2).find(|pair| pair[0].1 < half && half <= pair[1].1)?;
    let [(below, low), (above, high)] = [crossed[0], crossed[1]];
    Some(below + (above - below) * (half - low) / (high - low))
}

/// Half-bandwidth sizes of single puts, which section 4.3 describes, judge the claim; those of puts
/// back to back stand beside.
fn half_bandwidths(claim: &Claim, e: &Evidence) -> Answer {
    let (low, high) = claim.accepted().unwrap_or_default();
    let mut holds = Vec::new();
    let mut words = Vec::new();
    for (kind, way) in [(PUT, "one put after another"), (STREAM, "puts back to back")] {
        let mut found = Vec::new();
        for mapping in MAPPINGS {
            let size = half(&line(e, kind, &mapping, "bandwidth")?);
            if kind == PUT {
                holds.push(Truth::of(size.is_some_and(|size| (low..=high).contains(&size))));
            }
            let size = size.map_or("nowhere".to_owned(), |size| format!("{size:.0}"));
            found.push(format!("{} {size}", name(&mapping)));
        }
        words.push(format!("{way}: {}", found.join(", ")));
    }
    Ok(Measured::shape(Truth::all(holds), format!("{} bytes", words.join("; "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_highest_bandwidth_lies_between_two_sizes() {
        assert_eq!(
            half(&[(64.0, 10.0), (128.0, 40.0), (256.0, 60.0), (512.0, 100.0)]),
            Some(192.0)
        );
        assert_eq!(half(&[(64.0, 60.0), (128.0, 100.0)]), None);
    }
}
