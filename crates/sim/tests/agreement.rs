//! The engine agrees with the reference model, tick for tick, on random small networks.

mod reference;

use crosstie_fabric::{End, Fabric, FabricBuilder, HostId, Port, Shape};
use crosstie_routing::{GroupId, Route, Routing, Tag};
use crosstie_sim::wormhole::{
    Bus, Config, Delivery, EPOCH, Ends, Engine, Flow, Observer, Packet, Tick,
};
use proptest::prelude::*;
use reference::{Event, Reference};

/// Routes by a formula on switch numbers, for the networks below.
struct Formula {
    kind: Network,
    groups: Vec<Vec<Port>>,
}

/// A family of small networks. Every switch has `hosts` hosts on its first ports.
#[derive(Debug, Clone, Copy)]
enum Network {
    /// Switches in a ring, packets go clockwise: deadlocks under load.
    Ring { switches: u16, hosts: u16 },
    /// Switches in a line, joined by parallel links; the switch chooses among them.
    Line { switches: u16, hosts: u16, links: u16 },
    /// Leaves under spines; the leaf chooses the spine.
    Tree { leaves: u16, hosts: u16, spines: u16 },
}

impl Network {
    fn hosts_per_switch(self) -> u16 {
        match self {
            Network::Ring { hosts, .. }
            | Network::Line { hosts, .. }
            | Network::Tree { hosts, .. } => hosts,
        }
    }

    fn fabric(self) -> Fabric {
        let mut builder = FabricBuilder::default();
        let hosts = self.hosts_per_switch();
        let with_hosts = match self {
            Network::Ring { switches, .. } | Network::Line { switches, .. } => switches,
            Network::Tree { leaves, .. } => leaves,
        };
        let switches: Vec<_> =
            (0..with_hosts).map(|s| builder.switch(format!("s{s}"), hosts + 16)).collect();
        for &switch in &switches {
            for port in 0..hosts {
                let host = builder.host(format!("h{port}"));
                builder.connect(End::host(host), End::switch(switch, Port(port)));
            }
        }
        match self {
            Network::Ring { switches: n, .. } => {
                for s in 0..n {
                    builder.connect(
                        End::switch(switches[s as usize], Port(hosts)),
                        End::switch(switches[((s + 1) % n) as usize], Port(hosts + 1)),
                    );
                }
            }
            Network::Line { switches: n, links, .. } => {
                for s in 0..n - 1 {
                    for link in 0..links {
                        builder.connect(
                            End::switch(switches[s as usize], Port(hosts + link)),
                            End::switch(switches[s as usize + 1], Port(hosts + 8 + link)),
                        );
                    }
                }
            }
            Network::Tree { leaves, spines, .. } => {
                for spine in 0..spines {
                    let top = builder.switch(format!("t{spine}"), leaves);
                    for leaf in 0..leaves {
                        builder.connect(
                            End::switch(switches[leaf as usize], Port(hosts + spine)),
                            End::switch(top, Port(leaf)),
                        );
                    }
                }
            }
        }
        builder.build("test", Shape::Irregular).unwrap()
    }

    fn routing(self) -> Formula {
        let hosts = self.hosts_per_switch();
        let ports = |first: u16, count: u16| (first..first + count).map(Port).collect();
        let groups = match self {
            Network::Ring { .. } => vec![],
            Network::Line { links, .. } => vec![ports(hosts, links), ports(hosts + 8, links)],
            Network::Tree { spines, .. } => vec![ports(hosts, spines)],
        };
        Formula { kind: self, groups }
    }
}

impl Routing for Formula {
    fn groups(&self) -> &[Vec<Port>] {
        &self.groups
    }

    fn route(&self, from: HostId, to: HostId, route: &mut Route) {
        route.clear();
        let hosts = u32::from(self.kind.hosts_per_switch());
        let (a, b) = (from.0 / hosts, to.0 / hosts);
        match self.kind {
            Network::Ring { switches, .. } => {
                let n = u32::from(switches);
                (0..(b + n - a) % n).for_each(|_| route.push(Tag::Port(Port(hosts as u16))));
            }
            Network::Line { .. } => {
                let group = Tag::Group(GroupId(u16::from(b < a)));
                (0..a.abs_diff(b)).for_each(|_| route.push(group));
            }
            Network::Tree { .. } => {
                if a != b {
                    route.push(Tag::Group(GroupId(0)));
                    route.push(Tag::Port(Port(b as u16)));
                }
            }
        }
        route.push(Tag::Port(Port((to.0 % hosts) as u16)));
    }
}

/// Writes down what the engine does.
#[derive(Default)]
struct Log(Vec<(Tick, Event)>);

impl Observer for Log {
    fn delivered(&mut self, delivery: &Delivery) {
        self.0.push((delivery.delivered, Event::Delivered { id: delivery.packet.id }));
    }
    fn head(&mut self, id: u64, channel: u32, vc: u32, at: Tick) {
        let (channel, vc) = (channel as usize, vc as usize);
        self.0.push((at, Event::Head { id, channel, vc }));
    }
    fn tail(&mut self, id: u64, channel: u32, vc: u32, at: Tick) {
        let (channel, vc) = (channel as usize, vc as usize);
        self.0.push((at, Event::Tail { id, channel, vc }));
    }
}

fn networks() -> impl Strategy<Value = Network> {
    prop_oneof![
        (2u16..6, 1u16..4).prop_map(|(switches, hosts)| Network::Ring { switches, hosts }),
        (1u16..5, 2u16..4, 1u16..4).prop_map(|(switches, hosts, links)| Network::Line {
            switches,
            hosts,
            links
        }),
        (2u16..5, 1u16..5, 1u16..4).prop_map(|(leaves, hosts, spines)| Network::Tree {
            leaves,
            hosts,
            spines
        }),
    ]
}

fn configs() -> impl Strategy<Value = Config> {
    let bus = prop_oneof![
        Just((1, None)),
        Just((1, Some((0, 0)))),
        (1u32..4, 0u32..4, 0u32..4).prop_map(|(ticks, r, w)| (ticks, Some((r, w)))),
        (2u32..4).prop_map(|ticks| (ticks, None)),
    ];
    let burst = prop_oneof![Just(1u32), 2u32..9, Just(32u32)];
    let buffer = prop_oneof![1u32..8, 8u32..40];
    // Go mark, distance to the stop mark, slack beyond what the wire needs.
    let marks = prop_oneof![
        Just(None),
        (0u32..12, 1u32..9, 0u32..3).prop_map(Some),
        (0u32..40, 1u32..20, Just(0u32)).prop_map(Some),
    ];
    (1u8..4, buffer, marks, (0u32..7, any::<bool>()), 0u32..5, bus, burst).prop_map(
        |(virtual_channels, buffer, marks, switch, wire, (ticks, shared), burst)| {
            let (routing_delay, consumes_headers) = switch;
            let (buffer, flow) = match marks {
                None => (buffer, Flow::Credits),
                Some((go, distance, slack)) => {
                    let stop = go + distance;
                    (stop + 2 * wire + slack, Flow::StopAndGo { stop, go })
                }
            };
            let bus = match shared {
                None => Bus::Full,
                Some((r, w)) => Bus::Shared { read: ticks + r, write: ticks + w },
            };
            Config {
                virtual_channels,
                buffer,
                flow,
                routing_delay,
                consumes_headers,
                wire,
                bus,
                burst,
                ticks,
            }
        },
    )
}

/// Packets as (gap to the one before, source, destination, flits, ends); the numbers wrap.
fn loads() -> impl Strategy<Value = Vec<(u64, u32, u32, u32, Ends)>> {
    let ends = prop_oneof![4 => Just(Ends::Memories), 1 => Just(Ends::Nics)];
    let flits = prop_oneof![Just(1u32), 1u32..6, 1u32..70, Just(32u32)];
    let packet = (prop_oneof![0u64..3, 0u64..40], 0u32..100, 1u32..100, flits, ends);
    prop::collection::vec(packet, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn engine_and_reference_do_the_same(
        network in networks(),
        config in configs(),
        load in loads(),
    ) {
        let fabric = network.fabric();
        let routing = network.routing();
        let hosts = fabric.hosts().len() as u32;
        let mut engine = Engine::new(&fabric, &routing, 1, &config);
        let mut reference = Reference::new(&fabric, &routing, &config);
        let mut at = EPOCH;
        let mut log = Log::default();
        for (id, (gap, from, offset, flits, ends)) in load.into_iter().enumerate() {
            at += gap;
            let from = from % hosts;
            let to = (from + 1 + offset % (hosts - 1)) % hosts;
            let packet = Packet { from, to, flits, id: id as u64, ends };
            engine.run_until(at, &mut log);
            engine.inject(at, packet);
            reference.inject(at, packet, &routing);
        }
        let until = at + 2000;
        engine.run_until(until, &mut log);
        reference.run_until(until);
        // The engine reports a tail when it has left, a few ticks after it began to leave.
        for events in [&mut log.0, &mut reference.events] {
            events.retain(|event| event.0 + 20 < until);
            events.sort_unstable();
        }
        let first = log.0.iter().zip(&reference.events).position(|(a, b)| a != b);
        prop_assert!(
            log.0 == reference.events,
            "engine and reference differ at event {:?}: {:?} against {:?}",
            first,
            first.map(|i| log.0[i]),
            first.map(|i| reference.events[i]),
        );
        let (counts, ticks) = engine.counts();
        prop_assert_eq!(ticks, until - EPOCH);
        for (channel, (ours, theirs)) in counts.iter().zip(&reference.counts).enumerate() {
            prop_assert_eq!(ours, theirs, "channel {}", channel);
        }
        prop_assert_eq!(counts.len(), reference.counts.len());
        prop_assert!(reference.fullest <= config.buffer);
    }
}
