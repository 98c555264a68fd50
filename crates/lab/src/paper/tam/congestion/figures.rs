//! The figures of chapter 4: efficiency by window, senders and time-out, simulated and by the
//! formulas.

use super::super::flow::{Flow, flows};
use super::formulas::cell;
use super::trends::eq_4_2;
use super::uplinks::{self, Streams, Way};
use super::{CISCO, IBM416, SENDERS, TIMEOUTS, WINDOWS, lossy};
use crate::paper::{Drawing, Evidence, LIVE, drawing};
use crosstie_study::paper::Missing;
use crosstie_study::{Figure, Row};

const WINDOW: &str = "window, packets";
const P: &str = "senders";
const TIMEOUT: &str = "time-out, slots";
const EFFICIENCY: &str = "efficiency";
const LINE: &str = "line";
const STREAMS: &str = "streams";
const EACH: &str = "MB/s for each";

/// Every figure whose parts have been run.
pub(in super::super) fn drawings(e: &Evidence) -> Vec<Drawing> {
    type Draw = fn(&Evidence) -> Result<Drawing, Missing>;
    let all: [Draw; 11] = [
        input_by_timeout,
        input_by_window,
        |e| output_variants(e, "fig4-9"),
        |e| output_by_window(e, "fig4-10a", TIMEOUTS[0]),
        |e| output_by_window(e, "fig4-10b", TIMEOUTS[1]),
        |e| cisco_by_senders(e, "fig4-11", TIMEOUTS[0]),
        |e| cisco_by_senders(e, "fig4-12", TIMEOUTS[1]),
        by_timeout,
        uplink_by_timeout,
        one_way,
        both_ways,
    ];
    let live: [Draw; 3] = [
        |e| output_variants(e, "fig4-9-live"),
        |e| output_by_window(e, "fig4-10a-live", TIMEOUTS[0]),
        |e| output_by_window(e, "fig4-10b-live", TIMEOUTS[1]),
    ];
    let simulated = all.into_iter().filter_map(|draw| draw(e).ok());
    let found = e.live();
    let live = found.iter().flat_map(|found| live.into_iter().filter_map(|draw| draw(found).ok()));
    simulated.chain(live).collect()
}

fn figure(name: &str, title: &str, x: &str, y: &str) -> Figure {
    let (number, live) = match name.strip_suffix(LIVE) {
        Some(number) => (number, " live"),
        None => (name, ""),
    };
    let number = number[3..].replace('-', ".");
    drawing::plain(name, format!("Figure {number}{live}: {title}"), x, y, LINE)
}

/// Efficiencies start at 0 and end at 1.
fn efficiency(name: &str, title: &str, x: &str) -> Figure {
    Figure { y_range: Some([0.0, 1.0]), ..figure(name, title, x, EFFICIENCY) }
}

fn point(line: &str, x: (&str, u32), y: f64) -> Row {
    drawing::point((LINE, line), (x.0, f64::from(x.1)), (EFFICIENCY, y))
}

fn found(flow: &Flow<'_>) -> f64 {
    flow.efficiency().value
}

/// Both variants with windows of 60 packets.
fn input_by_timeout(e: &Evidence) -> Result<Drawing, Missing> {
    let mut rows = Vec::new();
    for (part, variant) in [("input", "own"), ("input-simple", "simple")] {
        let all = flows(e, part)?;
        let there = all.iter().filter(|flow| flow.window() == 60);
        rows.extend(there.map(|flow| {
            let line = format!("{variant}, {} senders", flow.senders());
            point(&line, (TIMEOUT, flow.slots()), found(flow))
        }));
    }
    let title = "IBM 8275-326 by time-out, windows of 60 packets";
    Ok((Figure { log_x: true, ..efficiency("fig4-3", title, TIMEOUT) }, rows))
}

fn input_by_window(e: &Evidence) -> Result<Drawing, Missing> {
    let all = flows(e, "input")?;
    let mut rows = Vec::new();
    let shortest = all.iter().map(Flow::slots).min();
    for flow in lossy(&all).filter(|flow| Some(flow.slots()) == shortest) {
        let (senders, at) = (flow.senders(), (WINDOW, flow.window()));
        rows.push(point(&format!("{senders} senders"), at, found(flow)));
        rows.extend(eq_4_2(flow).map(|y| point(&format!("{senders}, Eq. 4.2"), at, y)));
    }
    let figure = efficiency("fig4-4", "IBM 8275-326 by window, simulated and Eq. 4.2", WINDOW);
    let (x_range, y_range) = (Some([40.0, 100.0]), Some([0.35, 0.5]));
    Ok((Figure { x_range, y_range, ..figure }, rows))
}

fn output_variants(e: &Evidence, name: &str) -> Result<Drawing, Missing> {
    let mut rows = Vec::new();
    for (part, variant) in [("output", "own"), ("output-simple", "simple")] {
        let all = flows(e, part)?;
        let there = lossy(&all).filter(|f| f.senders() == 15 && TIMEOUTS.contains(&f.slots()));
        rows.extend(there.map(|flow| {
            let line = format!("{variant}, {} slots", flow.slots());
            point(&line, (WINDOW, flow.window()), found(flow))
        }));
    }
    Ok((efficiency(name, "IBM 8275-416 by window, 15 senders, both variants", WINDOW), rows))
}

/// Simulated, Eq. 4.10 with the chances that were counted, and measured by Tam.
fn output_by_window(e: &Evidence, name: &str, slots: u32) -> Result<Drawing, Missing> {
    let all = flows(e, "output")?;
    let mut rows = Vec::new();
    // Real ranks lose now and then at the settings of the table that lose least.
    let there = all.iter().filter(|flow| flow.lost() > 0.0 || e.is_live());
    for flow in there.filter(|flow| flow.slots() == slots) {
        let (senders, at) = (flow.senders(), (WINDOW, flow.window()));
        rows.push(point(&format!("{senders} senders"), at, found(flow)));
        rows.extend(flow.predicted(IBM416).map(|y| point(&format!("{senders}, Eq. 4.10"), at, y)));
    }
    for senders in SENDERS {
        rows.extend(WINDOWS.into_iter().filter_map(|window| {
            let y = cell((senders, window, slots), "measured")?;
            Some(point(&format!("{senders}, measured by Tam"), (WINDOW, window), y))
        }));
    }
    let title = format!("IBM 8275-416 by window, time-out of {slots} slots");
    let lowest = if e.is_live() { 0.4 } else { 0.5 };
    let (x_range, y_range) = (Some([10.0, 40.0]), Some([lowest, 1.0]));
    Ok((Figure { x_range, y_range, ..efficiency(name, &title, WINDOW) }, rows))
}

fn cisco_by_senders(e: &Evidence, name: &str, slots: u32) -> Result<Drawing, Missing> {
    let all = flows(e, "cisco")?;
    let mut rows = Vec::new();
    for flow in lossy(&all).filter(|flow| flow.slots() == slots) {
        let (window, at) = (flow.window(), (P, flow.senders()));
        rows.push(point(&format!("window {window}"), at, found(flow)));
        rows.extend(flow.predicted(CISCO).map(|y| point(&format!("{window}, Eq. 4.10"), at, y)));
    }
    let title = format!("Cisco 2980G by senders, time-out of {slots} slots");
    Ok((Figure { y_range: Some([0.5, 1.0]), ..efficiency(name, &title, P) }, rows))
}

fn by_timeout(e: &Evidence) -> Result<Drawing, Missing> {
    let all = flows(e, "patience")?;
    let mut rows = Vec::new();
    for flow in &all {
        let at = (TIMEOUT, flow.slots());
        rows.push(point("simulated", at, found(flow)));
        rows.extend(flow.predicted(IBM416).map(|y| point("Eq. 4.10", at, y)));
    }
    let title = "IBM 8275-416 by time-out, 15 senders, windows of 12 packets";
    let y_range = Some([0.0, 1.2]);
    Ok((Figure { log_x: true, y_range, ..efficiency("fig4-13", title, TIMEOUT) }, rows))
}

fn uplink_by_timeout(e: &Evidence) -> Result<Drawing, Missing> {
    let all = flows(e, "uplink")?;
    let there = all.iter().filter(|flow| [7, 15].contains(&flow.senders()));
    let rows = there.map(|flow| {
        let line = format!("{} senders, window {}", flow.senders(), flow.window());
        point(&line, (TIMEOUT, flow.slots()), found(flow))
    });
    let rows = rows.collect();
    let figure = efficiency("fig4-15", "many to one through an uplink, by time-out", TIMEOUT);
    Ok((Figure { log_x: true, ..figure }, rows))
}

fn by_streams(streams: Vec<Streams>, line: impl Fn(&Streams) -> String) -> Vec<Row> {
    let row = |streams: &Streams| {
        let (x, y) = ((STREAMS, f64::from(streams.count)), (EACH, streams.each.value));
        drawing::point((LINE, &line(streams)), x, y)
    };
    streams.iter().map(row).collect()
}

fn one_way(e: &Evidence) -> Result<Drawing, Missing> {
    let rows = by_streams(uplinks::streams(e, Way::Down)?, |s| format!("window {}", s.window));
    let figure = figure("fig4-16", "streams one way through an uplink", STREAMS, EACH);
    Ok((Figure { y_range: Some([0.0, 13.0]), ..figure }, rows))
}

fn both_ways(e: &Evidence) -> Result<Drawing, Missing> {
    let mut rows = Vec::new();
    for (style, words) in [("piggyback", "on data"), ("immediate", "Packs")] {
        let found = uplinks::duplex(e, style)?;
        rows.extend(by_streams(found, |s| format!("window {}, {words}", s.window)));
    }
    let figure = figure("fig4-17", "streams both ways through uplinks", STREAMS, EACH);
    Ok((Figure { y_range: Some([0.0, 13.0]), ..figure }, rows))
}
