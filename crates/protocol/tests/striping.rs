//! What policies make of rails of different rates, of rates that change, and of messages of any length.

mod wires;

use crosstie_protocol::PolicyKind;
use crosstie_protocol::policy::Shares;
use crosstie_units::Bytes;
use wires::{Link, Wire, best};

const MB: u64 = 1_000_000;

fn unequal() -> Vec<Wire> {
    vec![Wire::new(1000.0), Wire::new(250.0)]
}

fn even() -> PolicyKind {
    PolicyKind::EvenStriping { threshold: Bytes::new(16_384) }
}

fn weighted(weights: &[u16]) -> PolicyKind {
    let weights = Shares::new(weights).unwrap();
    PolicyKind::WeightedStriping { weights, threshold: Bytes::new(16_384) }
}

fn adaptive() -> PolicyKind {
    let threshold = Bytes::new(16_384);
    PolicyKind::AdaptiveStriping { alpha: 0.5, floor: 0.01, units: None, threshold }
}

/// MB/s of the last of several messages, one at a time.
fn alone(kind: PolicyKind, wires: Vec<Wire>, bytes: u64, messages: u32) -> f64 {
    let mut link = Link::new(kind, wires);
    let times: Vec<f64> = (0..messages).map(|_| link.alone(bytes)).collect();
    bytes as f64 / times.last().unwrap()
}

/// MB/s of a stream with so many messages under way.
fn stream(kind: PolicyKind, wires: Vec<Wire>, bytes: u64, messages: u64, window: u64) -> f64 {
    let mut link = Link::new(kind, wires);
    let mut sent = 0;
    while (link.delivered.len() as u64) < messages {
        while sent < messages && sent - (link.delivered.len() as u64) < window {
            link.send(bytes);
            sent += 1;
        }
        assert!(link.step(), "all messages are delivered");
    }
    (messages * bytes) as f64 / link.now
}

#[test]
fn even_stripes_wait_for_the_slow_rail_and_weights_that_fit_do_not() {
    let even = alone(even(), unequal(), 4 * MB, 1);
    assert!((490.0..=500.0).contains(&even), "{even}");
    let weighted = alone(weighted(&[4, 1]), unequal(), 4 * MB, 1);
    assert!((1240.0..=1250.0).contains(&weighted), "{weighted}");
}

#[test]
fn adaptive_stripes_come_to_carry_the_sum() {
    let first = alone(adaptive(), unequal(), 4 * MB, 1);
    assert!((490.0..=500.0).contains(&first), "{first}");
    let later = alone(adaptive(), unequal(), 4 * MB, 10);
    assert!((1230.0..=1250.0).contains(&later), "{later}");
}

#[test]
fn pulled_messages_carry_the_sum_without_being_told_anything() {
    for bytes in [MB, 4 * MB, 16 * MB] {
        let found = stream(PolicyKind::Pull {}, unequal(), bytes, 40, 4);
        assert!(found >= 0.98 * 1250.0, "{found} MB/s in a stream of {bytes} bytes");
        for messages in [1, 2, 10] {
            let found = alone(PolicyKind::Pull {}, unequal(), bytes, messages);
            assert!(found >= 0.95 * 1250.0, "{found} MB/s of message {messages} of {bytes} bytes");
        }
    }
}

#[test]
fn a_rail_that_drops_to_a_tenth_hardly_holds_a_pulled_message_up() {
    for bytes in [MB, 4 * MB, 16 * MB] {
        let whole = best(&unequal(), 0.0, bytes as f64);
        for (slowed, share) in [(0, 0.3), (0, 0.5), (0, 0.7), (1, 0.3), (1, 0.5), (1, 0.7)] {
            let mut wires = unequal();
            let rate = wires[slowed].rates[0].1;
            wires[slowed] = wires[slowed].clone().then(share * whole, rate / 10.0);
            let bound = best(&wires, 0.0, bytes as f64);
            let found = Link::new(PolicyKind::Pull {}, wires).alone(bytes);
            let ratio = found / bound;
            assert!(ratio <= 1.1, "rail {slowed} at {share} of {bytes} bytes: {ratio}");
        }
    }
}

#[test]
fn short_messages_take_the_fastest_rail() {
    let mut link = Link::new(PolicyKind::Fastest {}, unequal());
    for _ in 0..100 {
        link.alone(64);
    }
    assert!(link.carried[1] <= 2 * 64, "the slow rail is tried: {:?}", link.carried);
    // When the fast one has enough to do, the slow one takes its part.
    let found = stream(PolicyKind::Fastest {}, unequal(), 2048, 4000, 64);
    assert!(found > 0.95 * 1250.0, "{found}");
}

/// Rails of any rates and latencies, messages from 10 packets on: how near the best possible the worst of several is that follow a
/// first one.
#[test]
fn pulled_messages_are_near_the_best_possible_on_any_rails() {
    for rates in [
        &[1000.0, 1000.0][..],
        &[2000.0, 100.0],
        &[1000.0, 500.0, 250.0],
        &[100.0, 25.0],
        &[1000.0, 10.0],
    ] {
        for latency in [0.1, 2.0, 20.0, 100.0] {
            for (bytes, least) in [(20_000, 0.80), (100_000, 0.96), (MB, 0.98), (8 * MB, 0.998)] {
                let wire = |&rate: &f64| Wire { latency, ..Wire::new(rate) };
                let wires: Vec<Wire> = rates.iter().map(wire).collect();
                let bound = best(&wires, 0.0, bytes as f64);
                let mut link = Link::new(PolicyKind::Pull {}, wires);
                let worst = (0..8).map(|_| link.alone(bytes)).skip(1).fold(0.0, f64::max);
                let share = bound / worst;
                assert!(share >= least, "{rates:?} of {latency} us, {bytes} bytes: {share}");
            }
        }
    }
}
