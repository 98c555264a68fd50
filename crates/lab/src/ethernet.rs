//! Links and switches of a frame network: from the experiment file to the engine.

use crate::rails::changes;
use crosstie_fabric::{Fabric, LinkId, Node};
use crosstie_sim::frame::{Capacity, Circuit, Forwarding, HandOver, Line, Memory, SwitchSpec};
use crosstie_sim::network::{Change, Pace};
use crosstie_study::{self as study, FrameSwitch, Link, Spec};
use crosstie_units::{Rate, Time};

/// The links and switches of the copies of a fabric.
pub(crate) struct Ethernet {
    /// The port of each rail.
    pub ports: Vec<u32>,
    /// Links by number, those of each copy in turn, or once if all are alike.
    pub lines: Vec<Line>,
    /// How fast hosts send, by copy and host, if not as their links carry.
    pub clocks: Vec<Pace>,
    /// Switches by number, alike in all copies.
    pub switches: Vec<SwitchSpec>,
    /// What happens to links.
    pub changes: Vec<Change>,
}

impl Ethernet {
    /// The same with the links of one port alone.
    pub fn of_port(mut self, port: u32, fabric: &Fabric) -> Ethernet {
        let links = fabric.links().len();
        if self.lines.len() > links {
            self.lines = self.lines.split_off(links * port as usize);
            self.lines.truncate(links);
        }
        self
    }
}

/// What a spec makes of a fabric.
pub(crate) fn ethernet(spec: &Spec, fabric: &Fabric) -> Ethernet {
    let is_switch = |node| matches!(node, Node::Switch(_));
    let copy = |rate: &Option<Rate>| {
        let link = Link { rate: rate.unwrap_or(spec.link.rate), ..spec.link.clone() };
        let uplink = &spec.frame.uplink;
        let host = Line { pace: pace(link.rate), wire: link.wire };
        let between = Line { pace: pace(uplink.rate(&link)), wire: uplink.wire(&link) };
        let line = move |number: LinkId| {
            let channel = fabric.channel(number.channels()[0]);
            let joins_switches = is_switch(channel.from.node) && is_switch(channel.to.node);
            if joins_switches { between } else { host }
        };
        fabric.links().map(line).collect::<Vec<_>>()
    };
    let mut rates = spec.cluster.rails.rates();
    rates.dedup();
    // As many as there are ports, or one that stands for all.
    let rates = if rates.len() > 1 { spec.cluster.rails.rates() } else { rates };
    let lines = rates.iter().flat_map(copy);
    let has_hosts = |switch| {
        let mut ends = fabric.out_channels(switch).map(|channel| fabric.channel(channel).to.node);
        ends.any(|node| !is_switch(node))
    };
    let switches = fabric.switches().map(|number| {
        switch(if has_hosts(number) { &spec.frame.switch } else { spec.frame.core() })
    });
    Ethernet {
        ports: spec.cluster.rails.ports(),
        lines: lines.collect(),
        clocks: clocks(spec, fabric),
        switches: switches.collect(),
        changes: changes(spec),
    }
}

/// The pace at which each host sends, drawn with the seed: its clock is off by at most
/// `frame.clock-ppm`, either way.
fn clocks(spec: &Spec, fabric: &Fabric) -> Vec<Pace> {
    let ppm = f64::from(spec.frame.clock_ppm);
    if spec.frame.clock_ppm == 0 {
        return Vec::new();
    }
    let rails = &spec.cluster.rails;
    let (ports, rates) = (rails.ports(), rails.rates());
    let copies = ports.iter().max().map_or(1, |last| last + 1);
    let own = |copy: u32| {
        let rail = ports.iter().position(|&port| port == copy).unwrap_or(0);
        rates.get(rail).copied().flatten().unwrap_or(spec.link.rate)
    };
    let hosts = fabric.hosts().len() as u64;
    (0..copies)
        .flat_map(|copy| (0..hosts).map(move |host| (copy, host)))
        .map(|(copy, host)| {
            let Pace { time, bytes } = pace(own(copy));
            let unit = spec.seed.stream("clocks", u64::from(copy) * hosts + host).unit();
            let off = 1.0 + (2.0 * unit - 1.0) * ppm / 1e6;
            Pace { time, bytes: ((bytes as f64 * off).round() as u64).max(1) }
        })
        .collect()
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
            study::Memory::Input { capacity, uplink, hand_over, stage, circuit } => Memory::Input {
                stage,
                circuit: circuit.map(|circuit| Circuit {
                    inward: pace(circuit.inward),
                    outward: pace(circuit.outward),
                }),
                host: room(capacity),
                uplink: room(uplink.unwrap_or(capacity)),
                hand_over: match hand_over {
                    study::HandOver::LastBit => HandOver::LastBit,
                    study::HandOver::FirstBit => HandOver::FirstBit,
                },
            },
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
