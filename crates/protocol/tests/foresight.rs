//! What a node says it would do with a message it does when it is told of it.

use std::collections::VecDeque;

use crosstie_protocol::*;
use crosstie_units::{Rate, Seed, Time};
use proptest::prelude::*;

/// Policies that can say where a message would go.
const FORESEE: [PolicyKind; 2] = [PolicyKind::Pull {}, PolicyKind::Fastest {}];

fn node(kind: PolicyKind, rails: u32, patience: bool) -> Node {
    let time = Time::from_ns(1_000_000);
    let spec = NodeSpec {
        packing: Packing { payload: Some(1000), overhead: 0 },
        repeats: true,
        reports: true,
        patience: patience.then_some(Patience {
            least: time,
            give_up: time * 10,
            ..Patience::default()
        }),
        ..NodeSpec::new(NodeId(0), rails)
    };
    Node::new(spec, kind.policies(3, rails).unwrap().node(&spec).unwrap()).unwrap()
}

/// Sends messages that must not be cut over rails that go up and down, are silent, slow and fast.
/// How many of them, and of how many it was foreseen what became.
fn play(kind: PolicyKind, rails: u32, patience: bool, seed: u64) -> [u64; 2] {
    let mut node = node(kind, rails, patience);
    let mut draws = Seed(seed).stream("steps", 0);
    let (mut now, mut under_way) = (Time::ZERO, VecDeque::new());
    let mut counts = [0; 2];
    for step in 0..300 {
        now = now + Time::from_ns(draws.below(200_000));
        let rail = RailId(draws.below(rails.into()) as u32);
        let mut foreseen = None;
        match draws.below(10) {
            0..5 => {
                let (to, bytes) = (NodeId(1 + draws.below(2) as u32), draws.below(1500));
                foreseen = node.foresee(now, PeId(0), to, bytes);
                let (pe, message) = (PeId(0), MessageId(step));
                let whole = true;
                node.handle(now, Input::Send { pe, message, to, bytes, rail: None, whole });
                counts[0] += 1;
            }
            5..8 => {
                if let Some((stripe, number)) = under_way.pop_front() {
                    node.handle(now, Input::Acknowledged { stripe, number });
                }
            }
            8 => node.handle(now, Input::Rail { rail, up: draws.below(3) > 0 }),
            _ => {
                let rate = Rate::from_bytes_per_second(1 + draws.below(1 << 30));
                let [round_trip, of_late] = [50_000, 100_000].map(Time::from_ns);
                let (to, seen, window) = (NodeId(1), draws.below(2000), 10_000);
                let shown = Input::Shown { to, rail, rate, seen, round_trip, of_late, window };
                node.handle(now, shown);
            }
        }
        if node.poll_timeout().is_some_and(|at| at <= now) && foreseen.is_none() {
            node.handle_timeout(now);
        }
        let mut first = true;
        while let Some(action) = node.poll_action(now) {
            if let Action::Unreachable { .. } = action {
                // Its channels are closed.
                return counts;
            }
            let packet = match action {
                Action::Transmit(packet) => Some(packet),
                _ => None,
            };
            if let (Some((rail, serial)), true) = (foreseen, first) {
                let found = packet.as_ref().map(|packet| {
                    let whole = packet.len() == packet.parcel.length;
                    (packet.parcel.stripe.rail, packet.parcel.serial, whole)
                });
                assert_eq!(found, Some((rail, serial, true)), "{kind:?}");
                counts[1] += 1;
                foreseen = None;
            }
            under_way.extend(packet.map(|packet| (packet.parcel.id, packet.number)));
            first = false;
        }
        assert_eq!(foreseen, None, "{kind:?}");
    }
    counts
}

proptest! {
    #[test]
    fn what_is_foreseen_comes_to_pass(seed: u64, rails in 1u32..4, patience: bool) {
        for kind in FORESEE {
            play(kind, rails, patience, seed);
        }
    }
}

#[test]
fn most_is_foreseen_where_nothing_has_to_wait() {
    for kind in FORESEE {
        let mut all = [0; 2];
        for seed in 0..20 {
            let [sent, foreseen] = play(kind, 2, false, seed);
            all = [all[0] + sent, all[1] + foreseen];
        }
        // A third is too long for one packet; of the others those wait that find no rail up.
        assert!(2 * all[1] > all[0] && all[1] < all[0], "{all:?}");
    }
}
