//! Everything arrives once, in order and unchanged, whatever a cable does to what it carries; and
//! soon again when it does no more.
//!
//! With `CROSSTIE_FAULTS_MINUTES=30` in the environment, two ranks exchange messages for that long
//! under random faults on one cable, and then two others on two.

use std::time::{Duration, Instant};

use crosstie_units::Seed;
use crosstie_wire::{Comm, CommError};

use crate::parts::{content, say};
use crate::relay::{Faults, Relay};
use crate::stage::{LIMIT, live, ranks_within, well};

const HOSTS: &str = "hosts = 2\n[[rail]]";

/// Bytes of the messages of a round, all under way at once in both directions.
const SIZES: [usize; 6] = [8, 20_000, 1_000, 300_000, 0, 70_000];

const SECOND: Duration = Duration::from_secs(1);

/// The clock that all processes of this machine share.
fn clock() -> Duration {
    nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC).unwrap().into()
}

/// Both ranks send to each other for some milliseconds, and check what comes. Rank 1 tells how many
/// rounds there were, how many milliseconds the longest took, how long datagrams are on each rail,
/// and when rounds of more than a second began and ended.
pub fn part(milliseconds: u64) -> Result<(), CommError> {
    let comm = Comm::init()?;
    let (own, other) = (comm.rank(), 1 - comm.rank());
    let (begin, mut round, mut last) = (Instant::now(), 0u64, clock());
    let (mut longest, mut pauses) = (Duration::ZERO, Vec::new());
    let most = Duration::from_millis(milliseconds);
    loop {
        let mut go_on = [u8::from(begin.elapsed() < most)];
        let mut into = SIZES.map(|bytes| vec![0; bytes]);
        let out = SIZES.map(|bytes| content(own, other, round, bytes));
        comm.scope(|scope| {
            // One tag for all: it is the order that tells them apart.
            out.iter().try_for_each(|message| scope.send(other, 1, message).map(drop))?;
            let mut coming = Vec::new();
            for room in &mut into {
                coming.push(scope.recv(other, 1, room)?);
            }
            for (coming, bytes) in coming.into_iter().zip(SIZES) {
                let (status, message) = coming.wait()?;
                assert_eq!(status.bytes, bytes, "round {round}");
                assert!(message[..] == content(other, own, round, bytes), "round {round}, {bytes}");
            }
            Ok(())
        })?;
        if own == 0 {
            comm.send(1, 2, &go_on)?;
        } else {
            comm.recv(0, 2, &mut go_on)?;
        }
        round += 1;
        let now = clock();
        longest = longest.max(now - last);
        if now - last > SECOND {
            pauses.push(format!("{},{}", last.as_millis(), now.as_millis()));
        }
        last = now;
        if go_on[0] == 0 {
            break;
        }
    }
    comm.barrier()?;
    // All that was sent was asked for: what is there now has come twice.
    assert_eq!(comm.try_probe(None, None)?, None);
    if own == 1 {
        let datagrams: Vec<usize> = comm.statistics().iter().map(|rail| rail.longest).collect();
        let (longest, pauses) = (longest.as_millis(), pauses.join(" "));
        say(format!("{round} {longest} {datagrams:?} pauses {pauses}"));
    }
    comm.finish()
}

/// What rank 1 has told.
struct Told {
    rounds: u64,
    line: String,
    /// The longest time for which the machine was busy with something else.
    starved: Duration,
}

impl Told {
    /// Rounds of more than a second.
    fn pauses(&self) -> Vec<(Duration, Duration)> {
        let (_, pauses) = self.line.split_once(" pauses ").unwrap_or_default();
        let times = pauses.split_whitespace().map(|pause| pause.split_once(',').unwrap());
        let time = |text: &str| Duration::from_millis(text.parse().unwrap());
        times.map(|(from, to)| (time(from), time(to))).collect()
    }
}

/// Plays some milliseconds. What happens to cables meanwhile begins with the ranks.
fn checked(
    cables: usize,
    seed: u64,
    milliseconds: u64,
    happens: impl FnOnce(&Relay) + Send,
) -> Option<Told> {
    let cluster = live(HOSTS)?;
    let relay = Relay::new(&cluster, cables, seed);
    let (rails, part) = (relay.rails(), format!("faults {milliseconds}"));
    let (lines, result) = std::thread::scope(|scope| {
        scope.spawn(|| {
            while relay.carried() < 20 {
                std::thread::sleep(Duration::from_millis(5));
            }
            happens(&relay);
        });
        let limit = LIMIT + Duration::from_millis(milliseconds);
        ranks_within(limit, &cluster, &[0, 1], &part, &[("CROSSTIE_RAILS", &rails)])
    });
    result.unwrap_or_else(|error| panic!("{error}: {lines:?}"));
    let rounds = lines[0].split(' ').next().unwrap().parse().unwrap();
    Some(Told { rounds, line: lines[0].clone(), starved: relay.starved() })
}

fn percent(percent: u32) -> u32 {
    10_000 * percent
}

/// Everything that a cable does, one after the other, and all at once.
#[test]
fn nothing_is_lost_repeated_reordered_or_changed() {
    let ms = Duration::from_millis;
    let table = [
        ("loss", Faults { loss: percent(5), ..Faults::NONE }),
        ("bursts", Faults { burst: (percent(1) / 10, 60), ..Faults::NONE }),
        ("corruption", Faults { corruption: percent(2), ..Faults::NONE }),
        ("repetition", Faults { repetition: percent(10), ..Faults::NONE }),
        ("reordering", Faults { late: (percent(5), ms(3)), ..Faults::NONE }),
        ("jitter", Faults { delay: ms(2), jitter: ms(2), ..Faults::NONE }),
        ("a short queue", Faults { rate: Some((12_500_000, 15_000)), ..Faults::NONE }),
        ("an outage", Faults::DOWN),
        (
            "all",
            Faults {
                delay: ms(1),
                loss: percent(2),
                burst: (percent(1) / 10, 20),
                corruption: percent(1),
                repetition: percent(2),
                late: (percent(2), ms(2)),
                ..Faults::NONE
            },
        ),
    ];
    for cables in [1, 2] {
        let found = checked(cables, 1, 500 * table.len() as u64, |relay| {
            for (number, (_, faults)) in table.iter().enumerate() {
                relay.set(number % cables, *faults);
                std::thread::sleep(ms(400));
                (0..cables).for_each(|cable| relay.set(cable, Faults::NONE));
                std::thread::sleep(ms(100));
            }
        });
        let Some(Told { rounds, line, .. }) = found else { return };
        // How many depends on what else the machine does.
        assert!(rounds > 2, "{cables} cables: {line}");
    }
}

/// Random faults, and no pause of more than a second once a cable has been healthy for a second. If
/// there is one, and the machine was busy with something else meanwhile, it has shown nothing:
/// false.
fn random_faults(cables: usize, seed: u64, milliseconds: u64) -> bool {
    let (mut draws, mut healthy) = (Seed(seed).stream("faults", 0), vec![Vec::new(); cables]);
    let found = checked(cables, seed, milliseconds, |relay| {
        let begin = Instant::now();
        let mut since = vec![Some(clock()); cables];
        while begin.elapsed() < Duration::from_millis(milliseconds.saturating_sub(500)) {
            let cable = draws.below(cables as u64) as usize;
            let mut up_to = |most| draws.below(most) as u32;
            let time = Duration::from_micros(up_to(20_000).into());
            let faults = match up_to(8) {
                0 | 1 => Faults::DOWN,
                2 => Faults { loss: percent(up_to(50)), ..Faults::NONE },
                3 => Faults { burst: (1_000, up_to(1_000)), ..Faults::NONE },
                4 => Faults { rate: Some((12_500_000, u64::from(up_to(200_000)))), ..Faults::NONE },
                5 => Faults { delay: time, jitter: time, ..Faults::NONE },
                6 => Faults { late: (percent(up_to(30)), time), ..Faults::NONE },
                _ => Faults {
                    corruption: percent(up_to(10)),
                    repetition: percent(up_to(10)),
                    loss: percent(up_to(10)),
                    ..Faults::NONE
                },
            };
            let (lasts, pause) = (up_to(800), up_to(1_500));
            // In one direction only, now and then.
            match up_to(4) {
                0 => relay.set_from(0, cable, faults),
                1 => relay.set_from(1, cable, faults),
                _ => relay.set(cable, faults),
            }
            healthy[cable].extend(since[cable].take().map(|since| (since, clock())));
            std::thread::sleep(Duration::from_millis(lasts.into()));
            // With others still there, it may be left as it is for a while.
            if cables == 1 || up_to(2) == 0 {
                (0..cables).for_each(|cable| relay.set(cable, Faults::NONE));
                since.iter_mut().for_each(|since| _ = since.get_or_insert_with(clock));
                std::thread::sleep(Duration::from_millis(pause.into()));
            }
        }
        (0..cables).for_each(|cable| relay.set(cable, Faults::NONE));
        for (times, since) in healthy.iter_mut().zip(since) {
            times.push((since.unwrap_or_else(clock), Duration::MAX));
        }
    });
    let Some(told) = found else { return true };
    for (from, to) in told.pauses() {
        for &(begin, end) in healthy.iter().flatten() {
            let pause = to.min(end).saturating_sub(from.max(begin + SECOND));
            if pause > SECOND && told.starved > Duration::from_millis(50) {
                return false;
            }
            let what = format!("seed {seed}, {cables} cables: {}", told.line);
            assert!(pause <= SECOND, "a pause of {pause:?}, {what}");
        }
    }
    true
}

/// Random faults, for as long as the environment says.
fn healthy_cables_are_used(cables: usize) {
    let minutes = std::env::var("CROSSTIE_FAULTS_MINUTES").ok();
    let minutes = minutes.map(|minutes| minutes.parse::<u64>().expect("a number of minutes"));
    let milliseconds = minutes.map_or(8_000, |minutes| 60_000 * minutes);
    let shown = (1..=3).any(|seed| random_faults(cables, seed, milliseconds));
    if !shown {
        let line = format!("{cables} cables: the machine was too busy\n");
        let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
    }
}

#[test]
fn a_cable_that_is_healthy_again_is_used_within_a_second() {
    healthy_cables_are_used(1);
}

#[test]
fn two_cables_of_which_one_is_healthy_again_are_used_within_a_second() {
    healthy_cables_are_used(2);
}

/// The rate of a stream over one cable, in Mbit/s, and for how long the machine was busy with
/// something else meanwhile.
fn rate(faults: Faults) -> Option<(f64, Duration)> {
    let cluster = live(HOSTS)?;
    let relay = Relay::new(&cluster, 1, 1);
    relay.set(0, faults);
    let rails = [("CROSSTIE_RAILS", &relay.rails()[..])];
    let lines = well(&cluster, &[0, 1], "stream 16000000 3000", &rails);
    let rate: f64 = lines[0].split(' ').nth(2).unwrap().parse().unwrap();
    Some((rate / 1e6, relay.starved()))
}

/// 300 Mbit/s and 40 ms there and back.
#[test]
fn a_long_cable_is_kept_busy() {
    let short = Faults { rate: Some((37_500_000, 2_000_000)), ..Faults::NONE };
    let long = Faults { delay: Duration::from_millis(20), ..short };
    let mut found = Vec::new();
    for _ in 0..4 {
        let (Some((short, _)), Some((long, starved))) = (rate(short), rate(long)) else { return };
        found.push((long, short, starved));
        // Each message takes two round trips besides.
        if long > 0.5 * short {
            return;
        }
    }
    // A rank that gets no core for long shows nothing.
    let busy = found.iter().all(|&(.., starved)| starved > Duration::from_millis(20));
    assert!(busy, "Mbit/s over a long cable and over a short one: {found:?}");
}

/// From some time on a cable drops packets of more than 1,400 bytes.
#[test]
fn a_cable_that_drops_long_packets_is_used_with_shorter_ones() {
    for cables in [1, 2] {
        let found = checked(cables, 1, 3_000, |relay| {
            std::thread::sleep(Duration::from_millis(500));
            relay.set(0, Faults { longest: 1400, ..Faults::NONE });
        });
        let Some(Told { rounds, line, .. }) = found else { return };
        let shorter = line.contains("[1172") || line.contains("[1252") || line.contains("[1372");
        assert!(rounds > 2 && shorter, "{line}");
    }
}
