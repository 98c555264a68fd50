//! Figure 20, which no part draws.

use super::competitor::arrivals;
use super::design::{ADAPTIVE, EVEN, PULL};
use crate::paper::{Drawing, Evidence, drawing};
use crosstie_study::Figure;
use crosstie_study::paper::Missing;

const POLICY: &str = "policy";
const TIME: &str = "time, ms";
const BANDWIDTH: &str = "MB/s";

/// Every figure whose parts have been run.
pub(super) fn drawings(e: &Evidence) -> Vec<Drawing> {
    beside_a_competitor(e).into_iter().collect()
}

fn beside_a_competitor(e: &Evidence) -> Result<Drawing, Missing> {
    let mut rows = Vec::new();
    for design in [EVEN, ADAPTIVE, PULL] {
        let (_, policy) = design[0];
        rows.extend(arrivals(e, design)?.into_iter().map(|arrival| {
            drawing::point(
                (POLICY, policy),
                (TIME, arrival.at / 1000.0),
                (BANDWIDTH, arrival.bandwidth),
            )
        }));
    }
    let title = "Figure 20: bandwidth over time, beside a competitor from 64 to 128 ms".to_owned();
    let figure = drawing::plain("fig20", title, TIME, BANDWIDTH, POLICY);
    Ok((Figure { y_range: Some([0.0, 2000.0]), ..figure }, rows))
}
