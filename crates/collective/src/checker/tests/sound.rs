//! What is right passes.

use super::{collective, operations};
use crate::algorithm::Broadcast;
use crate::checker::check;
use crate::{Operation, Purpose, Step};
use crosstie_units::{Bytes, Rate};

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
            let computed = |step: &Step| matches!(step, Step::Compute { .. });
            let combined = collective(operation, ranks);
            let steps = combined.schedule.all().iter().map(|op| op.step);
            let reduces =
                matches!(combined.purpose, Purpose::Reduce { .. } | Purpose::AllReduce { .. });
            assert_eq!(steps.filter(computed).count() > 0, reduces, "{operation:?}");
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
                | Purpose::AllReduce { parts } => (u64::from(parts), 1_001),
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
                let carried: u64 = blocks.iter().map(|block| length(block.0.into())).sum();
                assert_eq!(u64::from(bytes), carried.max(1), "{operation:?} among {ranks}");
            }
        }
    }
}
