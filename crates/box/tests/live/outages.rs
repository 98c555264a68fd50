//! What an outage does to those who send, and what it leaves as it was.

use std::net::{Ipv4Addr, UdpSocket};
use std::time::Duration;

use crosstie_box::{Change, Cluster, Command, Occurrence};
use crosstie_units::Time;

use crate::parts::{self, part, say};
use crate::stage::{company, installed, live, run, spec, start};

const PORT: u16 = 7300;

/// A part: sends one datagram to an address; says what came of it.
pub fn try_to_send(words: &[&str]) -> i32 {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    let sent = socket.send_to(b"one", (words[0].parse::<Ipv4Addr>().unwrap(), PORT));
    match sent {
        Ok(_) => say("sent"),
        Err(error) => say(nix::errno::Errno::from_raw(error.raw_os_error().unwrap())),
    }
    0
}

/// A part: says whether something comes within some milliseconds.
pub fn wait_for(words: &[&str]) -> i32 {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, PORT)).unwrap();
    let time = Duration::from_millis(words[0].parse().unwrap());
    socket.set_read_timeout(Some(time)).unwrap();
    say("ready");
    say(socket.recv(&mut [0; 16]).is_ok());
    0
}

/// Sends from one host to the other on a rail: what the sender saw, and whether it arrived within
/// some milliseconds.
fn attempt(cluster: &Cluster, rail: usize, from: usize, patience: u64) -> (String, bool) {
    let to = 1 - from;
    let mut receiver = start(cluster, to, part("await", &[&patience]));
    receiver.until("ready");
    let said = start(cluster, from, part("try", &[&cluster.spec().address(rail, to)])).end().well();
    let arrived = parts::line(&receiver.end().well()) == "true";
    (parts::line(&said).to_owned(), arrived)
}

/// Whether something that is sent arrives.
fn carries(cluster: &Cluster, rail: usize, from: usize) -> bool {
    attempt(cluster, rail, from, 5000) == ("sent".to_owned(), true)
}

fn change(cluster: &Cluster, rail: usize, host: Option<usize>, change: Change) {
    cluster.apply(&Occurrence { at: Time::ZERO, rail, host, change }).unwrap();
}

/// A cable, and a switch.
const BOTH: &str = "hosts = 2\n[[rail]]\nrate = '1 Gbit/s'\nshape.cable = {}\n\
                    [[rail]]\nrate = '1 Gbit/s'\nshape.switch.buffer = '95 frames'\n";

const CABLE: usize = 0;
const SWITCH: usize = 1;

#[test]
fn who_sends_sees_only_its_own_end() {
    let _company = company();
    let Some(cluster) = live(&spec(BOTH)) else { return };
    for rail in [CABLE, SWITCH] {
        for host in [Some(0), Some(1), None] {
            assert!(carries(&cluster, rail, 0), "rail {rail} before {host:?}");
            change(&cluster, rail, host, Change::Down);
            let (seen, arrived) = attempt(&cluster, rail, 0, 200);
            assert!(!arrived, "rail {rail}, {host:?}");
            // The end of a cable is the host's own device; a port is the switch's, and the device
            // has lost its carrier, which `send` does not tell.
            match (rail, host) {
                (CABLE, Some(0) | None) => {
                    assert!(seen.starts_with("ENETUNREACH"), "rail {rail}, {host:?}: {seen}");
                }
                _ => assert_eq!(seen, "sent", "rail {rail}, {host:?}"),
            }
            // The other rail does not care.
            assert!(carries(&cluster, 1 - rail, 0), "rail {rail}, {host:?}");
            change(&cluster, rail, host, Change::Up);
        }
        assert!(carries(&cluster, rail, 0) && carries(&cluster, rail, 1), "rail {rail}");
    }
}

/// The carrier of a device as programs on a host see it.
fn carrier(cluster: &Cluster, host: usize, rail: usize) -> String {
    let path = format!("/sys/class/net/rail{rail}/carrier");
    // A device that is down has none to tell of.
    let said = run(cluster, host, ["/bin/sh", "-c", &format!("cat {path} 2>/dev/null || echo 0")]);
    said.text.trim().to_owned()
}

#[test]
fn hosts_see_that_their_link_is_gone() {
    let _company = company();
    let Some(cluster) = live(&spec(BOTH)) else { return };
    for rail in [CABLE, SWITCH] {
        let seen = || [0, 1].map(|host| carrier(&cluster, host, rail));
        assert_eq!(seen(), ["1", "1"]);
        change(&cluster, rail, Some(0), Change::Down);
        // A cable without its other end is no link; a switch keeps the link of the others.
        assert_eq!(seen(), if rail == CABLE { ["0", "0"] } else { ["0", "1"] }, "rail {rail}");
        change(&cluster, rail, Some(0), Change::Up);
        assert_eq!(seen(), ["1", "1"]);
        change(&cluster, rail, None, Change::Down);
        assert_eq!(seen(), ["0", "0"]);
        change(&cluster, rail, None, Change::Up);
        assert_eq!(seen(), ["1", "1"]);
    }
}

/// Everything that tools tell of the network of a host.
fn network(cluster: &Cluster, host: usize) -> String {
    let mut all = String::new();
    for words in [
        ["ip", "-j", "address", "show"].as_slice(),
        &["ip", "-j", "route", "show", "table", "all"],
        &["ip", "-j", "neighbour", "show"],
        &["tc", "-j", "qdisc", "show"],
    ] {
        let text = start(cluster, host, Command::new(words.to_vec())).end().well();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let mut parts: Vec<String> =
            value.as_array().unwrap().iter().map(ToString::to_string).collect();
        parts.sort();
        all.push_str(&parts.join("\n"));
        all.push('\n');
    }
    all
}

#[test]
fn a_hundred_outages_leave_everything_whole() {
    let _company = company();
    let Some(cluster) = live(&spec(BOTH)) else { return };
    let tools = installed("ip") && installed("tc");
    let look = || tools.then(|| [0, 1].map(|host| network(&cluster, host)));
    let before = look();
    if let Some(before) = &before {
        for part in ["10.0.0.1", "10.1.0.2", "PERMANENT", "tbf", "bfifo"] {
            assert!(before[0].contains(part), "`{part}` is not in {}", before[0]);
        }
    }
    for rail in [CABLE, SWITCH] {
        for host in [None, Some(1)] {
            for _ in 0..100 {
                change(&cluster, rail, host, Change::Down);
                change(&cluster, rail, host, Change::Up);
            }
            // The kernel tells programs of links a little later than it has them.
            let whole = (0..40).any(|_| {
                let same = look() == before;
                if !same {
                    std::thread::sleep(Duration::from_millis(50));
                }
                same
            });
            assert!(whole, "rail {rail}, {host:?}: {:#?} was {before:#?}", look());
            for from in [0, 1] {
                assert!(carries(&cluster, rail, from), "rail {rail}, {host:?}");
            }
        }
    }
}
