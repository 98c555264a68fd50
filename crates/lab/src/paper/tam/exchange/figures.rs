//! The figures of chapters 5 and 6, drawn as there.

use super::HIERARCHIES;
use super::formulas::{Cluster, best};
use super::hierarchies::{Way, of};
use super::runs::{Run, line, runs};
use super::single::{ALL, INPUTS, OUTPUTS, STORING, SYNC, ordered};
use super::uplinks::{HIERARCHY, ONE_SWITCH, sums};
use crate::paper::{Drawing, Evidence, drawing};
use crosstie_study::paper::Missing;
use crosstie_study::{Figure, Row};

const NODES: &str = "nodes";
const PACKETS: &str = "packets to each";
const PARTNERS: &str = "partners of a group";
const FLOWS: &str = "flows";
const EACH: &str = "MB/s for a node";
const SUM: &str = "MB/s of all flows";
const OVERHEAD: &str = "us for a packet";
const SHARE: &str = "share of b/g";
const LINE: &str = "line";

/// Every figure whose parts have been run.
pub(in super::super) fn drawings(e: &Evidence) -> Vec<Drawing> {
    type Draw = fn(&Evidence) -> Result<Drawing, Missing>;
    let single: [Draw; 9] = [
        |e| order(e, "fig5-2a", INPUTS),
        |e| order(e, "fig5-2b", OUTPUTS),
        |e| length(e, "fig5-3a", INPUTS),
        |e| length(e, "fig5-3b", OUTPUTS),
        |e| length(e, "fig5-4", STORING),
        groups,
        long,
        buffering,
        one_switch,
    ];
    let all = single.into_iter().map(|draw| draw(e));
    let hierarchies = (0..HIERARCHIES.len()).map(|place| hierarchy(e, place));
    all.chain([flows(e)]).chain(hierarchies).filter_map(Result::ok).collect()
}

fn figure(name: &str, title: &str, x: &str, y: &str) -> Figure {
    let number = name[3..].replace('-', ".");
    drawing::plain(name, format!("Figure {number}: {title}"), x, y, LINE)
}

fn point(line: &str, x: (&str, u32), y: (&str, f64)) -> Row {
    drawing::point((LINE, line), (x.0, f64::from(x.1)), y)
}

/// Bandwidths by length.
fn by_length<'e>(title: &str, runs: impl IntoIterator<Item = &'e Run<'e>>) -> Vec<Row> {
    let row = |run: &Run<'_>| point(title, (PACKETS, run.packets), (EACH, run.bandwidth().value));
    runs.into_iter().map(row).collect()
}

/// Times for a packet by number of nodes, and the least by Eq. 5.1.
fn order(e: &Evidence, name: &str, switch: &str) -> Result<Drawing, Missing> {
    let all = runs(e, "exchange-order")?;
    let mut rows = Vec::new();
    for nodes in [4, 8, 16] {
        for (algorithm, run) in ordered(&all, nodes, switch)? {
            rows.push(point(algorithm, (NODES, nodes), (OVERHEAD, run.overhead().value)));
        }
        let time = Cluster::of_table_5_2(switch, nodes).time(64, nodes, 1);
        let each = time / (64.0 * f64::from(nodes - 1));
        rows.push(point("Eq. 5.1", (NODES, nodes), (OVERHEAD, each)));
    }
    let title = format!("64 packets to each on the IBM 8275-{switch}");
    Ok((figure(name, &title, NODES, OVERHEAD), rows))
}

fn length(e: &Evidence, name: &str, switch: &str) -> Result<Drawing, Missing> {
    let all = runs(e, "exchange-length")?;
    let mut rows = Vec::new();
    for algorithm in ALL {
        rows.extend(by_length(algorithm, line(&all, algorithm, switch)?));
    }
    let forwards = if switch == STORING { "326, store-and-forward" } else { switch };
    let title = format!("16 nodes on the IBM 8275-{forwards}, by length");
    let figure = figure(name, &title, PACKETS, EACH);
    Ok((Figure { log_x: true, y_range: Some([0.0, 13.0]), ..figure }, rows))
}

fn groups(e: &Evidence) -> Result<Drawing, Missing> {
    let all = runs(e, "exchange-omega")?;
    let asymptote = Cluster::of_table_5_2(INPUTS, 16).gap;
    let row = |run: &Run<'_>| {
        let omega = run.algorithm.strip_prefix("group-")?.parse().ok()?;
        let share = asymptote / run.overhead().value;
        Some(point(&format!("{} packets", run.packets), (PARTNERS, omega), (SHARE, share)))
    };
    let rows = all.iter().filter_map(row).collect();
    let figure = figure("fig5-5", "group shuffle on the IBM 8275-326", PARTNERS, SHARE);
    Ok((Figure { y_range: Some([0.0, 1.0]), ..figure }, rows))
}

fn long(e: &Evidence) -> Result<Drawing, Missing> {
    let all = runs(e, "exchange-long")?;
    let mut rows = Vec::new();
    for algorithm in &ALL[..3] {
        rows.extend(by_length(algorithm, line(&all, algorithm, "")?));
    }
    let figure = figure("fig5-6", "long exchanges on the IBM 8275-326", PACKETS, EACH);
    Ok((Figure { log_x: true, y_range: Some([0.0, 13.0]), ..figure }, rows))
}

fn buffering(e: &Evidence) -> Result<Drawing, Missing> {
    let all = runs(e, "exchange-length")?;
    let mut rows = Vec::new();
    for switch in [INPUTS, STORING, OUTPUTS] {
        rows.extend(by_length(switch, line(&all, SYNC, switch)?));
    }
    let figure = figure("fig5-7", "synchronous shuffle by switch", PACKETS, EACH);
    Ok((Figure { log_x: true, y_range: Some([0.0, 13.0]), ..figure }, rows))
}

fn one_switch(e: &Evidence) -> Result<Drawing, Missing> {
    let all = runs(e, "exchange-16x1")?;
    let mut rows = Vec::new();
    for algorithm in ["global window", SYNC, "pairwise"] {
        rows.extend(by_length(algorithm, line(&all, algorithm, "")?));
    }
    let figure = figure("fig6-5", "16x1, by length", PACKETS, EACH);
    Ok((Figure { log_x: true, y_range: Some([0.0, 13.0]), ..figure }, rows))
}

fn flows(e: &Evidence) -> Result<Drawing, Missing> {
    let mut rows = Vec::new();
    for fabric in [HIERARCHY, ONE_SWITCH] {
        let sums = sums(e, fabric)?.into_iter();
        rows.extend(sums.map(|(count, sum)| point(fabric, (FLOWS, count), (SUM, sum.value))));
    }
    Ok((figure("fig6-6", "flows through uplinks and on one switch", FLOWS, SUM), rows))
}

/// Figures 6.7 to 6.10: every algorithm in a hierarchy, and what Eq. 6.4 allows.
fn hierarchy(e: &Evidence, place: usize) -> Result<Drawing, Missing> {
    let hierarchy = HIERARCHIES[place];
    let mut rows = Vec::new();
    for way in Way::ALL {
        let runs = of(e, way, hierarchy)?;
        rows.extend(by_length(way.title(), &runs));
        if way == Way::Modified {
            let best = best(hierarchy);
            rows.extend(
                runs.iter().map(|run| point("Eq. 6.4", (PACKETS, run.packets), (EACH, best))),
            );
        }
    }
    let name = format!("fig6-{}", place + 7);
    let figure = figure(&name, &format!("{}, by length", hierarchy.name()), PACKETS, EACH);
    Ok((Figure { log_x: true, y_range: Some([0.0, 13.0]), ..figure }, rows))
}
