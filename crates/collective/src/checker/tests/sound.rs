//! What is right passes.

use super::{collective, operations};
use crate::algorithm::{AllToAll, Broadcast, Pairs, Permutation};
use crate::checker::check;
use crate::{Operation, Purpose, Step};
use crosstie_units::{Bytes, Rate, Time};

/// Slow enough to be seen.
const COMBINING: Rate = Rate::from_bytes_per_second(1_000_000_000);

fn sound(operation: Operation, ranks: u32) {
    match check(&collective(operation, ranks)) {
        Err(fault) => panic!("{operation:?} among {ranks} ranks: {fault}"),
        Ok(report) => assert!(report.patient, "{operation:?} among {ranks} ranks"),
    }
}

/// It is worth its seconds: this is the proof that all algorithms are right.
#[test]
fn every_algorithm_does_what_it_is_for_among_any_number_of_ranks() {
    for ranks in 2..=128 {
        let root = ranks * 5 / 7;
        for operation in operations(root, u64::from(ranks % 3) * 100 + 1, None) {
            sound(operation, ranks);
        }
    }
}

/// Groups of every size, every permutation and every number of hosts at a switch.
#[test]
fn every_exchange_does_what_it_is_for_whatever_its_keys() {
    for ranks in 2u32..=64 {
        let switches = (1..=ranks).filter(|&here| ranks.is_multiple_of(here)).map(Some);
        let mut algorithms = Vec::new();
        for hosts_per_switch in [None].into_iter().chain(switches) {
            for pairs in [Pairs::Xor, Pairs::EdgeColour] {
                algorithms.push(AllToAll::Pairwise { pairs: Some(pairs), hosts_per_switch });
                let group = 1 + (ranks + hosts_per_switch.unwrap_or(0)) % ranks;
                algorithms.push(AllToAll::GroupShuffle { group, pairs, hosts_per_switch });
            }
            for permutation in [Permutation::Shift, Permutation::Xor, Permutation::EdgeColour] {
                let rests = match permutation {
                    Permutation::Shift => false,
                    Permutation::Xor => !ranks.is_power_of_two(),
                    Permutation::EdgeColour => !ranks.is_multiple_of(2),
                };
                let algorithm = AllToAll::SynchronousShuffle {
                    permutation: Some(permutation),
                    hosts_per_switch,
                    window: Some(ranks),
                    counts: Default::default(),
                };
                let operation = Operation::AllToAll { algorithm, size: Bytes::new(1) };
                assert_eq!(operation.collective(ranks).is_err(), rests);
                algorithms.extend(Some(algorithm).filter(|_| !rests));
            }
        }
        for algorithm in algorithms {
            sound(Operation::AllToAll { algorithm, size: Bytes::new(1) }, ranks);
        }
    }
    for ranks in 2..=33 {
        for group in 1..=ranks {
            let (pairs, hosts_per_switch) = (Pairs::EdgeColour, None);
            let algorithm = AllToAll::GroupShuffle { group, pairs, hosts_per_switch };
            sound(Operation::AllToAll { algorithm, size: Bytes::new(1) }, ranks);
        }
    }
}

/// What keeps the order of ranks says so, and nothing else does.
#[test]
fn order_is_kept_where_it_is_declared() {
    for ranks in 1..=64 {
        let roots = 0..if ranks <= 17 { ranks } else { 1 };
        for root in roots.chain([ranks / 2, ranks - 1]) {
            for operation in operations(root, 1, None) {
                let report = check(&collective(operation, ranks)).unwrap();
                let found = report.disorder.map(|fault| fault.to_string());
                let keeps = operation.keeps_order(ranks);
                assert_eq!(found.is_none(), keeps, "{operation:?} among {ranks}: {found:?}");
            }
        }
    }
}

#[test]
fn every_root_will_do() {
    for ranks in (2..=17).chain([31, 33]) {
        for root in 0..ranks {
            let rooted = |operation: &Operation| operation.keys().contains(&"root");
            for operation in operations(root, 1_000, None).into_iter().filter(rooted) {
                sound(operation, ranks);
            }
        }
    }
}

#[test]
fn combining_may_take_its_time() {
    for ranks in 2..=40 {
        for operation in operations(ranks / 2, 12_345, Some(COMBINING)) {
            sound(operation, ranks);
            let computed =
                |step: &Step| matches!(step, Step::Compute { time } if *time > Time::ZERO);
            let combined = collective(operation, ranks);
            let steps = combined.schedule.all().iter().map(|op| op.step);
            // Of two ranks neither combines in an exclusive scan.
            let nothing = ranks == 2 && matches!(operation, Operation::ExclusiveScan { .. });
            let combines = combined.purpose.combines() && !nothing;
            assert_eq!(steps.filter(computed).count() > 0, combines, "{operation:?}");
        }
    }
}

#[test]
fn chains_and_trees_have_any_number_of_segments() {
    for (bytes, segment, segments) in
        [(0, 7, 1), (1, 7, 1), (7, 7, 1), (8, 7, 2), (1_000, 64, 16), (5, 1, 5)]
    {
        let (segment, size) = (Bytes::new(segment), Bytes::new(bytes));
        for ranks in [3, 4, 9] {
            let chain = Broadcast::Chain { segment };
            let tree = Broadcast::SegmentedBinomial { segment };
            let reports = [chain, tree].map(|algorithm| {
                let operation = Operation::Broadcast { algorithm, root: 2, size };
                sound(operation, ranks);
                check(&collective(operation, ranks)).unwrap()
            });
            assert!(reports.iter().all(|r| r.messages == u64::from(ranks - 1) * segments));
            assert_eq!(reports[0].contention.len() as u64, u64::from(ranks) - 2 + segments);
        }
    }
}

#[test]
fn one_rank_has_nothing_to_do() {
    for operation in operations(0, 64, Some(COMBINING)) {
        let collective = collective(operation, 1);
        assert!(collective.schedule.all().is_empty());
        assert_eq!(check(&collective).map(|report| report.messages), Ok(0), "{operation:?}");
    }
}

#[test]
fn messages_are_as_long_as_what_they_carry() {
    for ranks in [2, 5, 8, 13] {
        for operation in operations(1, 1_001, None) {
            let collective = collective(operation, ranks);
            let (parts, whole) = match collective.purpose {
                Purpose::Barrier => (1, 0),
                Purpose::Broadcast { parts, .. }
                | Purpose::Reduce { parts, .. }
                | Purpose::AllReduce { parts }
                | Purpose::Scan { parts }
                | Purpose::ExclusiveScan { parts } => (u64::from(parts), 1_001),
                Purpose::ReduceScatter => (ranks.into(), 1_001),
                _ => (1, 1_001),
            };
            let length = |block: u64| {
                let block = if parts > 1 { block } else { 0 };
                (block + 1) * whole / parts - block * whole / parts
            };
            for (place, op) in collective.schedule.all().iter().enumerate() {
                let (Step::Send { bytes, .. } | Step::Receive { bytes, .. }) = op.step else {
                    continue;
                };
                let blocks = collective.cargo.blocks(place);
                // Puts can send nothing.
                let is_nothing = (bytes, collective.purpose) == (0, Purpose::Barrier);
                let carried: u64 = blocks.iter().map(|block| length(block.0.into())).sum();
                assert!(
                    is_nothing || u64::from(bytes) == carried.max(1),
                    "{operation:?} among {ranks}: {bytes}"
                );
            }
        }
    }
}
