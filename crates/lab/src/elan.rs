//! Elans: from the experiment file to the NICs.

use crosstie_sim::elan::mmu::{Memory, TlbSpec};
use crosstie_sim::elan::{ElanSpec, Format, PciSpec};
use crosstie_study::{Elan, ElanMemory, ElanPacket, ElanPci, ElanTlb, Spec};
use crosstie_units::{Bytes, Time};

/// The NICs of a spec, if they are Elans.
pub(crate) fn elan(spec: &Spec) -> Option<ElanSpec> {
    let elan = spec.node.elan.as_ref()?;
    // The ranges of the experiment file lie within the types.
    let bytes = |size: Bytes| size.get() as u32;
    let memory = |memory| match memory {
        ElanMemory::Main => Memory::Main,
        ElanMemory::Elan => Memory::Elan,
    };
    let Elan { source, destination, post, command, start, input, event, copy, notice, .. } = *elan;
    let Elan { slice, buffers, ahead, path, packet, pci, tlb, tports, .. } = *elan;
    let ElanPacket { block, blocks, header, block_overhead } = packet;
    let ElanPci { read, write, shared, read_latency, write_latency } = pci;
    let ElanTlb { entries, page, miss } = tlb;
    Some(ElanSpec {
        format: Format {
            block: bytes(block),
            blocks,
            header: bytes(header),
            block_overhead: bytes(block_overhead),
        },
        post,
        command,
        start,
        slice,
        input,
        event,
        copy,
        copied: bytes(block),
        notice,
        path: Some(path),
        link: spec.link.rate,
        buffers,
        ahead,
        circuits: spec.switch.virtual_channels,
        matching: tports.map_or(Time::ZERO, |tports| tports.r#match),
        pci: PciSpec { read, write, both: shared.then_some(write), read_latency, write_latency },
        tlb: TlbSpec { entries, page: bytes(page), miss },
        source: memory(source),
        destination: memory(destination),
    })
}
