//! Raw endpoints in boxes: rings that are full, frames that find no room, and the microbenchmarks
//! on them.

use std::time::{Duration, Instant};

use crosstie_box::{Cluster, End, Trace};
use crosstie_launch::Job;
use crosstie_units::Time;
use crosstie_wire::raw::{Endpoint, RawOptions, Written};
use crosstie_work::probe::{Burst, Inflow, Pairs, ReceiveOverhead, TransmitRing};
use crosstie_work::{Note, Program, Rank};

use crate::parts::say;
use crate::stage::{live, well};

/// Plays a part.
pub fn part(words: &[&str]) {
    let mut job = Job::join().unwrap();
    let options = RawOptions { pool: 4096, ..RawOptions::default() };
    let mut endpoint = Endpoint::open(&mut job, &options).unwrap();
    match words[0] {
        "fill" => fill(&mut job, &mut endpoint),
        "flood" => flood(&mut job, &mut endpoint, words[1].parse().unwrap()),
        "anew" => anew(&mut job, &mut endpoint),
        probe => play(&mut job, &mut endpoint, probe),
    }
    job.fence().unwrap();
    job.finish().unwrap();
}

/// Rank 0 writes until its ring is full, for frames of several lengths; says how many were taken,
/// and how long the longest write took.
fn fill(job: &mut Job, endpoint: &mut Endpoint) {
    for bytes in [endpoint.longest(), 64] {
        if job.rank() == 0 {
            let load = vec![1; bytes];
            let (mut taken, mut longest) = (0, Duration::ZERO);
            loop {
                let begin = Instant::now();
                let written = endpoint.write(&load).unwrap();
                longest = longest.max(begin.elapsed());
                match written {
                    Written::Taken => taken += 1,
                    Written::RingFull => break,
                }
            }
            let ring = endpoint.ring(bytes).unwrap().unwrap();
            say(format!("{bytes} {ring} {taken} {}", longest.as_millis()));
            // Once some have left there is room again.
            while endpoint.write(&load).unwrap() == Written::RingFull {
                std::thread::sleep(Duration::from_millis(1));
            }
            // And then it is empty.
            std::thread::sleep(Duration::from_millis(700));
        }
        job.fence().unwrap();
    }
}

/// All others write so many frames to rank 0 at once; it says what it has seen.
fn flood(job: &mut Job, endpoint: &mut Endpoint, frames: u32) {
    job.fence().unwrap();
    if job.rank() > 0 {
        endpoint.bind(0).unwrap();
        let load = vec![2; endpoint.longest()];
        for _ in 0..frames {
            while endpoint.write(&load).unwrap() == Written::RingFull {
                std::thread::yield_now();
            }
        }
        // What is lost at the end shows by one more, once all that waited has left.
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(endpoint.write(&[3]).unwrap(), Written::Taken);
        job.fence().unwrap();
        return;
    }
    let mut ends = 1;
    let begin = Instant::now();
    while ends < job.size() && begin.elapsed() < Duration::from_secs(60) {
        match endpoint.read_of(None, None).unwrap() {
            Some(frame) if frame.bytes.len() == 1 => ends += 1,
            Some(_) => {}
            None => std::thread::yield_now(),
        }
    }
    job.fence().unwrap();
    let count = endpoint.count();
    say(format!("{} {} {} {}", count.received, count.lost(), count.overflow(), count.missing));
}

/// Rank 0 is bound to one after the other, and asks each of them.
fn anew(job: &mut Job, endpoint: &mut Endpoint) {
    let mut heard = Vec::new();
    let wait = |endpoint: &mut Endpoint| loop {
        match endpoint.read().unwrap() {
            Some(frame) => break frame.bytes.to_vec(),
            None => std::thread::yield_now(),
        }
    };
    if job.rank() > 0 {
        endpoint.bind(0).unwrap();
        let asked = wait(endpoint);
        let answer = [asked[0], job.rank() as u8];
        assert_eq!(endpoint.write(&answer).unwrap(), Written::Taken);
        return;
    }
    for partner in (1..job.size()).rev() {
        endpoint.bind(partner).unwrap();
        assert_eq!(endpoint.write(&[partner as u8 * 10]).unwrap(), Written::Taken);
        heard.push(wait(endpoint));
    }
    say(format!("{heard:?}"));
}

/// The microbenchmarks, short.
fn program(name: &str, longest: usize) -> Program {
    let (us, bytes) = (|us: u64| Time::from_ns(us * 1000), longest as u32);
    let (from, to) = (Rank(0), Rank(1));
    match name {
        "transmit-ring" => {
            let (ring, most, rounds, drain) = (32, 128, 3, us(250));
            TransmitRing { from, to, bytes, ring, most, rounds, drain }.program()
        }
        "receive-overhead" => {
            let (master, slave, iterations, segment, idle) = (from, to, 50, us(2), true);
            ReceiveOverhead { master, slave, bytes, iterations, segment, idle }.program()
        }
        "inflow" => Inflow {
            senders: vec![Rank(1), Rank(2), Rank(3)],
            receiver: from,
            bytes,
            packets: 200,
            settle: us(20_000),
            rise: us(4000),
            window: us(15_000),
            every: us(150_000),
            rounds: 3,
        }
        .program(),
        "pairs" => {
            let pairs = vec![(Rank(0), Rank(2)), (Rank(1), Rank(3))];
            Pairs { pairs, bytes, iterations: 20, every: Some(us(4000)) }.program()
        }
        "burst" => Burst {
            sources: vec![Rank(1), Rank(2), Rank(3)],
            sinks: vec![from],
            bytes,
            bursts: vec![60, 400, 800],
            settle: us(20_000),
            drain: us(250),
            rest: us(20_000),
        }
        .program(),
        unknown => panic!("there is no part `{unknown}`"),
    }
}

/// Plays a microbenchmark; says the notes.
fn play(job: &mut Job, endpoint: &mut Endpoint, name: &str) {
    let played = endpoint.play(&mut program(name, endpoint.longest())).unwrap();
    job.fence().unwrap();
    let overflow = endpoint.count().overflow();
    for (number, note) in played.notes.iter().enumerate() {
        let (what, [a, b]) = match *note {
            Note::Written { packets, took } => ("written", [packets.into(), took.ps()]),
            Note::RoundTrip { took } => ("round-trip", [took.ps(), 0]),
            Note::PickedUp { took } => ("picked-up", [took.ps(), 0]),
            Note::Stolen { took, kept } => ("stolen", [took.ps(), kept.into()]),
            Note::Arrived { packets, took } => ("arrived", [packets.into(), took.ps()]),
            Note::Received { burst, packets } => ("received", [burst.into(), packets.into()]),
        };
        say(format!("{number:04} {what} {a} {b} {overflow}"));
    }
}

fn numbers(line: &str) -> Vec<u64> {
    line.split(' ').filter_map(|word| word.parse().ok()).collect()
}

/// Frames that the switch dropped on their way to host 0, and no one else anywhere.
fn drops(trace: &mut Trace<'_>) -> u64 {
    let mut drops = 0;
    for sample in trace.look(Duration::ZERO).unwrap() {
        match (sample.host.as_str(), sample.end) {
            ("host0", End::Switch) => drops = sample.drops,
            _ => assert_eq!(sample.drops, 0, "{sample:?}"),
        }
    }
    drops
}

#[test]
fn a_ring_is_full_after_as_many_frames_as_it_holds_and_no_write_waits() {
    // A full frame takes 12 ms.
    let Some(cluster) = live("hosts = 2\n[[rail]]\nrate = '1 Mbit/s'") else { return };
    let lines = well(&cluster, &[0, 1], "raw fill", &[]);
    assert_eq!(lines.len(), 2);
    for line in lines {
        let [bytes, ring, taken, longest] = numbers(&line)[..] else { panic!("{line}") };
        assert_eq!(ring, 32, "{line}");
        // The shaper lets two full frames pass at once, and more leave while others are written.
        let passed = if bytes == 64 { 32..120 } else { 32..40 };
        assert!(passed.contains(&taken), "{line}");
        // To wait for room would take 380 ms.
        assert!(longest < 200, "{line}");
    }
}

#[test]
fn an_endpoint_is_bound_anew() {
    let Some(cluster) = live("hosts = 3\n[[rail]]\nrate = '100 Mbit/s'") else { return };
    let lines = well(&cluster, &[0, 1, 2], "raw anew", &[]);
    assert_eq!(lines, ["[[20, 2], [10, 1]]"]);
}

fn small_switch(hosts: usize) -> Option<Cluster> {
    live(&format!(
        "hosts = {hosts}\n[[rail]]\nrate = '100 Mbit/s'\nshape.switch.buffer = '95 frames'"
    ))
}

#[test]
fn what_a_switch_drops_is_lost_in_the_network_and_nothing_overflows() {
    let Some(cluster) = small_switch(4) else { return };
    let mut trace = Trace::new(&cluster).unwrap();
    let lines = well(&cluster, &[0, 1, 2, 3], "raw flood 400", &[]);
    let [received, lost, overflow, missing] = numbers(&lines[0])[..] else { panic!("{lines:?}") };
    let drops = drops(&mut trace);
    assert!(drops > 100, "{lines:?}, {drops} dropped");
    assert_eq!((lost, overflow, missing), (drops, 0, drops));
    assert_eq!(received + lost, 3 * 401);
}

#[test]
fn every_microbenchmark_notes_what_it_should() {
    let Some(cluster) = small_switch(4) else { return };
    let mut trace = Trace::new(&cluster).unwrap();
    let notes = |name: &str| -> Vec<(String, u64, u64)> {
        let lines = well(&cluster, &[0, 1, 2, 3], &format!("raw {name}"), &[]);
        let note = |line: &String| {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(words[4], "0", "a pool overflowed: {line}");
            (words[1].to_owned(), words[2].parse().unwrap(), words[3].parse().unwrap())
        };
        lines.iter().map(note).collect()
    };
    let written = notes("transmit-ring");
    // 8, 16, 24, 32, 64 and 128 frames, three times each.
    assert_eq!(written.len(), 6 * 3);
    assert!(written.iter().all(|note| note.0 == "written" && note.2 > 0));
    // Beyond the ring frames take as long as the line does: 121 us, of which a bucket may make up
    // for a part.
    let took = |count| written.iter().filter(|note| note.1 == count).map(|note| note.2).min();
    let gap = (took(128).unwrap() - took(64).unwrap()) as f64 / 64.0 / 1e6;
    assert!(gap > 60.0, "{gap} us");
    let overheads = notes("receive-overhead");
    for (what, count) in [("round-trip", 50), ("picked-up", 50), ("stolen", 50)] {
        assert_eq!(overheads.iter().filter(|note| note.0 == what).count(), count, "{what}");
    }
    // A frame to and fro passes four lines.
    let trips = overheads.iter().filter(|note| note.0 == "round-trip");
    assert!(trips.map(|note| note.1).max().unwrap() > 100_000_000);
    let arrived = notes("inflow");
    assert_eq!(arrived.len(), 3);
    assert!(arrived.iter().all(|note| note.0 == "arrived" && note.1 > 1 && note.2 > 0));
    let pairs = notes("pairs");
    assert_eq!(pairs.len(), 40);
    assert!(drops(&mut trace) > 0, "an inflow fills the switch");
    let bursts = notes("burst");
    let sent: u64 = bursts.iter().map(|note| note.1).sum();
    let came: u64 = bursts.iter().map(|note| note.2).sum();
    assert_eq!(bursts[0].1, 60);
    assert_eq!(bursts[0].2, 60, "60 frames have room: {bursts:?}");
    assert_eq!(sent - came, drops(&mut trace), "{bursts:?}");
    assert!(bursts[2].2 < 800, "{bursts:?}");
}
