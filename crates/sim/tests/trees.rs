//! The engine on k-ary n-trees: zero-load latency in closed form, and nothing lost on the way.

use crosstie_fabric::{Fabric, KaryTree, Shape, pruned_tree, tree};
use crosstie_routing::{Routing, TreeAdaptive, TreeDeterministic};
use crosstie_sim::network::{Ends, Priority};
use crosstie_sim::wormhole::{Bus, Config, Delivery, EPOCH, Engine, Observer, Packet, Tick};
use crosstie_units::Seed;
use proptest::prelude::*;

#[derive(Default)]
struct Deliveries(Vec<Delivery>);

impl Observer for Deliveries {
    fn delivered(&mut self, delivery: &Delivery) {
        self.0.push(*delivery);
    }
}

fn shape(fabric: &Fabric) -> KaryTree {
    match fabric.shape() {
        Shape::Tree(tree) => tree,
        other => panic!("a tree has the shape {other:?}"),
    }
}

/// Header: `h` times (channel, routing), one more channel; then the rest of the packet follows,
/// flit by flit. A shared bus costs one step at either end, and sets the pace if it is slower.
fn zero_load(switches: u32, flits: u32, config: &Config) -> Tick {
    let channels = (switches + 1) * (1 + config.wire);
    let routing = switches * config.routing_delay;
    Tick::from(match config.bus {
        Bus::Full => channels + routing + (flits - 1),
        Bus::Shared { read, write } => {
            let body = ((flits - 1) * read).max(routing + (flits - 1) * write);
            read + channels + body + write
        }
    })
}

#[test]
fn zero_load_latency_is_the_closed_form_for_every_pair() {
    for n in [2, 3] {
        let fabric = tree(4, n).unwrap();
        let routing = TreeAdaptive::new(&fabric).unwrap();
        let shared = |read, write| Bus::Shared { read, write };
        for bus in [Bus::Full, shared(1, 1), shared(2, 1), shared(2, 3)] {
            for (wire, flits) in [(0, 1), (3, 32), (2, 300)] {
                // While headers are routed, the flits behind them arrive.
                let consumes_headers = flits == 32 && bus == Bus::Full;
                let config = Config { bus, wire, consumes_headers, ..Config::default() };
                let mut engine = Engine::new(&fabric, &routing, 1, &config);
                let mut seen = Deliveries::default();
                for from in fabric.hosts() {
                    for to in fabric.hosts().filter(|&to| to != from) {
                        let packet = Packet {
                            from: from.0,
                            to: to.0,
                            more: 0,
                            flits,
                            id: 0,
                            ends: Ends::Memories,
                            priority: Priority::Low,
                        };
                        engine.inject(engine.now() + 1, packet);
                        engine.drain(&mut seen);
                        let Delivery { queued, delivered, switches, .. } = seen.0.pop().unwrap();
                        assert_eq!(switches, shape(&fabric).distance(from, to) - 1);
                        let expected = zero_load(switches, flits, &config);
                        assert_eq!(delivered - queued, expected, "{from:?} to {to:?}, {config:?}");
                    }
                }
                assert!(engine.is_at_rest());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every packet arrives once and whole, over the minimal number of switches; each of its flits
    /// is counted once on every channel it crosses; afterwards the network is as it was before.
    #[test]
    fn nothing_is_lost(
        seed in any::<u64>(),
        adaptive in any::<bool>(),
        pruned in any::<bool>(),
        shared in any::<bool>(),
        rails in 1u32..3,
        (virtual_channels, buffer, wire) in (1u8..4, 1u32..40, 0u32..4),
        packets in 1u64..400,
    ) {
        let fabric = if pruned { pruned_tree(4, 3, 32) } else { tree(2, 4) }.unwrap();
        let routing: Box<dyn Routing> = if adaptive {
            Box::new(TreeAdaptive::new(&fabric).unwrap())
        } else {
            Box::new(TreeDeterministic::new(&fabric).unwrap())
        };
        let bus = if shared { Bus::Shared { read: 1, write: 2 } } else { Bus::Full };
        let config = Config { virtual_channels, buffer, wire, bus, ..Config::default() };
        let mut engine = Engine::new(&fabric, &*routing, rails, &config);
        let mut draw = Seed(seed).stream("packets", 0);
        let hosts = fabric.hosts().len() as u64;
        let mut sent = Vec::new();
        for id in 0..packets {
            let from = draw.below(hosts);
            let to = (from + 1 + draw.below(hosts - 1)) % hosts;
            let rail = draw.below(u64::from(rails));
            let host = |h| (rail * hosts + h) as u32;
            let flits = 1 + draw.below(60) as u32;
            let (from, to, ends) = (host(from), host(to), Ends::Memories);
            let packet = Packet { from, to, more: 0, flits, id, ends, priority: Priority::Low };
            engine.inject(EPOCH + draw.below(300), packet);
            sent.push(packet);
        }
        // Packets of one host are queued in the order in which they were injected.
        let mut seen = Deliveries::default();
        engine.drain(&mut seen);
        prop_assert!(engine.is_at_rest());
        prop_assert_eq!(engine.deadlock(), None);

        seen.0.sort_by_key(|delivery| delivery.packet.id);
        let arrived: Vec<Packet> = seen.0.iter().map(|delivery| delivery.packet).collect();
        prop_assert_eq!(&arrived, &sent);
        let mut crossings = 0;
        for Delivery { packet, switches, queued, injected, delivered } in &seen.0 {
            let host = |h: u32| crosstie_fabric::HostId(h % hosts as u32);
            let (from, to) = (host(packet.from), host(packet.to));
            prop_assert_eq!(*switches, shape(&fabric).distance(from, to) - 1);
            prop_assert!(queued <= injected);
            prop_assert!(delivered - injected >= zero_load(*switches, packet.flits, &config));
            crossings += u64::from(packet.flits) * u64::from(switches + 1 + 2 * u32::from(shared));
        }
        let (counts, _) = engine.counts();
        prop_assert_eq!(counts.iter().map(|count| count.flits).sum::<u64>(), crossings);
    }
}
