//! A real deadlock is found and named; congestion alone is never taken for one.

use crosstie_fabric::{ChannelId, End, Fabric, FabricBuilder, HostId, Node, Port, Shape, tree};
use crosstie_routing::{Route, Routing, Tag, TreeAdaptive};
use crosstie_sim::network::{Ends, Priority};
use crosstie_sim::wormhole::{Bus, Config, EPOCH, Engine, Flow, Packet, Silent};
use crosstie_units::Seed;

const CLOCKWISE: Port = Port(2);
const SIZE: u32 = 4;

/// Four switches in a ring, two hosts each; packets always go clockwise.
struct Ring;

fn ring() -> Fabric {
    let mut builder = FabricBuilder::default();
    let switches: Vec<_> = (0..SIZE).map(|s| builder.switch(format!("s{s}"), 4)).collect();
    for (s, &switch) in switches.iter().enumerate() {
        for port in 0..2 {
            let host = builder.host(format!("h{}", 2 * s + port));
            builder.connect(End::host(host), End::switch(switch, Port(port as u16)));
        }
    }
    for (s, &switch) in switches.iter().enumerate() {
        let next = switches[(s + 1) % switches.len()];
        builder.connect(End::switch(switch, CLOCKWISE), End::switch(next, Port(3)));
    }
    builder.build("ring", Shape::Irregular).unwrap()
}

fn packet(from: u32, to: u32, flits: u32, id: u64) -> Packet {
    Packet { from, to, more: 0, flits, id, ends: Ends::Memories, priority: Priority::Low }
}

impl Routing for Ring {
    fn groups(&self) -> &[Vec<Port>] {
        &[]
    }
    fn route(&self, from: HostId, to: HostId, route: &mut Route) {
        route.clear();
        let steps = (to.0 / 2 + SIZE - from.0 / 2) % SIZE;
        (0..steps).for_each(|_| route.push(Tag::Port(CLOCKWISE)));
        route.push(Tag::Port(Port((to.0 % 2) as u16)));
    }
}

fn config() -> Config {
    Config { virtual_channels: 1, buffer: 4, bus: Bus::Full, ..Config::default() }
}

fn stop_and_go() -> Config {
    Config { buffer: 9, flow: Flow::StopAndGo { stop: 3, go: 1 }, wire: 3, ..config() }
}

#[test]
fn a_circle_of_waiting_packets_is_named() {
    for config in [config(), stop_and_go()] {
        names_the_circle(&config);
    }
}

fn names_the_circle(config: &Config) {
    let fabric = ring();
    let mut engine = Engine::new(&fabric, &Ring, 1, config);
    // Host 2s sends to host 2s + 4, two switches on: each packet holds one ring channel and
    // wants the next.
    for s in 0..SIZE {
        let (from, to) = (2 * s, (2 * s + 4) % (2 * SIZE));
        engine.inject(EPOCH, packet(from, to, 100, 0));
    }
    // A neighbour on the same switch is not concerned and goes on.
    for k in 0..50 {
        engine.inject(EPOCH + 40 * k, packet(0, 1, 4, 1));
        engine.inject(EPOCH + 40 * k, packet(3, 2, 4, 1));
    }
    engine.run_until(EPOCH + 1000, &mut Silent);
    assert!(engine.flits_delivered() > 0, "the neighbours talk");
    let deadlock = engine.deadlock().expect("four packets wait for each other");
    let is_clockwise = |&c: &u32| {
        let from = fabric.channel(ChannelId(c)).from;
        matches!(from.node, Node::Switch(_)) && from.port == CLOCKWISE
    };
    assert_eq!(deadlock.circle.len(), SIZE as usize);
    assert!(deadlock.circle.iter().all(is_clockwise), "{deadlock:?}");
    for (a, b) in deadlock.circle.iter().zip(deadlock.circle.iter().cycle().skip(1)) {
        let end = |c: u32| fabric.channel(ChannelId(c));
        assert_eq!(end(*a).to.node, end(*b).from.node, "each channel leads to the next");
    }
    let (waited, channel) = engine.longest_wait().expect("headers wait");
    assert!(waited > 900 && deadlock.circle.contains(&channel));
}

#[test]
fn a_queue_behind_a_busy_host_is_no_deadlock() {
    let fabric = ring();
    for config in [config(), Config { wire: 5, ..config() }, stop_and_go()] {
        let mut engine = Engine::new(&fabric, &Ring, 1, &config);
        for from in [2, 3, 4, 5] {
            for flits in (1..50).step_by(3) {
                engine.inject(EPOCH, packet(from, 0, flits, 0));
            }
        }
        while engine.in_flight() + engine.queued() > 0 {
            assert_eq!(engine.deadlock(), None, "at tick {}", engine.now());
            engine.run_until(engine.now() + 7, &mut Silent);
        }
    }
}

#[test]
fn a_saturated_tree_is_no_deadlock() {
    let fabric = tree(4, 2).unwrap();
    let routing = TreeAdaptive::new(&fabric).unwrap();
    let credits = Config { buffer: 3, ..Config::default() };
    let marks = Flow::StopAndGo { stop: 4, go: 2 };
    for config in [
        Config { bus: Bus::Full, ..credits.clone() },
        Config { bus: Bus::Full, wire: 3, ..credits.clone() },
        Config { bus: Bus::Full, flow: marks, buffer: 10, wire: 3, ..credits.clone() },
        credits,
    ] {
        let mut engine = Engine::new(&fabric, &routing, 1, &config);
        let mut draw = Seed(1).stream("pairs", 0);
        for id in 0..2000 {
            let from = draw.below(16) as u32;
            let to = (from + 1 + draw.below(15) as u32) % 16;
            engine.inject(EPOCH, packet(from, to, 1 + draw.below(40) as u32, id));
        }
        while engine.in_flight() + engine.queued() > 0 {
            assert_eq!(engine.deadlock(), None, "at tick {}", engine.now());
            engine.run_until(engine.now() + 11, &mut Silent);
        }
        assert!(engine.is_at_rest());
    }
}
