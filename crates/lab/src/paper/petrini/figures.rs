//! Figures 9a and 12a, which show the bandwidth of one direction and of one host.

use super::exchange::lines;
use super::puts::{BOTH, ELAN_ELAN, MAIN_MAIN, line};
use crate::paper::{Drawing, Evidence, drawing};
use crosstie_study::Figure;
use crosstie_study::paper::Missing;

const SIZE: &str = "bytes";
const EACH: &str = "MB/s";
const LINE: &str = "line";

/// Every figure whose parts have been run.
pub(super) fn drawings(e: &Evidence) -> Vec<Drawing> {
    [both(e), exchange(e)].into_iter().filter_map(Result::ok).collect()
}

fn figure(name: &str, title: &str) -> Figure {
    let figure = drawing::plain(name, title.to_owned(), SIZE, EACH, LINE);
    Figure { log_x: true, ..figure }
}

fn both(e: &Evidence) -> Result<Drawing, Missing> {
    let mut rows = Vec::new();
    for (name, mapping) in [("memories of NICs", ELAN_ELAN), ("main memories", MAIN_MAIN)] {
        let line = line(e, BOTH, &mapping, "bandwidth")?;
        rows.extend(
            line.into_iter()
                .map(|(size, sum)| drawing::point((LINE, name), (SIZE, size), (EACH, sum / 2.0))),
        );
    }
    Ok((figure("fig09a", "Figure 9a: bandwidth of one direction, both ways"), rows))
}

fn exchange(e: &Evidence) -> Result<Drawing, Missing> {
    let all = lines(e)?.into_iter().flat_map(|(name, line)| {
        line.into_iter()
            .map(|(size, rate)| drawing::point((LINE, &name), (SIZE, size), (EACH, rate)))
            .collect::<Vec<_>>()
    });
    let rows = all.collect();
    Ok((figure("fig12a", "Figure 12a: bandwidth of one host in a total exchange"), rows))
}
