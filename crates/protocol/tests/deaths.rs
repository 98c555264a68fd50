//! Rails that die and return, at any time: every message is there once, whole and in order, as long
//! as one rail lives; and where none does, everybody who waits is told so in time.

mod cluster;
mod wires;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use cluster::{Cluster, Outage, Outcome, Plan, Rail};
use crosstie_protocol::channel::{ChannelSpec, GoBackNSpec, SelectiveSpec};
use crosstie_protocol::message::MessageSpec;
use crosstie_protocol::policy::Shares;
use crosstie_protocol::*;
use crosstie_units::{Bytes, Seed, Stream, Time};
use wires::{Link, Wire, best};

fn us(us: u64) -> Time {
    Time::from_ns(1000 * us)
}

/// A node of three rails that is patient for 100 us, and for a millisecond without a way; packets
/// of 100 bytes.
struct Single {
    node: Node,
    now: Time,
}

const HERE: NodeId = NodeId(0);
const THERE: NodeId = NodeId(1);
const ELSEWHERE: NodeId = NodeId(2);

impl Single {
    fn new(kind: PolicyKind, rails: u32, window: u32) -> Single {
        let patience =
            Patience { round_trips: 4, least: us(100), give_up: us(1000), ..Patience::default() };
        let spec = NodeSpec {
            packing: Packing { payload: Some(100), overhead: 0 },
            window: Some(window),
            in_order: true,
            reports: true,
            patience: Some(patience),
            ..NodeSpec::new(HERE, rails)
        };
        let policy = kind.policies(4, rails).unwrap().node(&spec).unwrap();
        Single { node: Node::new(spec, policy).unwrap(), now: Time::ZERO }
    }

    fn actions(&mut self) -> Vec<Action> {
        std::iter::from_fn(|| self.node.poll_action(self.now)).collect()
    }

    fn handle(&mut self, input: Input) -> Vec<Action> {
        self.node.handle(self.now, input);
        self.actions()
    }

    fn send(&mut self, message: u64, to: NodeId, bytes: u64) -> Vec<Action> {
        let (pe, message) = (PeId(0), MessageId(message));
        self.handle(Input::Send { pe, message, to, bytes, rail: None, whole: false })
    }

    /// Time goes by.
    fn wait_until(&mut self, time: Time) -> Vec<Action> {
        let mut actions = Vec::new();
        while let Some(at) = self.node.poll_timeout().filter(|&at| at <= time) {
            self.now = self.now.max(at);
            self.node.handle_timeout(self.now);
            actions.extend(self.actions());
        }
        self.now = time;
        actions
    }

    fn acknowledge(&mut self, packet: &Packet) -> Vec<Action> {
        let (stripe, number) = (packet.parcel.id, packet.number);
        self.handle(Input::Acknowledged { stripe, number })
    }

    fn rail(&mut self, rail: u32, up: bool) -> Vec<Action> {
        self.handle(Input::Rail { rail: RailId(rail), up })
    }

    fn ghosts(&self, rail: u32) -> u32 {
        self.node.ghosts(THERE, RailId(rail))
    }
}

/// The packets among actions.
fn packets(actions: &[Action]) -> Vec<Packet> {
    let packet = |action: &Action| match action {
        Action::Transmit(packet) => Some(packet.clone()),
        _ => None,
    };
    actions.iter().filter_map(packet).collect()
}

/// The rails and bytes of packets, in order of bytes.
fn places(packets: &[Packet]) -> Vec<(u32, std::ops::Range<u64>)> {
    let place = |packet: &Packet| (packet.parcel.stripe.rail.0, packet.bytes.clone());
    let mut places: Vec<_> = packets.iter().map(place).collect();
    places.sort_by_key(|(_, bytes)| bytes.start);
    places
}

fn landed(actions: &[Action]) -> usize {
    actions.iter().filter(|action| matches!(action, Action::Landed { .. })).count()
}

fn even() -> PolicyKind {
    PolicyKind::EvenStriping { threshold: Bytes::new(200) }
}

/// A message from there in one packet.
fn incoming(length: u64, reserved: bool, serial: u64) -> Packet {
    let parcel = Parcel {
        from: THERE,
        to: HERE,
        id: StripeId(0),
        message: MessageId(0),
        length,
        stripe: Stripe { rail: RailId(0), bytes: 0..length },
        reserved,
        serial,
    };
    Packet { parcel, number: 0, bytes: 0..length }
}

#[test]
fn what_a_silent_way_had_goes_again_on_others() {
    let mut single = Single::new(even(), 2, 2);
    let first = packets(&single.send(7, THERE, 800));
    assert_eq!(places(&first), [(0, 0..100), (0, 100..200), (1, 400..500), (1, 500..600)]);
    // The first rail answers, the second does not.
    single.wait_until(us(50));
    let more = packets(&single.acknowledge(&first[0]));
    assert_eq!(places(&more), [(0, 200..300)]);
    assert_eq!(packets(&single.wait_until(us(99))), []);
    let more = packets(&single.wait_until(us(100)));
    assert_eq!((places(&more), single.ghosts(1)), (vec![], 2), "the window of the first is full");
    let more = packets(&single.acknowledge(&first[1]));
    assert_eq!(places(&more), [(0, 300..400)]);
    let more = packets(&single.acknowledge(&more[0]));
    assert_eq!(places(&more), [(0, 400..500)], "what was on the other");
    assert!(!single.node.is_idle());
}

#[test]
fn late_answers_count_and_bring_a_way_back_with_the_last() {
    let mut single = Single::new(even(), 2, 4);
    let first = packets(&single.send(7, THERE, 400));
    assert_eq!(places(&first), [(0, 0..100), (0, 100..200), (1, 200..300), (1, 300..400)]);
    single.acknowledge(&first[0]);
    single.acknowledge(&first[1]);
    let again = packets(&single.wait_until(us(150)));
    assert_eq!(places(&again), [(0, 200..300), (0, 300..400)]);
    assert_eq!(landed(&single.acknowledge(&again[0])), 0);
    assert_eq!(landed(&single.acknowledge(&first[3])), 1, "all bytes have landed, by some stripe");
    assert!(single.node.packet(first[2].parcel.id, 0) == first[2], "a ghost keeps its number");
    assert_eq!(landed(&single.acknowledge(&first[2])), 0, "once");
    assert_eq!((single.ghosts(1), landed(&single.acknowledge(&again[1]))), (0, 0));
    assert!(single.node.is_idle() && single.node.violations() == 0);
    let next = packets(&single.send(8, THERE, 400));
    assert_eq!(places(&next), places(&first), "both rails live");
}

#[test]
fn a_way_with_ghosts_is_given_nothing_and_other_peers_have_all_rails() {
    let mut single = Single::new(PolicyKind::RoundRobin {}, 2, 4);
    let first = packets(&single.send(1, THERE, 50));
    single.send(2, THERE, 50);
    single.wait_until(us(120));
    assert_eq!(single.ghosts(0) + single.ghosts(1), 2, "both have died");
    let rails = |actions: Vec<Action>| places(&packets(&actions))[0].0;
    let others = [3, 4].map(|message| rails(single.send(message, ELSEWHERE, 50)));
    assert_ne!(others[0], others[1]);
    assert_eq!(single.send(5, THERE, 50), [], "it waits");
    assert_eq!(single.node.held(), 3);
    let back = single.acknowledge(&first[0]);
    let (rail, taken) = (first[0].parcel.stripe.rail.0, places(&packets(&back)));
    assert_eq!(landed(&back), 1);
    assert!(taken.len() == 2 && taken.iter().all(|place| place.0 == rail), "{taken:?}");
    assert_eq!(single.node.held(), 0);
}

#[test]
fn a_message_for_a_peer_without_a_way_holds_up_no_others() {
    let mut single = Single::new(PolicyKind::RoundRobin {}, 1, 1);
    single.send(1, THERE, 50);
    // The window is full: these wait at the NIC.
    assert_eq!(
        single.send(2, THERE, 50),
        [Action::HandedOver { message: MessageId(2), rails: RailSet::all(1) }]
    );
    single.send(3, ELSEWHERE, 50);
    let freed = packets(&single.wait_until(us(100)));
    assert_eq!(
        (freed.len(), freed[0].parcel.to),
        (1, ELSEWHERE),
        "ghosts have no place in the window"
    );
    assert_eq!(single.ghosts(0), 1, "what was never transmitted is withdrawn");
}

#[test]
fn what_waits_is_shared_with_a_way_that_comes_back() {
    let mut single = Single::new(even(), 2, 2);
    let first = packets(&single.send(7, THERE, 2000));
    single.rail(1, false);
    single.rail(1, true);
    assert_eq!(single.ghosts(1), 2);
    single.acknowledge(&first[2]);
    let back = packets(&single.acknowledge(&first[3]));
    assert_eq!(places(&back), [(1, 1600..1700), (1, 1700..1800)], "half of what is left");
}

#[test]
fn drivers_tell_of_rails_too() {
    let mut single = Single::new(even(), 2, 8);
    let first = packets(&single.send(7, THERE, 400));
    let again = packets(&single.rail(1, false));
    assert_eq!(places(&again), [(0, 200..300), (0, 300..400)], "at once");
    assert_eq!(packets(&single.rail(1, true)), [], "its ghosts are still to be answered");
    assert_eq!(places(&packets(&single.send(8, THERE, 200)))[..1], [(0, 0..100)]);
    for packet in first.iter().chain(&again) {
        single.acknowledge(packet);
    }
    assert_eq!(places(&packets(&single.send(9, THERE, 200))), [(0, 0..100), (1, 100..200)]);
}

#[test]
fn who_is_without_a_way_for_too_long_is_unreachable_once_and_for_all() {
    let mut single = Single::new(PolicyKind::Pull {}, 2, 4);
    let gone = Action::Unreachable { peer: THERE };
    single.send(1, THERE, 5000);
    // Something is half received.
    let packet = Packet { bytes: 0..100, ..incoming(200, false, 0) };
    assert_eq!(single.handle(Input::Arrived(packet.clone())), []);
    assert_eq!(single.node.half_received(), 1);
    let told: Vec<Action> =
        single.wait_until(us(1099)).into_iter().filter(|action| *action == gone).collect();
    assert_eq!((told, single.ghosts(0) + single.ghosts(1) > 0), (vec![], true));
    assert_eq!(single.wait_until(us(1100)), std::slice::from_ref(&gone));
    assert!(single.node.is_idle() && single.node.half_received() == 0);
    assert_eq!(single.node.poll_timeout(), None);
    assert_eq!(single.handle(Input::Arrived(packet)), [], "it is not heard");
    assert_eq!(single.node.half_received(), 0);
    assert_eq!(single.send(2, THERE, 50), [gone], "nor sent to");
    assert_eq!(packets(&single.send(3, ELSEWHERE, 50)).len(), 1, "others are there");
}

#[test]
fn what_is_waited_for_avoids_rails_that_have_come_back_only_lately() {
    let mut single = Single::new(PolicyKind::Pull {}, 2, 8);
    let send = |single: &mut Single, message: u64| {
        let sent = packets(&single.send(message, THERE, 50));
        single.wait_until(single.now + us(1));
        sent.iter().for_each(|packet| _ = single.acknowledge(packet));
        places(&sent)[0].0
    };
    let rails = |single: &mut Single| {
        let all = (0..8).map(|message| send(single, message));
        all.collect::<BTreeSet<u32>>().into_iter().collect::<Vec<_>>()
    };
    assert_eq!(rails(&mut single), [0, 1], "in turn");
    single.rail(1, false);
    assert_eq!(rails(&mut single), [0]);
    single.wait_until(us(1000));
    single.rail(1, true);
    assert_eq!(rails(&mut single), [0], "it may be down again soon");
    let long = packets(&single.send(9, THERE, 600));
    let used: BTreeSet<u32> = places(&long).into_iter().map(|(rail, _)| rail).collect();
    assert_eq!(used.into_iter().collect::<Vec<_>>(), [0, 1], "long messages need both");
    let mut left = VecDeque::from(long);
    while let Some(packet) = left.pop_front() {
        left.extend(packets(&single.acknowledge(&packet)));
    }
    single.rail(0, false);
    assert_eq!(rails(&mut single), [1], "better than none");
    single.rail(0, true);
    assert_eq!(rails(&mut single), [0, 1], "neither is better");
    single.wait_until(us(12_000));
    assert_eq!(rails(&mut single), [0, 1], "both have lived for a hundred silences");
}

#[test]
fn what_comes_again_is_no_news_and_no_violation() {
    let (mut sender, mut receiver) = (Single::new(even(), 2, 8), Single::new(even(), 2, 8));
    let mut all = packets(&sender.send(7, THERE, 400));
    all.extend(packets(&sender.rail(1, false)));
    let mut arrive = |packet: &Packet| {
        let mut packet = packet.clone();
        (packet.parcel.from, packet.parcel.to) = (THERE, HERE);
        receiver.handle(Input::Arrived(packet))
    };
    assert_eq!(all.len(), 6);
    let (from, message, bytes) = (THERE, MessageId(7), 400);
    let whole = [Action::Deliver { from, message, bytes }];
    for packet in &all[..3] {
        assert_eq!(arrive(packet), []);
    }
    assert_eq!(arrive(&all[4]), [], "it came by the other rail");
    assert_eq!(arrive(&all[5]), whole);
    assert_eq!(arrive(&all[3]), []);
    assert_eq!((receiver.node.repeated(), receiver.node.violations()), (2, 0));
    assert!(receiver.node.is_idle());
}

/// Reserving, on all rails that are granted.
fn dynamic() -> PolicyKind {
    PolicyKind::Dynamic { striping: StripingRatio::ALL, timeout: None }
}

/// The rails of control packets among actions, and what they say.
fn words(actions: &[Action]) -> Vec<(u32, &'static str)> {
    let word = |action: &Action| match action {
        Action::Control { rail, packet, .. } => Some(match packet {
            Control::Rts(_) => (rail.0, "RTS"),
            Control::Cts => (rail.0, "CTS"),
            Control::Ack => (rail.0, "ACK"),
            Control::Nack => (rail.0, "NACK"),
            Control::Abort => (rail.0, "ABORT"),
        }),
        _ => None,
    };
    actions.iter().filter_map(word).collect()
}

impl Single {
    /// A control packet of a peer comes.
    fn hear(&mut self, rail: u32, from: NodeId, packet: Control, serial: u64) -> Vec<Action> {
        self.handle(Input::Control { rail: RailId(rail), from, packet, serial })
    }

    /// A peer has a control packet.
    fn heard(&mut self, rail: u32, to: NodeId) -> Vec<Action> {
        self.handle(Input::ControlAcknowledged { to, rail: RailId(rail) })
    }

    fn state(&self, rail: u32) -> nic::State {
        self.node.nic(RailId(rail)).unwrap().state()
    }
}

#[test]
fn a_request_on_a_dead_way_is_not_waited_for() {
    let mut single = Single::new(dynamic(), 2, 8);
    assert_eq!(words(&single.send(7, THERE, 400)), [(0, "RTS"), (1, "RTS")]);
    single.heard(0, THERE);
    assert_eq!(single.hear(0, THERE, Control::Cts, 0), [], "one is still to answer");
    let sent = single.wait_until(us(100));
    let all: Vec<_> = packets(&sent).iter().map(|packet| packet.bytes.clone()).collect();
    assert_eq!(all, [0..100, 100..200, 200..300, 300..400], "all on the one that was granted");
    assert_eq!((single.state(1), single.ghosts(1)), (nic::State::Free, 1));
    // The answer comes late: who has granted it is told.
    assert_eq!(words(&single.hear(1, THERE, Control::Cts, 1)), [(1, "ABORT")]);
    assert_eq!((single.ghosts(1), single.node.violations()), (1, 0));
    single.heard(1, THERE);
    assert_eq!(single.ghosts(1), 0, "it lives again");
}

#[test]
fn what_was_reserved_on_a_way_that_dies_goes_again_without() {
    let mut single = Single::new(dynamic(), 2, 8);
    single.send(7, THERE, 400);
    (0..2).for_each(|rail| {
        single.heard(rail, THERE);
        single.hear(rail, THERE, Control::Cts, rail.into());
    });
    single.rail(1, false);
    assert_eq!(single.state(1), nic::State::Free);
    single.rail(1, true);
    // Another may have the NIC. What is late does not concern it.
    single.send(8, ELSEWHERE, 100);
    assert_eq!(single.state(1), nic::State::Reserved);
    assert_eq!(single.hear(1, THERE, Control::Ack, 2), []);
    assert_eq!((single.state(1), single.node.violations()), (nic::State::Reserved, 0));
}

#[test]
fn a_grant_ends_with_its_way() {
    let mut single = Single::new(dynamic(), 1, 8);
    let priority = Priority { counter: 0, node: THERE };
    assert_eq!(words(&single.hear(0, THERE, Control::Rts(priority), 0)), [(0, "CTS")]);
    single.heard(0, THERE);
    // It says nothing more, and is reminded; somebody else has to wait.
    let reminded = single.wait_until(us(125));
    assert_eq!(words(&reminded), [(0, "CTS")], "after an eighth of all patience");
    assert_eq!(words(&single.send(8, ELSEWHERE, 100)), []);
    let freed = single.wait_until(us(225));
    assert_eq!(words(&freed), [(0, "RTS")], "its way is dead, and the NIC is free for others");
    single.heard(0, ELSEWHERE);
    // What comes of it after all is answered, so that it need not wait.
    let packet = incoming(50, true, 1);
    assert_eq!(words(&single.handle(Input::Arrived(packet))), [(0, "ACK")]);
    assert_eq!((single.state(0), single.node.violations()), (nic::State::Reserved, 0));
}

#[test]
fn a_peer_that_dies_with_a_reservation_is_given_up() {
    for said in 0..3 {
        let mut single = Single::new(dynamic(), 2, 8);
        single.send(7, THERE, 400);
        if said > 0 {
            (0..2).for_each(|rail| drop(single.heard(rail, THERE)));
        }
        if said > 1 {
            let sent: Vec<Action> = (0..2)
                .flat_map(|rail| single.hear(rail, THERE, Control::Cts, rail.into()))
                .collect();
            for packet in packets(&sent) {
                single.acknowledge(&packet);
            }
        }
        // It has heard nothing, or the request, or all of the message, and ends.
        let gone = Action::Unreachable { peer: THERE };
        let told = single.wait_until(us(1500));
        assert!(told.contains(&gone), "{said}: {told:?}");
        assert!(single.node.is_idle(), "{said}");
        assert_eq!(words(&single.send(8, ELSEWHERE, 100)), [(0, "RTS"), (1, "RTS")]);
        assert_eq!(single.hear(0, THERE, Control::Cts, 9), [], "it is not heard");
    }
}

/// A rail dies in mid-message: how much later the message is there than if it had been known
/// before.
#[test]
fn a_message_outlives_a_rail_that_dies_on_its_way() {
    let patience =
        Patience { round_trips: 4, least: us(200), give_up: us(100_000), ..Patience::default() };
    let bytes = 4_000_000;
    let threshold = Bytes::new(16_384);
    let adaptive = PolicyKind::AdaptiveStriping { alpha: 0.5, floor: 0.01, units: None, threshold };
    for kind in [PolicyKind::Pull {}, PolicyKind::EvenStriping { threshold }, adaptive] {
        for (dies, share) in [(0, 0.2), (0, 0.5), (0, 0.8), (1, 0.2), (1, 0.5), (1, 0.8)] {
            let mut wires = vec![Wire::new(1000.0), Wire::new(1000.0)];
            let whole = best(&wires, 0.0, bytes as f64);
            wires[dies] = wires[dies].clone().then(share * whole, 0.0);
            let bound = best(&wires, 0.0, bytes as f64);
            let mut link = Link::new(kind, wires, Some(patience));
            let found = link.alone(bytes);
            let ratio = found / bound;
            assert!(ratio <= 1.01, "{}: rail {dies} at {share}: {ratio}", kind.name());
            // If the other rail has nothing to do meanwhile, all of the silence is lost.
            let mut wires = vec![Wire::new(1000.0), Wire::new(10.0)];
            wires[1] = wires[1].clone().then(100.0, 0.0);
            let bound = best(&wires, 0.0, 40_000.0);
            let found = Link::new(kind, wires, Some(patience)).alone(40_000);
            assert!(found <= bound + 300.0, "{}: {found} instead of {bound}", kind.name());
        }
    }
}

/// A seed that is told when its case fails.
struct Case(u64);

impl Drop for Case {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the case of seed {} fails", self.0);
        }
    }
}

fn kinds() -> Vec<PolicyKind> {
    let threshold = Bytes::new(3000);
    let weights = Shares::new(&[3, 1]).unwrap();
    vec![
        PolicyKind::Pull {},
        PolicyKind::AdaptiveStriping { alpha: 0.5, floor: 0.01, units: None, threshold },
        PolicyKind::EvenStriping { threshold },
        PolicyKind::WeightedStriping { weights, threshold },
        PolicyKind::Fastest {},
        PolicyKind::RoundRobin {},
        PolicyKind::Binding {},
        PolicyKind::WindowRoundRobin { window: 3 },
        PolicyKind::WeightedRoundRobin { weights },
        PolicyKind::Basic {},
        PolicyKind::LocalDynamic { striping: StripingRatio::ALL },
        dynamic(),
        PolicyKind::Dynamic { striping: StripingRatio::ONE, timeout: Some(us(400)) },
        PolicyKind::Hybrid {
            striping: StripingRatio::ALL,
            timeout: None,
            threshold: Bytes::new(1000),
        },
    ]
}

fn maybe(draws: &mut Stream, most: u64) -> Option<u32> {
    (draws.below(2) == 0).then(|| 1 + draws.below(most) as u32)
}

fn plan(draws: &mut Stream, seed: u64) -> Plan {
    let ranks = 2 + draws.below(3) as u32;
    let rails = 1 + draws.below(4);
    let rails = (0..rails)
        .map(|_| Rail {
            rate: 20 + draws.below(1000),
            latency: Time::from_ns(500 + draws.below(50_000)),
            loss: if draws.below(2) == 0 { 0 } else { draws.below(100) },
        })
        .collect();
    let kinds = kinds();
    let patience = Patience {
        round_trips: 1 + draws.below(8) as u32,
        least: us(100 + draws.below(3000)),
        give_up: us(1_000_000),
        ..Patience::default()
    };
    let payload = Some(100 + draws.below(2000) as u32);
    let transfers = maybe(draws, 3);
    let node = NodeSpec {
        pes: 1 + draws.below(2) as u32,
        packing: Packing { payload, overhead: 0 },
        window: Some(1 + draws.below(40) as u32),
        transfers,
        in_order: draws.below(2) == 0,
        blocking: draws.below(3) == 0,
        completions: draws.below(3) == 0,
        patience: Some(patience),
        ..NodeSpec::new(NodeId(0), 1)
    };
    let go_back_n = GoBackNSpec {
        window: 1 + draws.below(32) as u32,
        timeout: us(300 + draws.below(3000)),
        every: 1 + draws.below(4) as u32,
        after: us(20),
        simple: draws.below(2) == 0,
    };
    let channel = match draws.below(3) {
        0 => SelectiveSpec {
            least: go_back_n.timeout,
            ahead: us(draws.below(300)),
            after: us(20),
            ..SelectiveSpec::LIVE
        }
        .into(),
        _ => go_back_n.into(),
    };
    let eager = 200 + draws.below(2000);
    let message = MessageSpec {
        credit: 4096 + draws.below(20_000),
        strict: draws.below(2) == 0,
        probe: Some(us(5000)),
        ..MessageSpec::new(eager)
    };
    let kind = kinds[draws.below(kinds.len() as u64) as usize];
    let node = NodeSpec { injection: injection(draws), ..node };
    Plan { ranks, rails, outages: Vec::new(), node, kind, channel, message, seed }
}

/// Half of the time packets take turns, and half of those have a global window.
fn injection(draws: &mut Stream) -> Injection {
    let interleaved = draws.below(2) == 0;
    let window = maybe(draws, 20).filter(|_| interleaved);
    // What is received says something only where all send as much as they receive.
    let window = window.map(|packets| GlobalWindow { packets, by_received: false });
    Injection { interleaved, window }
}

/// Outages of all rails but the first, some of one direction or one pair only.
fn outages(draws: &mut Stream, plan: &Plan, until: u64) -> Vec<Outage> {
    let mut outages = Vec::new();
    for rail in 1..plan.rails.len() as u32 {
        for _ in 0..draws.below(4) {
            let begin = draws.below(until);
            let time = us(begin)..us(begin + 1 + draws.below(until / 2));
            let mut end =
                || (draws.below(2) == 0).then(|| draws.below(u64::from(plan.ranks)) as u32);
            let (from, to) = (end(), end());
            outages.push(Outage { rail, from, to, time });
        }
    }
    outages
}

/// Messages and the receives for them, of those ranks that send.
#[derive(Default)]
struct Exchange {
    /// Lengths in the order in which they are sent, by receiver, sender and tag.
    expected: BTreeMap<(u32, u32, u32), VecDeque<u64>>,
    /// Receives in the order in which they are posted: the rank, whom and what it names, and its
    /// number.
    asked: Vec<(u32, u32, u32, u64)>,
    messages: u64,
    bytes: u64,
}

impl Exchange {
    fn plan(
        cluster: &mut Cluster,
        draws: &mut Stream,
        ranks: u32,
        open: u64,
        until: u64,
    ) -> Exchange {
        let mut exchange = Exchange::default();
        let messages = 1 + draws.below(60);
        let mut sends: Vec<u64> = (0..messages).map(|_| draws.below(until)).collect();
        let mut receives: Vec<u64> = (0..messages).map(|_| draws.below(until)).collect();
        sends.sort_unstable();
        receives.sort_unstable();
        for (number, (send, receive)) in (0..).zip(sends.into_iter().zip(receives)) {
            let from = draws.below(u64::from(ranks)) as u32;
            let to = (from + 1 + draws.below(u64::from(ranks) - 1) as u32) % ranks;
            let tag = draws.below(2) as u32;
            let bytes = match draws.below(6) {
                0 => 0,
                1..4 => draws.below(1500),
                4 => draws.below(20_000),
                _ => draws.below(120_000),
            };
            cluster.send_at(us(send), from, to, tag, bytes, number);
            let (source, mark) = ((open < 2).then_some(from), (open < 1).then_some(tag));
            cluster.receive_at(us(receive), to, source, mark, 1_000_000 + number);
            exchange.expected.entry((to, from, tag)).or_default().push_back(bytes);
            exchange.asked.push((to, from, tag, 1_000_000 + number));
            exchange.messages += 1;
            exchange.bytes += bytes;
        }
        exchange
    }

    /// What it takes at most: every packet may cost a time-out and a round trip, and every message
    /// some of them besides.
    fn time(&self, plan: &Plan) -> Time {
        let payload = u64::from(plan.node.packing.payload.unwrap());
        let packets = self.bytes / payload + 12 * self.messages + 100;
        let slowest = plan.rails.iter().map(|rail| payload / rail.rate + 1).max().unwrap();
        let timeout = match plan.channel {
            ChannelSpec::GoBackN(spec) => spec.timeout,
            // It doubles up to that.
            ChannelSpec::Selective(_) => us(100_000),
        };
        let each = timeout + us(200 + 2 * slowest) + plan.node.patience.unwrap().least;
        Time::from_ps(each.ps() * packets * 4)
    }

    /// Every receive that is done has the message that is next of its sender and tag. Who leaves
    /// the tag open does not know which message it has missed.
    fn check(mut self, cluster: &Cluster, open: u64) {
        let mut failures = 0;
        for (rank, from, tag, number) in self.asked {
            let (_, outcome) = cluster.outcomes[&number];
            if outcome == Outcome::Failed {
                failures += 1;
                if open == 0 {
                    self.expected.get_mut(&(rank, from, tag)).unwrap().pop_front();
                }
                continue;
            }
            let Outcome::Received { from: sender, tag: mark, bytes } = outcome else {
                panic!("a receive is {outcome:?}")
            };
            assert!(open > 1 || sender == from);
            assert!(open > 0 || mark == tag);
            let line = self.expected.get_mut(&(rank, sender, mark)).expect("it was sent");
            while open > 0 && failures > 0 && line.front().is_some_and(|&next| next != bytes) {
                line.pop_front();
            }
            assert_eq!(line.pop_front(), Some(bytes), "in order");
        }
        assert!(failures > 0 || self.expected.values().all(VecDeque::is_empty));
    }
}

/// The first rail lives all the time, the others die and return: everything is done in time, and
/// nothing is left over.
fn rails_die_and_return(seed: u64) -> u64 {
    let _case = Case(seed);
    let mut draws = Seed(seed).stream("plan", 0);
    let mut plan = plan(&mut draws, seed);
    let until = 1000 + draws.below(40_000);
    plan.outages = outages(&mut draws, &plan, until);
    let open = draws.below(3);
    let mut cluster = Cluster::new(plan.clone());
    // Drivers tell some of them.
    for outage in &plan.outages {
        if draws.below(2) == 0 {
            let rank = outage.from.or(outage.to).unwrap_or(0);
            let (early, late) = (us(draws.below(500)), us(draws.below(500)));
            cluster.tell_at(outage.time.start + early, rank, outage.rail, false);
            cluster.tell_at(outage.time.end + late, rank, outage.rail, true);
        }
    }
    let exchange = Exchange::plan(&mut cluster, &mut draws, plan.ranks, open, until);
    let requests = 2 * exchange.messages as usize;
    let limit = us(3 * until) + exchange.time(&plan);
    while cluster.outcomes.len() < requests || !cluster.is_idle() {
        assert!(cluster.step(), "something is still to be done\n{}", cluster.restless());
        assert!(
            cluster.now < limit,
            "by {limit:?} everything is done: {} of {requests} are\n{}",
            cluster.outcomes.len(),
            cluster.restless()
        );
    }
    assert!(cluster.given_up.is_empty());
    assert_eq!(cluster.strays().0, 0);
    exchange.check(&cluster, open);
    cluster.steps
}

/// At some time no rail carries anything any more: whoever waits is told so in time.
fn all_rails_die(seed: u64) -> u64 {
    let _case = Case(seed);
    let mut draws = Seed(seed).stream("plan", 1);
    let mut plan = plan(&mut draws, seed);
    let until = 1000 + draws.below(40_000);
    plan.outages = outages(&mut draws, &plan, until);
    let end = us(draws.below(2 * until));
    let patience = plan.node.patience.as_mut().unwrap();
    patience.give_up = us(20_000 + draws.below(100_000));
    let patience = *patience;
    // One rank is cut off, or all are.
    let lone = (draws.below(2) == 0).then(|| draws.below(u64::from(plan.ranks)) as u32);
    for rail in 0..plan.rails.len() as u32 {
        let time = end..us(1_000_000_000);
        let (from, to) = (lone, lone);
        plan.outages.push(Outage { rail, from, to: None, time: time.clone() });
        plan.outages.push(Outage { rail, from: None, to, time });
    }
    let mut cluster = Cluster::new(plan.clone());
    let open = draws.below(2);
    let exchange = Exchange::plan(&mut cluster, &mut draws, plan.ranks, open, until);
    let requests = 2 * exchange.messages as usize;
    while cluster.outcomes.len() < requests {
        assert!(cluster.step(), "everybody is told\n{}", cluster.restless());
        // Since all were asked and the rails are dead: a probe, silence on each way, as one may be
        // tried only when another has died, and patience for a way.
        let round_trips = u64::from(patience.round_trips) * cluster.longest.ps();
        let silence = patience.least.max(Time::from_ps(round_trips));
        let ways = u64::from(plan.ranks - 1) * plan.rails.len() as u64;
        let silences = Time::from_ps(ways * silence.ps());
        let mut within = plan.message.probe.unwrap() + silences + patience.give_up;
        if let PolicyKind::Dynamic { .. } | PolicyKind::Hybrid { .. } = plan.kind {
            // Who has a NIC and says nothing has to be reminded before that is free.
            within = within + Time::from_ps(patience.give_up.ps() / 8);
        }
        // Others go on.
        let others = if lone.is_some() { exchange.time(&plan) } else { us(1000) };
        let limit = us(2 * until).max(end) + within + others;
        assert!(
            cluster.now <= limit,
            "{:?}: by {limit:?} everybody is told, not {:?}\n{}",
            plan.kind,
            cluster.now,
            cluster.restless()
        );
    }
    for &(rank, peer) in cluster.given_up.keys() {
        assert!(lone.is_none_or(|lone| rank == lone || peer == lone), "{rank} reaches {peer}");
    }
    // Nobody waits for what is half received without having been asked for, and credit bounds it.
    // A rank that sends to one that has given it up learns so, and forgets the message as well.
    let (end, mut told) = (cluster.now + us(10_000_000), BTreeSet::new());
    while !cluster.rests() {
        for pair in cluster.given_up.keys().copied().collect::<Vec<_>>() {
            if told.insert(pair) {
                let (rank, peer) = pair;
                cluster.send_at(cluster.now, peer, rank, 0, 1, 2_000_000 + told.len() as u64);
            }
        }
        assert!(cluster.step() && cluster.now < end, "nothing is left\n{}", cluster.restless());
    }
    assert_eq!(cluster.strays().0, 0);
    exchange.check(&cluster, open);
    cluster.steps
}

/// How many cases: so many, or as the environment says.
fn cases(usual: u64) -> u64 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

#[test]
fn every_message_is_there_once_whole_and_in_order_while_a_rail_lives() {
    (0..cases(400)).for_each(|seed| {
        rails_die_and_return(seed);
    });
}

#[test]
fn without_a_rail_everybody_is_told_in_time() {
    (0..cases(400)).for_each(|seed| {
        all_rails_die(seed);
    });
}

/// The same at length; worth it in release, where it takes a minute.
#[test]
#[ignore = "millions of steps"]
fn millions_of_steps() {
    let (mut steps, mut seed) = (0, 1_000_000);
    while steps < 10_000_000 {
        steps += rails_die_and_return(seed) + all_rails_die(seed);
        seed += 1;
    }
    println!("{steps} steps in {} cases", 2 * (seed - 1_000_000));
}
