//! Coll et al., "Using Multirail Networks in High Performance Clusters".

mod figures;

use super::{
    Drawing, Evidence, Machine, OtherReading, Paper, Part, Reading, Remark, rails_by_nodes,
};
use crosstie_protocol::{largest_cluster, rails_algorithm1, rails_optimal};
use crosstie_study::Figure;
use crosstie_study::paper::{Claim, Measured};

pub(super) const PAPER: Paper = Paper {
    name: "coll-multirail",
    title: "Using Multirail Networks in High Performance Clusters",
    citation: "Coll, Frachtenberg, Petrini, Hoisie, Gurvits: Using Multirail Networks in High \
               Performance Clusters",
    parts: parts![
        "coll":
        "fig07-10-4k",
        "fig07-10-64k",
        "fig11",
        "fig12" @ "64",
        "fig13" @ "64",
        "fig14" @ "64",
        "fig15" @ "64",
        "fig16",
        "fig17-20-striped" @ "64",
        "fig17-20-unstriped" @ "64",
        "worms",
        "blocking",
        "elements" @ "64",
    ],
    readings: &[
        OtherReading {
            name: "64",
            says: "where two digits are lost, 64 instead of 32: mean sizes of figures 12, 14, 15 and 17 to 20 \
                   in KB, nodes of figures 13 to 15, the largest threshold of hybrid",
            machine: None,
        },
        OtherReading {
            name: "elan",
            says: "nodes with the NICs of QsNet, Elan3 on PCI as measured by Petrini et al., in place of NICs \
                   that do their work in no time on a half-duplex bus as fast as the link",
            machine: Some(Machine {
                changes: text!("coll/reading-elan/machine"),
                spares: &["worms"],
            }),
        },
    ],
    live: &[],
    tells_live: |_| false,
    drawings,
    grids: Vec::new,
    published: text!("coll/published"),
    measure,
    remark,
};

/// Figure 2.
fn drawings(_: &Evidence) -> Vec<Drawing> {
    let (figure, rows) = rails_by_nodes();
    let title = Some("Figure 2: rails needed under static allocation".to_owned());
    vec![(Figure { title, ..figure }, rows)]
}

fn measure(claim: &Claim, evidence: &Evidence) -> Reading {
    if let Some(measured) = allocation(&claim.id) {
        return Some(Ok(measured));
    }
    if let Some(measured) = figures::measure(&claim.id, evidence) {
        return Some(measured);
    }
    Some(Ok(match claim.id.as_str() {
        "intro.raw_bw" => Measured::beyond("a property of the hardware; the experiments use it"),
        "intro.user_bw" | "intro.pci_bw" | "intro.pci_bidir" => {
            Measured::beyond("measured on hardware of the time, which no simulation replaces")
        }
        _ => return None,
    }))
}

/// Static allocation is arithmetic: `static.max_nodes.r6` and its kin need no rows.
fn allocation(id: &str) -> Option<Measured> {
    let number = |prefix: &str| id.strip_prefix(prefix)?.parse::<u32>().ok();
    let count = if let Some(rails) = number("static.max_nodes.r") {
        largest_cluster(rails) as f64
    } else if let Some(rails) = number("static.alg1.max_nodes.r") {
        most_nodes_of_algorithm1(rails)
    } else if let Some(nodes) = number("static.rails.optimal.n") {
        f64::from(rails_optimal(nodes))
    } else {
        f64::from(rails_algorithm1(number("static.rails.log.n")?))
    };
    Some(Measured::exact(count))
}

/// The most nodes for which Algorithm 1 needs no more than `rails` rails.
fn most_nodes_of_algorithm1(rails: u32) -> f64 {
    let fits = |nodes: &u32| rails_algorithm1(*nodes) <= rails;
    f64::from((2..).take_while(fits).last().unwrap_or(1))
}

/// What is to be said of a claim that does not agree.
fn remark(id: &str) -> Option<Remark> {
    Some(match id {
        "headline.dynamic_vs_local" | "concl.hybrid_vs_local" => Remark::measured(
            "open: local-dynamic carries more here than in the paper. All that it lacks is knowledge of the \
             receiver, where two messages for one NIC share a bus packet by packet. As worms it carries 7 % \
             less (part `worms`), which is not enough; the abstract does not give the setting",
        ),
        "headline.dynamic_vs_basic" | "f12.gain_32" | "f12.gain_128" => Remark::measured(
            "basic carries less here, because an element that sends one message at a time leaves rails \
             idle under it; if elements do not wait for their messages (part `blocking`), dynamic gains 15 % \
             at 64 KB. The paper lies between",
        ),
        "f7_10.basic_size" | "f13.basic_size" => Remark::unresolved(
            "the fall is there and small: it stays within the uncertainty of these runs, or comes in steps \
             that do. Nothing in a message of basic depends on its size but how unevenly rails are filled",
        ),
        "f7_10.short_order" => Remark::measured(
            "elements that wait for their messages cost basic a quarter of its load and local-dynamic \
             nothing (part `blocking`): without that, both carry nearly the same",
        ),
        "f12.loss_max" => Remark::measured(
            "open: dynamic loses most here, and less than any reading of the paper allows; its runs know that \
             to 0.6 %",
        ),
        "f13.improve_size" | "concl.superlinear_size" | "f14.dynamic" => Remark::measured(
            "four elements that send one message at a time cannot keep seven rails busy. With 8 or 12 in a node \
             the load per rail is the same for 1 and for 7 rails (part `elements`)",
        ),
        "f17_20.bandwidth" => Remark::unresolved(
            "equal within uncertainty. Of messages of 32 KB on average, those below 4 KB are 12 % and carry \
             0.7 % of the bytes, so that not reserving for them can gain little",
        ),
        _ => return None,
    })
}
