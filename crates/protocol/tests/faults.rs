//! Over a network that loses, delays, reorders and repeats packets, as sockets do: nothing is
//! delivered twice or with a hole, whatever happens. Without loss everything is delivered, and all
//! nodes come to rest. (What is lost stays lost: to send it again is the job of a reliable
//! channel.)

mod kinds;

use std::collections::{BTreeMap, BTreeSet};

use crosstie_protocol::*;
use crosstie_units::{Seed, Stream, Time};
use kinds::kinds;
use proptest::prelude::*;

const NODES: u32 = 4;
const RAILS: u32 = 4;

/// What the network does to a packet; chances in per cent.
#[derive(Debug, Clone, Copy)]
struct Faults {
    loss: u64,
    repetition: u64,
    /// The longest delay, in nanoseconds: whatever is sent later may come earlier.
    delay: u64,
    /// How often NICs tell what is arriving.
    hints: u64,
    /// How often each rail goes down for a while.
    failures: u64,
}

/// Messages that have been sent: from, number, and what is known of each.
type Messages = BTreeMap<(NodeId, MessageId), Fate>;

#[derive(Debug)]
struct Fate {
    to: NodeId,
    bytes: u64,
    /// The bytes that have come to the receiver.
    present: BTreeSet<u64>,
    delivered: u32,
}

struct Network {
    now: Time,
    nodes: Vec<Node>,
    faults: Faults,
    draws: Stream,
    /// What will happen, to whom; in order of time and then of sending.
    agenda: BTreeMap<(Time, u64), (NodeId, Input)>,
    entries: u64,
    messages: Messages,
    /// What happened to packets: lost and repeated.
    lost: u64,
    repeated: u64,
}

impl Network {
    fn new(kind: PolicyKind, spec: NodeSpec, faults: Faults, seed: u64) -> Network {
        let policies = kind.policies(NODES, RAILS).expect("the policy fits");
        let node = |id| {
            let spec = NodeSpec { id: NodeId(id), rails: RAILS, repeats: true, ..spec };
            let policy = policies.node(&spec).expect("the policy fits");
            Node::new(spec, policy).expect("the test asks for a sound node")
        };
        let mut network = Network {
            now: Time::ZERO,
            nodes: (0..NODES).map(node).collect(),
            faults,
            draws: Seed(seed).stream("faults", 0),
            agenda: BTreeMap::new(),
            entries: 0,
            messages: BTreeMap::new(),
            lost: 0,
            repeated: 0,
        };
        network.plan(spec.pes, seed);
        network
    }

    /// Messages that meet, and rails that fail meanwhile.
    fn plan(&mut self, pes: u32, seed: u64) {
        let mut draws = Seed(seed).stream("messages", 0);
        for number in 0..60 {
            let from = NodeId(draws.below(u64::from(NODES)) as u32);
            let to = NodeId((from.0 + 1 + draws.below(u64::from(NODES) - 1) as u32) % NODES);
            let (message, pe) = (MessageId(number), PeId(draws.below(u64::from(pes)) as u32));
            let bytes = if draws.below(8) == 0 { 0 } else { draws.exponential(200.0) as u64 };
            let fate = Fate { to, bytes, present: BTreeSet::new(), delivered: 0 };
            self.messages.insert((from, message), fate);
            let at = Time::from_ns(draws.below(20_000));
            self.schedule(
                at,
                from,
                Input::Send { pe, message, to, bytes, rail: None, whole: false },
            );
        }
        for (node, rail) in (0..NODES).flat_map(|node| (0..RAILS).map(move |rail| (node, rail))) {
            for _ in 0..self.faults.failures {
                let (node, rail) = (NodeId(node), RailId(rail));
                let down = Time::from_ns(draws.below(30_000));
                let up = down + Time::from_ns(draws.below(30_000));
                self.schedule(down, node, Input::Rail { rail, up: false });
                self.schedule(up, node, Input::Rail { rail, up: true });
            }
        }
    }

    /// Lets everything happen, up to a limit: what is lost may keep somebody asking for ever.
    fn run(&mut self) {
        for _ in 0..200_000 {
            let timeouts = self.nodes.iter().enumerate();
            let timeout = timeouts.filter_map(|(id, node)| Some((node.poll_timeout()?, id))).min();
            let next = self.agenda.first_key_value().map(|(&(time, _), _)| time);
            match (timeout, next) {
                (Some((time, id)), next) if next.is_none_or(|next| time < next) => {
                    self.now = self.now.max(time);
                    self.nodes[id].handle_timeout(self.now);
                    self.serve(NodeId(id as u32));
                }
                (_, Some(_)) => self.step(),
                (_, None) => return,
            }
        }
    }

    fn step(&mut self) {
        let ((time, _), (id, input)) = self.agenda.pop_first().expect("something is due");
        self.now = time;
        if let Input::Arrived(packet) = &input {
            let Parcel { from, id: stripe, message, .. } = packet.parcel;
            let (rail, number) = (packet.parcel.stripe.rail, packet.number);
            let fate = self.messages.get_mut(&(from, message)).expect("it was sent");
            fate.present.extend(packet.bytes.clone());
            if self.chance(self.faults.hints) {
                self.nodes[id.0 as usize].handle(time, Input::Arriving { rail, from, stripe });
                self.serve(id);
            }
            self.carry(from, Input::Acknowledged { stripe, number });
        }
        self.nodes[id.0 as usize].handle(time, input);
        self.serve(id);
    }

    fn serve(&mut self, id: NodeId) {
        while let Some(action) = self.nodes[id.0 as usize].poll_action(self.now) {
            match action {
                Action::Transmit(packet) => {
                    let stripe = packet.parcel.id;
                    let left = self.now + Time::from_ns(1 + packet.len());
                    self.schedule(left, id, Input::Left { stripe });
                    self.carry(packet.parcel.to, Input::Arrived(packet));
                }
                Action::Control { rail, to, packet, serial } => {
                    self.carry(to, Input::Control { rail, from: id, packet, serial });
                }
                Action::Deliver { from, message, bytes } => {
                    let fate = self.messages.get_mut(&(from, message)).expect("it was sent");
                    assert_eq!((fate.to, fate.bytes), (id, bytes), "here, and as long");
                    assert_eq!(fate.present.len() as u64, bytes, "without a hole");
                    fate.delivered += 1;
                    assert_eq!(fate.delivered, 1, "at most once");
                }
                Action::Complete { .. } => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// Carries something over the network, as well as it does.
    fn carry(&mut self, to: NodeId, input: Input) {
        let copies = match (self.chance(self.faults.loss), self.chance(self.faults.repetition)) {
            (true, _) => 0,
            (false, false) => 1,
            (false, true) => 2 + self.draws.below(2),
        };
        self.lost += u64::from(copies == 0);
        self.repeated += u64::from(copies > 1);
        for _ in 0..copies {
            // Some come very late.
            let longest = self.faults.delay * if self.chance(5) { 20 } else { 1 };
            let delay = Time::from_ns(1 + self.draws.below(longest));
            self.schedule(self.now + delay, to, input.clone());
        }
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.draws.below(100) < percent
    }

    fn schedule(&mut self, at: Time, node: NodeId, input: Input) {
        self.entries += 1;
        self.agenda.insert((at, self.entries), (node, input));
    }

    fn delivered(&self) -> usize {
        self.messages.values().filter(|fate| fate.delivered == 1).count()
    }

    fn violations(&self) -> u64 {
        self.nodes.iter().map(Node::violations).sum()
    }
}

/// Several packets per stripe, and NICs that do much or little at once.
fn specs() -> impl Strategy<Value = NodeSpec> {
    let limit = || prop::option::of(1u32..4);
    (1u32..4, 5u32..60, limit(), limit(), any::<bool>()).prop_map(
        |(pes, payload, window, transfers, blocking)| {
            let packing = Packing { payload: Some(payload), overhead: 8 };
            let spec = NodeSpec::new(NodeId(0), RAILS);
            NodeSpec { pes, packing, window, transfers, blocking, ..spec }
        },
    )
}

fn faults(loss: impl Strategy<Value = u64>) -> impl Strategy<Value = Faults> {
    let hints = prop_oneof![Just(0u64), Just(50), Just(100)];
    (loss, 0u64..60, 1u64..5_000, hints, 0u64..3).prop_map(
        |(loss, repetition, delay, hints, failures)| Faults {
            loss,
            repetition,
            delay,
            hints,
            failures,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn without_loss_every_message_is_delivered_once_and_all_nodes_come_to_rest(
        kind in kinds(20_000, 0..300), spec in specs(), faults in faults(Just(0)), seed: u64
    ) {
        let mut network = Network::new(kind, spec, faults, seed);
        network.run();
        prop_assert_eq!(network.delivered(), network.messages.len());
        for node in &network.nodes {
            prop_assert!(node.is_idle(), "{:?}", node);
        }
        if network.repeated == 0 {
            prop_assert_eq!(network.violations(), 0);
        }
    }

    #[test]
    fn with_loss_nothing_is_delivered_twice_or_with_a_hole(
        kind in kinds(20_000, 0..300), spec in specs(), faults in faults(1u64..60), seed: u64
    ) {
        Network::new(kind, spec, faults, seed).run();
    }
}

#[test]
fn repetitions_are_counted() {
    let faults = Faults { loss: 0, repetition: 50, delay: 1_000, hints: 100, failures: 0 };
    for kind in PolicyKind::all() {
        let packing = Packing { payload: Some(40), overhead: 8 };
        let spec = NodeSpec { packing, window: Some(2), ..NodeSpec::new(NodeId(0), RAILS) };
        let mut network = Network::new(kind, spec, faults, 7);
        network.run();
        assert!(network.repeated > 100, "{}", network.repeated);
        assert!(network.violations() >= network.repeated, "{}", kind.name());
        assert_eq!(network.delivered(), network.messages.len());
    }
}

#[test]
fn what_is_lost_is_missing() {
    let faults = Faults { loss: 20, repetition: 0, delay: 1_000, hints: 0, failures: 0 };
    for kind in PolicyKind::all() {
        let spec = NodeSpec::new(NodeId(0), RAILS);
        let mut network = Network::new(kind, spec, faults, 7);
        network.run();
        assert!(network.lost > 0 && network.delivered() < network.messages.len());
    }
}
