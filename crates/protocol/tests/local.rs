//! The schemes that agree on nothing with the receiver: static, basic, local-dynamic.

use std::sync::Arc;

use crosstie_protocol::*;
use crosstie_units::Time;

fn spec(id: u32, pes: u32, rails: u32) -> NodeSpec {
    NodeSpec { id: NodeId(id), pes, rails, transfers: 1, blocking: false }
}

fn send(node: &mut Node, pe: u32, to: u32, message: u64, bytes: u64) {
    let (pe, message, to) = (PeId(pe), MessageId(message), NodeId(to));
    node.handle(Time::ZERO, Input::Send { pe, message, to, bytes });
}

fn sent(node: &mut Node, rail: u32, message: u64) {
    node.handle(Time::ZERO, Input::Sent { rail: RailId(rail), message: MessageId(message) });
}

/// Takes all actions: transmissions as (message, rail), completions as (message, none).
fn actions(node: &mut Node) -> Vec<(u64, Option<u32>)> {
    std::iter::from_fn(|| node.poll_action(Time::ZERO))
        .map(|action| match action {
            Action::Transmit(parcel) => {
                assert!(!parcel.reserved);
                (parcel.message.0, Some(parcel.stripe.rail.0))
            }
            Action::Complete { message, .. } => (message.0, None),
            other => panic!("{other:?}"),
        })
        .collect()
}

fn parcel(from: u32, rail: u32) -> Parcel {
    let stripe = Stripe { rail: RailId(rail), bytes: 0..9 };
    let (from, to, message) = (NodeId(from), NodeId(0), MessageId(99));
    Parcel { from, to, message, length: 9, stripe, reserved: false }
}

#[test]
fn basic_takes_rails_in_turn_by_pe_whatever_the_nics_do() {
    let mut node = Node::new(spec(0, 2, 2), &Scheme::Basic).unwrap();
    for (pe, message) in [(0, 0), (0, 1), (1, 2), (0, 3)] {
        send(&mut node, pe, 1, message, 10);
    }
    // PE 1 starts at rail 0 again; messages 2 and 3 wait there behind message 0.
    assert_eq!(actions(&mut node), [(0, Some(0)), (1, Some(1))]);
    sent(&mut node, 0, 0);
    assert_eq!(actions(&mut node), [(0, None), (2, Some(0))]);
    sent(&mut node, 0, 2);
    assert_eq!(actions(&mut node), [(2, None), (3, Some(0))]);
    assert_eq!(node.free(), None, "no status is kept");
}

#[test]
fn a_pe_with_blocking_sends_has_one_message_under_way() {
    let spec = NodeSpec { blocking: true, ..spec(0, 2, 4) };
    let mut node = Node::new(spec, &Scheme::LocalDynamic { ratio: StripingRatio::ONE }).unwrap();
    for (pe, message) in [(0, 0), (0, 1), (0, 2), (1, 3)] {
        send(&mut node, pe, 1, message, 10);
    }
    assert_eq!(actions(&mut node), [(0, Some(0)), (3, Some(1))], "though rails are idle");
    sent(&mut node, 0, 0);
    assert_eq!(actions(&mut node), [(0, None), (1, Some(2))], "when it has left, the next starts");
}

#[test]
fn a_nic_transmits_as_many_stripes_at_once_as_it_may() {
    let wide = NodeSpec { transfers: 2, ..spec(0, 1, 1) };
    let mut node = Node::new(wide, &Scheme::Basic).unwrap();
    (0..4).for_each(|message| send(&mut node, 0, 1, message, 10));
    assert_eq!(actions(&mut node), [(0, Some(0)), (1, Some(0))]);
    sent(&mut node, 0, 1);
    assert_eq!(actions(&mut node), [(1, None), (2, Some(0))]);
}

#[test]
fn static_uses_the_rails_that_lead_to_the_receiver_in_turn() {
    // Node 0 transmits on rails 0, 1 and 2. Node 1 receives on 0 and 2 of them, node 2 on 1.
    let matrix: Matrix = "101 / 110 / 101 / 010 / 001".parse().unwrap();
    let scheme = Scheme::Static(Arc::new(Allocation::new(matrix).unwrap()));
    let mut node = Node::new(spec(0, 1, 5), &scheme).unwrap();
    for (message, to) in [(0, 1), (1, 1), (2, 2), (3, 1)] {
        send(&mut node, 0, to, message, 10);
    }
    assert_eq!(actions(&mut node), [(0, Some(0)), (1, Some(2)), (2, Some(1))]);
    sent(&mut node, 2, 1);
    assert_eq!(actions(&mut node), [(1, None), (3, Some(2))], "3 waited in the queue of rail 2");
}

#[test]
fn item_4_local_dynamic_ratio_0_uses_one_rail_and_ratio_1_every_free_one() {
    let rails = |ratio| {
        let mut node = Node::new(spec(0, 1, 4), &Scheme::LocalDynamic { ratio }).unwrap();
        node.handle(Time::ZERO, Input::Arriving { rail: RailId(2) });
        send(&mut node, 0, 1, 0, 1000);
        let rails = actions(&mut node).into_iter().filter_map(|(_, rail)| rail);
        rails.collect::<Vec<u32>>()
    };
    assert_eq!(rails(StripingRatio::ONE), [0]);
    assert_eq!(rails(StripingRatio::ALL), [0, 1, 3]);
    assert_eq!(rails(StripingRatio::new(0.5).unwrap()), [0, 1]);
}

#[test]
fn item_5_local_dynamic_waits_until_a_nic_neither_sends_nor_receives() {
    let scheme = Scheme::LocalDynamic { ratio: StripingRatio::ONE };
    let mut node = Node::new(spec(0, 2, 2), &scheme).unwrap();
    let receive = |node: &mut Node, rail| {
        node.handle(Time::ZERO, Input::Arriving { rail: RailId(rail) });
    };
    receive(&mut node, 0);
    receive(&mut node, 0);
    send(&mut node, 0, 1, 10, 100);
    assert_eq!(actions(&mut node), [(10, Some(1))]);
    assert!(node.free().unwrap().is_empty());

    // Nothing is free: both PEs wait, in the order in which they came.
    send(&mut node, 1, 1, 20, 100);
    send(&mut node, 0, 1, 11, 100);
    assert_eq!(actions(&mut node), []);
    let whole = parcel(5, 0);
    node.handle(Time::ZERO, Input::Arrived(whole.clone()));
    assert!(matches!(node.poll_action(Time::ZERO), Some(Action::Deliver { bytes: 9, .. })));
    assert_eq!(actions(&mut node), [], "another message is still coming in on rail 0");
    node.handle(Time::ZERO, Input::Arrived(Parcel { message: MessageId(98), ..whole }));
    assert!(matches!(node.poll_action(Time::ZERO), Some(Action::Deliver { .. })));
    assert_eq!(actions(&mut node), [(20, Some(0))], "PE 1 came first");
    sent(&mut node, 1, 10);
    assert_eq!(actions(&mut node), [(10, None), (11, Some(1))]);
    assert_eq!(node.violations(), 0);
}

#[test]
fn local_dynamic_gives_a_nic_to_one_pe_only() {
    let scheme = Scheme::LocalDynamic { ratio: StripingRatio::ALL };
    let mut node = Node::new(spec(0, 2, 2), &scheme).unwrap();
    send(&mut node, 0, 1, 1, 100);
    send(&mut node, 1, 1, 2, 100);
    assert_eq!(actions(&mut node), [(1, Some(0)), (1, Some(1))]);
    sent(&mut node, 1, 1);
    assert_eq!(actions(&mut node), [(2, Some(1))], "message 1 has not left whole");
    sent(&mut node, 0, 1);
    assert_eq!(actions(&mut node), [(1, None)]);
}

#[test]
fn reports_that_cannot_be_are_counted_and_ignored() {
    let scheme = Scheme::LocalDynamic { ratio: StripingRatio::ALL };
    let mut node = Node::new(spec(0, 1, 2), &scheme).unwrap();
    let (rail, from) = (RailId(0), NodeId(1));
    for (count, input) in (1..).zip([
        Input::Sent { rail, message: MessageId(1) },
        Input::Arriving { rail: RailId(2) },
        Input::Control { rail, from, packet: Control::Cts },
        Input::Control { rail: RailId(9), from, packet: Control::Cts },
    ]) {
        node.handle(Time::ZERO, input);
        assert_eq!(node.violations(), count);
    }
    assert_eq!(node.poll_action(Time::ZERO), None);
    assert!(node.is_idle());
}

#[test]
fn nodes_that_cannot_be_are_refused() {
    let allocation = Arc::new(Allocation::new(algorithm2(4, 6).unwrap()).unwrap());
    let fixed = Scheme::Static(allocation);
    for (spec, scheme, message) in [
        (spec(0, 1, 0), &Scheme::Basic, "a node has 1 to 64 rails, not 0"),
        (spec(0, 1, 65), &Scheme::Basic, "a node has 1 to 64 rails, not 65"),
        (
            spec(0, 0, 1),
            &Scheme::Basic,
            "a node needs at least one PE and a window of at least one stripe per NIC",
        ),
        (spec(0, 1, 3), &fixed, "the static allocation is for 4 rails, but the nodes have 3"),
        (spec(6, 1, 4), &fixed, "the static allocation is for 6 nodes: there is no node 6"),
    ] {
        assert_eq!(Node::new(spec, scheme).unwrap_err().to_string(), message);
    }
}
