//! Broadcasts: packets to ranges of hosts, which switches fork.

use crosstie_fabric::{Fabric, HostId, Port, tree};
use crosstie_routing::{
    HostRange, RangeCertificate, Route, Routing, Spread, Tag, Taking, TreeAdaptive, certify_ranges,
};
use crosstie_sim::network::{Ends, Priority};
use crosstie_sim::wormhole::{
    Bus, Circuits, Config, Delivery, EPOCH, Engine, Errors, Observer, Packet, Silent, Tick,
};
use crosstie_units::Seed;

/// A cycle of 5 ns: 35 ns through a switch, 15 ns of wire, and as much back for an acknowledge.
fn qsnet(circuits: bool) -> Config {
    let circuits = circuits.then_some(Circuits { acknowledge: 10, errors: None, withheld: false });
    let (virtual_channels, routing_delay, wire, bus) = (2, 6, 3, Bus::Full);
    Config { virtual_channels, routing_delay, wire, circuits, bus, ..Config::default() }
}

/// To hosts `to` to `last`.
fn packet(from: u32, to: u32, last: u32, flits: u32) -> Packet {
    let (ends, priority) = (Ends::Memories, Priority::Low);
    Packet { from, to, more: (last - to) as u16, flits, id: 0, ends, priority }
}

#[derive(Default)]
struct Log {
    delivered: Vec<(u32, Tick)>,
    acknowledged: Vec<(u64, Tick)>,
    refused: Vec<(u64, Tick)>,
}

impl Observer for Log {
    fn delivered(&mut self, delivery: &Delivery) {
        self.delivered.push((delivery.packet.to, delivery.delivered));
    }
    fn acknowledged(&mut self, packet: &Packet, at: Tick) {
        self.acknowledged.push((packet.id, at));
    }
    fn refused(&mut self, packet: &Packet, at: Tick) {
        self.refused.push((packet.id, at));
    }
}

/// Every host has it when a packet for it alone would be there, the source among them; the
/// acknowledge of the one that is farthest away is the last.
#[test]
fn a_broadcast_takes_as_long_as_a_packet_to_one_host() {
    let fabric = tree(4, 2).unwrap();
    let routing = TreeAdaptive::new(&fabric).unwrap();
    for (from, first, last, switches) in [(5, 0, 15, 3), (0, 1, 3, 1), (0, 3, 4, 3)] {
        let mut engine = Engine::new(&fabric, &routing, 1, &qsnet(true));
        let mut log = Log::default();
        engine.inject(EPOCH, packet(from, first, last, 20));
        engine.drain(&mut log);
        let there = EPOCH + 4 * (switches + 1) + 6 * switches + 18;
        log.delivered.sort_unstable();
        assert!(log.delivered.into_iter().eq((first..=last).map(|host| (host, there))));
        assert_eq!(log.acknowledged, [(0, there + 10 * (switches + 1))]);
        assert!(engine.is_at_rest() && log.refused.is_empty());
    }
}

/// One branch waits behind a long packet: the others have what fits into the buffer of the switch
/// that forks, and wait too; the source hears when the last one has it.
#[test]
fn a_broadcast_is_acknowledged_when_all_hosts_have_it() {
    let fabric = tree(4, 1).unwrap();
    let routing = TreeAdaptive::new(&fabric).unwrap();
    let config = Config { virtual_channels: 1, ..qsnet(true) };
    let mut engine = Engine::new(&fabric, &routing, 1, &config);
    let mut log = Log::default();
    engine.inject(EPOCH, packet(3, 2, 2, 500));
    engine.inject(EPOCH + 20, packet(0, 1, 2, 20));
    engine.drain(&mut log);
    let long = EPOCH + 14 + 498;
    // The long one is acknowledged over two channels; its EOP leaves the switch 4 cycles later.
    let free = long + 20 + 4 + 1;
    let there = free + 4 + 18;
    log.delivered.sort_unstable_by_key(|&(host, at)| (at, host));
    assert_eq!(log.delivered, [(2, long), (1, there), (2, there)], "outputs are taken at once");
    assert_eq!(log.acknowledged, [(0, long + 20), (0, there + 20)]);
}

/// A host that refuses, refuses for all. Those that have got it, have got it.
#[test]
fn one_refusal_refuses_all() {
    let fabric = tree(4, 2).unwrap();
    let routing = TreeAdaptive::new(&fabric).unwrap();
    let errors = Some(Errors { probability: 0.02, seed: Seed(7) });
    let circuits = Some(Circuits { acknowledge: 10, errors, withheld: false });
    let mut engine = Engine::new(&fabric, &routing, 1, &Config { circuits, ..qsnet(true) });
    let (mut whole, mut in_part) = (0, 0);
    for _ in 0..200 {
        let mut log = Log::default();
        engine.inject(engine.now(), packet(0, 0, 15, 20));
        engine.drain(&mut log);
        assert!(engine.is_at_rest());
        let all = log.delivered.len() == 16;
        assert_eq!((log.acknowledged.len(), log.refused.len()), (all.into(), (!all).into()));
        whole += u32::from(all);
        in_part += u32::from(!all && !log.delivered.is_empty());
    }
    // Of 22 channels none garbles it with probability 0.64; each of the first two, for all.
    assert!((100..=156).contains(&whole) && in_part > 30, "{whole}, {in_part}");
}

/// Single packets to every host of a range do not keep a broadcast from ever finding all outputs
/// free: what is free is kept for it.
#[test]
fn a_broadcast_gets_its_turn_on_busy_outputs() {
    let fabric = tree(4, 1).unwrap();
    let routing = TreeAdaptive::new(&fabric).unwrap();
    let config = Config { virtual_channels: 1, ..qsnet(false) };
    let mut engine = Engine::new(&fabric, &routing, 1, &config);
    for round in 0..100 {
        for from in 1..4 {
            let to = 1 + (from + round) % 3;
            if to != from {
                engine.inject(EPOCH, packet(from, to, to, 30 + 7 * from));
            }
        }
    }
    engine.inject(EPOCH + 100, Packet { id: 1, ..packet(0, 1, 3, 30) });
    struct Last(Tick);
    impl Observer for Last {
        fn delivered(&mut self, delivery: &Delivery) {
            if delivery.packet.id == 1 {
                self.0 = delivery.delivered;
            }
        }
    }
    let mut last = Last(0);
    engine.drain(&mut last);
    assert!(last.0 > EPOCH + 100 && last.0 < EPOCH + 400, "{}", last.0);
    assert!(engine.is_at_rest());
}

/// Packets to ranges and to single hosts, all at once, on few virtual channels: everything gets
/// through, as the certificate promises.
#[test]
fn a_busy_tree_with_broadcasts_does_not_deadlock() {
    for (k, n) in [(4, 2), (2, 4)] {
        let fabric = tree(k, n).unwrap();
        let routing = TreeAdaptive::new(&fabric).unwrap();
        let hosts = fabric.hosts().len() as u64;
        for (circuits, virtual_channels, seed) in
            [(true, 1, 1), (true, 2, 2), (true, 3, 3), (false, 1, 4), (false, 2, 5)]
        {
            let config = Config { virtual_channels, buffer: 8, ..qsnet(circuits) };
            let mut engine = Engine::new(&fabric, &routing, 1, &config);
            let mut draw = Seed(seed).stream("packets", 0);
            let mut expected = 0;
            for _ in 0..3000 {
                let [from, a, b] = [(); 3].map(|()| draw.below(hosts) as u32);
                let (to, last) = if draw.below(3) == 0 { (a.min(b), a.max(b)) } else { (a, a) };
                if from == to && to == last {
                    continue;
                }
                expected += last - to + 1;
                engine.inject(EPOCH, packet(from, to, last, 2 + draw.below(60) as u32));
            }
            let mut log = Log::default();
            engine.drain(&mut log);
            assert_eq!(engine.deadlock(), None);
            assert!(engine.is_at_rest());
            assert_eq!(log.delivered.len() as u32, expected);
        }
    }
}

/// A tree whose ranges come down by the root that their first host is assigned to.
struct ManyRoots(TreeAdaptive);

impl Routing for ManyRoots {
    fn groups(&self) -> &[Vec<Port>] {
        self.0.groups()
    }
    fn route(&self, from: HostId, to: HostId, route: &mut Route) {
        self.0.route(from, to, route);
    }
    fn spread(&self, from: HostId, range: HostRange, spread: &mut Spread) -> bool {
        let mut way = Spread::default();
        self.0.spread(from, range, &mut way);
        spread.clear();
        for tag in way.tags() {
            let Tag::Port(Port(up)) = *tag else { unreachable!("the climb is fixed") };
            spread.climb(Tag::Port(Port(up + (range.first.0 % 2) as u16)));
        }
        (0..way.forks()).for_each(|fork| spread.fork(way.branches(fork).iter().copied()));
        true
    }
}

/// What the certificate rules out does happen, and is found; and with one root for all it does not.
#[test]
fn ranges_with_different_roots_deadlock() {
    let fabric = tree(2, 3).unwrap();
    let range = |first| HostRange { first: HostId(first), last: HostId(7) };
    let many = ManyRoots(TreeAdaptive::new(&fabric).unwrap());
    let one = TreeAdaptive::new(&fabric).unwrap();
    let stuck = |fabric: &Fabric, routing: &dyn Routing| {
        let config = Config { virtual_channels: 1, ..qsnet(true) };
        let mut found = false;
        for seed in 0..40 {
            let mut engine = Engine::new(fabric, routing, 1, &config);
            let mut draw = Seed(seed).stream("delays", 0);
            for _ in 0..10 {
                engine.inject(EPOCH + draw.below(300), packet(0, 1, 7, 10));
                engine.inject(EPOCH + draw.below(300), packet(3, 0, 7, 10));
                for from in [4, 5, 6] {
                    let (to, at) = (draw.below(4) as u32, EPOCH + draw.below(300));
                    engine.inject(at, packet(from, to, to, 30));
                }
            }
            engine.drain(&mut Silent);
            found |= engine.deadlock().is_some();
            assert_eq!(engine.deadlock().is_none(), engine.is_at_rest());
        }
        let certificate = certify_ranges(fabric, routing, [range(0), range(1)], Taking::AtOnce);
        assert_eq!(
            matches!(certificate, Ok(RangeCertificate::Cycle { .. })),
            found,
            "the certificate says what happens"
        );
        found
    };
    assert!(stuck(&fabric, &many));
    assert!(!stuck(&fabric, &one));
}
