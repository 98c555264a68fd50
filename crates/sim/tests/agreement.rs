//! The engine agrees with the reference model, tick for tick, on random small networks.

mod networks;
mod reference;

use crosstie_routing::Routing;
use crosstie_sim::network::{Ends, Priority};
use crosstie_sim::wormhole::{
    Bus, Circuits, Config, Delivery, EPOCH, Engine, Errors, Flow, InTransit, Observer, Packet,
    Priorities, Silent, Tick,
};
use crosstie_units::Seed;
use networks::{Network, networks};
use proptest::prelude::*;
use reference::{Event, Reference};

/// Writes down what the engine does, answers some packets in the very tick of their delivery, and
/// follows up others in that of their acknowledge.
#[derive(Default)]
struct Log {
    events: Vec<(Tick, Event)>,
    answers: bool,
    /// Answers that have not been given to the engine.
    ready: Vec<Packet>,
}

/// Answers have numbers from here on.
const ANSWER: u64 = 1000;

impl Log {
    /// Runs the engine, and hands packets and answers to it and to the reference alike.
    fn run_until(
        &mut self,
        until: Tick,
        engine: &mut Engine<'_>,
        reference: &mut Reference,
        routing: &dyn Routing,
    ) {
        loop {
            engine.run_until(until, self);
            if self.ready.is_empty() {
                return;
            }
            for packet in self.ready.drain(..) {
                engine.inject(engine.now(), packet);
                reference.inject(engine.now(), packet, routing);
            }
        }
    }
}

impl Observer for Log {
    fn delivered(&mut self, delivery: &Delivery) {
        let packet = delivery.packet;
        self.events.push((delivery.delivered, Event::Delivered { id: packet.id, host: packet.to }));
        let is_own = packet.from == packet.to;
        if self.answers && packet.id < ANSWER && !packet.id.is_multiple_of(3) && !is_own {
            let (from, to, id) = (packet.to, packet.from, packet.id + ANSWER);
            self.ready.push(Packet { from, to, id, ..packet });
        }
    }
    fn left(&mut self, packet: &Packet, at: Tick) {
        self.events.push((at, Event::Left { id: packet.id }));
    }
    fn acknowledged(&mut self, packet: &Packet, at: Tick) {
        self.events.push((at, Event::Acknowledged { id: packet.id }));
        if self.answers && packet.id < ANSWER && packet.id.is_multiple_of(3) {
            self.ready.push(Packet { id: packet.id + ANSWER, ..*packet });
        }
    }
    fn refused(&mut self, packet: &Packet, at: Tick) {
        self.events.push((at, Event::Refused { id: packet.id }));
    }
    fn may_halt(&self) -> bool {
        self.answers
    }
    fn halts(&self) -> bool {
        !self.ready.is_empty()
    }
    fn head(&mut self, packet: &Packet, channel: u32, vc: u32, at: Tick) {
        let (channel, vc) = (channel as usize, vc as usize);
        self.events.push((at, Event::Head { id: packet.id, channel, vc }));
    }
    fn tail(&mut self, packet: &Packet, channel: u32, vc: u32, at: Tick) {
        let (channel, vc) = (channel as usize, vc as usize);
        self.events.push((at, Event::Tail { id: packet.id, channel, vc }));
    }
}

fn configs() -> impl Strategy<Value = Config> {
    let bus = prop_oneof![
        Just((1, None)),
        Just((1, Some((0, 0)))),
        (1u32..4, 0u32..4, 0u32..4).prop_map(|(ticks, r, w)| (ticks, Some((r, w)))),
        (2u32..4).prop_map(|ticks| (ticks, None)),
    ];
    let burst = prop_oneof![Just(1u32), 2u32..9, Just(32u32)];
    let buffer = prop_oneof![1u32..8, 8u32..40];
    // Go mark, distance to the stop mark, slack beyond what the wire needs.
    let marks = prop_oneof![
        Just(None),
        (0u32..12, 1u32..9, 0u32..3).prop_map(Some),
        (0u32..40, 1u32..20, Just(0u32)).prop_map(Some),
    ];
    // Recognition, set-up, and what a pool holds beyond what the wire needs.
    let in_transit = prop::option::of((0u32..12, 1u32..5, prop_oneof![1u32..9, 1u32..200]));
    let errors = prop_oneof![Just(0.0), Just(0.1), Just(0.5)];
    let circuit = (1u32..30, prop::option::of((errors, any::<u64>())));
    let circuits = prop_oneof![2 => Just(None), 1 => circuit.prop_map(Some)];
    let age = prop::option::of(prop_oneof![1u32..40, Just(300u32)]);
    let extra = (in_transit, circuits, age);
    (1u8..4, (buffer, marks), (0u32..7, any::<bool>()), 0u32..5, bus, burst, extra).prop_map(
        |(virtual_channels, (buffer, marks), switch, wire, (ticks, shared), burst, extra)| {
            let (routing_delay, consumes_headers) = switch;
            let (buffer, flow) = match marks {
                None => (buffer, Flow::Credits),
                Some((go, distance, slack)) => {
                    let stop = go + distance;
                    (stop + 2 * wire + slack, Flow::StopAndGo { stop, go })
                }
            };
            // What goes with a full-duplex bus alone, and not together.
            let (in_transit, circuits, age) = extra;
            let (in_transit, circuits) = match (in_transit, circuits) {
                (_, Some((acknowledge, errors))) => {
                    let of = |(probability, seed)| Errors { probability, seed: Seed(seed) };
                    (None, Some(Circuits { acknowledge, errors: errors.map(of), withheld: false }))
                }
                (in_transit, None) => (in_transit, None),
            };
            let bus = match shared {
                Some((r, w)) if in_transit.is_none() && circuits.is_none() => {
                    Bus::Shared { read: ticks + r, write: ticks + w }
                }
                _ => Bus::Full,
            };
            let in_transit = in_transit.map(|(recognition, setup, room)| {
                let pool = u32::from(virtual_channels) * (2 * wire + room);
                InTransit { recognition, setup, pool }
            });
            Config {
                virtual_channels,
                buffer,
                flow,
                routing_delay,
                consumes_headers,
                wire,
                in_transit,
                circuits,
                priorities: age.map(|age| Priorities { age }),
                bus,
                burst,
                ticks,
            }
        },
    )
}

/// Ends, priority, and hosts beyond the destination.
type Kind = (Ends, Priority, u16);

/// A packet as (gap to the one before, source, destination, flits, kind); the numbers wrap.
type Draw = (u64, u32, u32, u32, Kind);

fn loads() -> impl Strategy<Value = Vec<Draw>> {
    let ends = prop_oneof![4 => Just(Ends::Memories), 1 => Just(Ends::Nics)];
    let flits = prop_oneof![Just(1u32), 1u32..6, 1u32..70, Just(32u32)];
    let priority = prop_oneof![2 => Just(Priority::Low), 1 => Just(Priority::High)];
    let more = prop_oneof![3 => Just(0u16), 1 => 1u16..4, 1 => 1u16..30];
    let kind = (ends, priority, more);
    let packet = (prop_oneof![0u64..3, 0u64..40], 0u32..100, 1u32..100, flits, kind);
    prop::collection::vec(packet, 1..60)
}

/// The packets of a load, and when each is injected.
fn packets(load: &[Draw], hosts: u32, config: &Config) -> Vec<(Tick, Packet)> {
    let mut at = EPOCH;
    let mut packets = Vec::new();
    for (id, &(gap, from, offset, flits, (ends, priority, more))) in (0..).zip(load) {
        at += gap;
        let from = from % hosts;
        let to = (from + 1 + offset % (hosts - 1)) % hosts;
        let more = more.min((hosts - 1 - to) as u16);
        // A circuit has a flit before its EOP.
        let flits = if config.circuits.is_some() { flits.max(2) } else { flits };
        packets.push((at, Packet { from, to, more, flits, id, ends, priority }));
    }
    packets
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn engine_and_reference_do_the_same(
        network in networks(),
        config in configs(),
        load in loads(),
        one_in in 1u64..4,
        answers: bool,
    ) {
        let fabric = network.fabric();
        let routing = network.routing(config.in_transit.map(|_| one_in));
        let hosts = fabric.hosts().len() as u32;
        let mut engine = Engine::new(&fabric, &routing, 1, &config);
        let mut reference = Reference::new(&fabric, &routing, &config);
        let mut log = Log { answers, ..Log::default() };
        let packets = packets(&load, hosts, &config);
        for &(at, packet) in &packets {
            log.run_until(at, &mut engine, &mut reference, &routing);
            engine.inject(at, packet);
            reference.inject(at, packet, &routing);
        }
        let until = engine.now() + 2000;
        log.run_until(until, &mut engine, &mut reference, &routing);
        reference.run_until(until);
        // The engine reports a tail when it has left, a few ticks after it began to leave.
        for events in [&mut log.events, &mut reference.events] {
            events.retain(|event| event.0 + 20 < until);
            events.sort_unstable();
        }
        let first = log.events.iter().zip(&reference.events).position(|(a, b)| a != b);
        prop_assert!(
            log.events == reference.events,
            "engine and reference differ at event {:?}: {:?} against {:?}",
            first,
            first.map(|i| log.events[i]),
            first.map(|i| reference.events[i]),
        );
        let (counts, ticks) = engine.counts();
        prop_assert_eq!(ticks, until - EPOCH);
        for (channel, (ours, theirs)) in counts.iter().zip(&reference.counts).enumerate() {
            prop_assert_eq!(ours, theirs, "channel {}", channel);
        }
        prop_assert_eq!(counts.len(), reference.counts.len());
        let most = match config.flow {
            Flow::Credits => config.buffer,
            Flow::StopAndGo { stop, .. } => stop + 2 * config.wire,
        };
        prop_assert!(reference.fullest <= most);
        prop_assert_eq!(engine.pool_peaks(), reference.pool_peaks);
        if let Some(InTransit { pool, .. }) = config.in_transit {
            let share = pool / u32::from(config.virtual_channels);
            prop_assert!(engine.pool_peaks().into_iter().all(|peak| peak <= share));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// In the end everything has come and gone, or the engine says why not; and a deadlock that it
    /// finds before lasts.
    #[test]
    fn deadlocks_are_found_when_they_have_happened(
        network in networks(),
        config in configs(),
        load in loads(),
        one_in in 1u64..4,
    ) {
        deadlocks_last(network, &config, &load, one_in)?;
    }
}

fn deadlocks_last(
    network: Network,
    config: &Config,
    load: &[Draw],
    one_in: u64,
) -> Result<(), TestCaseError> {
    let fabric = network.fabric();
    let routing = network.routing(config.in_transit.map(|_| one_in));
    let mut engine = Engine::new(&fabric, &routing, 1, config);
    for (at, packet) in packets(load, fabric.hosts().len() as u32, config) {
        engine.run_until(at, &mut Silent);
        engine.inject(at, packet);
    }
    let mut found = false;
    for _ in 0..8 {
        engine.run_until(engine.now() + 25, &mut Silent);
        found = found || engine.deadlock().is_some();
    }
    engine.drain(&mut Silent);
    prop_assert_eq!(engine.deadlock().is_some(), !engine.is_at_rest());
    prop_assert!(!found || !engine.is_at_rest());
    Ok(())
}

/// Forked packets whose buffers feed each other in a ring: the search for a deadlock ends.
#[test]
fn forks_that_feed_each_other_in_a_ring_are_no_endless_search() {
    use Priority::{High, Low};
    let network = Network::Ring { switches: 5, hosts: 2 };
    let config = Config {
        virtual_channels: 3,
        buffer: 19,
        flow: Flow::StopAndGo { stop: 17, go: 9 },
        routing_delay: 3,
        consumes_headers: true,
        wire: 1,
        in_transit: Some(InTransit { recognition: 0, setup: 2, pool: 9 }),
        circuits: None,
        priorities: Some(Priorities { age: 300 }),
        bus: Bus::Full,
        burst: 1,
        ticks: 1,
    };
    let load = [
        (0, 7, 56, 3, Low, 1),
        (0, 32, 1, 1, Low, 0),
        (0, 73, 86, 1, Low, 0),
        (9, 73, 46, 32, Low, 4),
        (0, 70, 23, 32, Low, 3),
        (22, 23, 46, 1, Low, 1),
        (7, 52, 70, 32, Low, 0),
        (0, 37, 86, 29, Low, 1),
        (29, 95, 27, 1, Low, 3),
        (0, 75, 6, 12, Low, 1),
        (1, 95, 25, 32, Low, 2),
        (1, 37, 16, 32, Low, 4),
        (0, 98, 9, 1, Low, 0),
        (2, 8, 54, 1, Low, 0),
        (2, 29, 8, 1, Low, 0),
        (2, 91, 65, 1, Low, 0),
        (28, 0, 64, 32, Low, 2),
        (2, 52, 10, 1, Low, 0),
        (0, 97, 75, 2, Low, 0),
        (2, 8, 9, 1, Low, 0),
        (38, 67, 9, 32, Low, 0),
        (2, 75, 30, 49, Low, 0),
        (16, 16, 99, 32, High, 0),
        (37, 46, 43, 32, Low, 0),
        (2, 17, 6, 1, Low, 5),
        (25, 72, 8, 1, High, 8),
        (7, 0, 44, 4, Low, 0),
        (1, 22, 30, 32, Low, 3),
        (5, 23, 61, 32, Low, 0),
        (1, 76, 28, 32, Low, 0),
        (1, 14, 20, 32, Low, 2),
        (1, 61, 83, 32, Low, 0),
        (10, 74, 93, 5, High, 0),
        (13, 75, 9, 1, Low, 0),
        (0, 1, 81, 29, Low, 0),
        (7, 0, 10, 32, Low, 1),
        (0, 17, 74, 1, Low, 1),
        (0, 52, 1, 1, Low, 0),
        (9, 48, 31, 1, Low, 0),
        (1, 24, 93, 3, Low, 0),
        (0, 17, 1, 1, Low, 0),
        (23, 18, 34, 32, Low, 0),
        (2, 16, 39, 32, Low, 0),
    ];
    let draw = |(gap, from, offset, flits, priority, more)| {
        (gap, from, offset, flits, (Ends::Memories, priority, more))
    };
    deadlocks_last(network, &config, &load.map(draw), 3).unwrap();
}
