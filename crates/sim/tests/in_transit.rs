//! In-transit buffers on a ring of Myrinet-like switches: latency without load in closed form, a
//! way out of deadlock, and nothing lost when a pool is full.

use crosstie_fabric::{ChannelId, End, Fabric, FabricBuilder, HostId, Node, Port, Shape};
use crosstie_routing::{Route, Routing, Tag};
use crosstie_sim::network::{Ends, Priority};
use crosstie_sim::wormhole::{
    Bus, Config, Delivery, EPOCH, Engine, Flow, InTransit, Observer, Packet, Silent, Tick,
};

const SWITCHES: u32 = 5;
const CLOCKWISE: Port = Port(2);

/// Five switches in a ring with two hosts each; packets go clockwise and stop at every switch on
/// the way after so many links.
struct Ring {
    stop_after: u32,
}

const NO_STOPS: Ring = Ring { stop_after: SWITCHES };

fn ring() -> Fabric {
    let mut builder = FabricBuilder::default();
    let switches: Vec<_> = (0..SWITCHES).map(|s| builder.switch(format!("s{s}"), 4)).collect();
    for host in 0..2 * SWITCHES {
        let end = End::host(builder.host(format!("h{host}")));
        builder.connect(end, End::switch(switches[host as usize / 2], Port(host as u16 % 2)));
    }
    for (s, &switch) in switches.iter().enumerate() {
        let next = switches[(s + 1) % switches.len()];
        builder.connect(End::switch(switch, CLOCKWISE), End::switch(next, Port(3)));
    }
    builder.build("ring", Shape::Irregular).unwrap()
}

fn links(from: HostId, to: HostId) -> u32 {
    (to.0 / 2 + SWITCHES - from.0 / 2) % SWITCHES
}

impl Routing for Ring {
    fn groups(&self) -> &[Vec<Port>] {
        &[]
    }
    fn route(&self, from: HostId, to: HostId, route: &mut Route) {
        route.clear();
        for link in 0..links(from, to) {
            if link > 0 && link % self.stop_after == 0 {
                let switch = (from.0 / 2 + link) % SWITCHES;
                route.push(Tag::Port(Port(0)));
                route.stop(HostId(2 * switch));
            }
            route.push(Tag::Port(CLOCKWISE));
        }
        route.push(Tag::Port(Port(to.0 as u16 % 2)));
    }
}

/// Cycles of 6.25 ns: 150 ns through a switch, of which a cycle is spent leaving it; 50 ns of
/// cable; 275 and 200 ns in a NIC.
fn myrinet(pool: u32) -> Config {
    Config {
        virtual_channels: 1,
        buffer: 80,
        flow: Flow::StopAndGo { stop: 56, go: 40 },
        routing_delay: 23,
        consumes_headers: true,
        wire: 8,
        in_transit: Some(InTransit { recognition: 44, setup: 32, pool }),
        bus: Bus::Full,
        ..Config::default()
    }
}

#[derive(Default)]
struct Deliveries(Vec<Delivery>);

impl Observer for Deliveries {
    fn delivered(&mut self, delivery: &Delivery) {
        self.0.push(*delivery);
    }
}

fn packet(from: u32, to: u32, flits: u32) -> Packet {
    Packet { from, to, more: 0, flits, id: 0, ends: Ends::Memories, priority: Priority::Low }
}

/// Everybody sends to everybody, all at once.
fn storm(engine: &mut Engine<'_>, flits: u32) -> usize {
    let pairs = (0..2 * SWITCHES).flat_map(|a| (1..2 * SWITCHES).map(move |d| (a, d)));
    let packets = pairs.map(|(from, d)| packet(from, (from + d) % (2 * SWITCHES), flits));
    packets.map(|packet| engine.inject(EPOCH, packet)).count()
}

/// With h links between switches and m stops, (h + 1 + m) 150 ns + (h + 2 + 2m) 50 ns + F 6.25 ns +
/// m 475 ns.
#[test]
fn latency_without_load_is_the_closed_form_for_every_pair() {
    let fabric = ring();
    for stop_after in [1, 2, SWITCHES] {
        let routing = Ring { stop_after };
        let mut engine = Engine::new(&fabric, &routing, 1, &myrinet(512 * 1024));
        for flits in [1, 32, 512] {
            for (from, to) in fabric.hosts().flat_map(|a| fabric.hosts().map(move |b| (a, b))) {
                if from == to {
                    continue;
                }
                let mut seen = Deliveries::default();
                engine.inject(engine.now() + 1, packet(from.0, to.0, flits));
                engine.drain(&mut seen);
                let Delivery { queued, delivered, switches, .. } = seen.0[0];
                let h = links(from, to);
                let m = h.saturating_sub(1) / stop_after;
                assert_eq!(switches, h + 1 + m);
                let cycles = (h + 1 + m) * 24 + (h + 2 + 2 * m) * 8 + flits + m * 76;
                assert_eq!(delivered - queued, Tick::from(cycles), "{from:?} to {to:?}, {flits}");
            }
        }
        assert!(engine.is_at_rest());
    }
}

#[test]
fn stops_break_the_circle_of_a_ring() {
    let (fabric, config) = (ring(), myrinet(512 * 1024));
    let mut engine = Engine::new(&fabric, &NO_STOPS, 1, &config);
    storm(&mut engine, 512);
    engine.drain(&mut Silent);
    assert!(engine.deadlock().is_some());

    let routing = Ring { stop_after: 1 };
    let mut engine = Engine::new(&fabric, &routing, 1, &config);
    let mut seen = Deliveries::default();
    let sent = storm(&mut engine, 512);
    while engine.in_flight() + engine.queued() > 0 {
        assert_eq!(engine.deadlock(), None, "at tick {}", engine.now());
        engine.run_until(engine.now() + 97, &mut seen);
    }
    assert_eq!(seen.0.len(), sent);
    assert!(engine.is_at_rest());
    // Only the first host of a switch passes packets on.
    let peaks = engine.pool_peaks();
    assert!(peaks.iter().step_by(2).all(|&peak| peak > 512), "{peaks:?}");
    assert!(peaks.iter().skip(1).step_by(2).all(|&peak| peak == 0), "{peaks:?}");
}

#[test]
fn a_full_pool_pushes_back_and_loses_nothing() {
    let fabric = ring();
    let routing = Ring { stop_after: 1 };
    let mut engine = Engine::new(&fabric, &routing, 1, &myrinet(100));
    // Hosts 0 and 1 send past host 2, whose way on is shared with host 3.
    let mut seen = Deliveries::default();
    for from in [0, 1, 3, 3] {
        for _ in 0..10 {
            engine.inject(EPOCH, packet(from, 4, 300));
        }
    }
    engine.drain(&mut seen);
    assert_eq!(seen.0.len(), 40);
    assert!(engine.is_at_rest());
    assert_eq!(engine.pool_peaks()[2], 100, "filled to the last flit, and no further");
    let into = fabric.host_out(HostId(2)).reverse().0 as usize;
    let (counts, _) = engine.counts();
    assert!(counts[into].blocked > 1000);
    assert!(counts.iter().enumerate().all(|(c, count)| c != into || count.flits == 20 * 302));
}

#[test]
fn packets_for_the_host_do_not_wait_for_its_pool() {
    let fabric = ring();
    let routing = Ring { stop_after: 1 };
    let mut engine = Engine::new(&fabric, &routing, 1, &myrinet(4096));
    // Host 5 keeps the channel into host 4 busy, so that what stops at host 2 stays there.
    engine.inject(EPOCH, packet(5, 4, 5000));
    engine.inject(EPOCH + 100, packet(0, 4, 3000));
    engine.inject(EPOCH + 200, Packet { id: 1, ..packet(0, 2, 32) });
    let mut seen = Deliveries::default();
    engine.run_until(EPOCH + 5000, &mut seen);
    let local = seen.0.iter().find(|delivery| delivery.packet.id == 1).expect("it has arrived");
    // It begins when the first packet of host 0 has left, with a flit for each of its 4 switches,
    // and crosses 2 switches and 3 cables. At the first of them it comes to the front 22 cycles
    // late: the packet before it was routed for 23 and lost a flit.
    assert_eq!(local.delivered, EPOCH + 100 + 3004 + 2 * 24 + 3 * 8 + 32 + 22);
    assert!(engine.pool_peaks()[2] > 2800, "the first packet is still there");
}

#[test]
fn a_circle_through_full_pools_is_named() {
    let fabric = ring();
    let routing = Ring { stop_after: 1 };
    let mut engine = Engine::new(&fabric, &routing, 1, &myrinet(20));
    storm(&mut engine, 512);
    engine.drain(&mut Silent);
    let deadlock = engine.deadlock().expect("pools are too small for their packets");
    let ends_at_host = |&&c: &&u32| matches!(fabric.channel(ChannelId(c)).to.node, Node::Host(_));
    assert!(deadlock.circle.iter().any(|c| ends_at_host(&c)), "{deadlock:?}");
}

#[test]
#[should_panic(expected = "a route stops at HostId(2), but NICs have no in-transit buffers")]
fn a_stop_without_in_transit_buffers_is_refused() {
    let fabric = ring();
    let routing = Ring { stop_after: 1 };
    let config = Config { in_transit: None, ..myrinet(0) };
    let mut engine = Engine::new(&fabric, &routing, 1, &config);
    engine.inject(EPOCH, packet(0, 4, 8));
    engine.drain(&mut Silent);
}
