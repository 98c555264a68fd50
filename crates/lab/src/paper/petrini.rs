//! Petrini, Hoisie, Feng and Graham, "Performance Evaluation of the Quadrics Interconnection
//! Network".

mod barriers;
mod exchange;
mod figures;
mod hotspots;
mod machine;
mod puts;
mod tports;
mod trees;

use super::{Evidence, Paper, Part, Reading, Remark};
use crosstie_study::paper::{Claim, Estimate, Grid, GridRow, Measured, Missing};

/// The paper.
pub(super) const PAPER: Paper = Paper {
    name: "petrini-qsnet",
    title: "Puts, hot spots and exchanges on Quadrics QsNet",
    citation: "Petrini, Hoisie, Feng, Graham: Performance Evaluation of the Quadrics Interconnection Network",
    parts: parts![
        "petrini":
        "hop",
        "barrier",
        "barriers",
        "put",
        "stream",
        "both",
        "within",
        "within-both",
        "path",
        "read",
        "write",
        "exchange",
        "tlb",
        "tports",
        "tports-both",
    ],
    readings: &[],
    live: &[],
    tells_live: |_| false,
    drawings: figures::drawings,
    grids,
    published: text!("petrini/published"),
    measure,
    remark,
};

type Answer = Result<Measured, Missing>;

/// Heights of a figure by what stands at its foot.
type Line = Vec<(f64, f64)>;

fn measure(claim: &Claim, evidence: &Evidence) -> Reading {
    let id = &claim.id;
    beyond(id)
        .or_else(|| machine::measure(id))
        .or_else(|| trees::measure(id))
        .map(Ok)
        .or_else(|| puts::measure(claim, evidence))
        .or_else(|| tports::measure(claim, evidence))
        .or_else(|| hotspots::measure(id, evidence))
        .or_else(|| exchange::measure(id, evidence))
        .or_else(|| barriers::measure(id, evidence))
}

/// Why a claim cannot be measured; nothing if it can.
fn beyond(id: &str) -> Option<Measured> {
    let words: Vec<&str> = id.split('.').collect();
    let why = match words[..] {
        ["f13", "mpi_main"] => {
            "open: what MPI adds to tagged ports is not published; these carry as much (f13.tports_main)"
        }
        ["f13", "groups"] => {
            "open: two of the six curves are of MPI, or not named; the four of tagged ports stand beside"
        }
        ["f15", "mpi_drop"] => {
            "open: the bus explains 31 %, for whatever library; what MPI adds to tagged ports is not published"
        }
        ["f15", "tports"] => {
            "open: it is a difference to MPI, of which nothing is published but tagged ports"
        }
        _ => return None,
    };
    Some(Measured::beyond(why))
}

/// What lies furthest from a published number.
fn furthest(
    from: f64,
    all: impl IntoIterator<Item = Result<Estimate, Missing>>,
) -> Result<Estimate, Missing> {
    let all: Vec<Estimate> = all.into_iter().collect::<Result<_, _>>()?;
    let apart = |found: &Estimate| (found.value - from).abs();
    let most = all.into_iter().max_by(|a, b| apart(a).total_cmp(&apart(b)));
    most.ok_or_else(|| Missing("nothing has been measured".to_owned()))
}

/// How far values are from their mean at most, as a share of it.
fn spread(values: &[f64]) -> f64 {
    let first = values.first().copied().unwrap_or_default();
    // Exactly the first if all are alike.
    let mean = first + values.iter().map(|value| value - first).sum::<f64>() / values.len() as f64;
    values.iter().map(|value| (value / mean - 1.0).abs()).fold(0.0, f64::max)
}

/// Figures 8 and 9 in numbers.
fn grids() -> Vec<Grid> {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let row = |name: &str, cells: &[&str]| GridRow { names: names(&[name]), cells: names(cells) };
    vec![
        Grid {
            title: "Bandwidth in MB/s, one way (Figure 8a)".to_owned(),
            heads: names(&["from"]),
            columns: names(&["to Elan memory", "to main memory"]),
            rows: vec![
                row("Elan memory", &["f8.bw.elan_elan", "f8.bw.elan_main"]),
                row("main memory", &["f8.bw.main_elan", "f8.bw.main_main"]),
            ],
        },
        Grid {
            title: "Short puts in us, and long ones in MB/s each way, one way and both (Figures 8 and 9)"
                .to_owned(),
            heads: names(&["between memories"]),
            columns: names(&["us, one way", "us, both ways", "MB/s, one way", "MB/s, both ways"]),
            rows: vec![
                row(
                    "of NICs",
                    &["f8.lat64.elan_elan", "f9.lat.elan_elan", "f8.bw.elan_elan", "f9.bw.elan_elan"],
                ),
                row(
                    "of hosts",
                    &["f8.lat64.main_main", "f9.lat.main_main", "f8.bw.main_main", "f9.bw.main_main"],
                ),
            ],
        },
    ]
}

/// What is to be said of a claim that does not agree.
fn remark(id: &str) -> Option<Remark> {
    let words: Vec<&str> = id.split('.').collect();
    Some(match words[..] {
        ["f7", "barrier8"] => Remark::always(
            "each arrival occupies the microcode processor of host 0 for three of the seven steps of a put: it is taken in, sets its event, \
             and has it copied to main memory. That the seven steps take 200 ns each is an assumption, as the paper states their sum alone; \
             its 0.2 us for each host ask for three steps of 200 ns together, or for arrivals that are counted before anything is copied, of \
             which it says nothing",
        ),
        ["f7", "shape"] => Remark::always(
            "the fifth host is the first behind another leaf switch: from there on signals and release cross two switches more",
        ),
        ["f12", "latency"] => Remark::always(
            "the time of the exchange and that of the barrier of 8 hosts, one after the other, for the size that is farthest from 20 us. Up to 64 \
             bytes both together are within a tenth of it",
        ),
        ["f8", "lat1"] => Remark::always(
            "a write block takes the same whatever is in it. The paper gives byte extraction and misalignment as the reason, and \
             no number that could be taken for them",
        ),
        ["f8" | "abs", "nhalf"] => Remark::always(
            "a packet is read whole before it goes onto the link, and is in the other NIC whole before it is written. So the first \
             320 bytes pass one stage after the other and a put of some hundred bytes is slow, while puts back to back share \
             all stages: 512 bytes lie between the two. The paper does not say which it measured; from its latencies follow 640 to 740",
        ),
        ["f8", "intra"] => Remark::always(
            "data cross the bus twice, which passes 275 MB/s of reads and writes together: 137 of each. The rule of the bus gives \
             the published rates both ways and within a host both ways; this one it misses by 8 %",
        ),
        ["f14", "tports_mpi"] => Remark::always(
            "the match is fitted to this number, with messages that fill one block with their envelope of 32 bytes: how long that \
             is, the paper does not say. With 64 bytes there are two blocks, and 0.6 us more",
        ),
        ["f9", "lat_increase"] => Remark::always(
            "at each NIC the event of its own put and that of the other come within 100 ns of each other and take turns on the \
             microcode processor, then on the bus: 335 ns. Both latencies agree all the same. Which steps of a put occupy that \
             processor, and how long each takes, the paper does not say",
        ),
        ["f12", "peak"] => Remark::always(
            "the bus alone holds hosts up, whose 275 MB/s are half for each direction, so that an exchange is as fast as two hosts both \
             ways. Open is what costs the measured exchange a few per cent more: the paper does not say how it sends, nor what its \
             software costs",
        ),
        ["f12", "degrade" | "falls"] => Remark::always(
            "open: nothing here depends on the length of a message beyond its packets. The authors guess at buffering, and give \
             no mechanism. A TLB whose misses take 2 us makes pairwise fall by 3 % from 128 to 256 KiB, and the fastest exchange by next \
             to nothing (part `tlb`); neither that time nor the pages are published",
        ),
        ["f12", "flat"] => Remark::always(
            "flat up to one block of 64 bytes, where the microcode processor is the limit. From two blocks on it is the bus, which \
             carries each way 7 messages and the blocks of 14 events; no constant for a barrier makes that flat",
        ),
        _ => return None,
    })
}
