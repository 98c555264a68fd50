//! What a message costs in the machines of its sender and its receiver, from being handed over to
//! its delivery, without any network between.
//!
//! Under `valgrind --tool=callgrind --toggle-collect='*messages*'` it counts instructions.

use crosstie_protocol::*;
use crosstie_units::Time;
use std::collections::VecDeque;
use std::hint::black_box;
use std::time::Instant;

/// Two nodes, and the packets between them: a driver keeps no more of one.
struct Pair {
    nodes: [Node; 2],
    flight: VecDeque<(StripeId, u32)>,
    delivered: u64,
}

impl Pair {
    fn new(kind: PolicyKind, spec: NodeSpec) -> Pair {
        let policies = kind.policies(2, spec.rails).expect("the policy fits");
        let node = |id| {
            let spec = NodeSpec { id: NodeId(id), ..spec };
            Node::new(spec, policies.node(&spec).expect("it fits")).expect("a sound node")
        };
        Pair { nodes: [node(0), node(1)], flight: VecDeque::new(), delivered: 0 }
    }

    /// Does what a node wants.
    fn serve(&mut self, node: usize) {
        while let Some(action) = self.nodes[node].poll_action(Time::ZERO) {
            match action {
                Action::Transmit(packet) => {
                    let stripe = packet.parcel.id;
                    self.flight.push_back((stripe, packet.number));
                    if self.nodes[node].needs_departures() {
                        self.nodes[node].handle(Time::ZERO, Input::Left { stripe });
                    }
                }
                Action::Deliver { bytes, .. } => self.delivered += black_box(bytes),
                Action::Complete { .. } => {}
                Action::Control { .. } => unreachable!("nothing is reserved here"),
                Action::HandedOver { .. } | Action::Landed { .. } | Action::Unreachable { .. } => {
                    unreachable!("nobody asked")
                }
            }
        }
    }

    /// Sends so many messages from one node to the other.
    #[inline(never)]
    fn messages(&mut self, count: u64, bytes: u64) {
        for message in 0..count {
            let (pe, message, to) = (PeId(0), MessageId(message), NodeId(1));
            self.nodes[0].handle(
                Time::ZERO,
                Input::Send { pe, message, to, bytes, rail: None, whole: false },
            );
            self.serve(0);
            while let Some((stripe, number)) = self.flight.pop_front() {
                let packet = self.nodes[0].packet(stripe, number);
                self.nodes[0].handle(Time::ZERO, Input::Acknowledged { stripe, number });
                self.serve(0);
                self.nodes[1].handle(Time::ZERO, Input::Arrived(packet));
                self.serve(1);
            }
        }
    }
}

fn main() {
    let share = std::env::var("CROSSTIE_BENCH_SHARE").ok().and_then(|share| share.parse().ok());
    let count = (1e6 * share.unwrap_or(1.0f64)) as u64;
    let packing = Packing { payload: Some(64), overhead: 8 };
    let plain = NodeSpec { packing, ..NodeSpec::new(NodeId(0), 4) };
    let paced = NodeSpec { window: Some(2), transfers: Some(1), ..plain };
    let striping = StripingRatio::ALL;
    for (name, kind, spec, bytes) in [
        ("round robin, 1 packet", PolicyKind::RoundRobin {}, plain, 64),
        ("round robin, 8 packets", PolicyKind::RoundRobin {}, plain, 512),
        ("basic, 1 packet", PolicyKind::Basic {}, paced, 64),
        ("local-dynamic, 4 stripes", PolicyKind::LocalDynamic { striping }, paced, 256),
    ] {
        if std::env::args().skip(1).any(|word| !word.starts_with('-') && !name.contains(&word)) {
            continue;
        }
        let mut pair = Pair::new(kind, spec);
        pair.messages(1000, bytes);
        let start = Instant::now();
        pair.messages(count, bytes);
        let time = start.elapsed().as_nanos() as f64 / count as f64;
        assert_eq!(pair.delivered, (count + 1000) * bytes);
        println!("{name:26} {time:7.1} ns a message");
    }
}
