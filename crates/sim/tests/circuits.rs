//! Circuits: packets that hold their way until they are acknowledged, as in QsNet.

use crosstie_fabric::{End, Fabric, FabricBuilder, HostId, Port, Shape, single, tree};
use crosstie_routing::{Route, Routing, Shortest, Tag, TreeAdaptive};
use crosstie_sim::network::{self, Attention, Ends, Fate, Interest, Network, Priority};
use crosstie_sim::wormhole::{
    Bus, Circuits, Config, Delivery, EPOCH, Engine, Errors, Observer, Packet, Silent, Tick,
    Wormhole, WormholeSpec,
};
use crosstie_units::{Seed, Time};

const FLITS: u32 = 189;

/// A cycle of 5 ns: 35 ns through a switch, 15 ns of wire, and as much back for an acknowledge.
fn qsnet(virtual_channels: u8) -> Config {
    Config {
        virtual_channels,
        routing_delay: 6,
        wire: 3,
        circuits: Some(Circuits { acknowledge: 10, errors: None, withheld: false }),
        bus: Bus::Full,
        ..Config::default()
    }
}

fn packet(from: u32, to: u32, flits: u32) -> Packet {
    Packet { from, to, more: 0, flits, id: 0, ends: Ends::Memories, priority: Priority::Low }
}

/// Packet 7 from host 0 to host 1, as it is handed over at the seam.
fn sent_by_nic(bytes: u32) -> network::Packet {
    let (rail, from, to, siblings, departs) = (0, 0, 1, 1, true);
    let (ends, priority) = (Ends::Memories, Priority::Low);
    network::Packet { rail, from, to, bytes, id: 7, siblings, departs, ends, priority }
}

/// What happens to packets, as (tick, word).
#[derive(Default)]
struct Log(Vec<(Tick, &'static str)>);

impl Observer for Log {
    fn delivered(&mut self, delivery: &Delivery) {
        self.0.push((delivery.delivered, "delivered"));
    }
    fn head(&mut self, _: &Packet, channel: u32, _: u32, at: Tick) {
        if channel == 0 {
            self.0.push((at, "begins"));
        }
    }
    fn tail(&mut self, _: &Packet, channel: u32, _: u32, at: Tick) {
        self.0.push((at, if channel == 0 { "closed" } else { "closed at the end" }));
    }
    fn left(&mut self, _: &Packet, at: Tick) {
        self.0.push((at, "left"));
    }
    fn acknowledged(&mut self, _: &Packet, at: Tick) {
        self.0.push((at, "acknowledged"));
    }
}

/// A NIC that has no room yet acknowledges later, and the circuit stays open as long.
#[test]
fn a_nic_may_withhold_the_acknowledge() {
    let fabric = single(3).unwrap();
    let routing = Shortest::new(&fabric);
    let circuits = Some(Circuits { acknowledge: 10, errors: None, withheld: true });
    let mut engine = Engine::new(&fabric, &routing, 1, &Config { circuits, ..qsnet(1) });
    let mut log = Log::default();
    engine.inject(EPOCH, packet(0, 1, 20));
    engine.run_until(EPOCH + 1000, &mut log);
    assert!(log.0.contains(&(EPOCH + 32, "delivered")) && engine.in_flight() == 1);
    engine.acknowledge(0, 1);
    engine.drain(&mut log);
    assert!(log.0.contains(&(EPOCH + 1020, "acknowledged")), "{:?}", log.0);
    assert!(log.0.contains(&(EPOCH + 1020, "closed")) && engine.is_at_rest(), "{:?}", log.0);
}

/// One switch: the header can leave it 10 cycles after it left the source, and 4 later it is there.
#[test]
fn the_eop_waits_for_the_acknowledge() {
    let fabric = single(3).unwrap();
    let routing = Shortest::new(&fabric);
    let mut engine = Engine::new(&fabric, &routing, 1, &qsnet(1));
    let mut log = Log::default();
    for _ in 0..2 {
        engine.inject(EPOCH, packet(0, 1, 20));
    }
    engine.drain(&mut log);
    // 19 flits, then the EOP: delivered with the 19th, acknowledged over two channels.
    let delivered = EPOCH + 14 + 18;
    let acknowledged = delivered + 2 * 10;
    let expected = [
        (EPOCH, "begins"),
        (EPOCH + 18, "left"),
        (delivered, "delivered"),
        (acknowledged, "acknowledged"),
        (acknowledged, "closed"),
        // The one virtual channel is free in the next cycle.
        (acknowledged + 1, "begins"),
        (acknowledged + 4, "closed at the end"),
    ];
    log.0.sort_unstable();
    let mut seen = log.0.iter();
    for event in expected {
        assert!(seen.any(|&e| e == event), "expected {event:?} in {:?}", log.0);
    }
    assert!(engine.is_at_rest());
}

/// A NIC that hands over the next packet when one has left, or all of them at once.
struct Sender {
    one_by_one: bool,
    waiting: u32,
    has_left: bool,
    delivered: Vec<Tick>,
}

impl Observer for Sender {
    fn delivered(&mut self, delivery: &Delivery) {
        self.delivered.push(delivery.delivered);
    }
    fn left(&mut self, _: &Packet, _: Tick) {
        self.has_left = true;
    }
    fn may_halt(&self) -> bool {
        true
    }
    fn halts(&self) -> bool {
        self.has_left
    }
}

/// Cycles for each of many packets that host 0 sends to the last one.
fn cycles_per_packet(fabric: &Fabric, virtual_channels: u8, one_by_one: bool) -> f64 {
    let routing = TreeAdaptive::new(fabric).unwrap();
    let mut engine = Engine::new(fabric, &routing, 1, &qsnet(virtual_channels));
    let packet = packet(0, fabric.hosts().len() as u32 - 1, FLITS);
    let packets = 200;
    let mut sender = Sender { one_by_one, waiting: packets, has_left: true, delivered: Vec::new() };
    while engine.queued() + engine.in_flight() > 0 || sender.waiting > 0 {
        while sender.waiting > 0 && (sender.has_left || !sender.one_by_one) {
            engine.inject(engine.now(), packet);
            (sender.waiting, sender.has_left) = (sender.waiting - 1, false);
        }
        sender.has_left = false;
        engine.run_until(engine.now() + 1000, &mut sender);
    }
    let Sender { delivered, .. } = sender;
    (delivered[delivered.len() - 1] - delivered[0]) as f64 / f64::from(packets - 1)
}

/// QsNet's peak, 320 bytes of payload for 189 flits of 5 ns or 338.6 MB/s, is there although every
/// packet waits for its acknowledge: meanwhile the next is sent on the other virtual channel.
#[test]
fn two_virtual_channels_hide_the_acknowledge() {
    for (n, switches) in [(1, 1), (3, 5)] {
        let fabric = tree(4, n).unwrap();
        assert_eq!(cycles_per_packet(&fabric, 2, true), f64::from(FLITS));
        // With one virtual channel every packet pays for the way there and back, and for its EOP.
        let body = 4 * (switches + 1) + 6 * switches + FLITS - 2;
        let alone = body + 10 * (switches + 1) + 1;
        assert_eq!(cycles_per_packet(&fabric, 1, true), f64::from(alone));
        // Two packets that begin together take turns, end together and wait together.
        let together = cycles_per_packet(&fabric, 2, false);
        assert!(together > 1.05 * f64::from(FLITS), "{together}");
    }
}

#[test]
fn every_circuit_of_a_busy_tree_is_closed() {
    let fabric = tree(4, 3).unwrap();
    let routing = TreeAdaptive::new(&fabric).unwrap();
    let mut engine = Engine::new(&fabric, &routing, 1, &qsnet(2));
    let mut draw = Seed(3).stream("packets", 0);
    let count = 5000;
    for _ in 0..count {
        let from = draw.below(64) as u32;
        let to = (from + 1 + draw.below(63) as u32) % 64;
        engine.inject(EPOCH, packet(from, to, 2 + draw.below(400) as u32));
    }
    let mut log = Log::default();
    while engine.in_flight() + engine.queued() > 0 {
        engine.run_until(engine.now() + 1000, &mut log);
        assert_eq!(engine.deadlock(), None);
    }
    engine.drain(&mut log);
    for word in ["delivered", "left", "acknowledged"] {
        assert_eq!(log.0.iter().filter(|(_, seen)| *seen == word).count(), count, "{word}");
    }
    assert!(engine.is_at_rest());
}

/// A NIC that sends a packet again until it gets through.
#[derive(Default)]
struct Stubborn {
    refused: Vec<Packet>,
    deliveries: Vec<u64>,
    acknowledged: Vec<u64>,
    refusals: u64,
}

impl Observer for Stubborn {
    fn delivered(&mut self, delivery: &Delivery) {
        self.deliveries.push(delivery.packet.id);
    }
    fn acknowledged(&mut self, packet: &Packet, _: Tick) {
        self.acknowledged.push(packet.id);
    }
    fn refused(&mut self, packet: &Packet, _: Tick) {
        self.refused.push(*packet);
        self.refusals += 1;
    }
    fn interrupts(&self) -> bool {
        !self.refused.is_empty()
    }
}

/// Errors lose nothing and repeat nothing: a sender that sends what was refused again gets every
/// packet across once. A packet over c channels is refused with probability 1 - (1 - p)^c.
#[test]
fn what_is_refused_and_sent_again_arrives_once() {
    let fabric = tree(4, 2).unwrap();
    let routing = TreeAdaptive::new(&fabric).unwrap();
    let probability = 0.05;
    let mut seen_with = Vec::new();
    for seed in [1, 1, 2] {
        let errors = Some(Errors { probability, seed: Seed(seed) });
        let circuits = Some(Circuits { acknowledge: 10, errors, withheld: false });
        let mut engine = Engine::new(&fabric, &routing, 1, &Config { circuits, ..qsnet(2) });
        let mut nic = Stubborn::default();
        let count = 4000;
        for id in 0..count {
            // To the other side of the tree: three switches, four channels.
            let from = id as u32 % 16;
            engine.inject(EPOCH, Packet { id, ..packet(from, (from + 8) % 16, 20) });
        }
        while engine.in_flight() + engine.queued() > 0 {
            engine.run_until(engine.now() + 1000, &mut nic);
            for packet in nic.refused.drain(..) {
                engine.inject(engine.now(), packet);
            }
        }
        assert!(engine.is_at_rest());
        nic.deliveries.sort_unstable();
        nic.acknowledged.sort_unstable();
        assert!(nic.deliveries.iter().copied().eq(0..count));
        assert_eq!(nic.acknowledged, nic.deliveries);
        assert_eq!(engine.flits_delivered(), 20 * count);
        let (tries, p) = ((count + nic.refusals) as f64, 1.0 - (1.0 - probability).powi(4));
        let (mean, deviation) = (tries * p, (tries * p * (1.0 - p)).sqrt());
        let refusals = nic.refusals as f64;
        assert!((refusals - mean).abs() < 4.0 * deviation, "{refusals}, expected {mean}");
        seen_with.push((nic.refusals, engine.now()));
    }
    assert_eq!(seen_with[0], seen_with[1], "the same seed");
    assert_ne!(seen_with[0], seen_with[2], "another seed");
}

/// A refusal takes as long as an acknowledge, and the seam tells of it without being asked.
#[test]
fn the_seam_tells_of_refusals() {
    let fabric = single(2).unwrap();
    let routing = Shortest::new(&fabric);
    let errors = Some(Errors { probability: 1.0, seed: Seed(1) });
    let config = Config {
        circuits: Some(Circuits { acknowledge: 10, errors, withheld: false }),
        ..qsnet(2)
    };
    let cycle = Time::from_ns(5);
    let spec = WormholeSpec {
        fabric: &fabric,
        routing: &routing,
        rails: 1,
        config: &config,
        flit: 2,
        cycle,
    };
    let attention = Attention::Late;
    let interest = Interest { departures: false, arriving: false, acknowledges: false, attention };
    let mut network = Wormhole::new(&spec, interest);
    network.inject(sent_by_nic(40));
    let mut told = Vec::new();
    network.run_until(cycle * 1000, &mut told);
    let told: Vec<_> = told.iter().map(|e| (e.at, e.id, e.fate)).collect();
    assert_eq!(told, [(cycle * 52, 7, Fate::Refused)]);
}

/// Four switches in a ring with a host each; packets go clockwise.
struct Ring;

impl Routing for Ring {
    fn groups(&self) -> &[Vec<Port>] {
        &[]
    }
    fn route(&self, from: HostId, to: HostId, route: &mut Route) {
        route.clear();
        (0..(to.0 + 4 - from.0) % 4).for_each(|_| route.push(Tag::Port(Port(1))));
        route.push(Tag::Port(Port(0)));
    }
}

/// Packets that fit into any buffer cannot block a ring; as circuits they can, since each holds its
/// channel until it has got through.
#[test]
fn a_circle_of_short_circuits_is_found() {
    let mut builder = FabricBuilder::default();
    let switches = [0, 1, 2, 3].map(|s| builder.switch(format!("s{s}"), 3));
    for (s, &switch) in switches.iter().enumerate() {
        let end = End::host(builder.host(format!("h{s}")));
        builder.connect(end, End::switch(switch, Port(0)));
        builder.connect(End::switch(switch, Port(1)), End::switch(switches[(s + 1) % 4], Port(2)));
    }
    let fabric = builder.build("ring", Shape::Irregular).unwrap();
    for circuits in [None, qsnet(1).circuits] {
        let config = Config { circuits, ..qsnet(1) };
        let mut engine = Engine::new(&fabric, &Ring, 1, &config);
        for from in 0..4 {
            engine.inject(EPOCH, packet(from, (from + 2) % 4, 8));
        }
        engine.drain(&mut Silent);
        let circle = engine.deadlock().map(|deadlock| deadlock.circle.len());
        assert_eq!(circle, circuits.map(|_| 4));
        assert_eq!(engine.in_flight(), if circuits.is_some() { 4 } else { 0 });
    }
}

/// A network tells the nodes of the acknowledge, and of its time, if they ask for it.
#[test]
fn the_seam_tells_of_acknowledges() {
    let fabric = single(2).unwrap();
    let (routing, config) = (Shortest::new(&fabric), qsnet(2));
    let cycle = Time::from_ns(5);
    let spec = WormholeSpec {
        fabric: &fabric,
        routing: &routing,
        rails: 1,
        config: &config,
        flit: 2,
        cycle,
    };
    for acknowledges in [false, true] {
        let attention = Attention::AtOnce;
        let interest = Interest { departures: true, arriving: false, acknowledges, attention };
        let mut network = Wormhole::new(&spec, interest);
        network.inject(sent_by_nic(40));
        let mut told = Vec::new();
        while network.next().is_some() {
            network.run_until(cycle * 1000, &mut told);
        }
        let told: Vec<_> = told.iter().map(|e| (e.at, e.id, e.fate)).collect();
        // 19 flits of 20 leave one after the other; see above.
        assert_eq!(told[0], (cycle * 19, 7, Fate::Left));
        assert!(matches!(told[1], (at, 7, Fate::Arrived(_)) if at == cycle * 32));
        let expected = acknowledges.then_some((cycle * 52, 7, Fate::Acknowledged));
        assert_eq!(told.get(2).copied(), expected);
        assert_eq!(told.len(), if acknowledges { 3 } else { 2 });
    }
}
