//! What ranks do in the scenes.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crosstie_wire::{Comm, CommError};

use crate::bare;

pub type Failed = Box<dyn std::error::Error>;

/// One rank of a scene: rank 0 prints a number, and then remarks.
pub fn run(words: &[String]) {
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<usize>().ok()).unwrap_or(0);
    let done = match &words[0][..] {
        "stream" => stream(number(1), number(2), number(3), false),
        "both" => stream(number(1), number(2), number(3), true),
        "watch" => watch(number(1), number(2), number(3), number(4)),
        "ping" => ping(number(1), number(2)),
        "barrier" => collective(number(1), Comm::barrier),
        "all-reduce" => collective(number(1), |comm| comm.all_reduce(&mut [1u64], |a, b| *a += b)),
        "ping-against-bare" => ping_against_bare(number(1), number(2), number(3)),
        "bare-stream" => bare::stream(number(1)),
        "bare-flag" => bare::flag(number(1)),
        "bare-copy" => bare::copy(number(1), number(2)),
        other => Err(format!("no scene `{other}`").into()),
    };
    if let Err(error) = done {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

/// Messages from rank 0 to rank 1, so many at once, for so many seconds: bits of payload in a
/// second.
fn stream(bytes: usize, window: usize, seconds: usize, both: bool) -> Result<(), Failed> {
    let comm = Comm::init()?;
    let other = 1 - comm.rank();
    let (sends, receives) = (both || comm.rank() == 0, both || comm.rank() == 1);
    let out = vec![1u8; bytes];
    let mut into: Vec<Vec<u8>> = (0..window).map(|_| vec![0u8; bytes]).collect();
    // One round warms up. Both ends do as many as rank 0 says.
    let mut round = |comm: &Comm| {
        comm.scope(|scope| {
            if receives {
                for into in &mut into {
                    scope.recv(other, 1, &mut into[..])?;
                }
            }
            if sends {
                for _ in 0..window {
                    scope.send(other, 1, &out)?;
                }
            }
            Ok(())
        })
    };
    for _ in 0..3 {
        round(&comm)?;
    }
    comm.barrier()?;
    let begin = Instant::now();
    round(&comm)?;
    let took = begin.elapsed().as_secs_f64();
    let mut rounds = [(seconds as f64 / took).ceil().max(1.0) as u64];
    comm.broadcast(0, &mut rounds)?;
    let begin = Instant::now();
    let mut longest = Duration::ZERO;
    for _ in 0..rounds[0] {
        let begin = Instant::now();
        round(&comm)?;
        longest = longest.max(begin.elapsed());
    }
    // The last message is there when rank 1 says so.
    comm.barrier()?;
    let took = begin.elapsed().as_secs_f64();
    if comm.rank() == 0 {
        let directions = if both { 2.0 } else { 1.0 };
        let bits = 8.0 * directions * (rounds[0] as usize * window * bytes) as f64;
        println!("{}", bits / took);
        let mean = Duration::from_secs_f64(took / rounds[0] as f64);
        println!("{} rounds of {mean:.2?} in the mean, the longest of {longest:.2?}", rounds[0]);
        print_rails(&comm);
    }
    comm.finish()?;
    Ok(())
}

/// A stream of messages for so many seconds, each of which is checked: the longest time in which
/// none came, in milliseconds, and the longest in which the one did not come whose turn it was; or
/// the bits of payload in the last two seconds but one of them.
fn watch(bytes: usize, window: usize, seconds: usize, rate: usize) -> Result<(), Failed> {
    let comm = Comm::init()?;
    let other = 1 - comm.rank();
    let words = bytes / 8;
    // What message number n has at place i. Where it is about rates, nobody takes the time to look.
    let word = |number: u64, place: usize| match rate {
        0 => (number << 20 | place as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15),
        _ => 0,
    };
    let fill = |first: u64, out: &mut [Vec<u64>]| {
        for (number, out) in (first..).zip(out).filter(|_| rate == 0) {
            out.iter_mut().enumerate().for_each(|(place, out)| *out = word(number, place));
        }
    };
    let mut messages = vec![vec![0u64; words]; window];
    let begin = Instant::now();
    let (mut number, mut wrong) = (0u64, 0u64);
    let (mut times, mut turns) = (Vec::new(), Vec::new());
    loop {
        // Rank 0 says whether there is another round.
        let mut goes_on = [u8::from(begin.elapsed().as_secs() < seconds as u64)];
        comm.broadcast(0, &mut goes_on)?;
        if goes_on == [0] {
            break;
        }
        if comm.rank() == 0 {
            fill(number, &mut messages);
            comm.scope(|scope| {
                messages.iter().try_for_each(|out| scope.send(other, 1, out).map(|_| ()))
            })?;
        } else {
            comm.scope(|scope| {
                let coming = messages.iter_mut().map(|into| scope.recv(other, 1, into));
                let mut coming = coming.collect::<Result<VecDeque<_>, _>>()?;
                while let Some(first) = coming.front() {
                    let is_first = first.is_done();
                    let before = coming.len();
                    coming.retain(|coming| !coming.is_done());
                    let now = begin.elapsed();
                    times.extend(std::iter::repeat_n(now, before - coming.len()));
                    if is_first {
                        turns.push(now);
                    }
                    std::thread::yield_now();
                }
                Ok(())
            })?;
            for (message, into) in (number..).zip(&messages).filter(|_| rate == 0) {
                let mut found = into.iter().enumerate();
                wrong += u64::from(!found.all(|(place, &found)| found == word(message, place)));
            }
        }
        number += window as u64;
    }
    let mut result = [0.0f64; 4];
    if comm.rank() == 1 {
        let longest = |times: &[Duration]| {
            let gaps = times.windows(2).map(|pair| pair[1] - pair[0]);
            gaps.max().unwrap_or_default().as_secs_f64() * 1e3
        };
        let last = Duration::from_secs(seconds as u64 - 1);
        let late =
            times.iter().filter(|&&at| at < last && at + Duration::from_secs(2) >= last).count();
        let bits = 8.0 * (late * bytes) as f64 / 2.0;
        result = [
            if rate > 0 { bits } else { longest(&times) },
            times.len() as f64,
            wrong as f64,
            longest(&turns),
        ];
    }
    comm.broadcast(1, &mut result)?;
    if comm.rank() == 0 {
        println!("{}", result[0]);
        println!("{} messages came, {} of them wrong", result[1], result[2]);
        println!("the next one in order took {:.1} ms at most", result[3]);
        print_rails(&comm);
    }
    comm.finish()?;
    Ok(())
}

/// Half the round trip of a message, in microseconds.
fn ping(bytes: usize, times: usize) -> Result<(), Failed> {
    let comm = Comm::init()?;
    let mut message = vec![0u8; bytes];
    let mut all = round_trips(&comm, times, &mut message)?;
    if comm.rank() == 0 {
        print_halves(&mut all);
        print_rails(&comm);
    }
    comm.finish()?;
    Ok(())
}

fn round_trips(comm: &Comm, times: usize, message: &mut [u8]) -> Result<Vec<Duration>, Failed> {
    let other = 1 - comm.rank();
    let mut all = Vec::with_capacity(times);
    for _ in 0..times {
        let begin = Instant::now();
        if comm.rank() == 0 {
            comm.send(other, 0, message)?;
            comm.recv(other, 0, message)?;
        } else {
            comm.recv(other, 0, message)?;
            comm.send(other, 0, message)?;
        }
        all.push(begin.elapsed());
    }
    Ok(all)
}

/// Round trips of messages and of bare datagrams between spinning ranks, in turn: how many times as
/// long messages take. It is the median of many turns, so that what disturbs a few of them does not
/// count.
fn ping_against_bare(bytes: usize, turns: usize, times: usize) -> Result<(), Failed> {
    let comm = Comm::init()?;
    let socket = bare::Ping::open(&comm, bytes)?;
    let mut message = vec![0u8; bytes];
    let half = |all: &mut Vec<Duration>| {
        all.sort_unstable();
        all[all.len() / 2].as_secs_f64() * 5e5
    };
    let (mut ratios, mut ours, mut bares) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..turns {
        comm.barrier()?;
        let bare = half(&mut socket.round_trips(times)?);
        let our = half(&mut round_trips(&comm, times, &mut message)?);
        ratios.push(our / bare);
        ours.push(our);
        bares.push(bare);
    }
    if comm.rank() == 0 {
        let median = |all: &mut Vec<f64>| {
            all.sort_unstable_by(f64::total_cmp);
            all[all.len() / 2]
        };
        println!("{}", median(&mut ratios));
        println!("{:.2} us, bare {:.2} us", median(&mut ours), median(&mut bares));
        let [low, high] = [1, 9].map(|tenths| ratios[ratios.len() * tenths / 10]);
        println!("eight of ten turns between {low:.2} and {high:.2} times");
        print_rails(&comm);
    }
    comm.finish()?;
    Ok(())
}

/// What rails have carried.
fn print_rails(comm: &Comm) {
    for rail in comm.statistics() {
        println!(
            "{}: {} datagrams, {} packets again, rate {:.1} Mbit/s, round trip {:?}",
            rail.name,
            rail.count.sent,
            rail.retransmissions,
            rail.rate.unwrap_or(0.0) * 8e-6,
            rail.round_trip.unwrap_or_default(),
        );
    }
}

/// The time of a collective operation, in microseconds: that of many in a row, and of the slowest
/// rank.
fn collective(
    times: usize,
    operation: impl Fn(&Comm) -> Result<(), CommError>,
) -> Result<(), Failed> {
    let comm = Comm::init()?;
    for _ in 0..times / 10 {
        operation(&comm)?;
    }
    let mut all = Vec::with_capacity(times);
    let begin = Instant::now();
    for _ in 0..times {
        let begin = Instant::now();
        operation(&comm)?;
        all.push(begin.elapsed());
    }
    let mut mean = [begin.elapsed().as_secs_f64() * 1e6 / times as f64];
    comm.all_reduce(&mut mean, |a, b| *a = a.max(b))?;
    if comm.rank() == 0 {
        println!("{}", mean[0]);
        print_shares(&mut all, 1.0);
    }
    comm.finish()?;
    Ok(())
}

pub fn print_halves(all: &mut [Duration]) {
    all.sort_unstable();
    println!("{}", all[(all.len() - 1) / 2].as_secs_f64() * 5e5);
    print_shares(all, 0.5);
}

/// How such times are spread; of each so much counts.
fn print_shares(all: &mut [Duration], counts: f64) {
    all.sort_unstable();
    let us = |part: f64| all[((all.len() - 1) as f64 * part) as usize].as_secs_f64() * counts * 1e6;
    println!(
        "a tenth under {:.2} us, half under {:.2} us, nine tenths under {:.2} us, 99 % under {:.2} us",
        us(0.1),
        us(0.5),
        us(0.9),
        us(0.99)
    );
}
