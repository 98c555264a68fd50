//! Events happen at their times, as programs see it.

use std::net::{Ipv4Addr, UdpSocket};
use std::time::Duration;

use crosstie_box::{Change, Timetable};
use nix::time::{ClockId, clock_gettime};

use crate::parts::{self, part, say};
use crate::stage::{live, patiently, quiet, spec, start};

/// The clock that all hosts and the machine share, in microseconds.
fn now() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).unwrap();
    now.tv_sec() as u64 * 1_000_000 + now.tv_nsec() as u64 / 1000
}

/// A part: sends something to an address and a port twice a millisecond, for some milliseconds.
pub fn tick(words: &[&str]) -> i32 {
    let &[to, port, time] = words else { panic!("{words:?}") };
    let to = (to.parse::<Ipv4Addr>().unwrap(), port.parse::<u16>().unwrap());
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    let end = now() + time.parse::<u64>().unwrap() * 1000;
    while now() < end {
        // Where the link is down this fails.
        let _ = socket.send_to(&[0; 64], to);
        std::thread::sleep(Duration::from_micros(500));
    }
    0
}

/// A part: says when nothing came to a port for a while: the last before and the first after.
pub fn watch(words: &[&str]) -> i32 {
    let &[port, pause] = words else { panic!("{words:?}") };
    let pause = pause.parse::<u64>().unwrap() * 1000;
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port.parse().unwrap())).unwrap();
    say("ready");
    let mut last = None;
    while socket.recv(&mut [0; 2048]).is_ok() {
        let now = now();
        if let Some(last) = last.filter(|last| now - last > pause) {
            say(format!("{last} {now}"));
        }
        if last.is_none() {
            socket.set_read_timeout(Some(Duration::from_millis(700))).unwrap();
        }
        last = Some(now);
    }
    0
}

/// By how much an event may be late, in microseconds.
const LATE: u64 = 20_000;

/// How long each rail is down, in milliseconds.
const DOWN: u64 = 200;

#[test]
fn rails_go_down_and_up_in_time() {
    let _quiet = quiet();
    let rails = "[[rail]]\nrate = '1 Gbit/s'\nshape.cable = {}\n[[rail]]\nrate = '1 Gbit/s'\nshape.switch = {}\n";
    // One after the other: all of a cable, one end of it; all of a switch, the ports of either
    // host.
    let moments = [(300, 0, ""), (600, 0, "host = 1\n"), (300, 1, ""), (600, 1, "host = 0\n")];
    let events = moments.map(|(at, rail, host)| {
        format!("[[event]]\nat = '{at} ms'\nrail = {rail}\n{host}down = true\nfor = '{DOWN} ms'\n")
    });
    let spec = spec(&format!("hosts = 2\n{rails}{}", events.concat()));
    patiently(6, || {
        let Some(cluster) = live(&spec) else { return Ok(()) };
        let watchers = [0, 1].map(|rail| {
            let mut watcher = start(&cluster, 1, part("watch", &[&(7200 + rail), &(DOWN / 2)]));
            watcher.until("ready");
            watcher
        });
        let clock = Timetable::new();
        let begin = now();
        let tickers = [0, 1].map(|rail| {
            let to = cluster.spec().address(rail, 1);
            start(&cluster, 0, part("tick", &[&to, &(7200 + rail), &1000]))
        });
        let mut late = Vec::new();
        clock.play(&cluster, |applied| late.push(applied.late)).unwrap();
        assert_eq!(late.len(), 8);
        let _ = tickers.map(|ticker| ticker.end().well());
        let found = watchers.map(|watcher| {
            let text = watcher.end().well();
            let pauses = parts::lines(&text).map(|line| {
                let (last, first) = line.split_once(' ').unwrap();
                [last, first].map(|time| time.parse::<u64>().unwrap() - begin)
            });
            pauses.collect::<Vec<_>>()
        });
        let late = late.into_iter().max().unwrap_or_default();
        let right = |[last, first]: [u64; 2], at: u64| {
            // A tick before it happens, and late at most; and the same when it is over.
            (at * 1000 - LATE..at * 1000 + LATE).contains(&last)
                && ((at + DOWN) * 1000..(at + DOWN) * 1000 + LATE).contains(&first)
        };
        let pauses = found
            .iter()
            .all(|pauses| pauses.len() == 2 && right(pauses[0], 300) && right(pauses[1], 600));
        match pauses && late < Duration::from_micros(LATE) {
            true => Ok(()),
            false => Err(format!("late by {late:?} at most; pauses at {found:?}")),
        }
    });
}

#[test]
fn rates_change_in_time() {
    let _quiet = quiet();
    let spec = spec(
        "[[rail]]\nrate = '400 Mbit/s'\n\
         [[event]]\nat = '500 ms'\nrail = 0\nrate = '100 Mbit/s'\nfor = '500 ms'\n",
    );
    patiently(6, || {
        use crate::traffic::WINDOW;
        let Some(cluster) = live(&spec) else { return Ok(()) };
        let mut receiver = start(&cluster, 1, part("receive", &[&7000, &0, &20]));
        receiver.until("ready");
        let to = cluster.spec().address(0, 1);
        let clock = Timetable::new();
        let sender = start(&cluster, 0, part("send", &[&to, &7000, &"segments", &5000]));
        let mut told = Vec::new();
        clock.play(&cluster, |applied| told.push(applied.clone())).unwrap();
        assert!(matches!(told[0].occurrence.change, Change::Rate(_)));
        let text = receiver.end().well();
        drop(sender);
        let rates = parts::line(&text)
            .split(' ')
            .skip(1)
            .map(|rate| rate.parse::<f64>().unwrap() / 125_000.0);
        let rates: Vec<f64> = rates.collect();
        // Windows begin with the first datagram, a little after the clock; those in which it
        // changes are left out. The middle one of several is not one that the machine
        // spoiled. How exact a rate is, others test.
        let near = |rates: &[f64], expected: f64| {
            let mut rates = rates.to_vec();
            rates.sort_by(f64::total_cmp);
            (rates[rates.len() / 2] / expected - 1.0).abs() < 0.1
        };
        let window = |time: u64| (time * 1_000_000 / WINDOW) as usize;
        let (first, second) = (window(500), window(1000));
        let right = near(&rates[1..first - 1], 400.0)
            && near(&rates[first + 1..second - 1], 100.0)
            && near(&rates[second + 1..], 400.0)
            && told.iter().all(|applied| applied.late < Duration::from_micros(LATE));
        if right { Ok(()) } else { Err(format!("{rates:?}, {told:?}")) }
    });
}
