//! Tam, "Performance Studies of High-Speed Communication on Commodity Cluster": a thesis, of which
//! chapter 4 is one paper here, chapters 5 and 6 another, and chapters 2 and 3 and appendix A a
//! third.

mod congestion;
mod exchange;
mod flow;
mod model;

use super::{Paper, Part};
use crosstie_study::paper::{Measured, Missing};

const CITATION: &str = "Tam: Performance Studies of High-Speed Communication on Commodity Cluster, PhD thesis, University \
                        of Hong Kong, 2001";

/// Chapter 4.
pub(super) const CONGESTION: Paper = Paper {
    name: "tam-congestion",
    title: "Go-back-N and congestion loss on commodity switches",
    citation: CITATION,
    parts: parts![
        "tam":
        "overflow",
        "input",
        "input-simple",
        "output",
        "output-simple",
        "cisco",
        "patience",
        "uplink",
        "streams",
        "duplex",
        "readings-jitter",
        "readings-simple",
    ],
    readings: &[],
    live: parts!["tam": "overflow-live", "output-live", "output-simple-live"],
    tells_live: congestion::tells_live,
    drawings: congestion::drawings,
    grids: congestion::grids,
    published: text!("tam/published-congestion"),
    measure: congestion::measure,
    remark: congestion::remark,
};

/// Chapters 5 and 6.
pub(super) const EXCHANGE: Paper = Paper {
    name: "tam-exchange",
    title: "Complete exchange on non-blocking and hierarchical networks",
    citation: CITATION,
    parts: parts![
        "tam":
        "exchange-order",
        "exchange-length",
        "exchange-omega",
        "exchange-long",
        "exchange-hol",
        "exchange-readings",
        "exchange-16x1",
        "exchange-uplink",
        "exchange-modified",
        "exchange-pairwise",
        "exchange-open",
    ],
    readings: &[],
    live: &[],
    tells_live: |_| false,
    drawings: exchange::drawings,
    grids: exchange::grids,
    published: text!("tam/published-exchange"),
    measure: exchange::measure,
    remark: exchange::remark,
};

/// Chapters 2 and 3, appendix A.
pub(super) const MODEL: Paper = Paper {
    name: "tam-model",
    title: "A communication model of commodity clusters, and how to measure it",
    citation: CITATION,
    parts: parts![
        "tam":
        "trees",
        "fedp",
        "gedp-up",
        "gedp-smp",
        "bisection",
    ],
    readings: &[],
    live: &[],
    tells_live: |_| false,
    drawings: model::drawings,
    grids: model::grids,
    published: text!("tam/published-model"),
    measure: model::measure,
    remark: model::remark,
};

type Answer = Result<Measured, Missing>;
