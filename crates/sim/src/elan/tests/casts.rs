//! Puts to several hosts.

use super::*;

/// Puts from a host to hosts `first` to `last`.
fn cast(elan: ElanSpec, (from, first, last): (u32, u32, u32), bytes: u32) -> Vec<Event> {
    run_with(elan, &[(Way::Cast(last), (0, from, first, bytes))], None, &everything)
}

/// The hosts that a put has reached, and when.
fn reached(told: &[Event], id: u64) -> Vec<(u32, f64)> {
    let host = |event: &Event| match event.fate {
        Fate::Reached(_, host) if event.id == id => Some((host, event.at.seconds() * 1e6)),
        _ => None,
    };
    let mut hosts: Vec<_> = told.iter().filter_map(host).collect();
    hosts.sort_unstable_by_key(|&(host, _)| host);
    hosts
}

/// Every destination has it, and its event, when it would have that of a put for it alone; the
/// source, which may be a destination itself, when the farthest has acknowledged it.
#[test]
fn a_put_to_several_hosts_takes_what_a_put_to_the_farthest_takes() {
    for (memory, bytes) in [(Memory::Elan, 0), (Memory::Main, 64), (Memory::Main, 321)] {
        let elan = elan3(memory, memory);
        for (from, first, last) in [(3, 4, 15), (0, 1, 7)] {
            let told = cast(elan, (from, first, last), bytes);
            // Beyond the leaf of the source, all are three switches away.
            let alone = run(elan, &[(0, from, 4, bytes)]);
            let found = reached(&told, 0);
            assert!(found.iter().map(|&(host, _)| host).eq(first..=last));
            for (host, at) in found {
                near(at, arrived(&alone, 0), 0.001);
                assert!(host != from);
            }
            near(acknowledged(&told, 0), acknowledged(&alone, 0), 0.001);
        }
    }
}

/// Where one destination is slow to take it, all wait, and the source hears when it has.
#[test]
fn a_put_to_several_hosts_is_done_when_the_last_has_acknowledged_it() {
    let elan = ElanSpec { buffers: 1, ..elan3(Memory::Main, Memory::Main) };
    // Host 5 takes in a long put of host 6 meanwhile.
    let jobs = [(Way::Put, (0, 6, 5, LONG)), (Way::Cast(7), (20_000, 0, 4, 64))];
    let told = run_with(elan, &jobs, None, &everything);
    let at = reached(&told, 1);
    let alone = reached(&cast(elan, (0, 4, 7), 64), 0);
    let slowest = at.iter().map(|&(_, at)| at).fold(0.0, f64::max);
    assert!(slowest > 20.0 + alone[0].1 + 0.1, "{slowest}");
    assert_eq!(at[1].1, slowest, "host 5 is the last: {at:?}");
    assert!(acknowledged(&told, 1) > slowest, "the source hears after the last");
}

/// A barrier, without software: hosts 1 to n - 1 put nothing to host 0, each with an event of its
/// own, and host 0 puts nothing to all of them when all have come. Each signal takes three steps of
/// the microcode processor of host 0; beyond the leaf of host 0 signals and release cross two
/// switches more, 100 ns each.
#[test]
fn signals_to_one_host_take_turns_and_one_put_releases_all() {
    let elan = elan3(Memory::Main, Memory::Main);
    let time = |hosts: u32| {
        let signals: Vec<_> = (1..hosts).map(|from| (0, from, 0, 0)).collect();
        let told = run(elan, &signals);
        let come = (1..hosts).map(|from| arrived(&told, u64::from(from) - 1));
        let released = match hosts {
            2 => arrived(&run(elan, &[(0, 0, 1, 0)]), 0),
            _ => {
                let told = cast(elan, (0, 1, hosts - 1), 0);
                reached(&told, 0).iter().map(|&(_, at)| at).fold(0.0, f64::max)
            }
        };
        come.fold(0.0, f64::max) + released
    };
    let (first, last) = (time(2), time(8));
    let slope = (last - first) / 6.0;
    near(slope, 3.0 * 0.2 + 0.2 / 6.0, 0.02);
    for hosts in 3..8 {
        let further = if hosts > 4 { 0.2 } else { 0.0 };
        let line = first + 0.6 * f64::from(hosts - 2) + further;
        near(time(hosts), line, 0.1);
        near(time(hosts), first + slope * f64::from(hosts - 2), 0.15);
    }
}

/// A host that has granted nothing refuses the whole put: the source is told of an error, once, and
/// that host's memory stays as it is.
#[test]
fn one_host_without_a_grant_refuses_for_all() {
    let granted = granting(|process| match process {
        6 => Vec::new(),
        _ => everything(process).grants,
    });
    for bytes in [0, 64, 3000] {
        let job = (Way::Cast(7), (0, 0, 4, bytes));
        let told = run_with(elan3(Memory::Main, Memory::Main), &[job], None, &granted);
        let count = |fate| told.iter().filter(|event| event.fate == fate).count();
        assert_eq!((count(Fate::Dropped), count(Fate::Left), count(Fate::Acknowledged)), (1, 0, 0));
        assert!(reached(&told, 0).iter().all(|&(host, _)| host != 6));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Whatever CRCs find at some of the destinations, each has every put once, among puts to
    /// single hosts; and each source hears once that all have.
    #[test]
    fn garbled_packets_go_again_to_all_and_count_once(
        jobs in prop::collection::vec(
            (0..20_000u64, 0..16u32, 0..16u32, 0..16u32, 0..1000u32), 1..12),
        probability in 0.0..0.1f64, seed: u64,
    ) {
        let mut jobs: Vec<_> = jobs
            .into_iter()
            .map(|(at, from, a, b, bytes)| match a == b {
                true => (Way::Put, (at, from, (from + 1 + a % 15) % 16, bytes)),
                false => (Way::Cast(a.max(b)), (at, from, a.min(b), bytes)),
            })
            .collect();
        jobs.sort_by_key(|&(_, (at, ..))| at);
        let errors = Some(Errors { probability, seed: Seed(seed) });
        let told = run_with(elan3(Memory::Main, Memory::Main), &jobs, errors, &everything);
        for (id, &(way, (_, _, first, _))) in (0..).zip(&jobs) {
            prop_assert!(acknowledged(&told, id) > 0.0);
            if let Way::Cast(last) = way {
                let hosts: Vec<u32> = reached(&told, id).iter().map(|&(host, _)| host).collect();
                prop_assert!(hosts.into_iter().eq(first..=last));
            }
        }
    }
}
