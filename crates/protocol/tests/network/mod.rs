//! A tiny network in memory: delays are drawn at random, nothing is lost, and everything that
//! happens is watched.

#![allow(dead_code, reason = "each test file uses a part")]

mod watch;

use std::collections::BTreeMap;
use std::ops::Range;

use crosstie_protocol::*;
use crosstie_units::{Seed, Stream, Time};

pub use watch::Watch;

/// What the network is like. All delays are in nanoseconds.
#[derive(Debug, Clone)]
pub struct Wires {
    /// From sending a control packet until the other NIC has processed it.
    pub control: Range<u64>,
    /// Control packets from one NIC to another stay in order.
    pub in_order: bool,
    /// From sending the first byte of a packet until it comes in, and from the last until the
    /// sender knows.
    pub data: Range<u64>,
    /// Bytes that a rail carries in a nanosecond.
    pub bytes_per_ns: u64,
}

impl Wires {
    /// A network like that of the paper: answers come fast.
    pub fn quick() -> Wires {
        Wires { control: 1_000..1_500, in_order: true, data: 200..300, bytes_per_ns: 1 }
    }
}

/// Nodes under one policy, their network, and a watch over them.
pub struct Network {
    pub now: Time,
    pub nodes: Vec<Node>,
    pub watch: Watch,
    wires: Wires,
    draws: Stream,
    /// What will happen, to whom; in order of time and then of sending.
    agenda: BTreeMap<(Time, u64), (NodeId, Input)>,
    entries: u64,
    /// When the last control packet from one NIC to another comes in.
    ordered: BTreeMap<(RailId, NodeId, NodeId), Time>,
}

impl Network {
    /// Nodes that do not cut their stripes.
    pub fn new(kind: PolicyKind, nodes: u32, pes: u32, rails: u32, wires: Wires) -> Network {
        let spec = NodeSpec { pes, transfers: Some(1), ..NodeSpec::new(NodeId(0), rails) };
        Network::of(kind, nodes, spec, wires)
    }

    /// Nodes that are alike but for their numbers.
    pub fn of(kind: PolicyKind, nodes: u32, spec: NodeSpec, wires: Wires) -> Network {
        let policies = kind.policies(nodes, spec.rails).expect("the policy fits");
        let node = |id| {
            let spec = NodeSpec { id: NodeId(id), completions: true, ..spec };
            let policy = policies.node(&spec).expect("the policy fits");
            Node::new(spec, policy).expect("the test asks for a sound node")
        };
        Network {
            now: Time::ZERO,
            nodes: (0..nodes).map(node).collect(),
            watch: Watch::new(kind, &spec),
            wires,
            draws: Seed(1).stream("delays", 0),
            agenda: BTreeMap::new(),
            entries: 0,
            ordered: BTreeMap::new(),
        }
    }

    pub fn seed(mut self, seed: u64) -> Network {
        self.draws = Seed(seed).stream("delays", 0);
        self
    }

    /// A PE will send a message.
    pub fn send(&mut self, at: Time, from: u32, pe: u32, to: u32, message: u64, bytes: u64) {
        let (pe, to, message) = (PeId(pe), NodeId(to), MessageId(message));
        self.schedule(
            at,
            NodeId(from),
            Input::Send { pe, message, to, bytes, rail: None, whole: false },
        );
    }

    /// Lets the next thing happen; false if there is none.
    pub fn step(&mut self) -> bool {
        let timeouts = self.nodes.iter().enumerate();
        let timeout = timeouts.filter_map(|(id, node)| Some((node.poll_timeout()?, id))).min();
        let next = self.agenda.first_key_value().map(|(&(time, _), _)| time);
        if let Some((time, id)) = timeout
            && next.is_none_or(|next| time < next)
        {
            self.now = self.now.max(time);
            self.watch.timeouts += 1;
            self.nodes[id].handle_timeout(self.now);
            self.drain(NodeId(id as u32));
            return true;
        }
        let Some(((time, _), (id, input))) = self.agenda.pop_first() else { return false };
        self.now = time;
        self.watch.before(id, &input);
        self.nodes[id.0 as usize].handle(time, input);
        self.drain(id);
        true
    }

    /// Lets everything happen, and checks that all ends well.
    pub fn finish(&mut self) {
        for _ in 0..2_000_000 {
            if !self.step() {
                return self.check();
            }
        }
        panic!("no end at {}: {:?}", self.now, self.watch);
    }

    fn check(&self) {
        self.watch.all_is_well();
        for node in &self.nodes {
            assert_eq!(node.violations(), 0, "{node:?}");
            assert!(node.is_idle(), "{node:?}");
        }
    }

    fn drain(&mut self, id: NodeId) {
        while let Some(action) = self.nodes[id.0 as usize].poll_action(self.now) {
            self.watch.after(id, &action);
            match action {
                Action::Control { rail, to, packet, serial } => {
                    let mut at = self.after(self.wires.control.clone());
                    if self.wires.in_order {
                        let last = self.ordered.entry((rail, id, to)).or_insert(at);
                        at = at.max(*last);
                        *last = at;
                    }
                    self.schedule(at, to, Input::Control { rail, from: id, packet, serial });
                }
                Action::Transmit(packet) => self.transmit(packet),
                Action::Deliver { .. } | Action::Complete { .. } => {}
                other => panic!("{other:?}"),
            }
        }
    }

    fn transmit(&mut self, packet: Packet) {
        let Parcel { from, to, id: stripe, .. } = packet.parcel;
        let (rail, number) = (packet.parcel.stripe.rail, packet.number);
        let again = self.nodes[from.0 as usize].packet(stripe, packet.number);
        assert_eq!(again, packet, "it can be asked for once more");
        let length = Time::from_ns(packet.len().div_ceil(self.wires.bytes_per_ns) + 1);
        let first = self.after(self.wires.data.clone());
        let acknowledged = self.after(self.wires.data.clone()) - self.now;
        self.schedule(self.now + length, from, Input::Left { stripe });
        self.schedule(first, to, Input::Arriving { rail, from, stripe });
        self.schedule(first + length, to, Input::Arrived(packet));
        self.schedule(first + length + acknowledged, from, Input::Acknowledged { stripe, number });
    }

    fn after(&mut self, delay: Range<u64>) -> Time {
        let spread = (delay.end - delay.start).max(1);
        self.now + Time::from_ns(delay.start + self.draws.below(spread))
    }

    fn schedule(&mut self, at: Time, node: NodeId, input: Input) {
        self.entries += 1;
        self.agenda.insert((at, self.entries), (node, input));
    }
}
