//! Measures of Figure 6.6: flows both ways through uplinks.

use super::super::congestion::demanded;
use super::super::flow::flows;
use super::Answer;
use crate::paper::Evidence;
use crosstie_study::paper::{Estimate, Measured, Missing, Truth};

/// Measures a claim; nothing if it is not about flows through uplinks.
pub(super) fn measure(id: &str, e: &Evidence) -> Option<Answer> {
    Some(match id {
        "ch6.uplink.capacity" => peak(e).map(|(_, most)| Measured::Number(most)),
        "ch6.fig6.6.flows" => plateau(e).map(Measured::Number),
        "ch6.shape.fig6.6" => shape(e),
        _ => return None,
    })
}

pub(super) const HIERARCHY: &str = "10x2";
pub(super) const ONE_SWITCH: &str = "one switch";

/// What flows carry together, in MB/s, by how many flows there are one way or the other.
pub(super) fn sums(e: &Evidence, fabric: &str) -> Result<Vec<(u32, Estimate)>, Missing> {
    let all = flows(e, "exchange-uplink")?;
    let there = all.iter().filter(|flow| flow.text("fabric") == fabric);
    let mut sums: Vec<(u32, Estimate)> =
        there.map(|flow| (flow.hosts().len() as u32, flow.bandwidth())).collect();
    sums.sort_by_key(|(count, _)| *count);
    match sums.is_empty() {
        true => Err(Missing(format!("exchange-uplink has no {fabric}"))),
        false => Ok(sums),
    }
}

/// The number of flows that carry most through the uplinks, and their bandwidth.
fn peak(e: &Evidence) -> Result<(u32, Estimate), Missing> {
    let sums = sums(e, HIERARCHY)?;
    let most = sums.iter().max_by(|a, b| a.1.value.total_cmp(&b.1.value));
    most.copied().ok_or_else(|| Missing("exchange-uplink has no flows".to_owned()))
}

/// The number of flows that carries most, and the numbers between which the peak may lie: those
/// that carry as much, as far as runs tell.
fn plateau(e: &Evidence) -> Result<Estimate, Missing> {
    let (count, most) = peak(e)?;
    let sums = sums(e, HIERARCHY)?;
    let equal = sums.iter().filter(|(_, sum)| most.above_independent(*sum) != Truth::Holds);
    let counts: Vec<f64> = equal.map(|(count, _)| f64::from(*count)).collect();
    let least = counts.iter().copied().fold(f64::from(count), f64::min);
    let largest = counts.iter().copied().fold(f64::from(count), f64::max);
    Ok(Estimate { value: count.into(), low: least, high: largest })
}

fn shape(e: &Evidence) -> Answer {
    let (through, within) = (sums(e, HIERARCHY)?, sums(e, ONE_SWITCH)?);
    let (count, most) = peak(e)?;
    let (last, left) = through[through.len() - 1];
    let rises =
        through.windows(2).all(|pair| pair[1].0 > count || pair[1].1.value > pair[0].1.value);
    let gradual = left.value < most.value && left.value > 0.8 * most.value;
    let peaks = format!(
        "through the uplinks {:.1} MB/s with {count} flows, {:.1} with {last}",
        most.value, left.value
    );
    let ((few, alone), (many, all)) = (within[0], within[within.len() - 1]);
    let share = all.value / alone.value * f64::from(few) / f64::from(many);
    let linear =
        format!("on one switch {:.1} MB/s with {few}, {:.1} with {many}", alone.value, all.value);
    demanded(vec![
        (Truth::of(rises && gradual), peaks),
        (Truth::of((share - 1.0).abs() < 0.02), linear),
    ])
}
