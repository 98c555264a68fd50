//! What is broken is refused, with the rank and the block that are wrong.

use super::edit::Edit;
use super::{collective, operations};
use crate::algorithm::{
    AllGather, AllReduce, AllToAll, Barrier, Broadcast, Gather, Reduce, Scatter,
};
use crate::checker::{Fault, check};
use crate::{Access, Block, Need, OpId, Operation, Rank, Step, Tag, When};
use crosstie_units::Bytes;

const BYTES: Bytes = Bytes::new(800);

/// The fault of what an edit has made of an operation.
fn fault(operation: Operation, ranks: u32, edit: impl FnOnce(&mut Edit)) -> Fault {
    let mut edited = Edit::new(&collective(operation, ranks));
    check(&edited.collective()).expect("it is sound before");
    edit(&mut edited);
    check(&edited.collective()).expect_err("it is broken")
}

fn binomial_broadcast() -> Operation {
    Operation::Broadcast { algorithm: Broadcast::Binomial {}, root: 0, size: BYTES }
}

fn ring_all_gather() -> Operation {
    Operation::AllGather { algorithm: AllGather::Ring {}, size: BYTES }
}

fn ring_all_reduce() -> Operation {
    Operation::AllReduce { algorithm: AllReduce::Ring {}, size: BYTES, combine: None }
}

fn linear_all_to_all() -> Operation {
    Operation::AllToAll { algorithm: AllToAll::Linear {}, size: BYTES }
}

#[test]
fn a_message_that_is_left_out() {
    // Rank 3 hears nothing of rank 1.
    let found = fault(binomial_broadcast(), 4, |edit| {
        edit.remove(1, 1);
        edit.remove(3, 0);
    });
    assert_eq!(found, Fault::Absent { rank: Rank(3), block: Block(0) });
    assert_eq!(found.to_string(), "rank 3 ends without block 0");
    // The last step of rank 2 to rank 3.
    let found = fault(ring_all_gather(), 4, |edit| {
        edit.remove(2, 4);
        edit.remove(3, 5);
    });
    assert_eq!(found, Fault::Absent { rank: Rank(3), block: Block(0) });
    // A contribution to a sum.
    let reduce =
        Operation::Reduce { algorithm: Reduce::Binomial {}, root: 0, size: BYTES, combine: None };
    let found = fault(reduce, 8, |edit| {
        edit.remove(7, 0);
        edit.remove(3, 0);
    });
    let missing = Fault::Missing { rank: Rank(0), block: Block(0), contribution: Rank(7) };
    assert_eq!(found, missing);
    assert_eq!(found.to_string(), "rank 0 ends without the contribution of rank 7 to block 0");
    // A release of a barrier that does not wait for the arrival of rank 3.
    let hardware = Operation::Barrier { algorithm: Barrier::Hardware {} };
    let found = fault(hardware, 5, |edit| {
        let release = edit.line(0, 4);
        release.needs.retain(|need| need.op.0 != 2);
    });
    assert!(matches!(found, Fault::Race { .. } | Fault::Missing { .. }), "{found}");
    // A step of a barrier: rank 0, which does not hear of rank 4 in time, cannot tell rank 2.
    let barrier = Operation::Barrier { algorithm: Barrier::Dissemination {} };
    let found = fault(barrier, 5, |edit| {
        edit.remove(4, 0);
        edit.remove(0, 1);
    });
    let missing = Fault::Missing { rank: Rank(2), block: Block(0), contribution: Rank(4) };
    assert_eq!(found, missing);
}

#[test]
fn one_end_of_a_message_that_is_left_out() {
    let found = fault(binomial_broadcast(), 4, |edit| edit.remove(3, 0));
    assert_eq!((found.rank(), found.block()), (Rank(1), Some(Block(0))));
    assert_eq!(
        found.to_string(),
        "operation 1 of rank 1 sends block 0 to rank 3 with tag 0, which no receive takes"
    );
    let found = fault(binomial_broadcast(), 4, |edit| edit.remove(1, 1));
    assert_eq!((found.rank(), found.block()), (Rank(3), Some(Block(0))));
    assert_eq!(
        found.to_string(),
        "operation 0 of rank 3 waits for block 0 of rank 1 with tag 0, which nobody sends"
    );
}

#[test]
fn a_dependency_that_is_left_out() {
    // Rank 1 sends on what it has not received yet.
    let found = fault(binomial_broadcast(), 4, |edit| edit.line(1, 1).needs.clear());
    assert_eq!(found, Fault::NotYet { rank: Rank(1), op: OpId(1), block: Block(0) });
    assert_eq!(
        found.to_string(),
        "operation 1 of rank 1 sends block 0, and nothing makes sure that the rank has it by then"
    );
    // In the second step of an all-reduce rank 2 may send part 1 before or after part 1 has come.
    let found = fault(ring_all_reduce(), 4, |edit| edit.line(2, 2).needs.clear());
    let race = Fault::Race { rank: Rank(2), block: Block(1), one: OpId(1), other: OpId(2) };
    assert_eq!(found, race);
    assert_eq!(
        found.to_string(),
        "operations 1 and 2 of rank 2 both touch block 1, and no dependency says which comes first"
    );
    // It is not enough that the receive has been posted.
    let found = fault(binomial_broadcast(), 4, |edit| {
        edit.line(1, 1).needs = vec![Need { op: OpId(0), when: When::Started }];
    });
    assert_eq!(found, Fault::NotYet { rank: Rank(1), op: OpId(1), block: Block(0) });
    // Two sums at once.
    let reduce =
        Operation::Reduce { algorithm: Reduce::Linear {}, root: 1, size: BYTES, combine: None };
    let found = fault(reduce, 4, |edit| edit.line(1, 1).needs.clear());
    let race = Fault::Race { rank: Rank(1), block: Block(0), one: OpId(0), other: OpId(1) };
    assert_eq!(found, race);
}

/// Nothing is missing, but for what is not commutative the result is wrong.
#[test]
fn operands_that_change_places() {
    let size = BYTES;
    let operation = Operation::AllReduce { algorithm: AllReduce::Linear {}, size, combine: None };
    let mut edited = Edit::new(&collective(operation, 4));
    assert_eq!(check(&edited.collective()).unwrap().disorder, None);
    // Rank 0 takes from rank 2 before it takes from rank 1.
    let wait = |op| vec![Need { op: OpId(op), when: When::Done }];
    edited.line(0, 0).needs = wait(1);
    edited.line(0, 1).needs = vec![];
    edited.line(0, 2).needs = wait(0);
    let disorder = check(&edited.collective()).unwrap().disorder.expect("it is found");
    assert_eq!(disorder, Fault::Disorder { rank: Rank(0), op: OpId(1), block: Block(0) });
    assert_eq!(
        disorder.to_string(),
        "operation 1 of rank 0 combines contributions to block 0 in another order than that of ranks"
    );
}

#[test]
fn a_vector_that_is_replaced_before_it_is_sent() {
    let algorithm = crate::algorithm::ExclusiveScan::RecursiveDoubling {};
    let scan = Operation::ExclusiveScan { algorithm, size: BYTES, combine: None };
    // Rank 2 gives its vector to rank 3 only when it has that of rank 1 in its place.
    let found = fault(scan, 5, |edit| {
        edit.line(2, 0).needs.push(Need { op: OpId(1), when: When::Done });
    });
    let twice = Fault::Twice { rank: Rank(3), op: OpId(3), block: Block(0), contribution: Rank(1) };
    assert_eq!(found, twice);
    // The next step does not wait for the send, so that it may be too late.
    let found = fault(scan, 5, |edit| {
        edit.line(2, 2).needs.retain(|need| need.op.0 != 0);
        edit.line(2, 3).needs.retain(|need| need.op.0 != 0);
    });
    assert!(matches!(found, Fault::Race { rank: Rank(2), .. }), "{found}");
}

#[test]
fn a_sum_that_is_used_before_it_is_computed() {
    let rate = Some(crosstie_units::Rate::from_bytes_per_second(1_000_000));
    let algorithm = AllReduce::RecursiveDoubling {};
    let operation = Operation::AllReduce { algorithm, size: BYTES, combine: rate };
    // Operations of a rank are send, receive, computation, send, and so on.
    let found = fault(operation, 4, |edit| {
        edit.line(3, 3).needs = vec![Need { op: OpId(1), when: When::Done }];
    });
    assert_eq!((found.rank(), found.block()), (Rank(3), Some(Block(0))));
    assert!(matches!(found, Fault::Race { .. }), "{found}");
}

#[test]
fn a_vector_that_is_combined_while_it_is_sent() {
    let operation = Operation::AllReduce {
        algorithm: AllReduce::RecursiveDoubling {},
        size: BYTES,
        combine: None,
    };
    // The second send of rank 2 waits for its first receive, but no longer for its first send.
    let found = fault(operation, 4, |edit| {
        for op in [2, 3] {
            edit.line(2, op).needs.retain(|need| need.op == OpId(1));
        }
    });
    let race = Fault::Race { rank: Rank(2), block: Block(0), one: OpId(0), other: OpId(1) };
    assert_eq!(found, race);
}

#[test]
fn destinations_that_are_swapped() {
    // Rank 0 sends block 1 to rank 2, and block 2 to rank 1.
    let found = fault(linear_all_to_all(), 4, |edit| {
        let one = edit.line(0, 3).op;
        let other = std::mem::replace(&mut edit.line(0, 4).op, one);
        edit.line(0, 3).op = other;
    });
    let other = Fault::OtherBlock {
        rank: Rank(1),
        op: OpId(0),
        expected: Some(Block(1)),
        sender: Rank(0),
        sender_op: OpId(4),
        found: Some(Block(2)),
    };
    assert_eq!(found, other);
    assert_eq!(
        found.to_string(),
        "operation 0 of rank 1 expects block 1, but its message from operation 4 of rank 0 carries block 2 there"
    );
}

#[test]
fn a_message_that_is_sent_twice() {
    let reduce =
        Operation::Reduce { algorithm: Reduce::Linear {}, root: 0, size: BYTES, combine: None };
    let found = fault(reduce, 4, |edit| {
        edit.repeat(2, 0);
        edit.repeat(0, 1);
        // It comes after all the others.
        edit.line(0, 3).needs = vec![Need { op: OpId(2), when: When::Done }];
    });
    let twice = Fault::Twice { rank: Rank(0), op: OpId(3), block: Block(0), contribution: Rank(2) };
    assert_eq!(found, twice);
    assert_eq!(
        found.to_string(),
        "operation 3 of rank 0 adds the contribution of rank 2 to block 0, which has it already"
    );
    let found = fault(binomial_broadcast(), 4, |edit| edit.repeat(1, 1));
    assert!(matches!(found, Fault::SendAlone { rank: Rank(1), op: OpId(2), .. }), "{found}");
}

#[test]
fn a_wrong_tag() {
    let found = fault(ring_all_gather(), 4, |edit| {
        if let Step::Send { tag, .. } = &mut edit.line(2, 2).op.step {
            *tag = Tag(77);
        }
    });
    assert_eq!((found.rank(), found.block()), (Rank(3), Some(Block(1))));
    assert!(matches!(found, Fault::ReceiveAlone { from: Rank(2), tag: Tag(1), .. }), "{found}");
}

#[test]
fn tags_that_are_all_the_same() {
    // Nothing orders the sends of rank 0 any more.
    let chain = Broadcast::Chain { segment: Bytes::new(100) };
    let operation = Operation::Broadcast { algorithm: chain, root: 0, size: BYTES };
    let found = fault(operation, 3, |edit| {
        for line in edit.ranks.iter_mut().flatten() {
            match &mut line.op.step {
                Step::Send { tag, .. } | Step::Receive { tag: Some(tag), .. } => *tag = Tag(0),
                _ => {}
            }
        }
        edit.line(0, 5).needs.clear();
    });
    let alike = Fault::Alike { rank: Rank(0), one: OpId(4), other: OpId(5), block: Some(Block(5)) };
    assert!(matches!(found, Fault::Alike { rank: Rank(0), .. }), "{found}");
    assert_eq!(found, alike);
}

#[test]
fn a_wrong_block() {
    let found = fault(ring_all_gather(), 4, |edit| edit.line(2, 2).blocks = vec![Block(3)]);
    assert_eq!((found.rank(), found.block()), (Rank(3), Some(Block(1))));
    // Both ends agree on the wrong one: it is not there.
    let found = fault(ring_all_gather(), 4, |edit| {
        edit.line(2, 2).blocks = vec![Block(3)];
        edit.line(3, 3).blocks = vec![Block(3)];
    });
    assert_eq!(found, Fault::NotYet { rank: Rank(2), op: OpId(2), block: Block(3) });
    // It is another one that is being sent at the same time.
    let found = fault(ring_all_gather(), 4, |edit| {
        edit.line(2, 2).blocks = vec![Block(2)];
        edit.line(3, 3).blocks = vec![Block(2)];
    });
    let race = Fault::Race { rank: Rank(3), block: Block(2), one: OpId(2), other: OpId(3) };
    assert_eq!(found, race);
    let found = fault(ring_all_gather(), 4, |edit| edit.line(2, 2).blocks = vec![Block(4)]);
    assert_eq!(found.to_string(), "operation 2 of rank 2 names block 4, expected one below 4");
}

#[test]
fn a_sum_that_is_stored() {
    let reduce =
        Operation::Reduce { algorithm: Reduce::Linear {}, root: 0, size: BYTES, combine: None };
    let found = fault(reduce, 4, |edit| edit.line(0, 1).access = Access::Store);
    let changed =
        Fault::Changed { rank: Rank(0), op: OpId(1), block: Block(0), contribution: Rank(0) };
    assert_eq!(found, changed);
    assert_eq!(
        found.to_string(),
        "operation 1 of rank 0 replaces block 0, and the contribution of rank 0 to it is lost"
    );
}

#[test]
fn a_block_that_is_spoilt() {
    let gather = Operation::Gather { algorithm: Gather::Linear {}, root: 0, size: BYTES };
    let found = fault(gather, 3, |edit| {
        // Rank 2 claims to have block 1.
        edit.line(2, 0).blocks = vec![Block(1)];
        edit.line(0, 1).blocks = vec![Block(1)];
    });
    assert!(matches!(found, Fault::Race { rank: Rank(0), block: Block(1), .. }), "{found}");
    let scatter = Operation::Scatter { algorithm: Scatter::Linear {}, root: 0, size: BYTES };
    let found = fault(scatter, 3, |edit| {
        edit.line(0, 1).blocks = vec![Block(1)];
        edit.line(2, 0).blocks = vec![Block(1)];
    });
    assert_eq!(found, Fault::Absent { rank: Rank(2), block: Block(2) });
}

#[test]
fn a_receive_that_is_too_short() {
    let found = fault(binomial_broadcast(), 4, |edit| {
        if let Step::Receive { bytes, .. } = &mut edit.line(2, 0).op.step {
            *bytes = 799;
        }
    });
    assert_eq!(
        found.to_string(),
        "operation 0 of rank 2 takes 799 bytes for block 0, but its message has 800"
    );
}

#[test]
fn a_receive_of_anything() {
    let found = fault(binomial_broadcast(), 4, |edit| {
        if let Step::Receive { from, .. } = &mut edit.line(2, 0).op.step {
            *from = None;
        }
    });
    assert_eq!(found, Fault::Anything { rank: Rank(2), op: OpId(0) });
}

#[test]
fn messages_that_wait_for_each_other() {
    // Every rank receives before it sends.
    let found = fault(ring_all_gather(), 3, |edit| {
        for rank in 0..3 {
            edit.line(rank, 0).needs.push(Need { op: OpId(1), when: When::Done });
        }
    });
    let Fault::Circle { circle } = &found else { panic!("{found}") };
    assert_eq!(circle.len(), 6);
    assert_eq!(circle.iter().filter(|(rank, _)| *rank == Rank(1)).count(), 2);
}

#[test]
fn sends_that_wait_for_receives_are_noticed_and_not_refused() {
    let mut edit = Edit::new(&collective(ring_all_gather(), 3));
    for rank in 0..3 {
        edit.line(rank, 1).needs.push(Need { op: OpId(0), when: When::Done });
    }
    assert!(!check(&edit.collective()).unwrap().patient);
}

#[test]
fn a_send_to_oneself_or_to_nobody() {
    for to in [0, 4] {
        let found = fault(binomial_broadcast(), 4, |edit| {
            if let Step::Send { to: receiver, .. } = &mut edit.line(0, 0).op.step {
                *receiver = Rank(to);
            }
        });
        assert_eq!(found, Fault::NoSuchReceiver { rank: Rank(0), op: OpId(0), to: Rank(to) });
    }
}

/// Every message of every algorithm is needed, apart from those that tell a rank what it has.
#[test]
fn no_algorithm_can_do_without_one_of_its_messages() {
    for ranks in [2, 3, 5, 8] {
        for operation in operations(1, 800, None) {
            let scattered = "scatter-all-gather";
            if operation.algorithm().name == scattered {
                continue;
            }
            let whole = collective(operation, ranks);
            let peers = super::super::matching::peers(&whole).unwrap();
            let places = |rank| whole.schedule.places(Rank(rank));
            let owner = |place: usize| {
                let rank = (0..ranks).find(|&rank| places(rank).contains(&place)).unwrap();
                (rank as usize, place - places(rank).start)
            };
            for (place, op) in whole.schedule.all().iter().enumerate() {
                if !matches!(op.step, Step::Send { .. }) {
                    continue;
                }
                let mut edit = Edit::new(&whole);
                for (rank, op) in [owner(place), owner(peers[place] as usize)] {
                    edit.remove(rank, op);
                }
                let found = check(&edit.collective());
                assert!(found.is_err(), "{operation:?} among {ranks} without {:?}", owner(place));
            }
        }
    }
}

/// So is every dependency of a send on the receive of what it sends.
#[test]
fn no_send_can_do_without_waiting_for_what_it_sends() {
    let mut tried = 0;
    for ranks in [3, 4, 7] {
        for operation in operations(1, 800, None) {
            let whole = Edit::new(&collective(operation, ranks));
            for (rank, lines) in whole.ranks.iter().enumerate() {
                for (op, line) in lines.iter().enumerate() {
                    let comes = |need: &Need| {
                        let other = &lines[need.op.0 as usize];
                        matches!(other.op.step, Step::Receive { .. })
                            && other.blocks.iter().any(|block| line.blocks.contains(block))
                    };
                    if line.access != Access::Read || !line.needs.iter().any(comes) {
                        continue;
                    }
                    let mut edit = whole.clone();
                    edit.line(rank, op).needs.retain(|need| !comes(need));
                    let found = check(&edit.collective());
                    assert!(found.is_err(), "{operation:?} among {ranks}: {op} of {rank}");
                    // What is not combined in time is missing elsewhere.
                    let stored = |need: &Need| lines[need.op.0 as usize].access == Access::Store;
                    if line.needs.iter().filter(|need| comes(need)).all(stored) {
                        assert_eq!(found.unwrap_err().rank(), Rank(rank as u32));
                    }
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 300, "{tried}");
}
