//! Messages, steps and contention as books give them.

use super::collective;
use crate::algorithm::{
    AllGather, AllReduce, AllToAll, Barrier, Broadcast, ExclusiveScan, Gather, Pairs, Permutation,
    Reduce, ReduceScatter, Scan, Scatter,
};
use crate::checker::{Report, check, contention as contended};
use crate::{Collective, Counting, Operation, Rank, Step};
use crosstie_units::Bytes;

const BYTES: Bytes = Bytes::new(4096);

fn report(operation: Operation, ranks: u32) -> Report {
    check(&collective(operation, ranks)).unwrap()
}

/// Messages and steps.
fn size(operation: Operation, ranks: u32) -> (u64, u32) {
    let report = report(operation, ranks);
    (report.messages, report.contention.len() as u32)
}

/// The most messages into a rank and out of one, over all steps.
fn contention(operation: Operation, ranks: u32) -> (u32, u32) {
    let steps = report(operation, ranks).contention;
    let into = steps.iter().map(|step| step.into).max().unwrap();
    (into, steps.iter().map(|step| step.out_of).max().unwrap())
}

/// ceil(log2 p)
fn log(ranks: u32) -> u32 {
    ranks.next_power_of_two().ilog2()
}

const RANKS: [u32; 9] = [2, 3, 4, 6, 7, 8, 16, 21, 33];

#[test]
fn barriers() {
    for ranks in RANKS {
        let p = u64::from(ranks);
        let linear = Operation::Barrier { algorithm: Barrier::Linear {} };
        assert_eq!(size(linear, ranks), (2 * (p - 1), 2));
        assert_eq!(contention(linear, ranks), (ranks - 1, ranks - 1));
        let tree = Operation::Barrier { algorithm: Barrier::Tree {} };
        // Up it may take fewer steps if the tree is not full.
        let (messages, steps) = size(tree, ranks);
        assert!(messages == 2 * (p - 1) && steps <= 2 * log(ranks));
        assert!(steps == 2 * log(ranks) || !ranks.is_power_of_two());
        let dissemination = Operation::Barrier { algorithm: Barrier::Dissemination {} };
        assert_eq!(size(dissemination, ranks), (p * u64::from(log(ranks)), log(ranks)));
        assert_eq!(contention(dissemination, ranks), (1, 1));
        // The release is one message, whatever the network makes of it.
        let hardware = Operation::Barrier { algorithm: Barrier::Hardware {} };
        assert_eq!(size(hardware, ranks), (p, 2));
        assert_eq!(contention(hardware, ranks), (ranks - 1, 1));
        for arity in [1, 2, 4, 7] {
            let tree = Operation::Barrier { algorithm: Barrier::KAryTree { arity } };
            let (messages, steps) = size(tree, ranks);
            let mut depth = 0;
            let mut last = ranks - 1;
            while last > 0 {
                (depth, last) = (depth + 1, (last - 1) / arity);
            }
            assert_eq!((messages, steps), (2 * (p - 1), 2 * depth));
            // Children with children of their own report later.
            let most = arity.min(ranks - 1);
            let (into, out_of) = contention(tree, ranks);
            assert!(into <= most && out_of == most);
        }
    }
}

#[test]
fn broadcasts() {
    let root = 1;
    for ranks in RANKS {
        let p = u64::from(ranks);
        let binomial =
            Operation::Broadcast { algorithm: Broadcast::Binomial {}, root, size: BYTES };
        assert_eq!(size(binomial, ranks), (p - 1, log(ranks)));
        assert_eq!(contention(binomial, ranks), (1, 1));
        let chain = Broadcast::Chain { segment: Bytes::new(1024) };
        let chain = Operation::Broadcast { algorithm: chain, root, size: BYTES };
        assert_eq!(size(chain, ranks), (4 * (p - 1), ranks + 2));
        let tree = Broadcast::SegmentedBinomial { segment: Bytes::new(1024) };
        let tree = Operation::Broadcast { algorithm: tree, root, size: BYTES };
        // As deep as a number below p has ones; no send waits for another, so all segments go in a
        // step.
        let depth = (1..ranks).map(u32::count_ones).max().unwrap();
        assert_eq!(size(tree, ranks), (4 * (p - 1), depth));
        assert_eq!(contention(tree, ranks), (4, 4 * log(ranks)));
        let scatter =
            Operation::Broadcast { algorithm: Broadcast::ScatterAllGather {}, root, size: BYTES };
        let (messages, steps) = size(scatter, ranks);
        assert_eq!(messages, (p - 1) + p * (p - 1));
        assert_eq!(steps, log(ranks) + ranks - 1);
    }
}

#[test]
fn gathers_scatters_and_reductions() {
    let (root, bytes) = (1, BYTES);
    for ranks in RANKS {
        let p = u64::from(ranks);
        let gather = |algorithm| Operation::Gather { algorithm, root, size: bytes };
        assert_eq!(size(gather(Gather::Linear {}), ranks), (p - 1, 1));
        assert_eq!(contention(gather(Gather::Linear {}), ranks), (ranks - 1, 1));
        let (messages, steps) = size(gather(Gather::Binomial {}), ranks);
        assert!(messages == p - 1 && steps <= log(ranks));
        let scatter = |algorithm| Operation::Scatter { algorithm, root, size: bytes };
        assert_eq!(size(scatter(Scatter::Linear {}), ranks), (p - 1, 1));
        assert_eq!(contention(scatter(Scatter::Linear {}), ranks), (1, ranks - 1));
        assert_eq!(size(scatter(Scatter::Binomial {}), ranks), (p - 1, log(ranks)));
        let reduce = |algorithm| Operation::Reduce { algorithm, root, size: bytes, combine: None };
        assert_eq!(size(reduce(Reduce::Linear {}), ranks).0, p - 1);
        assert_eq!(contention(reduce(Reduce::Linear {}), ranks), (ranks - 1, 1));
        let (messages, steps) = size(reduce(Reduce::Binomial {}), ranks);
        assert!(messages == p - 1 && steps <= log(ranks));
        // And one more from rank 0 to the root.
        let (messages, steps) = size(reduce(Reduce::InOrderBinomial {}), ranks);
        assert!(messages == p && steps <= log(ranks) + 1);
    }
}

#[test]
fn all_gathers() {
    for ranks in RANKS {
        let p = u64::from(ranks);
        let all_gather = |algorithm| Operation::AllGather { algorithm, size: BYTES };
        let ring = all_gather(AllGather::Ring {});
        assert_eq!(size(ring, ranks), (p * (p - 1), ranks - 1));
        assert_eq!(contention(ring, ranks), (1, 1));
        let bruck = all_gather(AllGather::Bruck {});
        assert_eq!(size(bruck, ranks), (p * u64::from(log(ranks)), log(ranks)));
        assert_eq!(contention(bruck, ranks), (1, 1));
        // Nobody is sent a block twice.
        for operation in AllGather::ALL.map(all_gather) {
            let bytes = collective(operation, ranks).schedule.bytes();
            assert_eq!(bytes, p * (p - 1) * BYTES.get(), "{operation:?}");
        }
        let doubling = all_gather(AllGather::RecursiveDoubling {});
        let (core, steps) = (1 << ranks.ilog2(), ranks.ilog2());
        let folded = ranks - core;
        let messages = u64::from(core * steps + 2 * folded);
        assert_eq!(size(doubling, ranks), (messages, steps + 2 * u32::from(folded > 0)));
    }
}

#[test]
fn all_reduces() {
    for ranks in RANKS {
        let p = u64::from(ranks);
        let all_reduce = |algorithm| Operation::AllReduce { algorithm, size: BYTES, combine: None };
        let linear = all_reduce(AllReduce::Linear {});
        assert_eq!(size(linear, ranks).0, 2 * (p - 1));
        assert_eq!(contention(linear, ranks), (ranks - 1, ranks - 1));
        let ring = all_reduce(AllReduce::Ring {});
        assert_eq!(size(ring, ranks), (2 * p * (p - 1), 2 * (ranks - 1)));
        assert_eq!(collective(ring, ranks).schedule.bytes(), 2 * (p - 1) * BYTES.get());
        let doubling = all_reduce(AllReduce::RecursiveDoubling {});
        let (core, steps) = (1 << ranks.ilog2(), ranks.ilog2());
        let (folded, extra) = (ranks - core, 2 * u32::from(ranks > core));
        assert_eq!(size(doubling, ranks), (u64::from(core * steps + 2 * folded), steps + extra));
        let in_order = all_reduce(AllReduce::InOrderDoubling {});
        assert_eq!(size(in_order, ranks), size(doubling, ranks));
        let rabenseifner = all_reduce(AllReduce::Rabenseifner {});
        assert_eq!(
            size(rabenseifner, ranks),
            (u64::from(2 * core * steps + 2 * folded), 2 * steps + extra)
        );
        if ranks == core {
            let bytes = collective(rabenseifner, ranks).schedule.bytes();
            assert_eq!(bytes, 2 * (p - 1) * BYTES.get());
        }
    }
}

#[test]
fn reduce_scatters() {
    for ranks in RANKS {
        let p = u64::from(ranks);
        let reduce_scatter =
            |algorithm| Operation::ReduceScatter { algorithm, size: BYTES, combine: None };
        for algorithm in [ReduceScatter::Pairwise {}, ReduceScatter::Ring {}] {
            let operation = reduce_scatter(algorithm);
            assert_eq!(size(operation, ranks), (p * (p - 1), ranks - 1), "{algorithm:?}");
            assert_eq!(contention(operation, ranks), (1, 1));
            assert_eq!(collective(operation, ranks).schedule.bytes(), (p - 1) * BYTES.get());
        }
        let (core, steps) = (1 << ranks.ilog2(), ranks.ilog2());
        let (folded, extra) = (ranks - core, 2 * u32::from(ranks > core));
        for algorithm in [ReduceScatter::RecursiveHalving {}, ReduceScatter::InOrderHalving {}] {
            let operation = reduce_scatter(algorithm);
            let expected = (u64::from(core * steps + 2 * folded), steps + extra);
            assert_eq!(size(operation, ranks), expected, "{algorithm:?}");
            if ranks == core {
                assert_eq!(contention(operation, ranks), (1, 1));
                assert_eq!(collective(operation, ranks).schedule.bytes(), (p - 1) * BYTES.get());
            }
        }
    }
}

#[test]
fn scans() {
    for ranks in RANKS {
        let p = u64::from(ranks);
        let scan = |algorithm| Operation::Scan { algorithm, size: BYTES, combine: None };
        assert_eq!(size(scan(Scan::Linear {}), ranks), (p - 1, ranks - 1));
        // In step k, no rank sends to the first 2^k ranks.
        let doubling =
            |ranks: u32| (0..log(ranks)).map(|k| u64::from(ranks - (1 << k))).sum::<u64>();
        let recursive = scan(Scan::RecursiveDoubling {});
        assert_eq!(size(recursive, ranks), (doubling(ranks), log(ranks)));
        assert_eq!(contention(recursive, ranks), (1, 1));
        let algorithm = ExclusiveScan::RecursiveDoubling {};
        let exclusive = Operation::ExclusiveScan { algorithm, size: BYTES, combine: None };
        let expected = (p - 1 + doubling(ranks - 1), 1 + log(ranks - 1));
        assert_eq!(size(exclusive, ranks), expected);
        assert_eq!(contention(exclusive, ranks), (1, 1));
    }
}

#[test]
fn all_to_alls() {
    for ranks in RANKS {
        let p = u64::from(ranks);
        let all_to_all = |algorithm| Operation::AllToAll { algorithm, size: BYTES };
        let linear = all_to_all(AllToAll::Linear {});
        assert_eq!(size(linear, ranks), (p * (p - 1), 1));
        assert_eq!(contention(linear, ranks), (ranks - 1, ranks - 1));
        let shift = all_to_all(AllToAll::Shift {});
        assert_eq!(size(shift, ranks), (p * (p - 1), ranks - 1));
        assert_eq!(contention(shift, ranks), (1, 1));
        let pairwise = all_to_all(AllToAll::PAIRWISE);
        assert_eq!(size(pairwise, ranks).0, p * (p - 1));
        if ranks.is_multiple_of(2) {
            assert_eq!(size(pairwise, ranks).1, ranks - 1);
            assert_eq!(contention(pairwise, ranks), (1, 1));
        }
        let bruck = all_to_all(AllToAll::Bruck {});
        assert_eq!(size(bruck, ranks), (p * u64::from(log(ranks)), log(ranks)));
        assert_eq!(contention(bruck, ranks), (1, 1));
    }
}

/// Rounds: how often all that a rank does waits for all that it did before.
fn rounds(collective: &Collective) -> u32 {
    let schedule = &collective.schedule;
    let mut depth = vec![0u32; schedule.all().len()];
    for rank in (0..schedule.ranks()).map(Rank) {
        let places = schedule.places(rank);
        for place in places.clone() {
            let before =
                schedule.needs(place).iter().map(|n| depth[places.start + n.op.0 as usize]);
            let sends = matches!(schedule.all()[place].step, Step::Compute { .. });
            depth[place] = before.max().unwrap_or(0) + u32::from(!sends);
        }
    }
    depth.into_iter().max().unwrap()
}

/// Table 5.1 of Tam: rounds, between which the pipeline drains, and the fan-out.
#[test]
fn exchanges_by_packets() {
    for ranks in RANKS {
        let chi = if ranks % 2 == 0 { ranks - 1 } else { ranks };
        let made = |algorithm| {
            let operation = Operation::AllToAll { algorithm, size: BYTES };
            (collective(operation, ranks), report(operation, ranks))
        };
        let (shuffle, found) = made(AllToAll::SYNCHRONOUS_SHUFFLE);
        assert_eq!((rounds(&shuffle), found.contention.len() as u32), (1, ranks - 1));
        // Every step is a permutation.
        assert!(found.contention.iter().all(|step| (step.into, step.out_of) == (1, 1)));
        for group in 1..=chi {
            let (pairs, hosts_per_switch) = (Pairs::EdgeColour, None);
            let (shuffle, found) = made(AllToAll::GroupShuffle { group, pairs, hosts_per_switch });
            // In groups of one, a rank that rests goes on to its next round.
            let colours = if group == 1 { ranks - 1 } else { chi };
            assert_eq!(rounds(&shuffle), colours.div_ceil(group), "{group} of {ranks}");
            if ranks % 2 == 0 {
                assert_eq!(found.contention.len() as u32, ranks - 1);
                assert!(found.contention.iter().all(|step| (step.into, step.out_of) == (1, 1)));
            }
        }
        for algorithm in [AllToAll::Shift {}, AllToAll::PAIRWISE] {
            assert_eq!(rounds(&made(algorithm).0), ranks - 1);
        }
    }
}

/// What crosses the uplinks in a step: plainly all of a switch at once, for many steps; renumbered,
/// it is spread over the steps.
#[test]
fn uplinks_are_shared_out_by_renumbering() {
    let found = |hosts_per_switch| {
        let algorithm = AllToAll::SynchronousShuffle {
            permutation: Some(Permutation::Xor),
            hosts_per_switch,
            window: None,
            counts: Counting::Unacknowledged,
        };
        let operation = Operation::AllToAll { algorithm, size: BYTES };
        let steps = contended(&collective(operation, 16), 4).unwrap();
        assert!(steps.iter().all(|step| step.up == step.down && step.into == 1));
        steps.iter().map(|step| step.up).collect::<Vec<_>>()
    };
    assert_eq!(found(None), [0, 0, 0, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4]);
    assert_eq!(found(Some(4)), [4, 4, 4, 0, 4, 4, 4, 0, 4, 4, 4, 0, 4, 4, 4]);
}

#[test]
fn a_linear_all_to_all_sends_to_the_next_first() {
    let linear = Operation::AllToAll { algorithm: AllToAll::Linear {}, size: BYTES };
    let sent = |rank| {
        let collective = collective(linear, 4);
        let to = |step| if let Step::Send { to, .. } = step { Some(to.0) } else { None };
        collective.schedule.ops(Rank(rank)).iter().filter_map(|op| to(op.step)).collect::<Vec<_>>()
    };
    assert_eq!((sent(0), sent(2)), (vec![1, 2, 3], vec![3, 0, 1]));
}
