//! Rails carry what the file says, to the hundredth.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crosstie_box::{Cluster, Command, End, Timetable, Trace};

use crate::parts::{self, part};
use crate::stage::{installed, live, patiently, quiet, skip, spec, start};
use crate::traffic::{HEADERS, Handing, PAYLOAD, SEGMENTS, both_ways};

/// Windows of a measurement.
const WINDOWS: usize = 8;

/// Rails of one rate in every shape, with offloads and without.
fn rails(rate: u64) -> String {
    let rails = ["cable", "switch"].into_iter().flat_map(|shape| {
        [true, false].map(|offloads| {
            format!(
                "[[rail]]\nrate = '{rate} Mbit/s'\nshape.{shape} = {{}}\noffloads = {offloads}\n"
            )
        })
    });
    format!("hosts = 2\n{}", rails.collect::<String>())
}

/// What the attempts at one direction of a rail say of its rate.
#[derive(Debug, PartialEq)]
enum Verdict {
    /// It had the rate for some windows in a row.
    Right,
    /// It had another rate, as a share of the right one, in several attempts.
    Wrong(f64),
    /// It hardly ever had any rate for long: the machine is too noisy to tell.
    Noise,
}

/// The mean of the steadiest `row` windows in a row, if all are within a hundredth of it.
fn steady(shares: &[f64], row: usize) -> Option<f64> {
    let rows = shares.windows(row).filter_map(|windows| {
        let mean = windows.iter().sum::<f64>() / row as f64;
        let off = windows.iter().map(|share| (share / mean - 1.0).abs()).fold(0.0, f64::max);
        (off < 0.01).then_some((off, mean))
    });
    rows.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, mean)| mean)
}

/// Judges one direction of a rail by its rates, as shares of the right one, in all attempts.
fn judge(attempts: &[Vec<f64>], row: usize) -> Verdict {
    const AGAIN: usize = 3;
    let right = |windows: &[f64]| windows.iter().all(|share| (share - 1.0).abs() < 0.01);
    let mut rates: Vec<f64> = attempts.iter().filter_map(|shares| steady(shares, row)).collect();
    if attempts.iter().any(|shares| shares.windows(row).any(right))
        || rates.iter().any(|rate| right(&[*rate]))
    {
        return Verdict::Right;
    }
    rates.sort_by(f64::total_cmp);
    let again = rates.windows(AGAIN).find(|rates| rates[AGAIN - 1] / rates[0] < 1.01);
    again.map_or(Verdict::Noise, |rates| Verdict::Wrong(rates[0]))
}

#[test]
fn a_wrong_rate_is_told_from_noise() {
    let right = [0.9, 1.001, 0.998, 1.004, 1.0, 1.2];
    let slow = [0.971, 0.969, 0.97, 0.97, 0.97, 0.968];
    let fast = [1.04, 1.041, 1.039, 1.04, 1.04, 1.04];
    let noise = [1.02, 1.007, 0.999, 1.0, 0.947, 0.95];
    let calm = [0.947, 0.95, 0.95, 0.951, 1.02, 0.9];
    let judged = |attempts: &[[f64; 6]]| {
        judge(&attempts.iter().map(|all| all.to_vec()).collect::<Vec<_>>(), 4)
    };
    assert_eq!(judged(&[slow, slow, slow, noise, right]), Verdict::Right);
    assert!(matches!(judged(&[slow, noise, slow, slow]), Verdict::Wrong(share) if share < 0.98));
    assert!(matches!(judged(&[fast, fast, fast]), Verdict::Wrong(share) if share > 1.03));
    assert_eq!(judged(&[noise, noise, noise, noise]), Verdict::Noise);
    // A rate that comes back only once is chance.
    assert_eq!(judged(&[noise, calm, noise, calm]), Verdict::Noise);
}

/// Measures until every direction has had the rate for `row` windows in a row. A rail that is too
/// slow or too fast never has, and is so in every attempt. A machine that stands still spoils some
/// windows, and senders that do not get the cores they need may spoil all: then the queue in front
/// of the rail is empty.
fn hold(cluster: &Cluster, rails: &[usize], handing: Handing, rate: u64, row: usize) {
    const ATTEMPTS: usize = 10;
    let told = format!("rails {rails:?} at {rate} Mbit/s, {handing:?}");
    let expected = rate as f64 * 125_000.0;
    let mut directions = vec![Vec::new(); 2 * rails.len()];
    for attempt in 1..=ATTEMPTS {
        let (all, empty) = watched(cluster, rails, || both_ways(cluster, rails, handing, WINDOWS));
        for (direction, passed) in directions.iter_mut().zip(&all) {
            let shares: Vec<f64> = passed.rates.iter().map(|rate| rate / expected).collect();
            // A bucket makes up for 5 ms of these 480 ms.
            let mean = shares.iter().sum::<f64>() / shares.len() as f64;
            assert!(mean < 1.03, "{told}: {mean:.3} of the rate: {passed:?}");
            direction.push(shares);
        }
        let verdicts: Vec<Verdict> = directions.iter().map(|all| judge(all, row)).collect();
        if verdicts.iter().all(|verdict| *verdict == Verdict::Right) {
            return;
        }
        if attempt >= 4 && empty > 0.1 {
            let share = 100.0 * empty;
            return skip(&format!("{told}: senders were too slow for {share:.0} % of the time"));
        }
        if attempt == ATTEMPTS {
            let wrong = verdicts.iter().any(|verdict| matches!(verdict, Verdict::Wrong(_)));
            assert!(!wrong, "{told}: {verdicts:?}: {directions:?}");
            let rates: Vec<f64> = directions.concat().concat();
            let (low, high) = rates
                .iter()
                .fold((f64::MAX, 0f64), |(low, high), rate| (low.min(*rate), high.max(*rate)));
            skip(&format!("{told}: this machine is too noisy: {low:.2} to {high:.2} of the rate"));
        }
    }
}

/// Does something, and tells how often a rail that carried something had nothing waiting in front
/// of it.
fn watched<T>(cluster: &Cluster, rails: &[usize], work: impl FnOnce() -> T) -> (T, f64) {
    let names: Vec<String> = rails.iter().map(|rail| cluster.spec().rail_name(*rail)).collect();
    let clock = Timetable::new();
    std::thread::scope(|scope| {
        let looks = scope.spawn(|| {
            let mut trace = Trace::new(cluster).unwrap();
            let (mut all, mut empty) = (0u32, 0u32);
            while clock.wait_until(clock.elapsed() + Duration::from_millis(20)) {
                for sample in trace.look(Duration::ZERO).unwrap() {
                    if sample.end == End::Nic && sample.bytes > 0 && names.contains(&sample.rail) {
                        all += 1;
                        empty += u32::from(sample.queue == 0);
                    }
                }
            }
            f64::from(empty) / f64::from(all.max(1))
        });
        let done = work();
        clock.stop();
        (done, looks.join().unwrap())
    })
}

/// The same for frames and segments, on groups of rails one after the other.
fn hold_all(cluster: &Cluster, groups: &[&[usize]], rate: u64) {
    for rails in groups {
        for handing in [Handing::Frames, Handing::Segments] {
            hold(cluster, rails, handing, rate, WINDOWS / 2);
        }
    }
}

#[test]
fn rails_carry_100_mbit() {
    let _quiet = quiet();
    let Some(cluster) = live(&spec(&rails(100))) else { return };
    hold_all(&cluster, &[&[0, 1, 2, 3]], 100);
}

#[test]
fn rails_carry_250_mbit() {
    let _quiet = quiet();
    let Some(cluster) = live(&spec(&rails(250))) else { return };
    hold_all(&cluster, &[&[0, 1], &[2, 3]], 250);
}

#[test]
fn rails_carry_1_gbit() {
    let _quiet = quiet();
    let Some(cluster) = live(&spec(&rails(1000))) else { return };
    hold_all(&cluster, &[&[0], &[1], &[2], &[3]], 1000);
}

/// On busy cores timers are late, and senders do not get what they need: a rail may be slower then.
/// What it makes up for must not show as a rate that it does not have.
#[test]
fn rails_are_not_faster_than_they_may_be_while_all_cores_are_busy() {
    let _quiet = quiet();
    let both = "[[rail]]\nrate = '100 Mbit/s'\nshape.switch = {}\noffloads = false\n\
                [[rail]]\nrate = '1 Gbit/s'\noffloads = false";
    let Some(cluster) = live(&spec(both)) else { return };
    let over = AtomicBool::new(false);
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    std::hint::black_box(());
                }
            });
        }
        let measured = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for (rail, rate) in [(0, 100.0), (1, 1000.0)] {
                for passed in both_ways(&cluster, &[rail], Handing::Segments, WINDOWS) {
                    // What arrives late in one window is too much in the next.
                    let count = passed.rates.len() as f64;
                    let share = passed.rates.iter().sum::<f64>() / count / (rate * 125_000.0);
                    assert!((0.2..1.03).contains(&share), "{rate} Mbit/s: {share} of it");
                }
            }
        }));
        over.store(true, Ordering::Relaxed);
        measured.unwrap_or_else(|why| std::panic::resume_unwind(why));
    });
}

/// What is kept for late timers is not there for those who send after a pause.
#[test]
fn a_message_takes_its_time_on_an_idle_rail() {
    let _quiet = quiet();
    let Some(cluster) = live(&spec("[[rail]]\nrate = '1 Gbit/s'\noffloads = false")) else {
        return;
    };
    const PIECES: usize = 4;
    let bytes = PIECES * SEGMENTS * (PAYLOAD + HEADERS);
    let nominal = bytes as u64 / 125;
    patiently(5, || {
        let mut receiver = start(&cluster, 1, part("clock", &[&7000, &bytes]));
        receiver.until("ready");
        let sender = part("volley", &[&cluster.spec().address(0, 1), &7000, &PIECES]);
        start(&cluster, 0, sender).end().well();
        let text = receiver.end().well();
        let took: u64 = parts::line(&text).parse().unwrap();
        match (nominal * 9 / 10..=nominal * 11 / 10).contains(&took) {
            true => Ok(()),
            false => Err(format!("{bytes} bytes took {took} us, expected about {nominal} us")),
        }
    });
}

#[test]
fn iperf3_finds_the_rate() {
    let _quiet = quiet();
    if !installed("iperf3") {
        return;
    }
    let Some(cluster) = live(&spec("[[rail]]\nrate = '250 Mbit/s'")) else { return };
    if !Command::new(["iperf3", "--version"]).runs(&cluster) {
        return skip("`iperf3` does not run");
    }
    for reverse in [false, true] {
        patiently(5, || {
            let server = start(&cluster, 1, Command::new(["iperf3", "-s", "-1", "-J"]));
            let mut words = vec!["iperf3", "-c", "host1", "-u", "-b", "300M", "-l", "1472", "-J"];
            words.extend(["-t", "1.2", "-O", "0.3", "--connect-timeout", "2000"]);
            words.extend(reverse.then_some("-R"));
            // The server needs a moment to listen.
            let client = (0..50).find_map(|_| {
                let said = start(&cluster, 0, Command::new(words.clone())).end();
                if said.ending.success() {
                    return Some(said.text);
                }
                std::thread::sleep(Duration::from_millis(20));
                None
            });
            let _ = server.program.signal(15);
            let client = client.ok_or("iperf3 did not connect")?;
            let report: serde_json::Value =
                serde_json::from_str(&client).map_err(|error| error.to_string())?;
            // Either end has counted payload; what was received is in the sum of the receiver.
            let found = report["end"]["sum_received"]["bits_per_second"].as_f64();
            let found = found.ok_or_else(|| format!("no rate in {client}"))? / 1e6;
            let expected = 250.0 * PAYLOAD as f64 / (PAYLOAD + HEADERS) as f64;
            match (found / expected - 1.0).abs() < 0.01 {
                true => Ok(()),
                false => Err(format!("iperf3 found {found} Mbit/s, expected {expected}")),
            }
        });
    }
}

trait Runs {
    fn runs(self, cluster: &Cluster) -> bool;
}

impl Runs for Command {
    fn runs(self, cluster: &Cluster) -> bool {
        crate::stage::try_start(cluster, 0, self)
            .is_ok_and(|running| running.end().ending.success())
    }
}
