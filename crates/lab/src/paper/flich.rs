//! Flich et al., "Combining In-Transit Buffers with Optimized Routing Schemes".

mod curves;
mod links;
mod scheme;
mod tables;

use super::{Evidence, Paper, Part, Reading, Remark};
use crosstie_study::paper::{Claim, Measured, Missing};

pub(super) const PAPER: Paper = Paper {
    name: "flich-itb",
    title: "Combining In-Transit Buffers with Optimized Routing Schemes",
    citation: "Flich, Lopez, Malumbres, Duato, Rokicki: Combining In-Transit Buffers with Optimized \
               Routing Schemes to Boost the Performance of Networks with Source Routing",
    parts: parts![
        "flich":
        "fig1-2-16",
        "fig1-2-32",
        "fig1-2-64",
        "fig3",
        "table1" full,
        "table2" full,
        "table3" full,
        "readings-throughput",
        "readings-latency",
        "readings-links",
    ],
    readings: &[],
    live: &[],
    tells_live: |_| false,
    drawings: links::drawings,
    grids: tables::grids,
    published: text!("flich/published"),
    measure,
    remark,
};

type Answer = Result<Measured, Missing>;

/// The paper's networks.
const SIZES: [&str; 3] = ["16", "32", "64"];

fn measure(claim: &Claim, evidence: &Evidence) -> Reading {
    tables::measure(claim, evidence)
        .or_else(|| curves::measure(claim, evidence))
        .or_else(|| links::measure(claim, evidence))
}

/// What is to be said of a claim that does not agree.
fn remark(id: &str) -> Option<Remark> {
    let words: Vec<&str> = id.split('.').collect();
    Some(match words[..] {
        ["t3", "local", ..] => Remark::measured(
            "inferred from the numbers: 5 switches are counted along the routes of UD, to the same \
             destinations for all routings. In the graph 5 switches reach nearly every host of these \
             networks, local traffic is nearly uniform, and so are the factors, which the published ones \
             are far from",
        ),
        ["t1" | "t3", _, _, "ud_mitb", _] | ["fig2", _, "ud_mitb"] => Remark::measured(
            "open: UD_MITB is less even in the paper than here. At 0.03 flits/ns/switch 10 % of its channels \
             are busier than 30 % there (Figure 3b), and none here. Taking the first legal minimal route \
             found, or those that go up first, instead of any, lowered its throughput by 4 % at most, which \
             is not enough",
        ),
        ["t1" | "t3", _, _, "ud_itb", _] | ["fig2", _, "ud_itb"] | ["sat", ..] => Remark::measured(
            "what UD carries depends on the root of its tree and on which of several legal routes is taken, \
             and the paper states neither. Here any switch is the root and routes are balanced, as \
             Myrinet's mapper has it; with the most central switch and routes drawn at random UD carries \
             10 to 15 % less (part `readings-throughput`)",
        ),
        ["itbs", "dfs_itb", _]
        | ["t2", _, _, _, "dfs_itb", _]
        | ["fig2", "shape", "ud_dfs_itb"] => Remark::measured(
            "the text says that DFS_ITB takes minimal routes at random; the stops and latencies that it \
             publishes ask for routes without stops first, which is what runs here. With random ones \
             DFS_ITB carries 8 to 10 % more, and nearly as much as UD_ITB (part `readings-throughput`)",
        ),
        ["t2", _, _, "sw64", "ud_mitb" | "ud_itb", _] => Remark::measured(
            "how low very low traffic is decides this: with little more of it UD meets contention with 64 \
             switches, and the increase turns into a decrease (part `readings-latency`)",
        ),
        ["fig1", "shape", "best"] => Remark::unresolved(
            "on a network of 16 switches SMART and DFS saturate at the same traffic, within the precision of \
             the search",
        ),
        ["util", "smart", "in15_20"] => Remark::always(
            "mean utilisation is traffic times links per route over 0.64 flits/ns: 15 to 20 % at this \
             traffic means routes of 3.2 to 4.3 links, longer than networks of 32 switches have",
        ),
        ["util", "dfs", "gt30"] => Remark::measured(
            "of one network that the paper does not give; here its routes are balanced, and the busiest \
             channel is below 30 %",
        ),
        ["util", "shape", "b_itb"] => Remark::always(
            "routes of B_ITB are shorter than those of SMART, so that all its channels are less busy; both \
             are even",
        ),
        ["blocked", ..] => Remark::measured(
            "of one network that the paper does not give. SMART saturates at 0.063 flits/ns/switch on average \
             here, so that 0.05 is farther from it than in the paper, where channels are blocked for longer",
        ),
        _ => return None,
    })
}
