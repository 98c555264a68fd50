//! Rails that go down and come up again: no policy chooses one that is down where there is another,
//! and where there is none messages wait.

mod hand;
mod pair;

use std::sync::Arc;

use crosstie_protocol::nic::State;
use crosstie_protocol::policy::{Dynamic, StaticAllocation};
use crosstie_protocol::*;
use crosstie_units::{Bytes, Time};
use hand::Hand;
use pair::{Line, Pair, best_cut};

fn hand(kind: PolicyKind, rails: u32) -> Hand {
    let spec = NodeSpec { pes: 2, transfers: Some(4), ..NodeSpec::new(NodeId(0), rails) };
    Hand::of(spec, kind.policies(6, rails).unwrap().node(&spec).unwrap())
}

/// Takes all packets to be transmitted: message and rail.
fn transmitted(node: &mut Hand) -> Vec<(u64, u32)> {
    let packets = node.actions().into_iter().filter_map(|action| match action {
        Action::Transmit(Packet { parcel, .. }) => Some((parcel.message.0, parcel.stripe.rail.0)),
        Action::Control { .. } | Action::Complete { .. } => None,
        other => panic!("{other:?}"),
    });
    packets.collect()
}

/// Policies under which messages go without any agreement, each on one rail.
fn one_by_one() -> [PolicyKind; 4] {
    let (striping, timeout) = (StripingRatio::ONE, None);
    [
        PolicyKind::RoundRobin {},
        PolicyKind::Basic {},
        PolicyKind::LocalDynamic { striping },
        PolicyKind::Hybrid { striping, timeout, threshold: Bytes::new(1000) },
    ]
}

#[test]
fn a_rail_that_is_down_is_skipped() {
    for kind in one_by_one() {
        let mut node = hand(kind, 3);
        node.switch(1, false);
        (0..2).for_each(|message| node.send(0, 1, message, 10));
        assert_eq!(transmitted(&mut node), [(0, 0), (1, 2)], "{}", kind.name());
        node.sent(0, 0);
        node.sent(2, 1);
        node.switch(1, true);
        (2..4).for_each(|message| node.send(0, 1, message, 10));
        assert_eq!(transmitted(&mut node), [(2, 0), (3, 1)], "{}", kind.name());
        assert_eq!(node.violations(), 0);
    }
}

#[test]
fn without_any_rail_messages_wait_until_one_is_up() {
    for kind in one_by_one() {
        let mut node = hand(kind, 2);
        [0, 1].into_iter().for_each(|rail| node.switch(rail, false));
        for (message, pe) in [(0, 0), (1, 0), (2, 1)] {
            node.send(pe, 1, message, 10);
        }
        assert_eq!(transmitted(&mut node), [], "{}", kind.name());
        node.switch(1, true);
        let mut first = transmitted(&mut node);
        // Local-dynamic sends the others when the rail is free again.
        while first.len() < 3 {
            let (message, rail) = *first.last().unwrap();
            node.sent(rail, message);
            first.extend(transmitted(&mut node));
        }
        assert!(first.iter().all(|&(_, rail)| rail == 1), "{} {first:?}", kind.name());
        first.sort();
        assert_eq!(first, [(0, 1), (1, 1), (2, 1)], "{}", kind.name());
    }
}

#[test]
fn static_takes_another_rail_that_leads_there_or_waits() {
    // Node 0 transmits on rails 0, 1 and 2. Node 1 receives on 0 and 2 of them, node 2 on 1.
    let matrix: Matrix = "101 / 110 / 101 / 010 / 001".parse().unwrap();
    let spec = NodeSpec::new(NodeId(0), 5);
    let allocation = Arc::new(Allocation::new(matrix).unwrap());
    let mut node = Hand::new(spec, StaticAllocation::new(&spec, &allocation).unwrap());
    node.switch(2, false);
    (0..2).for_each(|message| node.send(0, 1, message, 10));
    assert_eq!(transmitted(&mut node), [(0, 0), (1, 0)]);
    node.switch(1, false);
    node.send(0, 2, 2, 10);
    node.send(0, 1, 3, 10);
    assert_eq!(transmitted(&mut node), [], "no other rail leads to node 2, and 3 is behind");
    node.switch(2, true);
    assert_eq!(transmitted(&mut node), []);
    node.switch(1, true);
    assert_eq!(transmitted(&mut node), [(2, 1), (3, 2)]);
}

#[test]
fn dynamic_neither_asks_a_rail_that_is_down_nor_waits_for_its_answer() {
    let spec = NodeSpec::new(NodeId(0), 3);
    let mut node = Hand::new(spec, Dynamic::new(&spec, StripingRatio::ALL, None));
    let asked = |node: &mut Hand| -> Vec<u32> {
        let requests = node.actions().into_iter().filter_map(|action| match action {
            Action::Control { rail, packet: Control::Rts(_), .. } => Some(rail.0),
            _ => None,
        });
        requests.collect()
    };
    let receive = |node: &mut Hand, rail: u32, packet: Control| {
        let (rail, from) = (RailId(rail), NodeId(1));
        node.handle(Time::ZERO, Input::Control { rail, from, packet, serial: 0 });
    };
    node.switch(1, false);
    node.send(0, 1, 1, 100);
    assert_eq!(asked(&mut node), [0, 2]);
    receive(&mut node, 0, Control::Cts);
    node.switch(2, false);
    assert_eq!(transmitted(&mut node), [(1, 0)], "on what has been granted");
    // Granted too late.
    receive(&mut node, 2, Control::Cts);
    assert!(matches!(node.actions()[..], [Action::Control { packet: Control::Abort, .. }]));
    node.send(0, 1, 2, 100);
    assert_eq!(asked(&mut node), [], "rail 0 sends, the others are down");
    node.switch(1, true);
    assert_eq!(asked(&mut node), [1]);
    // What was granted on a rail that has gone down since is given back.
    node.switch(2, true);
    receive(&mut node, 1, Control::Nack);
    assert_eq!(asked(&mut node), [1, 2]);
    receive(&mut node, 1, Control::Cts);
    node.switch(1, false);
    receive(&mut node, 2, Control::Cts);
    let actions = node.actions();
    assert!(
        matches!(actions[0], Action::Control { rail: RailId(1), packet: Control::Abort, .. }),
        "{actions:?}"
    );
    assert!(matches!(&actions[1], Action::Transmit(p) if p.parcel.stripe.rail == RailId(2)));
    assert_eq!(node.nic(RailId(2)).unwrap().state(), State::Sending);
    assert_eq!(node.violations(), 0);
}

#[test]
fn what_has_been_handed_to_a_nic_waits_there() {
    let packing = Packing { payload: Some(10), overhead: 0 };
    let spec = NodeSpec { packing, window: Some(1), ..NodeSpec::new(NodeId(0), 1) };
    let policy = PolicyKind::RoundRobin {}.policies(2, 1).unwrap().node(&spec).unwrap();
    let mut node = Hand::of(spec, policy);
    node.send(0, 1, 1, 20);
    assert_eq!(transmitted(&mut node), [(1, 0)]);
    node.switch(0, false);
    node.handle(Time::ZERO, Input::Acknowledged { stripe: StripeId(0), number: 0 });
    assert_eq!(transmitted(&mut node), []);
    node.switch(0, true);
    node.switch(0, true);
    assert_eq!(transmitted(&mut node), [(1, 0)], "its second packet");
}

/// What half of the last so many pings took at most, in microseconds.
fn half(pair: &mut Pair, bytes: u64, pings: usize) -> f64 {
    let mut times: Vec<u64> = (0..pings).map(|_| pair.ping(bytes).ps()).collect();
    times.sort_unstable();
    times[pings / 2] as f64 / 1e6
}

/// Channels never have much to send here: what rails carry shows in the short time that a message
/// takes, or not at all.
#[test]
fn messages_one_at_a_time_take_no_longer_than_by_the_best_cut() {
    let threshold = Bytes::new(pair::EAGER);
    let adaptive = PolicyKind::AdaptiveStriping { alpha: 0.5, floor: 0.01, units: None, threshold };
    for rates in [[1000, 1000], [1000, 500], [250, 1000], [1000, 100], [10_000, 2_500]] {
        let lines = rates.map(Line::new);
        for kib in [4, 8, 16, 32, 64, 128, 256, 512, 1024] {
            let bytes = kib << 10;
            let took = |kind| {
                let mut pair = Pair::new(kind, &lines);
                half(&mut pair, bytes, 20);
                half(&mut pair, bytes, 20)
            };
            let best = best_cut(lines, bytes).ps() as f64 / 1e6;
            let (pulled, adaptive) = (took(PolicyKind::Pull {}), took(adaptive));
            let told = format!("{rates:?}, {kib} KiB: {pulled} us, {best} at best, {adaptive}");
            assert!(pulled <= 1.08 * best && pulled <= 1.05 * adaptive, "{told}");
        }
    }
}

/// Also where there is never more to send than one message, nobody goes by what rails were like
/// long ago.
#[test]
fn messages_one_at_a_time_follow_rails_whose_rate_changes() {
    for bytes in [16 << 10, 64 << 10, 256 << 10] {
        let mut pair = Pair::new(PolicyKind::Pull {}, &[1000, 500].map(Line::new));
        half(&mut pair, bytes, 40);
        for rates in [[100, 500], [1000, 500], [1000, 50]] {
            (0..2).for_each(|rail| pair.change(rail, rates[rail]));
            half(&mut pair, bytes, 100);
            let (found, best) = (half(&mut pair, bytes, 40), best_cut(rates.map(Line::new), bytes));
            let ratio = found / (best.ps() as f64 / 1e6);
            assert!(ratio <= 1.15, "{bytes} bytes, {rates:?}: {ratio} times as long");
        }
    }
}
