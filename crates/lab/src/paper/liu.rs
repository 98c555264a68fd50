//! Liu, Vishnu and Panda, "Building Multirail InfiniBand Clusters: MPI-Level Designs and
//! Performance Evaluation".

mod adaptation;
mod collectives;
mod comparison;
mod competitor;
mod design;
mod figures;
mod kernels;
mod machine;
mod pairs;
mod two_nodes;
mod ways;
mod weights;

use super::{Evidence, Paper, Part, Reading, Remark};
use crosstie_study::paper::{Claim, Grid, GridRow, Measured, Missing};

/// The paper.
pub(super) const PAPER: Paper = Paper {
    name: "liu-multirail-mpi",
    title: "Several adapters, ports and paths under one MPI on InfiniBand",
    citation: "Liu, Vishnu, Panda: Building Multirail InfiniBand Clusters: MPI-Level Designs and Performance Evaluation, \
               2004",
    parts: parts![
        "liu":
        "ports",
        "paths",
        "fig05",
        "fig06-07",
        "fig08",
        "fig09",
        "fig10",
        "fig11",
        "fig12",
        "fig13",
        "fig14",
        "kernels",
        "fig17",
        "fig18",
        "fig19",
        "weights",
        "fig20",
    ],
    readings: &[],
    live: parts!["liu": "fig17-live", "fig18-live", "fig19-live", "fig20-live"],
    tells_live,
    drawings: figures::drawings,
    grids,
    published: text!("liu/published"),
    measure,
    remark,
};

type Answer = Result<Measured, Missing>;

fn measure(claim: &Claim, evidence: &Evidence) -> Reading {
    machine::measure(&claim.id)
        .or_else(|| adaptation::measure(&claim.id))
        .map(Ok)
        .or_else(|| two_nodes::measure(claim, evidence))
        .or_else(|| pairs::measure(claim, evidence))
        .or_else(|| collectives::measure(claim, evidence))
        .or_else(|| kernels::measure(claim, evidence))
        .or_else(|| weights::measure(claim, evidence))
        .or_else(|| competitor::measure(claim, evidence))
        .or_else(|| ways::measure(claim, evidence))
}

/// Real ranks tell of the shapes of Figures 17 to 20. Their rails have other rates than the
/// paper's, so that they tell of no number.
fn tells_live(id: &str) -> bool {
    let words: Vec<&str> = id.split('.').collect();
    matches!(words[..], ["fig17" | "fig18" | "fig19" | "fig20", "shape", ..])
}

/// What is to be said of a claim that does not agree.
fn remark(id: &str) -> Option<Remark> {
    Some(match id {
        "app.is.comm" => Remark::always(
            "here it is half: the exchange of keys alone, with nothing in the way of the network. The program also sums up the \
             sizes of buckets, in short messages that gain nothing, waits for the slowest, and copies; shares are not stated",
        ),
        "claim.ooo" => Remark::always(
            "no short message does. Of long messages the FINs on both rails come at the same time, and where the second is told \
             first it waits for the other, for no time",
        ),
        _ => return None,
    })
}

/// What the text states of Figures 7, 8, 18 and 19.
fn grids() -> Vec<Grid> {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let row = |name: &str, cells: &[&str]| GridRow { names: names(&[name]), cells: names(cells) };
    vec![
        Grid {
            title: "Peak bandwidth in MB/s, two rails of 4x".to_owned(),
            heads: names(&["rails"]),
            columns: names(&["one way (Figure 7)", "both ways (Figure 8)"]),
            rows: vec![
                row("one", &["fig7.peak.original", "fig8.peak.original"]),
                row("two, even striping", &["fig7.peak.multirail", "fig8.peak.multirail"]),
                row("ratio", &["fig7.ratio", "fig8.ratio"]),
            ],
        },
        Grid {
            title: "Bandwidth in MB/s, rails of 4x and 1x, beside the ideal model".to_owned(),
            heads: names(&["policy"]),
            columns: names(&["one way (Figure 18)", "both ways (Figure 19)"]),
            rows: vec![
                row("even striping", &["fig18.ideal.even", "fig19.ideal.even"]),
                row("weighted, 4 to 1", &["fig18.ideal.weighted_4_1", "fig19.ideal.weighted_4_1"]),
                row("adaptive striping", &["fig18.ideal.adaptive", "fig19.ideal.adaptive"]),
            ],
        },
    ]
}
