//! The microbenchmarks of Tam's Appendix A on raw endpoints.

use std::time::Duration;

use crosstie_box::{Cluster, Trace};
use crosstie_lab::live::{Assignment, RawPart};
use crosstie_units::Time;
use crosstie_work::probe::{Burst, Inflow, Microbenchmark, Pairs, ReceiveOverhead, TransmitRing};
use crosstie_work::{Note, Rank};
use serde::Deserialize;

use crate::ranks::{live, run};

/// What a rank reports.
#[derive(Deserialize)]
struct Found {
    notes: Vec<Note>,
    overflow: u64,
    longest: u32,
    stuck: Option<String>,
}

/// Four ranks with raw endpoints; what each reports.
fn found(cluster: &Cluster, benchmark: Option<Microbenchmark>) -> Vec<Found> {
    let part = RawPart { benchmark, rails: None, ring: 32, pool: 4096 };
    run(cluster, &[0, 1, 2, 3], &Assignment::Raw(part))
}

/// What the ranks note of a microbenchmark.
fn notes(cluster: &Cluster, benchmark: impl Into<Microbenchmark>) -> Vec<Note> {
    let found = found(cluster, Some(benchmark.into()));
    for rank in &found {
        assert_eq!((rank.overflow, &rank.stuck), (0, &None), "a pool overflowed, or a rank hangs");
    }
    found.into_iter().flat_map(|rank| rank.notes).collect()
}

/// Frames that were dropped anywhere in the box since the last look.
fn drops(trace: &mut Trace<'_>) -> u64 {
    trace.look(Duration::ZERO).unwrap().iter().map(|sample| sample.drops).sum()
}

#[test]
fn every_microbenchmark_notes_what_it_should() {
    let switch = "rate = '100 Mbit/s'\nshape.switch.buffer = '95 frames'";
    let Some(cluster) = live(&format!("hosts = 4\n[[rail]]\n{switch}")) else { return };
    let mut trace = Trace::new(&cluster).unwrap();
    let bytes = found(&cluster, None)[0].longest;
    let us = |us: u64| Time::from_ns(us * 1000);
    let (from, to) = (Rank(0), Rank(1));

    let (ring, most, rounds, drain) = (32, 128, 3, us(250));
    let probe = TransmitRing { from, to, bytes, ring, most, rounds, drain };
    let written = notes(&cluster, probe).into_iter().map(|note| match note {
        Note::Written { packets, took } if took > Time::ZERO => (packets, took.ps()),
        other => panic!("{other:?}"),
    });
    let written: Vec<(u32, u64)> = written.collect();
    // 8, 16, 24, 32, 64 and 128 frames, three times each.
    assert_eq!(written.len(), 6 * 3);
    // Beyond the ring frames take as long as the line does: 121 us, of which a bucket may make up
    // for a part.
    let took = |count| written.iter().filter(|note| note.0 == count).map(|note| note.1).min();
    let gap = (took(128).unwrap() - took(64).unwrap()) as f64 / 64.0 / 1e6;
    assert!(gap > 60.0, "{gap} us");

    let (iterations, segment, idle) = (50, us(2), true);
    let probe = ReceiveOverhead { master: from, slave: to, bytes, iterations, segment, idle };
    let overheads = notes(&cluster, probe);
    let count = |is: fn(&Note) -> bool| overheads.iter().filter(|note| is(note)).count();
    assert_eq!(count(|note| matches!(note, Note::RoundTrip { .. })), 50);
    assert_eq!(count(|note| matches!(note, Note::PickedUp { .. })), 50);
    assert_eq!(count(|note| matches!(note, Note::Stolen { .. })), 50);
    // A frame to and fro passes four lines.
    let trips = overheads.iter().filter_map(|note| match note {
        Note::RoundTrip { took } => Some(*took),
        _ => None,
    });
    assert!(trips.max() > Some(us(100)));

    let inflow = Inflow {
        senders: vec![Rank(1), Rank(2), Rank(3)],
        receiver: from,
        bytes,
        packets: 200,
        settle: us(20_000),
        rise: us(4000),
        window: us(15_000),
        every: us(150_000),
        rounds: 3,
    };
    let arrived = notes(&cluster, inflow);
    assert_eq!(arrived.len(), 3);
    for note in arrived {
        match note {
            Note::Arrived { packets, took } if packets > 1 && took > Time::ZERO => {}
            other => panic!("{other:?}"),
        }
    }

    let pairs = vec![(Rank(0), Rank(2)), (Rank(1), Rank(3))];
    let pairs = Pairs { pairs, bytes, iterations: 20, every: Some(us(4000)) };
    assert_eq!(notes(&cluster, pairs).len(), 40);
    assert!(drops(&mut trace) > 0, "an inflow fills the switch");

    let burst = Burst {
        sources: vec![Rank(1), Rank(2), Rank(3)],
        sinks: vec![from],
        bytes,
        bursts: vec![60, 400, 800],
        settle: us(20_000),
        drain: us(250),
        rest: us(20_000),
    };
    let bursts = notes(&cluster, burst).into_iter().map(|note| match note {
        Note::Received { burst, packets } => (u64::from(burst), u64::from(packets)),
        other => panic!("{other:?}"),
    });
    let bursts: Vec<(u64, u64)> = bursts.collect();
    let [sent, came] =
        [bursts.iter().map(|burst| burst.0).sum::<u64>(), bursts.iter().map(|burst| burst.1).sum()];
    assert_eq!(bursts[0], (60, 60), "60 frames have room: {bursts:?}");
    assert_eq!(sent - came, drops(&mut trace), "{bursts:?}");
    assert!(bursts[2].1 < 800, "{bursts:?}");
}
