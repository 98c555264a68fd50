//! What policies make of rails of different rates, of rates that change, and of messages of any
//! length.

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
    let mut link = Link::new(kind, wires, None);
    let times: Vec<f64> = (0..messages).map(|_| link.alone(bytes)).collect();
    bytes as f64 / times.last().unwrap()
}

/// MB/s of a stream with so many messages under way.
fn stream(kind: PolicyKind, wires: Vec<Wire>, bytes: u64, messages: u64, window: u64) -> f64 {
    let mut link = Link::new(kind, wires, None);
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

/// Envelopes among the data are short, and take as long as they do for other reasons than their
/// bytes.
#[test]
fn short_messages_among_long_ones_mislead_nobody() {
    for latency in [0.5, 2.0, 20.0] {
        let mut wires = unequal();
        wires.iter_mut().for_each(|wire| wire.latency = latency);
        let mut link = Link::new(PolicyKind::Pull {}, wires, None);
        let (mut long, mut last) = (0, 0);
        while long < 60 {
            for _ in 0..3 {
                link.send(32);
            }
            last = link.send(MB);
            long += 1;
            link.send(32);
            while link.sent_and_not_delivered() > 8 {
                assert!(link.step());
            }
        }
        while link.step() {}
        let found = 60.0 * MB as f64 / link.delivered[&last];
        assert!(found >= 0.97 * 1250.0, "{found} MB/s at a latency of {latency} us");
    }
}

/// One every 600 ns keeps the fast rail busy, but not if the slow one has half of them: nobody may
/// be left with what the slow one carries because the other has had no occasion to show its pace.
#[test]
fn a_rail_that_was_never_busy_is_tried() {
    for kind in [PolicyKind::Fastest {}, PolicyKind::Pull {}] {
        let mut link = Link::new(kind, unequal(), None);
        let mut next = 0.0;
        for _ in 0..5000 {
            while link.now < next {
                if !link.step_until(next) {
                    break;
                }
            }
            link.send(1024);
            next += 0.9;
        }
        while link.step() {}
        let found = 5000.0 * 1024.0 / link.now;
        assert!(found > 0.95 * 1024.0 / 0.9, "{kind:?}: {found} MB/s");
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
            let found = Link::new(PolicyKind::Pull {}, wires, None).alone(bytes);
            let ratio = found / bound;
            assert!(ratio <= 1.1, "rail {slowed} at {share} of {bytes} bytes: {ratio}");
        }
    }
}

/// A second rail as fast as the first, but far away: it is of use from the size on at which its
/// part is there before the first is done, which nobody has told.
#[test]
fn messages_are_cut_from_the_size_on_at_which_it_pays() {
    for (latency, pays) in [(20.0, 60_000), (200.0, 500_000)] {
        let far = Wire { latency, ..Wire::new(1000.0) };
        let mut link = Link::new(PolicyKind::Pull {}, vec![Wire::new(1000.0), far], None);
        for _ in 0..20 {
            link.alone(4 * MB);
        }
        let mut taken = |bytes| {
            let before = link.carried[1];
            link.alone(bytes);
            link.carried[1] - before
        };
        // A message of as many bytes as the first rail carries while one is on its way there and
        // its acknowledgement back.
        let least = (latency * 1000.0) as u64;
        assert_eq!(taken(least / 2), 0, "{latency} us");
        assert!(taken(pays) > 0, "{latency} us");
    }
}

/// Who has found a rail slow gives it little, and sees little of it: it must see all the same that
/// it has become fast again.
#[test]
fn a_rail_that_recovers_is_used_again() {
    for latency in [0.5, 5.0, 50.0] {
        let slow = Wire::new(1000.0).then(2000.0, 50.0).then(4000.0, 1000.0);
        let wires: Vec<Wire> =
            [Wire::new(1000.0), slow].map(|wire| Wire { latency, ..wire }).into();
        let mut link = Link::new(PolicyKind::Pull {}, wires.clone(), None);
        while link.now < 8000.0 {
            while link.sent_and_not_delivered() < 8 {
                link.send(MB / 4);
            }
            link.step();
        }
        let found = link.delivered.len() as f64 * (MB / 4) as f64;
        let possible: f64 = wires.iter().map(|wire| wire.carries(0.0, 8000.0)).sum();
        assert!(found >= 0.94 * possible, "{} at a latency of {latency} us", found / possible);
    }
}

#[test]
fn short_messages_take_the_fastest_rail() {
    let mut link = Link::new(PolicyKind::Fastest {}, unequal(), None);
    for _ in 0..100 {
        link.alone(64);
    }
    assert!(link.carried[1] <= 2 * 64, "the slow rail is tried: {:?}", link.carried);
    // When the fast one has enough to do, the slow one takes its part.
    let found = stream(PolicyKind::Fastest {}, unequal(), 2048, 4000, 64);
    assert!(found > 0.95 * 1250.0, "{found}");
}

/// Rails of any rates and latencies, messages from 10 packets on: how near the best possible the
/// worst of several is that follow a first one.
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
                let mut link = Link::new(PolicyKind::Pull {}, wires, None);
                let worst = (0..8).map(|_| link.alone(bytes)).skip(1).fold(0.0, f64::max);
                let share = bound / worst;
                assert!(share >= least, "{rates:?} of {latency} us, {bytes} bytes: {share}");
            }
        }
    }
}
