//! Links and switches of a frame network: from the experiment file to the engine.

use crosstie_fabric::{Fabric, Node};
use crosstie_sim::frame::{Capacity, Forwarding, Line, Memory, SwitchSpec};
use crosstie_sim::network::Pace;
use crosstie_study::{self as study, FrameSwitch, Spec};
use crosstie_units::{Rate, Time};

/// The links and switches of one rail, by number.
pub(crate) struct Ethernet {
    pub lines: Vec<Line>,
    pub switches: Vec<SwitchSpec>,
}

/// What a spec makes of a fabric.
pub(crate) fn ethernet(spec: &Spec, fabric: &Fabric) -> Ethernet {
    let host = Line { pace: pace(spec.link.rate), wire: spec.link.wire };
    let uplink = &spec.frame.uplink;
    let between = Line { pace: pace(uplink.rate(&spec.link)), wire: uplink.wire(&spec.link) };
    let is_switch = |node| matches!(node, Node::Switch(_));
    let lines = fabric.links().map(|link| {
        let channel = fabric.channel(link.channels()[0]);
        let joins_switches = is_switch(channel.from.node) && is_switch(channel.to.node);
        if joins_switches { between } else { host }
    });
    let has_hosts = |switch| {
        let mut ends = fabric.out_channels(switch).map(|channel| fabric.channel(channel).to.node);
        ends.any(|node| !is_switch(node))
    };
    let switches = fabric.switches().map(|number| {
        switch(if has_hosts(number) { &spec.frame.switch } else { spec.frame.core() })
    });
    Ethernet { lines: lines.collect(), switches: switches.collect() }
}

pub(crate) fn pace(rate: Rate) -> Pace {
    Pace { time: Time::from_ns(1_000_000_000), bytes: rate.bytes_per_second() }
}

fn switch(switch: &FrameSwitch) -> SwitchSpec {
    let FrameSwitch { forwarding, lookup, latency, memory } = *switch;
    SwitchSpec {
        forwarding: match forwarding {
            study::Forwarding::StoreAndForward => Forwarding::StoreAndForward,
            study::Forwarding::CutThrough => Forwarding::CutThrough,
        },
        lookup,
        latency,
        memory: match memory {
            study::Memory::Input { capacity, uplink } => {
                Memory::Input { host: room(capacity), uplink: room(uplink.unwrap_or(capacity)) }
            }
            study::Memory::Output { capacity, uplink } => {
                Memory::Output { host: room(capacity), uplink: room(uplink.unwrap_or(capacity)) }
            }
            study::Memory::Shared { capacity, cap, uplink } => {
                Memory::Shared { all: room(capacity), cap: cap.map(room), uplink: uplink.map(room) }
            }
        },
    }
}

fn room(capacity: study::Capacity) -> Capacity {
    match capacity {
        study::Capacity::Frames(frames) => Capacity::Frames(frames),
        study::Capacity::Bytes(bytes) => Capacity::Bytes(bytes.get()),
    }
}
