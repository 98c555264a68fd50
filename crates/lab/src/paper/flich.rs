//! Flich et al., "Combining In-Transit Buffers with Optimized Routing Schemes".

mod curves;
mod links;
mod scheme;
mod tables;

use super::{Evidence, Outcome, Paper, Part};
use crosstie_study::paper::{Claim, Measured, Missing};
use crosstie_study::{Figure, Row};

/// A file of `experiments/flich`.
macro_rules! text {
    ($folder:literal, $name:literal) => {
        include_str!(concat!("../../../../experiments/flich/", $folder, $name, ".toml"))
    };
}

/// An experiment file of `experiments/flich`, the changes to it in `quick`, and those in `full`.
macro_rules! part {
    ($name:literal) => {
        part!($name, None)
    };
    ($name:literal, full) => {
        part!($name, Some(text!("full/", $name)))
    };
    ($name:literal, $full:expr) => {
        Part {
            name: $name,
            experiment: text!("", $name),
            quick: text!("quick/", $name),
            full: $full,
        }
    };
}

pub(super) const PAPER: Paper = Paper {
    name: "flich-itb",
    title: "Combining In-Transit Buffers with Optimized Routing Schemes",
    citation: "Flich, Lopez, Malumbres, Duato, Rokicki: Combining In-Transit Buffers with Optimized \
               Routing Schemes to Boost the Performance of Networks with Source Routing",
    parts: &[
        part!("fig1-2-16"),
        part!("fig1-2-32"),
        part!("fig1-2-64"),
        part!("fig3"),
        part!("table1", full),
        part!("table2", full),
        part!("table3", full),
        part!("readings-throughput"),
        part!("readings-latency"),
    ],
    drawings,
    published: text!("", "published"),
    measure,
    remark,
};

type Answer = Result<Measured, Missing>;

/// The paper's networks.
const SIZES: [&str; 3] = ["16", "32", "64"];

/// All figures are simulated.
fn drawings() -> Vec<(Figure, Vec<Row>)> {
    Vec::new()
}

fn measure(claim: &Claim, evidence: &Evidence) -> Outcome {
    tables::measure(claim, evidence)
        .or_else(|| curves::measure(claim, evidence))
        .or_else(|| links::measure(claim, evidence))
}

/// Why the measurement of a claim differs, or what is open about it.
fn remark(id: &str) -> Option<&'static str> {
    let words: Vec<&str> = id.split('.').collect();
    Some(match words[..] {
        ["itbs", "dfs_itb", _] | ["t2", _, _, _, "dfs_itb", _] => {
            "the text says that routes are chosen at random; what is published fits the choice of \
             compliant routes first, which tables 1 and 2 run beside it"
        }
        ["t2", _, _, "sw64", "ud_mitb" | "ud_itb", _] => {
            "without contention this follows from the lengths of routes and the number of stops; a \
             smaller increase means that UD met with some, so that the paper's very low traffic was \
             probably higher than here"
        }
        ["t3", "local", ..] => {
            "5 switches reach nearly every host of these networks, so that local traffic is nearly \
             uniform; the published factors are far from those of uniform traffic, so that the paper \
             probably counts otherwise"
        }
        ["t1" | "t3", _, _, "ud_mitb" | "ud_itb", _] | ["fig2", _, "ud_mitb" | "ud_itb"] => {
            "what UD carries depends on the root of its tree, which the paper does not state: on four \
             networks each of 16, 32 and 64 switches, the most remote root carried 1.10, 1.37 and 1.30 \
             times what the most central one did, which is used here"
        }
        ["util", "smart", "in15_20"] => {
            "mean utilisation is traffic times links per route over 0.64 flits/ns: 15 to 20 % at this \
             traffic means routes of 3.2 to 4.3 links, longer than networks of 32 switches have"
        }
        _ => return None,
    })
}
