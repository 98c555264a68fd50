//! Dynamic and hybrid: what is agreed with the receiver, step by step.

mod hand;
mod network;

use crosstie_protocol::nic::{Event, State};
use crosstie_protocol::policy::Dynamic;
use crosstie_protocol::*;
use crosstie_units::{Bytes, Time};
use hand::{Hand, arriving, message};
use network::{Network, Wires};

const PEER: NodeId = NodeId(1);

fn spec(pes: u32, rails: u32) -> NodeSpec {
    NodeSpec { pes, transfers: Some(1), ..NodeSpec::new(NodeId(0), rails) }
}

fn dynamic(ratio: StripingRatio, timeout: Option<Time>, pes: u32, rails: u32) -> Hand {
    let spec = spec(pes, rails);
    Hand::new(spec, Dynamic::new(&spec, ratio, timeout))
}

fn hybrid(threshold: u64, rails: u32) -> Hand {
    let spec = spec(1, rails);
    Hand::new(spec, Dynamic::hybrid(&spec, StripingRatio::ALL, None, threshold))
}

fn receive(node: &mut Hand, rail: u32, packet: Control) {
    let (rail, from, serial) = (RailId(rail), PEER, 0);
    node.handle(Time::ZERO, Input::Control { rail, from, packet, serial });
}

/// A request of the peer.
fn rts(counter: i64) -> Control {
    Control::Rts(Priority { counter, node: PEER })
}

/// Takes all actions, in words: "RTS 0" is a packet on rail 0, "data 1 10..20" bytes on rail 1.
fn actions(node: &mut Hand) -> Vec<String> {
    node.actions()
        .into_iter()
        .map(|action| match action {
            Action::Control { rail, packet: Control::Rts(_), .. } => format!("RTS {}", rail.0),
            Action::Control { rail, packet, .. } => {
                format!("{} {}", format!("{packet:?}").to_uppercase(), rail.0)
            }
            Action::Transmit(Packet { parcel, bytes, .. }) => {
                let kind = if parcel.reserved { "data" } else { "short" };
                format!("{kind} {} {bytes:?}", parcel.stripe.rail.0)
            }
            Action::Deliver { bytes, .. } => format!("deliver {bytes}"),
            Action::Complete { message, .. } => format!("complete {}", message.0),
            other => panic!("{other:?}"),
        })
        .collect()
}

fn states(node: &Hand) -> Vec<State> {
    (0..).map_while(|rail| node.nic(RailId(rail))).map(|nic| nic.state()).collect()
}

#[test]
fn figure_5_a_message_on_all_rails() {
    let mut node = dynamic(StripingRatio::ALL, None, 1, 2);
    node.send(0, 1, 7, 20);
    assert_eq!(actions(&mut node), ["RTS 0", "RTS 1"]);
    receive(&mut node, 1, Control::Cts);
    assert!(actions(&mut node).is_empty(), "not all have answered");
    receive(&mut node, 0, Control::Cts);
    assert_eq!(actions(&mut node), ["data 0 0..10", "data 1 10..20"]);
    for rail in [0, 1] {
        node.sent(rail, 7);
    }
    assert_eq!(actions(&mut node), ["complete 7"]);
    assert_eq!(states(&node), [State::Sending; 2], "until the receiver has all");
    receive(&mut node, 0, Control::Ack);
    assert_eq!(states(&node), [State::Free, State::Sending], "each rail by itself");
    receive(&mut node, 1, Control::Ack);
    assert!(node.is_idle());
}

#[test]
fn item_6_ratio_0_asks_every_free_nic_and_gives_back_all_but_one() {
    let mut node = dynamic(StripingRatio::ONE, None, 1, 4);
    receive(&mut node, 2, rts(0));
    assert_eq!(actions(&mut node), ["CTS 2"]);
    node.send(0, 1, 7, 20);
    assert_eq!(actions(&mut node), ["RTS 0", "RTS 1", "RTS 3"], "rail 2 receives");
    receive(&mut node, 0, Control::Nack);
    receive(&mut node, 3, Control::Cts);
    receive(&mut node, 1, Control::Cts);
    assert_eq!(actions(&mut node), ["ABORT 3", "data 1 0..20"]);
    use State::{Free, Receiving, Sending};
    assert_eq!(states(&node), [Free, Sending, Receiving, Free]);
    // The next selection continues past rail 1.
    node.send(0, 1, 8, 20);
    assert_eq!(actions(&mut node), ["RTS 0", "RTS 3"]);
    receive(&mut node, 0, Control::Cts);
    receive(&mut node, 3, Control::Cts);
    assert_eq!(actions(&mut node), ["ABORT 0", "data 3 0..20"]);
}

#[test]
fn item_6_an_abort_frees_the_nic_of_the_receiver() {
    let kind = PolicyKind::Dynamic { striping: StripingRatio::ONE, timeout: None };
    let mut network = Network::new(kind, 2, 1, 4, Wires::quick());
    network.send(Time::ZERO, 0, 0, 1, 1, 500);
    network.finish();
    assert_eq!(network.watch.count("RTS"), 4);
    assert_eq!(network.watch.count("CTS"), 4);
    assert_eq!((network.watch.count("ABORT"), network.watch.count("ACK")), (3, 1));
    let tally = network.nodes[1].tally().unwrap();
    assert_eq!(tally.count(State::Receiving, Event::RemoteAbort), 3);
}

#[test]
fn a_receiver_acknowledges_what_has_arrived() {
    let mut node = dynamic(StripingRatio::ALL, None, 1, 1);
    receive(&mut node, 0, rts(0));
    let packet = message(1, 3, 0, 9, true);
    node.handle(Time::ZERO, arriving(&packet));
    node.handle(Time::ZERO, Input::Arrived(packet));
    assert_eq!(actions(&mut node), ["CTS 0", "deliver 9", "ACK 0"]);
    assert!(node.is_idle());
}

#[test]
fn a_refused_pe_goes_to_the_end_of_the_line() {
    let mut node = dynamic(StripingRatio::ALL, None, 3, 1);
    for pe in 0..3 {
        let (message, to) = (MessageId(u64::from(pe)), NodeId(10 + pe));
        node.handle(
            Time::ZERO,
            Input::Send { pe: PeId(pe), message, to, bytes: 10, rail: None, whole: false },
        );
    }
    let mut asked = Vec::new();
    for _ in 0..5 {
        match node.poll_action(Time::ZERO) {
            Some(Action::Control { to, packet: Control::Rts(_), .. }) => asked.push(to.0),
            other => panic!("{other:?}"),
        }
        receive(&mut node, 0, Control::Nack);
    }
    assert_eq!(asked, [10, 11, 12, 10, 11]);
}

#[test]
fn a_refused_pe_asks_again_when_a_nic_is_free() {
    let mut node = dynamic(StripingRatio::ALL, None, 2, 2);
    node.send(0, 1, 1, 10);
    node.send(1, 1, 2, 10);
    assert_eq!(actions(&mut node), ["RTS 0", "RTS 1"], "PE 0 has claimed both");
    receive(&mut node, 0, Control::Nack);
    assert_eq!(actions(&mut node), ["RTS 0"], "PE 1 takes what has become free");
    receive(&mut node, 1, Control::Nack);
    assert_eq!(actions(&mut node), ["RTS 1"], "PE 0 tries again");
    receive(&mut node, 1, Control::Cts);
    assert_eq!(actions(&mut node), ["data 1 0..10"]);
    // A refused request on a NIC that has been granted meanwhile: nothing is free, so PE 1 waits.
    receive(&mut node, 0, rts(5));
    receive(&mut node, 0, Control::Nack);
    assert_eq!(actions(&mut node), ["CTS 0"]);
    assert_eq!(states(&node), [State::Receiving, State::Sending]);
    assert_eq!(node.poll_timeout(), None);
    receive(&mut node, 0, Control::Abort);
    assert_eq!(actions(&mut node), ["RTS 0"]);
    assert_eq!(node.violations(), 0);
}

#[test]
fn out_of_time_a_pe_takes_what_it_has_and_gives_back_what_comes_late() {
    let mut node = dynamic(StripingRatio::ALL, Some(Time::from_ns(100)), 1, 3);
    node.send(0, 1, 1, 10);
    receive(&mut node, 1, Control::Cts);
    assert_eq!(actions(&mut node).len(), 3);
    assert_eq!(node.poll_timeout(), Some(Time::from_ns(100)));
    node.handle_timeout(Time::from_ns(100));
    assert_eq!(actions(&mut node), ["data 1 0..10"]);
    assert_eq!(states(&node), [State::Reserved, State::Sending, State::Reserved]);
    receive(&mut node, 0, Control::Cts);
    assert_eq!(actions(&mut node), ["ABORT 0"]);
    receive(&mut node, 2, Control::Nack);
    assert!(actions(&mut node).is_empty());
    assert_eq!(states(&node), [State::Free, State::Sending, State::Free]);
    assert_eq!((node.poll_timeout(), node.violations()), (None, 0));
}

#[test]
fn without_any_grant_in_time_a_pe_asks_again_and_waits_twice_as_long() {
    let mut node = dynamic(StripingRatio::ALL, Some(Time::from_ns(100)), 1, 1);
    node.send(0, 1, 1, 10);
    assert_eq!(actions(&mut node), ["RTS 0"]);
    node.handle_timeout(Time::from_ns(100));
    assert!(actions(&mut node).is_empty(), "the NIC is still reserved");
    assert_eq!(node.poll_timeout(), None, "waits for its answer");
    let cts = Input::Control { rail: RailId(0), from: PEER, packet: Control::Cts, serial: 0 };
    node.handle(Time::from_ns(500), cts.clone());
    assert_eq!(actions(&mut node), ["ABORT 0", "RTS 0"]);
    assert_eq!(node.poll_timeout(), Some(Time::from_ns(700)));
    node.handle(Time::from_ns(650), cts);
    assert_eq!(actions(&mut node), ["data 0 0..10"]);
    node.send(0, 1, 2, 10);
    receive(&mut node, 0, Control::Ack);
    assert_eq!(node.poll_timeout(), Some(Time::from_ns(100)), "as at first");
}

#[test]
fn item_12_short_messages_take_one_rail_and_no_agreement() {
    let mut node = hybrid(100, 3);
    receive(&mut node, 0, rts(0));
    (1..=3).for_each(|message| node.send(0, 1, message, 99));
    // Rail 0 receives; the other two are taken in turn, and the third short waits behind the first.
    assert_eq!(actions(&mut node), ["CTS 0", "short 1 0..99", "short 2 0..99"]);
    assert_eq!(states(&node), [State::Receiving, State::Free, State::Free], "as before");
    node.send(0, 1, 4, 100);
    assert_eq!(actions(&mut node), ["RTS 1", "RTS 2"], "this one is long");
    // Nothing is free: round robin over all, even over the one that receives.
    receive(&mut node, 1, Control::Cts);
    receive(&mut node, 2, Control::Nack);
    receive(&mut node, 2, rts(0));
    assert_eq!(actions(&mut node), ["CTS 2"], "the long stripe waits behind two short ones");
    node.sent(1, 1);
    assert_eq!(actions(&mut node), ["complete 1", "short 1 0..99"]);
    node.sent(1, 3);
    assert_eq!(actions(&mut node), ["complete 3", "data 1 0..100"]);
    node.send(0, 1, 5, 0);
    node.sent(2, 2);
    assert_eq!(actions(&mut node), ["complete 2", "short 2 0..0"]);
    assert_eq!(states(&node), [State::Receiving, State::Sending, State::Receiving]);
}

#[test]
fn item_12_short_messages_are_accepted_in_any_state() {
    let mut node = hybrid(100, 1);
    node.send(0, 1, 1, 1000);
    receive(&mut node, 0, Control::Cts);
    actions(&mut node);
    assert_eq!(states(&node), [State::Sending]);
    let packet = message(1, 3, 0, 9, false);
    node.handle(Time::ZERO, arriving(&packet));
    node.handle(Time::ZERO, Input::Arrived(packet));
    assert_eq!(actions(&mut node), ["deliver 9"], "no ACK");
    assert_eq!((states(&node), node.violations()), (vec![State::Sending], 0));
}

#[test]
fn item_12_a_threshold_of_0_equals_dynamic() {
    let log = |kind: PolicyKind| {
        let mut network = Network::new(kind, 4, 2, 3, Wires::quick());
        for message in 0..200 {
            let (from, to) = (message % 4, (message % 4 + 1 + message % 3) % 4);
            let (at, pe) = (Time::from_ns(u64::from(message) * 700), message % 2);
            network.send(at, from, pe, to, u64::from(message), u64::from(message) * 31 % 9_000);
        }
        network.finish();
        network.watch.log
    };
    let (striping, timeout) = (StripingRatio::ALL, None);
    let hybrid =
        |threshold| PolicyKind::Hybrid { striping, timeout, threshold: Bytes::new(threshold) };
    let reserved = log(PolicyKind::Dynamic { striping, timeout });
    assert_eq!(log(hybrid(0)), reserved);
    assert_ne!(log(hybrid(1)), reserved, "empty messages are short now");
    assert!(!log(hybrid(u64::MAX)).iter().any(|line| line.ends_with("RTS")));
}
