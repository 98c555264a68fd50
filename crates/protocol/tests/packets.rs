//! Cutting, the window of a NIC, and stripes of any length.

mod hand;

use crosstie_protocol::policy::{Basic, RoundRobin};
use crosstie_protocol::*;
use crosstie_units::Time;
use hand::{Hand, message};
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Packets of 100 bytes, so many under way on the one rail.
fn spec(window: u32) -> NodeSpec {
    let packing = Packing { payload: Some(100), overhead: 8 };
    NodeSpec { packing, window: Some(window), ..NodeSpec::new(NodeId(0), 1) }
}

/// Takes all packets to be transmitted: stripe, number, bytes.
fn packets(node: &mut Hand) -> Vec<(u32, u32, Range<u64>)> {
    let transmitted = node.actions().into_iter().filter_map(|action| match action {
        Action::Transmit(packet) => Some((packet.parcel.id.0, packet.number, packet.bytes)),
        Action::Complete { .. } => None,
        other => panic!("{other:?}"),
    });
    transmitted.collect()
}

fn acknowledge(node: &mut Hand, stripe: u32, number: u32) {
    node.handle(Time::ZERO, Input::Acknowledged { stripe: StripeId(stripe), number });
}

#[test]
fn a_message_is_cut_and_every_packet_can_be_had_again() {
    let spec = NodeSpec { window: None, ..spec(1) };
    let mut node = Hand::new(spec, RoundRobin::default());
    node.send(0, 1, 7, 250);
    assert_eq!(packets(&mut node), [(0, 0, 0..100), (0, 1, 100..200), (0, 2, 200..250)]);
    let again = node.packet(StripeId(0), 2);
    assert_eq!(
        (again.bytes.clone(), again.parcel.message, again.len()),
        (200..250, MessageId(7), 50)
    );
    (0..3).for_each(|number| acknowledge(&mut node, 0, number));
    assert!(node.is_idle() && node.violations() == 0);
    // The number is free again.
    node.send(0, 1, 8, 0);
    assert_eq!(packets(&mut node), [(0, 0, 0..0)], "even nothing takes a packet");
}

#[test]
fn a_window_has_room_for_so_many_packets_and_no_stripe_holds_up_another() {
    let mut node = Hand::new(spec(3), RoundRobin::default());
    node.send(0, 1, 1, 1000);
    assert_eq!(packets(&mut node), [(0, 0, 0..100), (0, 1, 100..200), (0, 2, 200..300)]);
    node.send(0, 1, 2, 150);
    node.send(0, 1, 3, 80);
    assert_eq!(packets(&mut node), [], "no room");
    // Stripes that have nothing under way go first, in turn.
    acknowledge(&mut node, 0, 0);
    assert_eq!(packets(&mut node), [(1, 0, 0..100)]);
    acknowledge(&mut node, 0, 2);
    assert_eq!(packets(&mut node), [(2, 0, 0..80)]);
    // All three have one: whoever has waited longest.
    acknowledge(&mut node, 2, 0);
    assert_eq!(packets(&mut node), [(0, 3, 300..400)]);
    acknowledge(&mut node, 1, 0);
    assert_eq!(packets(&mut node), [(1, 1, 100..150)]);
    assert_eq!(node.violations(), 0);
}

#[test]
fn a_stripe_has_left_with_its_last_packet() {
    let spec = NodeSpec { transfers: Some(1), ..spec(2) };
    let mut node = Hand::new(spec, Basic::new(&spec));
    assert!(node.needs_departures());
    node.send(0, 1, 1, 200);
    node.send(0, 1, 2, 100);
    assert_eq!(packets(&mut node), [(0, 0, 0..100), (0, 1, 100..200)]);
    let left = Input::Left { stripe: StripeId(0) };
    node.handle(Time::ZERO, left.clone());
    acknowledge(&mut node, 0, 0);
    assert_eq!(node.actions(), [], "there is room, but the NIC still sends the first");
    node.handle(Time::ZERO, left.clone());
    let actions = node.actions();
    assert!(matches!(actions[0], Action::Complete { message: MessageId(1), .. }), "{actions:?}");
    assert!(matches!(&actions[1], Action::Transmit(packet) if packet.parcel.id == StripeId(1)));
    node.handle(Time::ZERO, left);
    assert_eq!(node.violations(), 1, "no more of it could leave");
}

#[test]
fn more_acknowledgements_than_packets_make_no_room() {
    let mut node = Hand::new(spec(2), RoundRobin::default());
    node.send(0, 1, 1, 500);
    packets(&mut node);
    (0..2).for_each(|number| acknowledge(&mut node, 0, number));
    // The first two are known; the next two have not been taken, and nobody can have them.
    (0..3).for_each(|number| acknowledge(&mut node, 0, number));
    acknowledge(&mut node, 0, 3);
    acknowledge(&mut node, 4, 0);
    assert_eq!(node.violations(), 5);
    assert_eq!(packets(&mut node), [(0, 2, 200..300), (0, 3, 300..400)]);
}

#[test]
fn what_arrives_in_packets_is_delivered_when_it_is_whole() {
    let mut node = Hand::new(spec(1), RoundRobin::default());
    let whole = message(5, 1, 0, 250, false);
    let part = |bytes: Range<u64>| Input::Arrived(Packet { bytes, ..whole.clone() });
    for bytes in [100..200, 0..100, 100..200] {
        node.handle(Time::ZERO, part(bytes));
        assert_eq!(node.actions(), []);
    }
    assert_eq!(node.violations(), 1, "one came twice");
    node.handle(Time::ZERO, part(200..250));
    let (from, message, bytes) = (NodeId(5), MessageId(1), 250);
    assert_eq!(node.actions(), [Action::Deliver { from, message, bytes }]);
}

/// Cuts messages at given bytes, and keeps what it hears of the stripes.
#[derive(Debug)]
struct Uneven {
    ends: Vec<u64>,
    heard: Arc<Mutex<Vec<Feedback>>>,
}

impl Policy for Uneven {
    fn ready(&mut self, pe: PeId, dispatch: &mut Dispatch) {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let pieces = starts.zip(&self.ends).zip([1, 0, 1].map(RailId));
        let stripes = pieces.map(|((start, &end), rail)| Stripe { rail, bytes: start..end });
        dispatch.send(pe, stripes, false);
    }
    fn finished(&mut self, feedback: &Feedback, _dispatch: &mut Dispatch) {
        self.heard.lock().unwrap().push(*feedback);
    }
}

fn uneven(ends: &[u64]) -> (Hand, Arc<Mutex<Vec<Feedback>>>) {
    let heard = Arc::default();
    let policy = Uneven { ends: ends.to_vec(), heard: Arc::clone(&heard) };
    (Hand::new(NodeSpec::new(NodeId(0), 2), policy), heard)
}

#[test]
fn stripes_may_be_unequal_and_a_policy_hears_how_each_has_fared() {
    let (mut node, heard) = uneven(&[10, 700, 1000]);
    let (pe, message, to) = (PeId(0), MessageId(1), NodeId(4));
    node.handle(
        Time::from_ns(5),
        Input::Send { pe, message, to, bytes: 1000, rail: None, whole: false },
    );
    let sent: Vec<Packet> = node
        .actions()
        .into_iter()
        .map(|action| match action {
            Action::Transmit(packet) => packet,
            other => panic!("{other:?}"),
        })
        .collect();
    let bytes: Vec<_> = sent.iter().map(|p| (p.parcel.stripe.rail.0, p.bytes.clone())).collect();
    assert_eq!(bytes, [(1, 0..10), (0, 10..700), (1, 700..1000)]);
    // In any order they make the message again.
    let spec = NodeSpec::new(to, 2);
    let mut receiver = Hand::new(spec, RoundRobin::default());
    for packet in [2, 0, 1].map(|place: usize| &sent[place]) {
        assert_eq!(receiver.actions(), []);
        receiver.handle(Time::ZERO, Input::Arrived(packet.clone()));
    }
    assert!(matches!(receiver.actions()[..], [Action::Deliver { bytes: 1000, .. }]));
    let done = Time::from_ns(90);
    node.handle(done, Input::Acknowledged { stripe: sent[1].parcel.id, number: 0 });
    let (rail, handed_over) = (RailId(0), Time::from_ns(5));
    let again = false;
    let feedback = Feedback { message, rail, to, bytes: 690, handed_over, done, again };
    assert_eq!(*heard.lock().unwrap(), [feedback]);
}

#[test]
#[should_panic(expected = "stripes cover Some(700) of 1000 bytes")]
fn stripes_that_leave_something_out_are_a_mistake_of_the_policy() {
    uneven(&[10, 700]).0.send(0, 1, 1, 1000);
}

#[test]
#[should_panic(expected = "does not continue a message of 1000 bytes")]
fn empty_stripes_are_a_mistake_of_the_policy() {
    uneven(&[10, 10, 1000]).0.send(0, 1, 1, 1000);
}
