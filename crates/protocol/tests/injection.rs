//! How packets of several messages follow each other, and how many may be outstanding.

use crosstie_protocol::*;
use crosstie_units::Time;

const ME: NodeId = NodeId(0);
const PAYLOAD: u32 = 100;

/// A node that is told by hand what happens.
struct Hand {
    node: Node,
    /// Packets that have been transmitted, by receiver, rail and the first byte.
    sent: Vec<(u32, u32, u64)>,
    /// Those of them that have not left, and that have not been acknowledged.
    unleft: Vec<(StripeId, u32)>,
    outstanding: Vec<(StripeId, u32)>,
}

impl Hand {
    fn new(kind: PolicyKind, rails: u32, injection: Injection) -> Hand {
        let packing = Packing { payload: Some(PAYLOAD), overhead: 8 };
        let spec = NodeSpec { packing, injection, in_order: true, ..NodeSpec::new(ME, rails) };
        let policy = kind.policies(8, rails).unwrap().node(&spec).unwrap();
        let (sent, unleft, outstanding) = (Vec::new(), Vec::new(), Vec::new());
        Hand { node: Node::new(spec, policy).unwrap(), sent, unleft, outstanding }
    }

    fn tell(&mut self, input: Input) {
        self.node.handle(Time::ZERO, input);
        while let Some(action) = self.node.poll_action(Time::ZERO) {
            let Action::Transmit(packet) = action else { continue };
            let rail = packet.parcel.stripe.rail.0;
            self.sent.push((packet.parcel.to.0, rail, packet.bytes.start));
            self.unleft.push((packet.parcel.id, packet.number));
            self.outstanding.push((packet.parcel.id, packet.number));
        }
    }

    fn send(&mut self, to: u32, bytes: u64) {
        let (pe, message, to) = (PeId(0), MessageId(u64::from(to)), NodeId(to));
        self.tell(Input::Send { pe, message, to, bytes, rail: None, whole: false });
    }

    fn leave(&mut self) {
        let (stripe, _) = self.unleft.remove(0);
        self.tell(Input::Left { stripe });
    }

    fn acknowledge(&mut self) {
        let (stripe, number) = self.outstanding.remove(0);
        self.tell(Input::Acknowledged { stripe, number });
    }

    /// A packet of another node's message comes in.
    fn receive(&mut self, from: u32, number: u32, packets: u32) {
        let (length, payload) = (u64::from(packets * PAYLOAD), u64::from(PAYLOAD));
        let start = u64::from(number) * payload;
        let stripe = Stripe { rail: RailId(0), bytes: 0..length };
        let (id, message) = (StripeId(0), MessageId(0));
        let (from, to, reserved, serial) = (NodeId(from), ME, false, 0);
        let parcel = Parcel { from, to, id, message, length, stripe, reserved, serial };
        self.tell(Input::Arrived(Packet { parcel, number, bytes: start..start + payload }));
    }
}

fn interleaved(window: Option<(u32, bool)>) -> Injection {
    let window = window.map(|(packets, by_received)| GlobalWindow { packets, by_received });
    Injection { interleaved: true, window }
}

#[test]
fn messages_take_turns_packet_by_packet() {
    let mut hand = Hand::new(PolicyKind::RoundRobin {}, 1, interleaved(None));
    for (to, bytes) in [(3, 300), (1, 150), (2, 250)] {
        hand.send(to, bytes);
    }
    assert_eq!(hand.sent, [(3, 0, 0)], "the next packet goes when this one has left");
    for _ in 0..8 {
        hand.leave();
    }
    let turns = [(3, 0), (1, 0), (2, 0), (3, 100), (1, 100), (2, 100), (3, 200), (2, 200)];
    assert_eq!(hand.sent, turns.map(|(to, start)| (to, 0, start)));
    for _ in 0..8 {
        hand.acknowledge();
    }
    assert!(hand.node.is_idle() && hand.node.violations() == 0);
}

#[test]
fn without_turns_messages_follow_each_other() {
    let window = Some(GlobalWindow { packets: 8, by_received: false });
    let injection = Injection { interleaved: false, window };
    let mut hand = Hand::new(PolicyKind::RoundRobin {}, 1, injection);
    hand.send(1, 200);
    hand.send(2, 200);
    (0..4).for_each(|_| hand.leave());
    assert_eq!(hand.sent, [(1, 0, 0), (1, 0, 100), (2, 0, 0), (2, 0, 100)]);
}

#[test]
fn a_window_counts_packets_to_all_peers_on_all_rails() {
    for rails in [1, 2] {
        let mut hand = Hand::new(PolicyKind::RoundRobin {}, rails, interleaved(Some((3, false))));
        for to in 1..=4 {
            hand.send(to, 500);
        }
        for step in 0..20 {
            while !hand.unleft.is_empty() {
                hand.leave();
            }
            assert_eq!(hand.outstanding.len(), (20 - step).min(3), "{rails} rails");
            hand.acknowledge();
        }
        assert!(hand.node.is_idle() && hand.node.violations() == 0);
    }
}

#[test]
fn what_is_received_may_count_as_acknowledged() {
    let mut hand = Hand::new(PolicyKind::RoundRobin {}, 1, interleaved(Some((2, true))));
    // A node that has received more than it has sent may send more than a window.
    (0..3).for_each(|number| hand.receive(7, number, 10));
    for to in 1..=4 {
        hand.send(to, 200);
    }
    let left = |hand: &mut Hand| {
        while !hand.unleft.is_empty() {
            hand.leave();
        }
        hand.sent.len()
    };
    assert_eq!(left(&mut hand), 5);
    (0..5).for_each(|_| hand.acknowledge());
    assert_eq!(left(&mut hand), 5, "acknowledgements say nothing");
    (3..5).for_each(|number| hand.receive(7, number, 10));
    assert_eq!(left(&mut hand), 7);
    hand.receive(7, 4, 10);
    assert_eq!((left(&mut hand), hand.node.violations()), (7, 1), "nothing is received twice");
}

#[test]
fn pieces_of_pulled_messages_take_turns_too() {
    let mut hand = Hand::new(PolicyKind::Pull {}, 1, interleaved(None));
    for to in 1..=3 {
        hand.send(to, 400);
    }
    while hand.sent.len() < 12 {
        if hand.unleft.is_empty() {
            hand.acknowledge();
        } else {
            hand.leave();
        }
    }
    let turns: Vec<u32> = hand.sent.iter().map(|&(to, ..)| to).collect();
    // The first was sent when there was no other.
    let last = turns.iter().rposition(|&to| to != 3).unwrap();
    assert!(turns[2..last].windows(2).all(|two| two[0] != two[1]), "{turns:?}");
}

#[test]
fn a_window_has_room_for_a_packet() {
    let spec = NodeSpec { injection: interleaved(Some((0, false))), ..NodeSpec::new(ME, 1) };
    let policy = PolicyKind::RoundRobin {}.policies(2, 1).unwrap().node(&spec).unwrap();
    assert_eq!(Node::new(spec, policy).unwrap_err(), NodeError::Nothing);
}
