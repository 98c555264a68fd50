//! Figures 9a, 12a, 13 and 15, which show the bandwidth of one direction and of one host.

use super::exchange::lines;
use super::puts::{BOTH, ELAN_ELAN, MAIN_MAIN, MAPPINGS, line, name};
use super::tports::{self, BOTH_WAYS};
use crate::paper::{Drawing, Evidence, drawing};
use crosstie_study::Figure;
use crosstie_study::paper::Missing;

const SIZE: &str = "bytes";
const EACH: &str = "MB/s";
const LINE: &str = "line";

/// Every figure whose parts have been run.
pub(super) fn drawings(e: &Evidence) -> Vec<Drawing> {
    [both(e), exchange(e), tports_one_way(e), tports_both_ways(e)]
        .into_iter()
        .filter_map(Result::ok)
        .collect()
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

fn tports_one_way(e: &Evidence) -> Result<Drawing, Missing> {
    let mut rows = Vec::new();
    for mapping in MAPPINGS {
        let name = name(&mapping);
        let line = tports::bandwidth(e, &mapping)?.into_iter();
        rows.extend(
            line.map(|(size, rate)| drawing::point((LINE, &name), (SIZE, size), (EACH, rate))),
        );
    }
    Ok((figure("fig13", "Figure 13: bandwidth of messages by tagged ports, one way"), rows))
}

fn tports_both_ways(e: &Evidence) -> Result<Drawing, Missing> {
    let mut rows = Vec::new();
    for (kind, library) in [(BOTH, "puts"), (BOTH_WAYS, "tagged ports")] {
        for mapping in [ELAN_ELAN, MAIN_MAIN] {
            let name = format!("{library}, {}", name(&mapping));
            let line = line(e, kind, &mapping, "bandwidth")?.into_iter();
            rows.extend(
                line.map(|(size, sum)| {
                    drawing::point((LINE, &name), (SIZE, size), (EACH, sum / 2.0))
                }),
            );
        }
    }
    Ok((figure("fig15", "Figure 15: bandwidth of one direction, both ways, by library"), rows))
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
