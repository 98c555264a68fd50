//! Every seed, and what is made of it by chance, through every target; and seeds from real traffic.

mod seeds;

use super::TARGETS;

#[path = "../../../../fuzz/chance.rs"]
mod chance;

/// Runs a target on all its seeds, and on so many others.
fn run(name: &str, count: u64) {
    let &(_, target) = TARGETS.iter().find(|(other, _)| *other == name).expect("a target");
    chance::run(name, target, count);
}

#[test]
fn every_target_has_a_test() {
    let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    let tested = [
        "datagram",
        "envelope",
        "offers",
        "told",
        "addresses",
        "options",
        "ring",
        "segment",
        "neighbour",
        "pair",
        "peer",
    ];
    assert!(names.iter().all(|name| tested.contains(name)));
}

#[test]
fn datagrams() {
    run("datagram", 5000);
}

#[test]
fn envelopes() {
    run("envelope", 5000);
}

#[test]
fn offers() {
    run("offers", 5000);
}

#[test]
fn what_ranks_tell_of_themselves() {
    run("told", 5000);
}

#[test]
fn addresses() {
    run("addresses", 5000);
}

#[test]
fn options() {
    run("options", 5000);
}

#[cfg(unix)]
#[test]
fn rings() {
    run("ring", 5000);
}

#[cfg(unix)]
#[test]
fn segments() {
    run("segment", 500);
}

#[cfg(unix)]
#[test]
fn neighbours() {
    run("neighbour", 1000);
}

#[test]
fn pairs() {
    run("pair", 4000);
}

#[test]
fn peers() {
    run("peer", 5000);
}
