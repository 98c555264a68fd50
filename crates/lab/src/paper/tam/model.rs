//! Chapters 2 and 3 and appendix A: the communication model, platforms, and the probes that tell
//! its parameters.

mod formulas;
mod platforms;
mod probes;
mod trees;

use super::super::{Drawing, Evidence, Reading, Remark};
use super::Answer;
use crosstie_study::paper::{Claim, Grid, GridRow};

pub(super) fn measure(claim: &Claim, evidence: &Evidence) -> Reading {
    formulas::measure(&claim.id)
        .map(Ok)
        .or_else(|| probes::measure(&claim.id).map(Ok))
        .or_else(|| trees::measure(&claim.id, evidence))
        .or_else(|| platforms::measure(&claim.id, evidence))
}

/// Every figure whose parts have been run, and the signatures of the platforms.
pub(super) fn drawings(e: &Evidence) -> Vec<Drawing> {
    let parts = [trees::drawing(e), platforms::drawing(e)];
    parts.into_iter().flatten().chain(probes::signatures()).collect()
}

/// What chapter 3 measures on its platforms, and Table A.1.
pub(super) fn grids() -> Vec<Grid> {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let row = |name: &str, cells: &[&str]| GridRow { names: names(&[name]), cells: names(cells) };
    vec![
        Grid {
            title: "Figures 3.2, 3.4 and 3.5: platforms".to_owned(),
            heads: names(&["quantity"]),
            columns: names(&["FEDP", "GEDP-UP", "GEDP-SMP"]),
            rows: vec![
                row("U_r, us", &["ch3.ur.fedp", "ch3.ur.gedpup", "ch3.ur.gedpsmp"]),
                row("trip of 1 B, us", &["ch3.lat1.fedp", "ch3.lat1.gedpup", "ch3.lat1.gedpsmp"]),
                row(
                    "one way, MB/s",
                    &["ch3.uni.fedp.raw", "ch3.uni.gedpup.raw", "ch3.uni.gedpsmp.raw"],
                ),
                row(
                    "one way, go-back-N, MB/s",
                    &["ch3.uni.fedp.fc", "ch3.uni.gedpup.fc", "ch3.uni.gedpsmp.fc"],
                ),
                row(
                    "both ways, for each, MB/s",
                    &["ch3.bi.fedp.t1.raw", "ch3.bi.gedpup.t1.raw", "ch3.bi.gedpsmp.t2.raw"],
                ),
            ],
        },
        Grid {
            title: "Table A.1: buffers".to_owned(),
            heads: names(&["switch"]),
            columns: names(&["packets"]),
            rows: probes::SWITCHES
                .iter()
                .map(|switch| row(switch.title, &[&format!("tA.1.{}", switch.id)]))
                .collect(),
        },
    ]
}

/// What is to be said of a claim that does not agree.
pub(super) fn remark(id: &str) -> Option<Remark> {
    Some(match id {
        "ch3.smp.or.extra" => Remark::always(
            "that O_r is 20 us more cannot be all of it: a packet comes every 18.7 us, none is lost, and the trip of 1 B is \
             longer by 17 us only. So most of O_r is taken for the way here, where it keeps no processor busy, and the \
             probe finds the copy alone",
        ),
        "ch3.fc.drop.up" => Remark::always(
            "what it costs depends on how often packets are acknowledged, which the thesis does not state here. With a Pack \
             for each packet, as in these runs, both processors have much more to do; with one for every four \
             packets it costs 15 %",
        ),
        "ch3.bi.gedpsmp.t2.raw" | "ch3.bi.gedpsmp.t1.raw" | "ch3.bi.loss" => Remark::always(
            "not reproduced: the directions share a processor here, but not the bus, on which g_s depends in the thesis; how \
             much it does is stated only for copies",
        ),
        "figA.4" => Remark::always(
            "two switches reach the ceiling of their gigabit uplink, at 10 pairs; four do not, since 8 streams through an \
             uplink fit. In the thesis an uplink carries 7 at most, which is not reproduced (paper tam-congestion)",
        ),
        _ => return None,
    })
}
