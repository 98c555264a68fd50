//! The policies that agree on nothing with the receiver: round robin, static, basic, local-dynamic.

mod hand;

use std::sync::Arc;

use crosstie_protocol::policy::{Basic, LocalDynamic, RoundRobin, StaticAllocation};
use crosstie_protocol::*;
use crosstie_units::Time;
use hand::{Hand, arriving, message};

fn spec(pes: u32, rails: u32) -> NodeSpec {
    NodeSpec { pes, transfers: Some(1), ..NodeSpec::new(NodeId(0), rails) }
}

fn basic(spec: NodeSpec) -> Hand {
    Hand::new(spec, Basic::new(&spec))
}

fn local_dynamic(ratio: StripingRatio, pes: u32, rails: u32) -> Hand {
    Hand::new(spec(pes, rails), LocalDynamic::new(ratio))
}

/// Takes all actions: transmissions as (message, rail), completions as (message, none).
fn actions(node: &mut Hand) -> Vec<(u64, Option<u32>)> {
    node.actions()
        .into_iter()
        .map(|action| match action {
            Action::Transmit(Packet { parcel, .. }) => {
                assert!(!parcel.reserved);
                (parcel.message.0, Some(parcel.stripe.rail.0))
            }
            Action::Complete { message, .. } => (message.0, None),
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn round_robin_takes_rails_in_turn_by_node_and_sends_at_once() {
    let spec = NodeSpec { pes: 2, ..NodeSpec::new(NodeId(0), 3) };
    let mut node = Hand::new(spec, RoundRobin::default());
    assert!(!node.needs_departures() && !node.needs_arriving());
    for (pe, message) in [(0, 0), (1, 1), (0, 2), (0, 3)] {
        node.send(pe, 1, message, 10);
    }
    assert_eq!(actions(&mut node), [(0, Some(0)), (1, Some(1)), (2, Some(2)), (3, Some(0))]);
    for (rail, message) in [(0, 3), (2, 2), (1, 1), (0, 0)] {
        node.sent(rail, message);
    }
    assert_eq!(actions(&mut node), [], "nobody asked for completions");
    assert!(node.is_idle() && node.violations() == 0);
}

#[test]
fn basic_takes_rails_in_turn_by_pe_whatever_the_nics_do() {
    let mut node = basic(spec(2, 2));
    for (pe, message) in [(0, 0), (0, 1), (1, 2), (0, 3)] {
        node.send(pe, 1, message, 10);
    }
    // PE 1 starts at rail 0 again; messages 2 and 3 wait there behind message 0.
    assert_eq!(actions(&mut node), [(0, Some(0)), (1, Some(1))]);
    node.sent(0, 0);
    assert_eq!(actions(&mut node), [(0, None), (2, Some(0))]);
    node.sent(0, 2);
    assert_eq!(actions(&mut node), [(2, None), (3, Some(0))]);
    assert_eq!(node.free(), None, "no status is kept");
}

#[test]
fn a_pe_with_blocking_sends_has_one_message_under_way() {
    let spec = NodeSpec { blocking: true, ..spec(2, 4) };
    let mut node = Hand::new(spec, LocalDynamic::new(StripingRatio::ONE));
    for (pe, message) in [(0, 0), (0, 1), (0, 2), (1, 3)] {
        node.send(pe, 1, message, 10);
    }
    assert_eq!(actions(&mut node), [(0, Some(0)), (3, Some(1))], "though rails are idle");
    node.sent(0, 0);
    assert_eq!(actions(&mut node), [(0, None), (1, Some(2))], "when it has left, the next starts");
}

#[test]
fn a_nic_transmits_as_many_stripes_at_once_as_it_may() {
    let mut node = basic(NodeSpec { transfers: Some(2), ..spec(1, 1) });
    (0..4).for_each(|message| node.send(0, 1, message, 10));
    assert_eq!(actions(&mut node), [(0, Some(0)), (1, Some(0))]);
    node.sent(0, 1);
    assert_eq!(actions(&mut node), [(1, None), (2, Some(0))]);
}

#[test]
fn static_uses_the_rails_that_lead_to_the_receiver_in_turn() {
    // Node 0 transmits on rails 0, 1 and 2. Node 1 receives on 0 and 2 of them, node 2 on 1.
    let matrix: Matrix = "101 / 110 / 101 / 010 / 001".parse().unwrap();
    let (spec, allocation) = (spec(1, 5), Arc::new(Allocation::new(matrix).unwrap()));
    let mut node = Hand::new(spec, StaticAllocation::new(&spec, &allocation).unwrap());
    for (message, to) in [(0, 1), (1, 1), (2, 2), (3, 1)] {
        node.send(0, to, message, 10);
    }
    assert_eq!(actions(&mut node), [(0, Some(0)), (1, Some(2)), (2, Some(1))]);
    node.sent(2, 1);
    assert_eq!(actions(&mut node), [(1, None), (3, Some(2))], "3 waited in the queue of rail 2");
}

#[test]
fn item_4_local_dynamic_ratio_0_uses_one_rail_and_ratio_1_every_free_one() {
    let rails = |ratio| {
        let mut node = local_dynamic(ratio, 1, 4);
        node.handle(Time::ZERO, arriving(&message(5, 1, 2, 9, false)));
        node.send(0, 1, 0, 1000);
        let rails = actions(&mut node).into_iter().filter_map(|(_, rail)| rail);
        rails.collect::<Vec<u32>>()
    };
    assert_eq!(rails(StripingRatio::ONE), [0]);
    assert_eq!(rails(StripingRatio::ALL), [0, 1, 3]);
    assert_eq!(rails(StripingRatio::new(0.5).unwrap()), [0, 1]);
}

#[test]
fn item_5_local_dynamic_waits_until_a_nic_neither_sends_nor_receives() {
    let mut node = local_dynamic(StripingRatio::ONE, 2, 2);
    let (first, second) = (message(5, 98, 0, 9, false), message(5, 99, 0, 9, false));
    node.handle(Time::ZERO, arriving(&first));
    node.handle(Time::ZERO, arriving(&second));
    node.send(0, 1, 10, 100);
    assert_eq!(actions(&mut node), [(10, Some(1))]);
    assert!(node.free().unwrap().is_empty());

    // Nothing is free: both PEs wait, in the order in which they came.
    node.send(1, 1, 20, 100);
    node.send(0, 1, 11, 100);
    assert_eq!(actions(&mut node), []);
    node.handle(Time::ZERO, Input::Arrived(first));
    assert!(matches!(node.poll_action(Time::ZERO), Some(Action::Deliver { bytes: 9, .. })));
    assert_eq!(actions(&mut node), [], "another message is still coming in on rail 0");
    node.handle(Time::ZERO, Input::Arrived(second));
    assert!(matches!(node.poll_action(Time::ZERO), Some(Action::Deliver { .. })));
    assert_eq!(actions(&mut node), [(20, Some(0))], "PE 1 came first");
    node.sent(1, 10);
    assert_eq!(actions(&mut node), [(10, None), (11, Some(1))]);
    assert_eq!(node.violations(), 0);
}

#[test]
fn local_dynamic_gives_a_nic_to_one_pe_only() {
    let mut node = local_dynamic(StripingRatio::ALL, 2, 2);
    node.send(0, 1, 1, 100);
    node.send(1, 1, 2, 100);
    assert_eq!(actions(&mut node), [(1, Some(0)), (1, Some(1))]);
    node.sent(1, 1);
    assert_eq!(actions(&mut node), [(2, Some(1))], "message 1 has not left whole");
    node.sent(0, 1);
    assert_eq!(actions(&mut node), [(1, None)]);
}

#[test]
fn without_hints_local_dynamic_knows_only_what_it_sends() {
    let mut node = local_dynamic(StripingRatio::ONE, 1, 1);
    assert!(node.needs_arriving());
    node.handle(Time::ZERO, Input::Arrived(message(5, 98, 0, 9, false)));
    assert!(matches!(node.poll_action(Time::ZERO), Some(Action::Deliver { .. })));
    node.send(0, 1, 1, 100);
    assert_eq!(actions(&mut node), [(1, Some(0))]);
    assert_eq!(node.violations(), 0);
}

#[test]
fn reports_that_cannot_be_are_counted_and_ignored() {
    let mut node = local_dynamic(StripingRatio::ALL, 1, 2);
    let (rail, from, stripe, serial) = (RailId(0), NodeId(1), StripeId(3), 0);
    let elsewhere = {
        let mut packet = message(1, 1, 0, 9, false);
        packet.parcel.to = NodeId(7);
        packet
    };
    for (count, input) in (1..).zip([
        Input::Left { stripe },
        Input::Acknowledged { stripe, number: 0 },
        Input::Arriving { rail: RailId(2), from, stripe },
        Input::Arrived(message(1, 1, 2, 9, false)),
        Input::Arrived(elsewhere),
        Input::Rail { rail: RailId(2), up: false },
        Input::Control { rail, from, packet: Control::Cts, serial },
        Input::Control { rail: RailId(9), from, packet: Control::Cts, serial },
    ]) {
        node.handle(Time::ZERO, input);
        assert_eq!(node.violations(), count);
    }
    assert_eq!(node.poll_action(Time::ZERO), None);
    assert!(node.is_idle());
}

#[test]
fn nodes_that_cannot_be_are_refused() {
    let nothing = "a node needs at least one PE, and NICs with at least one stripe and one packet \
                   under way and one byte in a packet";
    let packing = Packing { payload: Some(0), overhead: 8 };
    for (spec, message) in [
        (spec(1, 0), "a node has 1 to 64 rails, not 0"),
        (spec(1, 65), "a node has 1 to 64 rails, not 65"),
        (spec(0, 1), nothing),
        (NodeSpec { transfers: Some(0), ..spec(1, 1) }, nothing),
        (NodeSpec { window: Some(0), ..spec(1, 1) }, nothing),
        (NodeSpec { packing, ..spec(1, 1) }, nothing),
    ] {
        let node = Node::new(spec, Box::new(RoundRobin::default()));
        assert_eq!(node.unwrap_err().to_string(), message);
    }
    let allocation = Arc::new(Allocation::new(algorithm2(4, 6).unwrap()).unwrap());
    for (spec, message) in [
        (spec(1, 3), "the static allocation is for 4 rails, but the nodes have 3"),
        (
            NodeSpec { id: NodeId(6), ..spec(1, 4) },
            "the static allocation is for 6 nodes: there is no node 6",
        ),
    ] {
        let policy = StaticAllocation::new(&spec, &allocation);
        assert_eq!(policy.unwrap_err().to_string(), message);
    }
}
