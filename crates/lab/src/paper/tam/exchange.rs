//! Chapters 5 and 6: complete exchanges on one switch and on two levels of switches.

mod figures;
mod formulas;
mod hierarchies;
mod machines;
mod runs;
mod single;
mod uplinks;

use super::super::{Evidence, Reading, Remark};
use super::Answer;
use crosstie_study::paper::{Claim, Grid, GridRow, Measured};

pub(super) use figures::drawings;

pub(super) fn measure(claim: &Claim, evidence: &Evidence) -> Reading {
    beyond(&claim.id)
        .or_else(|| formulas::measure(&claim.id))
        .or_else(|| machines::measure(&claim.id))
        .map(Ok)
        .or_else(|| single::measure(&claim.id, evidence))
        .or_else(|| uplinks::measure(&claim.id, evidence))
        .or_else(|| hierarchies::measure(&claim.id, evidence))
}

/// A two-level network of chapter 6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hierarchy {
    /// d_1: nodes at a switch.
    here: u32,
    /// d_2: switches.
    switches: u32,
}

/// In the order of the chapter.
const HIERARCHIES: [Hierarchy; 4] = [
    Hierarchy { here: 8, switches: 2 },
    Hierarchy { here: 8, switches: 3 },
    Hierarchy { here: 6, switches: 4 },
    Hierarchy { here: 8, switches: 4 },
];

impl Hierarchy {
    /// "8x2".
    fn name(self) -> String {
        format!("{}x{}", self.here, self.switches)
    }

    fn named(name: &str) -> Option<Hierarchy> {
        HIERARCHIES.into_iter().find(|hierarchy| hierarchy.name() == name)
    }

    fn nodes(self) -> u32 {
        self.here * self.switches
    }
}

/// B_L: frames at an input of the IBM 8275-326, and at that of its uplink.
const INPUT: u32 = 43;
const UPLINK: u32 = 45;

/// Why a claim cannot be measured here; nothing if it can.
fn beyond(id: &str) -> Option<Measured> {
    let words: Vec<&str> = id.split('.').collect();
    let why = match words[..] {
        ["ch6", _, "pairmpi" | "mpich"] | ["ch6", "pairmpi" | "mpich", "series"] => MPI,
        ["ch6", "mpi", "ratio"] | ["ch6", "shape", "mpi" | "mpichsmall"] => MPI,
        ["ch5", "shape", "mpich"] => MPI,
        ["fig5", "6", "pairwise", "limit"] => {
            "a host whose memory of 128 MB is full, which no simulated host has"
        }
        ["ch6", "8x2", "bisection"] | ["ch6", "backplane", _] => {
            "a property of the machine; simulated are its ports"
        }
        _ => return None,
    };
    Some(Measured::beyond(why))
}

const MPI: &str = "open: MPI over the kernel's TCP of 2001 is not simulated, for what it costs a host is not published; a constant for \
                   each library would be the result itself";

/// Tables 5.1 and 6.1, and what Figures 6.7 to 6.10 say in numbers.
pub(super) fn grids() -> Vec<Grid> {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let table_5_1 = |ranks: u32| {
        let row = |what: &str, title: &str| GridRow {
            names: vec![title.to_owned()],
            cells: ["sync", "group", "pairwise", "shift"]
                .map(|algorithm| format!("t5.1.p{ranks}.{algorithm}.{what}"))
                .to_vec(),
        };
        Grid {
            title: format!("Table 5.1, {ranks} nodes"),
            heads: names(&["quantity"]),
            columns: names(&["synchronous", "group", "pairwise", "shift"]),
            rows: vec![row("fanout", "fan-out"), row("rounds", "rounds"), row("stalls", "stalls")],
        }
    };
    let of_hierarchy = |hierarchy: &Hierarchy| {
        let name = hierarchy.name();
        let cells = ["Wg.used", "best", "achieved", "efficiency"];
        let cells = cells.map(|what| format!("ch6.{name}.{what}")).to_vec();
        GridRow { names: vec![name], cells }
    };
    let buffer =
        |id: &str, name: &str| GridRow { names: names(&[name]), cells: vec![format!("t6.1.{id}")] };
    vec![
        table_5_1(16),
        table_5_1(8),
        Grid {
            title: "Table 6.1: buffers".to_owned(),
            heads: names(&["port"]),
            columns: names(&["packets"]),
            rows: vec![
                buffer("alcatel_pr2200", "Alcatel PowerRail 2200"),
                buffer("ibm_8275_326", "IBM 8275-326"),
                buffer("ibm_ge_uplink", "IBM 8275-326, uplink"),
            ],
        },
        Grid {
            title: "Section 6.3: the modified shuffle on two levels of switches".to_owned(),
            heads: names(&["network"]),
            columns: names(&["W_g", "best, MB/s", "achieved, MB/s", "share"]),
            rows: HIERARCHIES.iter().map(of_hierarchy).collect(),
        },
    ]
}

/// What is to be said of a claim that does not agree.
pub(super) fn remark(id: &str) -> Option<Remark> {
    let words: Vec<&str> = id.split('.').collect();
    Some(match words[..] {
        ["t5", "2", "g_s"] => {
            Remark::always("simulated is the wire: a frame of 1500 bytes takes 123.04 us of it")
        }
        ["ch6", "message", _] => Remark::always(
            "simulated messages are of whole packets: from 1 to 824 of 1492 bytes, 1200.6 KiB",
        ),
        ["ch6", "uplink", "capacity"] => Remark::always(
            "the circuit is set so that ten streams go up, seven come down and both directions carry about 103 MB/s; what flows \
             carry of it depends a little on how many packets each has",
        ),
        ["fig5", "3", "best", ..] => Remark::either(
            "here acknowledgements ride on data and cost nothing while there is data to ride on. With one of their own for two \
             packets nodes carry less than the thesis says (part `exchange-readings`): its acknowledgements, which it does not \
             state, lie between the two",
        ),
        ["fig5", "3", "k4", _] => Remark::always(
            "synchronous shuffle with 4 packets takes what Eq. 5.3 says: no acknowledgement has a frame of its own. What held up \
             the thesis's nodes by 8 % is not stated",
        ),
        ["fig5", "6", "sync", "limit"] => Remark::always(
            "where it falls is decided by windows, time-outs and the rings of NICs, which the thesis does not state. Here a host \
             writes up to 32 packets for each of 15 others into its ring; a packet that waits for its window holds up those \
             behind it, hosts come out of step, and frames at the heads of inputs block those behind them earlier than in the \
             thesis. With a ring of 16 frames hosts stay in step, and it does not fall at all (part `exchange-readings`)",
        ),
        ["fig5", "6", "group", "limit"] | ["fig5", "6", "limit", "ratio"] => Remark::always(
            "five windows of 32 packets are more than the 43 frames of an input: rounds that begin at different times overflow \
             it. With windows of 8, five of which fit, groups lose nothing (part `exchange-readings`); the thesis does not \
             state its window",
        ),
        ["fig5", "6", "shape"] => Remark::always(
            "synchronous shuffle falls sharply, as published, but earlier; groups lose frames too and fall less; pairwise loses none, \
             and carries less in long runs, for acknowledgements of their own wait behind data",
        ),
        ["ch5", "shape", "order"] => Remark::either(
            "synchronous before group before pairwise at every number of nodes on both switches. Pairwise and shift are equal where \
             neither waits for the other direction: on the output-buffered switch, and among few nodes",
        ),
        ["ch5", "shape", "smallk"] => Remark::always(
            "the distance falls from 50 % with 2 packets to a few per cent, and grows again a little with the acknowledgements that \
             long pairwise exchanges send",
        ),
        ["ch5", "shape", "omega"] => Remark::always(
            "as published with 4 and 40 packets. With 400 packets large groups are blocked at the inputs, as synchronous shuffle is \
             (claim `fig5.6.sync.limit`), and small groups are best",
        ),
        ["ch5", "shape", "buffering"] => Remark::always(
            "for long exchanges it is better on the output-buffered switch, as published. A short one is done sooner on the switch \
             that cuts through, whose latency is shorter by 115 us (Table 5.2), and the two that store are equal to 0.1 %",
        ),
        ["ch5", "shape", "forwarding"] => Remark::always(
            "pairwise is alike within 4 %, and groups with few packets are slower where frames are stored, as published. With 100 \
             packets groups are near their limit on this switch (claim `fig5.6.group.limit`), and runs differ",
        ),
        ["ch5", "shape", "piggyback"] => Remark::always(
            "on the cut-through switch pairwise is far ahead of shift in long exchanges. Where frames are stored both take nearly the \
             same time: here a window of 32 packets lets shift's acknowledgements wait for the data of a later round",
        ),
        ["ch5", "hol", "n8"] => Remark::either(
            "hosts send to 7 others and never to themselves, which lifts the throughput of 8 ports by about 0.015; that of 16 and \
             24 agrees",
        ),
        ["ch6", "8x2" | "8x3" | "6x4", "efficiency"]
        | ["ch6", "8x4", "achieved"]
        | ["ch6", "efficiency" | "achieved", "series"] => Remark::either(
            "the order is as published, and 8x3, 6x4 and 8x4 reach all that Eq. 6.4 allows: every acknowledgement rides on data, so \
             that nothing but payload goes through the uplinks. The thesis's nodes reached 88 to 93 % of it; what control \
             traffic or pauses took the rest is not published",
        ),
        ["ch6", "16x1", "eff", _] => Remark::always(
            "with acknowledgements on data and 5 us of jitter nothing but the first and the last packet keeps a node from the \
             formula; the thesis does not state what kept its nodes from it",
        ),
        ["ch6", "fig6", "6", "flows"] => Remark::either(
            "from 14 flows on the sum is within 1 % of its peak; where in that plateau the peak lies is decided by little",
        ),
        ["ch6", "shape", "best"] => Remark::always(
            "it is the fastest wherever anything is lost. With 4 packets to each nothing overflows yet, and a window only \
             costs: a shuffle with the map alone is a little faster there in one hierarchy",
        ),
        ["ch6", "shape", "pair8x2"] => Remark::always(
            "it rises until the uplink is full and then loses frames, and the map makes it slower, as published. Longer exchanges \
             lose on, and do not recover: a time-out takes as long as many packets",
        ),
        ["ch6", "shape", "pair8x3"] => Remark::always(
            "it loses from shorter messages on than in 8x2, as published. The map does not help here: consecutive rounds then go to \
             different switches, but all nodes of a switch still cross its uplink in the same round",
        ),
        ["ch6", "shape", "pair6x4"] => Remark::always(
            "it loses from longer messages on than in 8x3, as published; how it rises again differs from run to run",
        ),
        ["ch6", "shape", "pair8x4"] => Remark::always(
            "MPI is not measured. The map does not help pairwise here on average, as in 8x3",
        ),
        _ => return None,
    })
}
