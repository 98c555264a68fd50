use super::*;
use crate::algorithm::{AllReduce, AllToAll};
use crate::{Builder, Need, Op, Operation, Step, Tag, When};
use crosstie_units::{Bytes, Time};
use proptest::prelude::*;

const SAMPLE: &str = "\
// A sample with all there is.
num_ranks 3 /* rank 2
has nothing to do */
rank 1 {
first: recv 1024b from -1 tag -1 cpu 1
  calc 250 cpu 65535
l_2 : recv 0b from 0 tag 7
}

rank 0 {
l1: calc 1000
l2: send 1024b to 1 // no tag
l3: send 0b to 1 tag 7 cpu 2
l2 requires l1
l3 irequires l2
}
";

fn send(to: u32, tag: u32, bytes: u32, cpu: u16) -> Op {
    Op { step: Step::Send { to: Rank(to), tag: Tag(tag), bytes }, cpu, nic: None }
}

fn receive(from: Option<u32>, tag: Option<u32>, bytes: u32, cpu: u16) -> Op {
    let step = Step::Receive { from: from.map(Rank), tag: tag.map(Tag), bytes };
    Op { step, cpu, nic: None }
}

fn calc(ns: u64, cpu: u16) -> Op {
    Op { step: Step::Compute { time: Time::from_ns(ns) }, cpu, nic: None }
}

#[test]
fn all_there_is_is_read() {
    let Goal { schedule, .. } = read(SAMPLE).unwrap();
    assert_eq!(schedule.ranks(), 3);
    assert_eq!(schedule.ops(Rank(0)), [calc(1000, 0), send(1, 0, 1024, 0), send(1, 7, 0, 2)]);
    assert_eq!(
        schedule.ops(Rank(1)),
        [receive(None, None, 1024, 1), calc(250, 65535), receive(Some(0), Some(7), 0, 0)]
    );
    assert!(schedule.ops(Rank(2)).is_empty());
    assert_eq!(schedule.needs(1), [Need { op: OpId(0), when: When::Done }]);
    assert_eq!(schedule.needs(2), [Need { op: OpId(1), when: When::Started }]);
}

#[test]
fn operations_know_where_they_come_from() {
    let goal = read(SAMPLE).unwrap();
    let of = |rank, op| (goal.label(Rank(rank), OpId(op)), goal.line(Rank(rank), OpId(op)));
    assert_eq!(of(1, 0), (Some("first"), 5));
    assert_eq!(of(1, 1), (None, 6));
    assert_eq!(of(1, 2), (Some("l_2"), 7));
    assert_eq!(of(0, 2), (Some("l3"), 13));
}

#[test]
fn messages_without_a_nic_take_the_first_if_any_names_one() {
    let nics = |text: &str| {
        let goal = read(text).unwrap();
        goal.schedule.ops(Rank(0)).iter().map(|op| op.nic).collect::<Vec<_>>()
    };
    assert_eq!(
        nics("num_ranks 2\nrank 0 {\nsend 8b to 1 nic 3\nrecv 8b from 1\ncalc 5\n}"),
        [Some(3), Some(0), None]
    );
    assert_eq!(nics("num_ranks 2\nrank 0 {\nsend 8b to 1\nrecv 8b from 1\n}"), [None, None]);
}

#[test]
fn statements_may_stand_close_together() {
    let close = "num_ranks 2 rank 0{calc 5}rank 1\n{\r\ncalc 6}";
    assert_eq!(
        read(close).unwrap_err().to_string(),
        "line 1, column 13: found `rank`, expected the end of the line; one statement stands on one line"
    );
    let goal = read(&close.replacen(" rank", "\nrank", 1)).unwrap();
    assert_eq!(goal.schedule.all(), [calc(5, 0), calc(6, 0)]);
    let broken = read("num_ranks 1\nrank 0 {\ncalc 5 /*\n*/ tag: calc 6\n}").unwrap();
    assert_eq!(broken.schedule.all(), [calc(5, 0), calc(6, 0)]);
}

#[test]
fn labels_may_look_like_words() {
    let text = "num_ranks 1\nrank 0 {\nsend: calc 1\ntag: calc 2\nsend requires tag\n}";
    let schedule = read(text).unwrap().schedule;
    assert_eq!(schedule.needs(0), [Need { op: OpId(1), when: When::Done }]);
}

/// The error of a text whose block of rank 0, of 2, has these lines.
fn of_block(lines: &str) -> String {
    read(&format!("num_ranks 2\nrank 0 {{\n{lines}\n}}\n")).unwrap_err().to_string()
}

#[test]
fn mistakes_in_a_block_are_shown_at_their_line() {
    for (lines, message) in [
        (
            "l1: calc 1\nl2 requires l1",
            "line 4, column 1: found `l2`, expected a label of an operation above, of the same rank; \
             write `l2:` before the operation that is meant",
        ),
        (
            "l1: calc 1\nl1 requires",
            "line 4, column 12: found the end of the line, expected a label; \
             a label has letters, digits and `_`, and begins with a letter",
        ),
        (
            "l1: calc 1\n\nl1: calc 2",
            "line 5, column 1: found a second label `l1`, expected one of its own; \
             choose another one than on line 3",
        ),
        (
            "9a: calc 1",
            "line 3, column 1: found `9a`, expected a label; \
             a label has letters, digits and `_`, and begins with a letter",
        ),
        (
            "send 8b to 2",
            "line 3, column 12: found `2`, expected a rank from 0 to 1; \
             the text begins with `num_ranks 2`",
        ),
        (
            "send 8b to 0",
            "line 3, column 12: found a send of rank 0 to itself; \
             expected another rank; leave it out or `calc`",
        ),
        (
            "get 8b from 0",
            "line 3, column 13: found a get of rank 0 from itself; \
             expected another rank; leave it out or `calc`",
        ),
        (
            "get 8b from -1",
            "line 3, column 13: found `-1`, expected a rank from 0 to 1; \
             the text begins with `num_ranks 2`",
        ),
        (
            "get 8b from 1 tag 3",
            "line 3, column 15: found `tag`, expected `nic` or the end of the line; \
             one statement stands on one line",
        ),
        (
            "recv 8b from -2",
            "line 3, column 14: found `-2`, expected a rank from 0 to 1; \
             the text begins with `num_ranks 2`",
        ),
        (
            "send 8b from 1",
            "line 3, column 9: found `from`, expected `to`; \
             an operation is written `send 8b to 1` or `recv 8b from 0`",
        ),
        (
            "send 8 to 1",
            "line 3, column 6: found `8`, expected a size such as `1024b`; \
             write the number of bytes with a `b` behind it",
        ),
        (
            "send 4294967296b to 1",
            "line 3, column 6: found `4294967296b`, expected a size of at most 4294967295b; \
             send it in several messages",
        ),
        (
            "send 99999999999999999999999b to 1",
            "line 3, column 6: found `99999999999999999999999b`, expected a size of at most 4294967295b; \
             send it in several messages",
        ),
        (
            "send 8b to 1 tag -1",
            "line 3, column 18: found `-1`, expected a tag from 0 to 4294967295; \
             write it with digits alone",
        ),
        (
            "send 8b to 1 cpu 0 tag 1",
            "line 3, column 20: found `tag`, expected `nic` or the end of the line; \
             tag, cpu and nic stand in this order, each at most once",
        ),
        (
            "send 8b to 1 nic 0 nic 1",
            "line 3, column 20: found `nic`, expected the end of the line; \
             tag, cpu and nic stand in this order, each at most once",
        ),
        (
            "calc 5 nic 1",
            "line 3, column 8: found `nic`, expected `cpu` or the end of the line; \
             one statement stands on one line",
        ),
        (
            "calc 1.5",
            "line 3, column 6: found `1.5`, expected a time in whole nanoseconds from 0 to 18446744073709551; \
             write it with digits alone",
        ),
        (
            "calc 18446744073709552",
            "line 3, column 6: found `18446744073709552`, expected a time in whole nanoseconds \
             from 0 to 18446744073709551; write it with digits alone",
        ),
        (
            "l1: clac 5",
            "line 3, column 5: found `clac`, expected `send`, `recv`, `get` or `calc`; write `calc`",
        ),
        (
            "l1: calc 5\nl2: calc 6\nl2 require l1",
            "line 5, column 4: found `require`, expected `requires` or `irequires`; write `requires`",
        ),
        (
            "%",
            "line 3, column 1: found `%`, expected `send`, `recv`, `get` or `calc`; an operation is written \
             `l1: send 8b to 1`, `l1: recv 8b from 0` or `l1: calc 100`",
        ),
        (
            "calc 5 l2: calc 6",
            "line 3, column 8: found `l2`, expected `cpu` or the end of the line; \
             one statement stands on one line",
        ),
        (
            "rank 1 {",
            "line 3, column 1: found `rank`, expected an operation, a dependency or `}`; \
             end the block of rank 0 with `}` first",
        ),
        ("/* calc 5", "line 3, column 1: found a comment that does not end; end it with `*/`"),
        (
            "l1: calc 1\nl1 requires l1",
            "line 4, column 1: found an operation that waits for itself; \
             remove one of their dependencies, or nothing of them can ever start",
        ),
        (
            "l1: calc 1\nl2: calc 1\nl3: calc 1\nl2 requires l1\nl3 irequires l2\nl1 requires l3\nl3 requires l2",
            "line 9, column 1: found a dependency that closes a circle: 3 operations of rank 0 wait for \
             each other; remove one of their dependencies, or nothing of them can ever start",
        ),
    ] {
        assert_eq!(of_block(lines), message, "{lines}");
    }
}

#[test]
fn mistakes_between_blocks_are_shown_at_their_line() {
    for (text, message) in [
        (
            "",
            "line 1, column 1: found the end of the text, expected `num_ranks`; \
             begin with the number of ranks, such as `num_ranks 8`",
        ),
        (
            "num_rank 2",
            "line 1, column 1: found `num_rank`, expected `num_ranks`; write `num_ranks`",
        ),
        (
            "num_ranks 0",
            "line 1, column 11: found `0`, expected the number of ranks from 1 to 1048576; \
             write it with digits alone",
        ),
        (
            "num_ranks 99999999",
            "line 1, column 11: found `99999999`, expected the number of ranks from 1 to 1048576; \
             write it with digits alone",
        ),
        (
            "num_ranks 2\nrank 2 {\n}",
            "line 2, column 6: found `2`, expected a rank from 0 to 1; the text begins with `num_ranks 2`",
        ),
        (
            "num_ranks 2\nrank 1 {\n}\nrank 1 {\n}",
            "line 4, column 6: found a second block of rank 1, expected one; \
             join it with the first one, on line 2",
        ),
        (
            "num_ranks 2\nrank 1 {\ncalc 5\n",
            "line 2, column 1: found a block of rank 1 that does not end; end it with `}`",
        ),
        (
            "num_ranks 2\nrank 1\ncalc 5\n",
            "line 3, column 1: found `calc`, expected `{`; write a block as `rank 0 { ... }`",
        ),
        (
            "num_ranks 2\nl1: calc 5",
            "line 2, column 1: found `l1`, expected `rank`: an operation belongs to a rank; \
             put it into the block of a rank, `rank 0 { ... }`",
        ),
        (
            "num_ranks 2\nrank 0 {\n}\nsend 8b to 1",
            "line 4, column 1: found `send`, expected `rank`: an operation belongs to a rank; \
             put it into the block of a rank, `rank 0 { ... }`",
        ),
        (
            "num_ranks 2\nrank 0 {\n}\n}",
            "line 4, column 1: found `}`, expected `rank`: no block is open; \
             remove it, or add the `rank R {` that it ends",
        ),
        (
            "num_ranks 2\nrank 0 {\n}\nthe end",
            "line 4, column 1: found `the`, expected `rank`; only blocks of ranks may follow",
        ),
        (
            "num_ranks 2\nränk 0 {\n}",
            "line 2, column 1: found `r`, expected `rank`; only blocks of ranks may follow",
        ),
    ] {
        assert_eq!(read(text).unwrap_err().to_string(), message, "{text}");
    }
}

#[test]
fn no_text_is_too_odd() {
    for end in 0..SAMPLE.len() {
        let _ = read(&SAMPLE[..end]);
        let _ = read(&SAMPLE[end..]);
        let without = [&SAMPLE[..end], &SAMPLE[end + 1..]].concat();
        let _ = read(&without);
        for odd in ["\0", "\n", "}", "{", ":", "-", "/*", "é", "9999999999999999999999", " ", "l1 "]
        {
            let _ = read(&[&SAMPLE[..end], odd, &SAMPLE[end..]].concat());
            let _ = read(&[&SAMPLE[..end], odd, &SAMPLE[end + 1..]].concat());
        }
    }
}

#[test]
fn algorithms_are_written_and_read() {
    let bytes = Bytes::new(100);
    for operation in [
        Operation::AllToAll { algorithm: AllToAll::PAIRWISE, size: bytes },
        Operation::AllReduce { algorithm: AllReduce::Rabenseifner {}, size: bytes, combine: None },
    ] {
        let schedule = operation.collective(13).unwrap().schedule;
        assert_eq!(read(&write(&schedule).to_string()).unwrap().schedule, schedule);
    }
}

#[test]
fn text_is_plain() {
    let mut builder = Builder::new(3);
    let computed = builder.compute(Rank(2), Time::from_ps(1));
    let sent = builder.send(Rank(2), Rank(0), Tag(0), 8);
    builder.after(Rank(2), computed, sent);
    builder.add(Rank(0), receive(None, None, 8, 1));
    let schedule = builder.finish().unwrap();
    assert_eq!(
        write(&schedule).to_string(),
        "num_ranks 3\nrank 0 {\nl1: recv 8b from -1 tag -1 cpu 1\n}\n\
         rank 2 {\nl1: calc 1\nl2: send 8b to 0\nl1 requires l2\n}\n"
    );
}

prop_compose! {
    /// An operation of a rank, of so many.
    fn op(rank: u32, ranks: u32, rails: bool)(
        kind in 0..4,
        (other, tag, bytes) in (1..ranks, 0..4u32, any::<u32>()),
        (any_source, any_tag, ns) in (any::<bool>(), any::<bool>(), 0..1_000_000u64),
        (cpu, nic) in (0..3u16, 0..3u16),
    ) -> Op {
        let other = (rank + other) % ranks;
        let from = (!any_source).then_some(other);
        let op = match kind {
            0 => send(other, tag, bytes, cpu),
            1 => receive(from, (!any_tag).then_some(tag), bytes, cpu),
            2 => Op { step: Step::Get { from: Rank(other), bytes }, cpu: 0, nic: None },
            _ => return calc(ns, cpu),
        };
        Op { nic: rails.then_some(nic), ..op }
    }
}

/// Operations of each rank, with needs by turns: each waits only for what has an earlier turn.
fn schedules() -> impl Strategy<Value = Schedule> {
    (2..6u32, any::<bool>()).prop_flat_map(|(ranks, rails)| {
        let of_rank = move |rank| {
            prop::collection::vec(op(rank, ranks, rails), 0..8).prop_flat_map(|ops| {
                let count = ops.len().max(1);
                let need = (0..count, 0..count, any::<bool>());
                let turns = Just((0..ops.len()).collect::<Vec<_>>()).prop_shuffle();
                (Just(ops), turns, prop::collection::vec(need, 0..12))
            })
        };
        (0..ranks).map(of_rank).collect::<Vec<_>>().prop_map(|all| {
            let mut builder = Builder::new(all.len() as u32);
            for (rank, (ops, turns, needs)) in (0..).map(Rank).zip(all) {
                for &op in &ops {
                    builder.add(rank, op);
                }
                for (one, other, done) in needs {
                    let (Some(&a), Some(&b)) = (turns.get(one), turns.get(other)) else { continue };
                    let when = if done { When::Done } else { When::Started };
                    if one > other {
                        let need = Need { op: OpId(b as u32), when };
                        builder.need(rank, OpId(a as u32), need);
                    }
                }
            }
            builder.finish().unwrap()
        })
    })
}

proptest! {
    #[test]
    fn what_is_written_reads_back(schedule in schedules()) {
        let text = write(&schedule).to_string();
        prop_assert_eq!(read(&text).map(|goal| goal.schedule), Ok(schedule));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "(num_ranks 3\n)?([a-z0-9:{}/* \n-]|rank 1 [{]\n|l1: calc 5|requires){0,40}") {
        let _ = read(&text);
    }
}
