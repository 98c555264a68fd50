//! Packets of high priority go before others, and none starves.

use crosstie_fabric::{Fabric, single};
use crosstie_routing::Shortest;
use crosstie_sim::network::{Ends, Priority};
use crosstie_sim::wormhole::{
    Bus, Config, Delivery, EPOCH, Engine, Observer, Packet, Priorities, Tick,
};

use Priority::{High, Low};

const FLITS: u32 = 50;

/// One virtual channel, so that packets wait for it.
fn config(age: Option<u32>) -> Config {
    Config {
        virtual_channels: 1,
        bus: Bus::Full,
        priorities: age.map(|age| Priorities { age }),
        ..Config::default()
    }
}

fn packet(from: u32, id: u64, priority: Priority) -> Packet {
    Packet { from, to: 0, more: 0, flits: FLITS, id, ends: Ends::Memories, priority }
}

/// The numbers of packets, and when they were delivered.
#[derive(Default)]
struct Order(Vec<(u64, Tick)>);

impl Observer for Order {
    fn delivered(&mut self, delivery: &Delivery) {
        self.0.push((delivery.packet.id, delivery.delivered));
    }
}

/// In which order packets, each with the tick at which it is handed over, reach host 0.
fn order(fabric: &Fabric, age: Option<u32>, packets: &[(Tick, Packet)]) -> Vec<u64> {
    let routing = Shortest::new(fabric);
    let mut engine = Engine::new(fabric, &routing, 1, &config(age));
    let mut seen = Order::default();
    for &(at, packet) in packets {
        engine.run_until(EPOCH + at, &mut seen);
        engine.inject(EPOCH + at, packet);
    }
    engine.drain(&mut seen);
    assert!(engine.is_at_rest());
    seen.0.into_iter().map(|(id, _)| id).collect()
}

/// Host 1 has the output when hosts 2 to 4 ask for it, one after the other.
#[test]
fn a_switch_serves_high_priority_first() {
    let fabric = single(6).unwrap();
    let priorities = [Low, Low, High, High];
    let packets: Vec<_> = (1..)
        .zip(priorities)
        .map(|(from, priority)| (Tick::from(from), packet(from, from.into(), priority)))
        .collect();
    assert_eq!(order(&fabric, None, &packets), [1, 2, 3, 4], "first come, first served");
    assert_eq!(order(&fabric, Some(1000), &packets), [1, 3, 4, 2]);
    // When the first packet has passed, all have waited for longer than 20 cycles.
    assert_eq!(order(&fabric, Some(20), &packets), [1, 2, 3, 4]);
    // When the second has passed, host 2 has waited for some 100.
    assert_eq!(order(&fabric, Some(75), &packets), [1, 3, 2, 4]);
}

#[test]
fn a_host_starts_high_priority_first() {
    let fabric = single(2).unwrap();
    let packets = [(1, Low), (2, Low), (3, High), (4, High)];
    let packets = packets.map(|(id, priority)| (id, packet(1, id, priority)));
    assert_eq!(order(&fabric, None, &packets), [1, 2, 3, 4]);
    assert_eq!(order(&fabric, Some(1000), &packets), [1, 3, 4, 2]);
    assert_eq!(order(&fabric, Some(75), &packets), [1, 3, 2, 4]);
    assert_eq!(order(&fabric, Some(20), &packets), [1, 2, 3, 4]);
}

/// Two hosts keep an output busy with packets of high priority. One of low priority gets it when it
/// is old and those that asked before it have been served, however long the stream.
#[test]
fn nobody_starves() {
    let fabric = single(4).unwrap();
    let routing = Shortest::new(&fabric);
    for age in [200, 1000, 100_000] {
        let mut engine = Engine::new(&fabric, &routing, 1, &config(Some(age)));
        for id in 1..400 {
            engine.inject(EPOCH, packet(1 + id as u32 % 2, id, High));
        }
        engine.run_until(EPOCH + 100, &mut Order::default());
        engine.inject(EPOCH + 100, packet(3, 0, Low));
        let mut seen = Order::default();
        engine.drain(&mut seen);
        let (_, at) = seen.0.iter().find(|(id, _)| *id == 0).expect("it is delivered");
        let (_, last) = seen.0.last().expect("some are");
        let waited = at - (EPOCH + 100);
        let bound = Tick::from(age) + 4 * Tick::from(FLITS);
        if age == 100_000 {
            // Young to the end: it gets the output when the stream ends.
            assert!(at + 2 * Tick::from(FLITS) > *last, "at {at}, the last one at {last}");
        } else {
            assert!((Tick::from(age)..=bound).contains(&waited), "{waited} of at most {bound}");
        }
    }
}
