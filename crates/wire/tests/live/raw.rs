//! Raw endpoints in boxes: rings that are full, and frames that find no room.

use std::time::{Duration, Instant};

use crosstie_box::{End, Trace};
use crosstie_launch::Job;
use crosstie_wire::raw::{Endpoint, RawOptions, Written};

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
        unknown => panic!("there is no part `{unknown}`"),
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

#[test]
fn what_a_switch_drops_is_lost_in_the_network_and_nothing_overflows() {
    let switch = "rate = '100 Mbit/s'\nshape.switch.buffer = '95 frames'";
    let Some(cluster) = live(&format!("hosts = 4\n[[rail]]\n{switch}")) else { return };
    let mut trace = Trace::new(&cluster).unwrap();
    let lines = well(&cluster, &[0, 1, 2, 3], "raw flood 400", &[]);
    let [received, lost, overflow, missing] = numbers(&lines[0])[..] else { panic!("{lines:?}") };
    let drops = drops(&mut trace);
    assert!(drops > 100, "{lines:?}, {drops} dropped");
    assert_eq!((lost, overflow, missing), (drops, 0, drops));
    assert_eq!(received + lost, 3 * 401);
}
