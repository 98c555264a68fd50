//! Figure 20, which no part draws: simulated, and by real ranks.

use super::competitor::{arrivals, times};
use super::design::{ADAPTIVE, EVEN, PULL};
use crate::paper::{Drawing, Evidence, drawing};
use crosstie_study::Figure;
use crosstie_study::paper::Missing;

const POLICY: &str = "policy";
const BANDWIDTH: &str = "MB/s";

/// Every figure whose parts have been run.
pub(super) fn drawings(e: &Evidence) -> Vec<Drawing> {
    let live = e.live().ok().and_then(|live| {
        let title = "Figure 20 live: bandwidth over time";
        beside_a_competitor(&live, ("fig20-live", title), ("time, s", 1e6), 60.0).ok()
    });
    let title = "Figure 20: bandwidth over time";
    let simulated = beside_a_competitor(e, ("fig20", title), ("time, ms", 1e3), 2000.0);
    simulated.ok().into_iter().chain(live).collect()
}

/// With times in a unit of so many microseconds, and bandwidths up to a highest.
fn beside_a_competitor(
    e: &Evidence,
    (name, title): (&str, &str),
    (time, unit): (&str, f64),
    highest: f64,
) -> Result<Drawing, Missing> {
    let mut rows = Vec::new();
    for design in [EVEN, ADAPTIVE, PULL] {
        let (_, policy) = design[0];
        rows.extend(arrivals(e, design)?.into_iter().map(|arrival| {
            drawing::point(
                (POLICY, policy),
                (time, arrival.at / unit),
                (BANDWIDTH, arrival.bandwidth),
            )
        }));
    }
    let (begin, end) = times(e.is_live());
    let (begin, end) = (begin / unit, end / unit);
    let word = time.rsplit(' ').next().unwrap_or_default();
    let title = format!("{title}, beside a competitor from {begin} to {end} {word}");
    let figure = drawing::plain(name, title, time, BANDWIDTH, POLICY);
    Ok((Figure { y_range: Some([0.0, highest]), ..figure }, rows))
}
