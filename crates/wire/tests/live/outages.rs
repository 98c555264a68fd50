//! Rails that slow down, die and return; ranks that die.

use std::time::{Duration, Instant};

use crosstie_box::{Cluster, Timetable};
use crosstie_wire::{Comm, CommError};

use crate::parts::say;
use crate::stage::{LIMIT, here, live, ranks, well};

/// Does something while everything happens to a box that its file says.
fn happening<R>(cluster: &Cluster, what: impl FnOnce() -> R) -> R {
    let timetable = Timetable::new();
    std::thread::scope(|scope| {
        let player = scope.spawn(|| timetable.play(cluster, |_| ()));
        let result = what();
        timetable.stop();
        player.join().unwrap().unwrap();
        result
    })
}

#[test]
fn a_rail_that_goes_down_and_returns_costs_no_byte() {
    for (what, events) in [
        ("a cable", "[[event]]\nat = '0.4 s'\nrail = 0\ndown = true\nfor = '1.2 s'"),
        ("a port", "[[event]]\nat = '0.4 s'\nrail = 0\nhost = 1\ndown = true\nfor = '1.2 s'"),
        ("for good", "[[event]]\nat = '0.4 s'\nrail = 1\ndown = true"),
        ("rates", "[[event]]\nat = '0.4 s'\nrail = 0\nrate = '100 Mbit/s'\nfor = '1.2 s'"),
    ] {
        let text = format!(
            "hosts = 2\n[[rail]]\nrate = '1 Gbit/s'\n[[rail]]\nrate = '1 Gbit/s'\n{events}"
        );
        let Some(cluster) = live(&text) else { return };
        // What arrives is held against what was sent.
        let lines = happening(&cluster, || well(&cluster, &[0, 1], "stream 1000000 2500", &[]));
        let pause: u64 = lines[0].split(' ').nth(1).unwrap().parse().unwrap();
        assert!(pause < 2000, "{what}: a pause of {pause} ms");
    }
}

#[test]
fn a_rail_that_is_down_at_the_start_is_used_when_it_comes_up() {
    for (what, hosts, event) in [
        ("a cable", 2, "rail = 1\ndown = true\nfor = '3 s'"),
        ("a port", 2, "rail = 1\nhost = 1\ndown = true\nfor = '3 s'"),
        ("a switch", 3, "rail = 1\nhost = 0\ndown = true\nfor = '3 s'"),
    ] {
        let rails = "[[rail]]\nrate = '1 Gbit/s'\n[[rail]]\nrate = '1 Gbit/s'";
        let text = format!("hosts = {hosts}\n{rails}\n[[event]]\nat = '0 s'\n{event}");
        for variables in [&[][..], &[("CROSSTIE_RAILS", "rail0,rail1")]] {
            let Some(cluster) = live(&text) else { return };
            let lines = happening(&cluster, || {
                // It is down by then.
                std::thread::sleep(Duration::from_millis(500));
                well(&cluster, &[0, 1], "late-rail", variables)
            });
            assert_eq!(lines, ["used"], "{what}, {variables:?}");
        }
    }
}

/// Host 1 has an address on its second rail only later, whether the rail is named or not; where
/// there are three hosts, two of them use it meanwhile.
#[test]
fn a_device_that_gets_its_address_later_is_used() {
    for (hosts, rails) in [(2, "rail0,rail1"), (2, ""), (3, "")] {
        let text =
            format!("hosts = {hosts}\n[[rail]]\nrate = '1 Gbit/s'\n[[rail]]\nrate = '1 Gbit/s'");
        let Some(cluster) = live(&text) else { return };
        cluster.set_address(1, 1, false).unwrap();
        let ranks: Vec<usize> = (0..hosts).collect();
        let lines = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_secs(3));
                cluster.set_address(1, 1, true).unwrap();
            });
            well(&cluster, &ranks, "late-rail", &[("CROSSTIE_RAILS", rails)])
        });
        assert_eq!(lines, ["used"], "{hosts} hosts, {rails:?}");
    }
}

/// Rank 0 sends to rank 1 until the second rail has carried much of it, for a minute at most.
pub fn late_rail() -> Result<(), CommError> {
    let comm = Comm::init()?;
    let begin = Instant::now();
    let mut message = vec![0u8; 1_000_000];
    loop {
        let carried = comm.statistics().get(1).map_or(0, |rail| rail.count.sent_bytes);
        let used = carried > 3_000_000;
        let mut ends = [u8::from(used || begin.elapsed() > Duration::from_secs(60))];
        if comm.rank() == 0 {
            comm.send(1, 1, &ends)?;
            comm.send(1, 2, &message)?;
        } else if comm.rank() > 1 {
            return comm.finish();
        } else {
            comm.recv(0, 1, &mut ends)?;
            comm.recv(0, 2, &mut message)?;
        }
        if ends[0] == 1 {
            if comm.rank() == 0 {
                say(if used { "used" } else { "not used" });
            }
            return comm.finish();
        }
    }
}

#[test]
fn a_rank_that_vanishes_is_missed_in_time() {
    let patience = [("CROSSTIE_PATIENCE", "1")];
    for line in here(3, "vanish 100", &patience) {
        assert!(line.contains("rank 2 cannot be reached"), "{line}");
    }
    let Some(cluster) = live("hosts = 3\n[[rail]]\n[[rail]]") else { return };
    let (lines, _) = ranks(&cluster, &[0, 1, 2], "vanish 100", &patience);
    assert_eq!(lines.len(), 2, "{lines:?}");
    for line in lines {
        assert!(line.contains("rank 2 cannot be reached"), "{line}");
        let after: u64 = line.split(' ').nth(3).unwrap().trim_end_matches(':').parse().unwrap();
        assert!((900..20_000).contains(&after), "{line}");
    }
}

#[test]
fn when_all_rails_are_down_everybody_is_told() {
    let text = "hosts = 2\n[[rail]]\n[[rail]]\n\
                [[event]]\nat = '0.5 s'\nrail = 0\ndown = true\n\
                [[event]]\nat = '0.6 s'\nrail = 1\ndown = true";
    let Some(cluster) = live(text) else { return };
    let begin = Instant::now();
    let patience = [("CROSSTIE_PATIENCE", "1")];
    let (lines, _) = happening(&cluster, || ranks(&cluster, &[0, 1], "cut-off", &patience));
    assert_eq!(lines.len(), 4, "{lines:?}");
    for line in &lines[2..] {
        assert!(line.contains("cannot be reached"), "{line}");
    }
    assert!(begin.elapsed() < LIMIT - Duration::from_secs(10));
}
