//! What selective recovery and its window make of networks: rates, queues and losses, as numbers.

mod star;

use crosstie_protocol::channel::*;
use crosstie_units::Time;
use star::{Flow, Place, Plan, Star, mbit, ms, us};

const SPECS: [SelectiveSpec; 2] = [SelectiveSpec::LIVE, SelectiveSpec::SIMULATED];

/// A full frame.
const FRAME: f64 = 1514.0;

/// The share that a flow has of what full packets can have of a rate, while everything happens for
/// so long.
fn share(star: &mut Star, flow: usize, rate: u64, time: Time) -> f64 {
    star.rate(flow, time) / (rate as f64 * 1472.0 / FRAME)
}

/// How long the most that has waited at a place takes, in microseconds.
fn queue(star: &mut Star, place: Place, rate: u64) -> f64 {
    star.most(place) as f64 / rate as f64 * 1e6
}

#[test]
fn a_rail_is_kept_busy_and_the_queue_ahead_of_it_short() {
    for spec in SPECS {
        for (rate, delay) in
            [(10, 20), (100, 20), (100, 2_000), (1_000, 20), (1_000, 500), (5_000, 20)]
        {
            let plan = Plan { delay: us(delay), ..Plan::new(spec, 2, mbit(rate)) };
            let mut star = Star::new(plan, &[Flow::endless(0, 1)]);
            star.run_until(ms(200));
            star.most(Place::Nic(0));
            let found = share(&mut star, 0, mbit(rate), ms(300));
            let queue = queue(&mut star, Place::Nic(0), mbit(rate));
            let wanted = spec.ahead.seconds() * 1e6 + 8.0 * FRAME / mbit(rate) as f64 * 1e6;
            let told = format!("{rate} Mbit/s, {delay} us: {found} {queue} us {:?}", star.path(0));
            assert!(found > 0.995 && queue < 1.1 * wanted, "{told}, wanted {wanted} us");
            let again = star.tally(0).retransmissions();
            assert!(again <= 2, "at most while nothing is known: {again} {told}");
        }
    }
}

#[test]
fn single_losses_cost_little_more_than_what_is_lost() {
    for spec in SPECS {
        for (rate, delay) in [(100, 20), (1_000, 20), (1_000, 500)] {
            for (loss, least) in [(100, 0.99), (1_000, 0.98), (3_000, 0.95)] {
                let plan = Plan { delay: us(delay), loss, ..Plan::new(spec, 2, mbit(rate)) };
                let mut star = Star::new(plan, &[Flow::endless(0, 1)]);
                star.run_until(ms(100));
                let found = share(&mut star, 0, mbit(rate), ms(400));
                let told = format!("{rate} Mbit/s, {delay} us, {loss}: {found}");
                assert!(found > least, "{told} {:?}", star.path(0));
                let Tally { first, fast, timeout, .. } = star.tally(0);
                assert!(
                    fast + timeout <= star.lost,
                    "only what is missing: {told} {fast} {timeout}"
                );
                assert!(timeout <= 2, "{told} {timeout} of {first}");
            }
        }
    }
}

/// What comes of several flows to one host: the share of all of them together, the smallest and the
/// largest of an even share, and of how many frames one was lost.
fn shared(star: &mut Star, flows: usize, rate: u64, time: Time) -> (f64, f64, f64, f64) {
    let before: Vec<u64> = (0..flows).map(|flow| star.delivered(flow)).collect();
    let lost = star.overflowed(Place::Port(0));
    star.run_until(star.now + time);
    let whole = rate as f64 * 1472.0 / FRAME * time.seconds();
    let shares = (0..flows).map(|flow| (star.delivered(flow) - before[flow]) as f64 / whole);
    let shares: Vec<f64> = shares.collect();
    let even = |share: f64| share * flows as f64;
    let smallest = even(shares.iter().copied().fold(f64::INFINITY, f64::min));
    let largest = even(shares.iter().copied().fold(0.0, f64::max));
    let sum: f64 = shares.iter().sum();
    let lost = (star.overflowed(Place::Port(0)) - lost) as f64 / (sum * whole / 1472.0);
    (sum, smallest, largest, lost)
}

fn to_one(senders: usize, apart: Time) -> Vec<Flow> {
    let flow = |from: usize| Flow { begin: apart * from as u64, ..Flow::endless(from, 0) };
    (1..=senders).map(flow).collect()
}

#[test]
fn eight_senders_share_a_port_with_few_buffers() {
    for spec in SPECS {
        for (rate, most) in [(100, 0.0005), (1_000, 0.01)] {
            let plan = Plan { port_room: 95, ..Plan::new(spec, 9, mbit(rate)) };
            let mut star = Star::new(plan, &to_one(8, us(3)));
            star.run_until(ms(1_000));
            let found = shared(&mut star, 8, mbit(rate), ms(1_000));
            let (sum, smallest, largest, lost) = found;
            assert!(sum > 0.99 && smallest > 0.6 && largest < 1.6, "{rate} Mbit/s: {found:?}");
            assert!(lost <= most, "{rate} Mbit/s: {found:?}");
        }
    }
}

#[test]
fn more_senders_than_a_port_has_buffers_for_still_share_it() {
    for spec in SPECS {
        let plan = Plan { port_room: 95, ..Plan::new(spec, 31, mbit(1_000)) };
        let mut star = Star::new(plan, &to_one(30, us(3)));
        star.run_until(ms(1_500));
        let found = shared(&mut star, 30, mbit(1_000), ms(500));
        let (sum, smallest, _, lost) = found;
        assert!(sum > 0.98 && smallest > 0.4 && lost < 0.04, "{found:?}");
    }
}

/// The smallest round trip does not creep upwards because of what is ahead, nor because of what
/// others have ahead.
#[test]
fn queues_and_windows_do_not_grow_in_a_minute() {
    for spec in SPECS {
        for senders in [1, 6] {
            let rate = mbit(50);
            let plan = Plan { nic: mbit(1_000), port: rate, ..Plan::new(spec, senders + 1, rate) };
            let mut star = Star::new(plan, &to_one(senders, ms(237)));
            star.run_until(ms(4_000));
            let mut seen = Vec::new();
            for _ in 0..7 {
                star.most(Place::Port(0));
                star.run_until(star.now + ms(2_000));
                let windows: u64 = (0..senders).map(|flow| star.path(flow).window).sum();
                seen.push((star.most(Place::Port(0)) as f64 / FRAME, windows as f64 / FRAME));
                star.run_until(star.now + ms(6_000));
            }
            let wanted = spec.ahead.seconds() * rate as f64 / FRAME + 10.0 * senders as f64;
            for &(queue, windows) in &seen {
                assert!(queue < 1.5 * wanted && windows < 1.5 * wanted, "{wanted} {seen:?}");
                assert!(queue < 1.2 * seen[0].0, "{senders} {seen:?}");
            }
            let found = shared(&mut star, senders, rate, ms(2_000));
            assert!(found.0 > 0.995 && found.1 > 0.75 && found.2 < 1.25, "{senders}: {found:?}");
        }
    }
}

#[test]
fn the_window_follows_the_rate_within_a_second() {
    for spec in SPECS {
        for (rate, delay) in [(100, 20), (1_000, 20), (1_000, 500)] {
            let fast = mbit(rate);
            let changes =
                vec![(ms(1_000), Place::Nic(0), fast / 10), (ms(3_000), Place::Nic(0), fast)];
            let plan = Plan { delay: us(delay), changes, ..Plan::new(spec, 2, fast) };
            let mut star = Star::new(plan, &[Flow::endless(0, 1)]);
            star.run_until(ms(900));
            let wide = star.path(0).window;
            for (until, rate) in [(2_000, fast / 10), (4_000, fast)] {
                star.run_until(ms(until));
                let found = share(&mut star, 0, rate, ms(900));
                let path = star.path(0);
                let queue = path.queue.expect("it is known").seconds() * 1e6;
                let wanted = spec.ahead.seconds() * 1e6 + 10.0 * FRAME / rate as f64 * 1e6;
                let told = format!("{rate} {delay}: {found} {queue} us {path:?}");
                assert!(found > 0.99 && queue < 1.3 * wanted, "{told}, wanted {wanted} us");
                let right = (wide as f64 * rate as f64 / fast as f64).max(6.0 * FRAME);
                let window = path.window as f64 / right;
                assert!((0.6..2.2).contains(&window), "{told} {window}");
            }
        }
    }
}

/// Acknowledgements wait behind data, and do not stand for a queue on the way there.
#[test]
fn both_ways_at_once_are_as_busy() {
    for (spec, least) in [(SelectiveSpec::LIVE, 0.97), (SelectiveSpec::SIMULATED, 0.93)] {
        for (rate, delay) in [(100, 20), (1_000, 20), (1_000, 500)] {
            for seed in 0..4 {
                let plan = Plan { delay: us(delay), seed, ..Plan::new(spec, 2, mbit(rate)) };
                let back = Flow { begin: us(700 * seed), ..Flow::endless(1, 0) };
                let mut star = Star::new(plan, &[Flow::endless(0, 1), back]);
                star.run_until(ms(200));
                let before = star.delivered(1);
                let there = share(&mut star, 0, mbit(rate), ms(300));
                let back = (star.delivered(1) - before) as f64 / 0.3;
                let back = back / (mbit(rate) as f64 * 1472.0 / FRAME);
                let told = format!("{rate} Mbit/s, {delay} us, seed {seed}: {there} {back}");
                assert!(there.min(back) > least, "{told} {:?}", star.path(0));
            }
        }
    }
}

/// Hosts that are busy with something else a tenth of their time, for up to two milliseconds.
#[test]
fn the_queue_ahead_covers_hosts_that_are_busy() {
    for (loss, least) in [(0, 0.92), (1_000, 0.9)] {
        let busy = Some((ms(10), ms(2)));
        let plan = Plan { busy, loss, ..Plan::new(SelectiveSpec::LIVE, 2, mbit(1_000)) };
        let mut star = Star::new(plan.clone(), &[Flow::endless(0, 1)]);
        star.run_until(ms(100));
        let found = share(&mut star, 0, mbit(1_000), ms(900));
        let Tally { first, timeout, fast, .. } = star.tally(0);
        assert!(found > least && timeout < first / 1_000, "{found} {timeout} of {first}");
        assert!(fast <= star.lost, "what came late was not lost: {fast} {}", star.lost);
        // Somebody who keeps nothing ahead is the worse for it.
        let plan = Plan {
            spec: SelectiveSpec { ahead: Time::ZERO, ..SelectiveSpec::LIVE }.into(),
            ..plan
        };
        let mut star = Star::new(plan, &[Flow::endless(0, 1)]);
        star.run_until(ms(100));
        let without = share(&mut star, 0, mbit(1_000), ms(900));
        assert!(without < found - 0.05, "{without} {found}");
    }
}

#[test]
fn what_others_leave_is_taken_and_what_they_give_back_too() {
    for spec in SPECS {
        for rate in [mbit(100), mbit(1_000)] {
            let plan = Plan { port_room: 95, ..Plan::new(spec, 3, rate) };
            let mut star = Star::new(plan, &[Flow::endless(1, 0)]);
            star.cross(2, 0, rate / 2, ms(500), ms(1_500));
            star.run_until(ms(800));
            let half = share(&mut star, 0, rate, ms(600));
            star.run_until(ms(1_800));
            let whole = share(&mut star, 0, rate, ms(500));
            assert!((0.48..0.52).contains(&half) && whole > 0.99, "{half} {whole}");
            let lost = star.overflowed(Place::Port(0));
            assert!(lost * 500 < star.tally(0).first, "{lost}");
        }
    }
}

/// One of a hundred packets is late by up to a millisecond, and overtaken by many: a margin is
/// found, and little is sent for nothing.
#[test]
fn a_way_that_reorders_is_not_taken_for_one_that_loses() {
    let late = (1_000, us(100));
    let plan = Plan { late, delay: us(500), ..Plan::new(SelectiveSpec::LIVE, 2, mbit(1_000)) };
    let mut star = Star::new(plan, &[Flow::endless(0, 1)]);
    let found = share(&mut star, 0, mbit(1_000), ms(500));
    let Tally { first, fast, timeout, .. } = star.tally(0);
    assert!(
        found > 0.97 && (fast + timeout) * 1_000 < first,
        "{found} {fast} {timeout} of {first}"
    );
}

#[test]
fn a_rail_that_dies_and_returns_is_used_again_within_30_ms() {
    let changes = vec![(ms(300), Place::Nic(0), 0), (ms(1_850), Place::Nic(0), mbit(1_000))];
    for room in [10_000, 50] {
        let plan = Plan {
            changes: changes.clone(),
            nic_room: room,
            ..Plan::new(SelectiveSpec::LIVE, 2, mbit(1_000))
        };
        let mut star = Star::new(plan, &[Flow::endless(0, 1)]);
        star.run_until(ms(1_850));
        let before = star.delivered(0);
        let tried = star.tally(0).timeout;
        assert!((55..80).contains(&tried), "it tries without end, and not too often: {tried}");
        star.run_until(ms(1_880));
        assert!(star.delivered(0) > before, "room {room}");
        star.run_until(ms(2_100));
        let found = share(&mut star, 0, mbit(1_000), ms(300));
        assert!(found > 0.99, "room {room}: {found} {:?}", star.path(0));
    }
}

#[test]
fn packets_of_all_lengths_fill_a_rail() {
    for spec in SPECS {
        let flow = Flow { bytes: (20, 1472), ..Flow::endless(0, 1) };
        let mut star = Star::new(Plan::new(spec, 2, mbit(1_000)), &[flow]);
        star.run_until(ms(100));
        let found = star.rate(0, ms(300)) / mbit(1_000) as f64;
        // 42 bytes more than 746 on average.
        assert!(found > 0.99 * 746.0 / 788.0, "{found} {:?}", star.path(0));
    }
}

/// Bursts with pauses between them see as much of the rail as one that never ends.
#[test]
fn bursts_do_not_unlearn_the_rate() {
    for spec in SPECS {
        let flow = Flow { pace: Some((400, ms(20))), ..Flow::endless(0, 1) };
        let mut star = Star::new(Plan::new(spec, 2, mbit(1_000)), &[flow]);
        star.run_until(ms(500));
        let before = star.path(0);
        star.run_until(ms(1_500));
        let after = star.path(0);
        let rate = |path: Path| path.rate.expect("it is known").bytes_per_second() as f64;
        assert!((rate(after) / mbit(1_000) as f64 - 1.0).abs() < 0.05, "{after:?}");
        assert!(
            (after.window as f64 / before.window as f64 - 1.0).abs() < 0.2,
            "{before:?} {after:?}"
        );
    }
}

/// The window reaches the bandwidth-delay product of long paths.
#[test]
fn a_long_path_is_kept_busy() {
    for (rate, delay) in [(300, 2), (300, 5), (300, 10), (300, 50), (1_000, 25)] {
        let plan = Plan { delay: ms(delay), ..Plan::new(SelectiveSpec::LIVE, 2, mbit(rate)) };
        let mut star = Star::new(plan, &[Flow::endless(0, 1)]);
        star.run_until(ms(2_000));
        let found = share(&mut star, 0, mbit(rate), ms(5_000));
        let told = format!("{rate} Mbit/s, {delay} ms: {found}");
        assert!(found > 0.9, "{told} {:?}", star.path(0));
    }
}
