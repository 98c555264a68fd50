//! A switch loses frames exactly when more of them wait at an output than it has room for.

use std::net::{Ipv4Addr, UdpSocket};
use std::time::{Duration, Instant};

use crosstie_box::{End, Trace};

use crate::parts::{self, part, say};
use crate::stage::{example, live, quiet, start};
use crate::traffic::PAYLOAD;

const PORT: u16 = 7100;

/// ARP frames that a run may see, at most.
const MOST_ASKED: u64 = 32;

/// A part: keeps so many full frames under way to an address for some milliseconds; says how many
/// were sent, and how many were acknowledged.
pub fn offer(words: &[&str]) -> i32 {
    let &[to, window, time] = words else { panic!("{words:?}") };
    let window: u64 = window.parse().unwrap();
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    socket.connect((to.parse::<Ipv4Addr>().unwrap(), PORT)).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(1200))).unwrap();
    let end = Instant::now() + Duration::from_millis(time.parse().unwrap());
    let (mut sent, mut acknowledged) = (0u64, 0u64);
    let mut offer = || {
        socket.send(&[0; PAYLOAD]).unwrap();
        sent += 1;
    };
    (0..window).for_each(|_| offer());
    // After the last one it waits until nothing has come for a while.
    while socket.recv(&mut [0; 16]).is_ok() {
        acknowledged += 1;
        if Instant::now() < end {
            offer();
        }
    }
    say(format!("{sent} {acknowledged}"));
    0
}

/// A part: acknowledges every frame at once, until none has come for a while; says how many came.
pub fn acknowledge(_: &[&str]) -> i32 {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, PORT)).unwrap();
    say("ready");
    let mut came = 0u64;
    let mut frame = [0; 2048];
    while let Ok((_, from)) = socket.recv_from(&mut frame) {
        if came == 0 {
            socket.set_read_timeout(Some(Duration::from_millis(2000))).unwrap();
        }
        came += 1;
        socket.send_to(&[0; 4], from).unwrap();
    }
    say(came);
    0
}

/// Frames that were lost when eight senders of a window sent for a while: as the senders saw it,
/// and as the switch did.
fn lost(window: u64, time: u64) -> Option<(u64, u64)> {
    const SENDERS: usize = 8;
    let cluster = live(&example("small-switch"))?;
    let mut trace = Trace::new(&cluster).unwrap();
    let mut receiver = start(&cluster, 0, part("acknowledge", &[]));
    receiver.until("ready");
    let to = cluster.spec().address(0, 0);
    let senders: Vec<_> = (1..=SENDERS)
        .map(|host| start(&cluster, host, part("offer", &[&to, &window, &time])))
        .collect();
    let (mut sent, mut acknowledged) = (0, 0);
    for sender in senders {
        let text = sender.end().well();
        let (one, other) = parts::line(&text).split_once(' ').unwrap();
        sent += one.parse::<u64>().unwrap();
        acknowledged += other.parse::<u64>().unwrap();
    }
    let came: u64 = parts::line(&receiver.end().well()).parse().unwrap();
    assert_eq!(came, acknowledged, "acknowledgements were lost, which have room");
    // Most of the time the line was full: 8,256 frames per second.
    assert!(came > 3 * time, "only {came} frames arrived in {time} ms");
    let mut drops = 0;
    for sample in trace.look(Duration::ZERO).unwrap() {
        match (sample.host.as_str(), sample.end) {
            ("host0", End::Switch) => {
                // On a busy machine a kernel sends ARP requests anew.
                let asked = sample.frames - came;
                assert!(asked <= MOST_ASKED, "{asked} frames more than arrived");
                let bytes = sample.bytes - came * (PAYLOAD as u64 + 42);
                assert!(
                    (asked * 42..=asked * 60).contains(&bytes),
                    "{asked} frames, {bytes} bytes"
                );
                drops = sample.drops;
            }
            _ => assert_eq!(sample.drops, 0, "{sample:?}"),
        }
    }
    Some((sent - came, drops))
}

#[test]
fn eight_windows_that_fit_lose_nothing() {
    let _quiet = quiet();
    let Some(lost) = lost(11, 1500) else { return };
    assert_eq!(lost, (0, 0));
}

#[test]
fn eight_windows_that_do_not_fit_lose_what_is_too_much() {
    let _quiet = quiet();
    for window in [12, 16] {
        let Some((seen, counted)) = lost(window, 700) else { return };
        assert_eq!(seen, counted, "window {window}");
        // What is lost is not sent again, so that windows shrink until they fit.
        assert_eq!(seen, 8 * window - 95, "window {window}");
    }
}
