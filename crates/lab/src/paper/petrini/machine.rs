//! What the machine is made of, as the parts have it, and what follows from published numbers
//! alone.

use super::{PAPER, trees};
use crate::elan::elan;
use crate::paper::{Scale, numbers};
use crosstie_fabric::{HostId, KaryTree};
use crosstie_study::paper::Measured;
use crosstie_study::{Fabric, Spec};
use crosstie_units::Rate;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What the paper publishes, by claim.
static PUBLISHED: LazyLock<BTreeMap<String, f64>> = LazyLock::new(|| numbers(&PAPER));

/// The machine of all parts.
static MACHINE: LazyLock<Spec> = LazyLock::new(|| {
    let part = PAPER.part("exchange").expect("a part of this paper");
    let study = part.study(Scale::Usual).unwrap_or_else(|mistake| panic!("{mistake}"));
    study.points()[0].spec.clone()
});

/// Tells what the machine is or what follows from published numbers; nothing if the claim is about
/// something else.
pub(super) fn measure(id: &str) -> Option<Measured> {
    taken(id).or_else(|| derived(id)).map(Measured::exact)
}

/// What the parts take.
fn taken(id: &str) -> Option<f64> {
    let spec: &Spec = &MACHINE;
    let nic = elan(spec)?;
    let Fabric::Tree(shape) = &spec.fabric else { return None };
    let tree = KaryTree::full(u16::try_from(shape.k).ok()?, u16::try_from(shape.n).ok()?).ok()?;
    let full = nic.format.payload();
    let crossed = |to| trees::tags(tree, HostId(0), HostId(to)).len() as f64;
    let cycle = spec.link.cycle().ps() as f64 / 1e3;
    Some(match id {
        "elan.tlb_entries" => nic.tlb.entries.into(),
        "elan.link_fifo" => spec.switch.buffer.into(),
        "elan.virtual_channels" | "elite.virtual_channels" => spec.switch.virtual_channels.into(),
        "elite.links" => 2.0 * f64::from(tree.k),
        "elite.link_bw" => megabytes(spec.link.rate),
        // The head is routed, and crosses the switch in one cycle more.
        "elite.latency" => f64::from(spec.switch.routing_delay + 1) * cycle,
        "net.flit_bits" => 8.0 * spec.link.flit.get() as f64,
        "net.flit_time" => cycle,
        "pkt.max_payload" => full.into(),
        "pkt.block" => nic.format.block.into(),
        "pkt.blocks" => nic.format.blocks.into(),
        "pkt.overhead" => f64::from(nic.format.wire_bytes(full) - full),
        "pkt.wire" => nic.format.wire_bytes(full).into(),
        "pkt.wire_time" => 1e3 * f64::from(nic.format.wire_bytes(full)) / megabytes(spec.link.rate),
        "cluster.smps" => spec.schedule.ranks?.into(),
        "cluster.processes" => spec.cluster.pes.into(),
        "cluster.ports" => shape.hosts.into(),
        "cluster.elites" => tree.switches().into(),
        "cluster.tree_dimension" => shape.n.into(),
        "bench.switch_near" => crossed(1),
        "bench.switch_far" => crossed(4),
        "bench.switch_ncas" => tree.nca(HostId(0), HostId(4)).len() as f64,
        "pci.write" => megabytes(nic.pci.write),
        "pci.read" => megabytes(nic.pci.read),
        _ => return None,
    })
}

/// What follows from other published numbers.
fn derived(id: &str) -> Option<f64> {
    let published = |id: &str| PUBLISHED[id];
    let on_the_wire = |payload: f64| payload * published("pkt.wire") / published("pkt.max_payload");
    // The rate, which is published as 335 MB/s and judged as a range.
    let peak = 335.0;
    let bound = |bytes: f64, nodes: f64, rate: f64| bytes * (nodes - 1.0) / rate;
    Some(match id {
        "pkt.period" => 1e3 * published("pkt.max_payload") / peak,
        "pkt.payload_ceiling" => {
            published("elite.link_bw") * published("pkt.max_payload") / published("pkt.wire")
        }
        "f8.wire_bw" => on_the_wire(peak),
        "f8.wire_share" => 100.0 * on_the_wire(peak) / published("elite.link_bw"),
        "f9.ratio.elan_elan" => published("f9.bw.elan_elan") / peak,
        // 64 bits at 66 MHz.
        "cluster.pci_peak" => 8.0 * 66.0,
        "map.host_top" => (HOST_BASE + (ELAN_TOP - ELAN_BASE)) as f64,
        "map.offset" => (HOST_BASE - ELAN_BASE) as f64,
        "f7.slope" => (published("f7.barrier8") - published("f7.barrier2")) / 6.0,
        "eq1.s1024" => bound(1024.0, 8.0, 140.0),
        "eq1.s256" => bound(256.0, 8.0, 140.0),
        "eq1.s65536" => bound(65536.0, 8.0, 140.0),
        "eq1.s1" => bound(1.0, 2.0, 1.0),
        _ => return None,
    })
}

/// The window of a host of 64 bits, and its Elan's (section 3.1.2).
const HOST_BASE: u64 = 0x1FF_0C80_8000;
const ELAN_BASE: u64 = 0xC80_8000;
const ELAN_TOP: u64 = 0xFFFF_FFFF;

fn megabytes(rate: Rate) -> f64 {
    rate.bytes_per_second() as f64 / 1e6
}
