use super::*;
use crate::testing::drawn;
use crate::{Cost, Cut};
use crosstie_collective::algorithm::AllReduce;
use crosstie_collective::{Need, When};
use crosstie_units::{Seed, Stream};

/// An operation of a random schedule, and for receives who sends.
struct Drawn {
    rank: Rank,
    id: OpId,
    step: Step,
    needs: Vec<Need>,
    /// Of a receive: the number of the send.
    send: Option<usize>,
}

/// A schedule that ends: whoever waits waits for what was drawn before. No two operations share a
/// processor.
fn random(stream: &mut Stream, apart: bool) -> (Schedule, Vec<Drawn>) {
    let ranks = 2 + stream.below(5);
    let mut builder = Builder::new(ranks as u32);
    let mut all: Vec<Drawn> = Vec::new();
    let mut add = |stream: &mut Stream, rank: Rank, step: Step, send: Option<usize>| {
        let cpu = if apart { all.len() as u16 } else { 0 };
        let id = builder.add(rank, Op { step, cpu, nic: None });
        let earlier: Vec<OpId> = all.iter().filter(|op| op.rank == rank).map(|op| op.id).collect();
        let mut needs = Vec::new();
        for _ in 0..stream.below(3).min(earlier.len() as u64) {
            let op = earlier[stream.below(earlier.len() as u64) as usize];
            let when = if stream.chance(0.3) { When::Started } else { When::Done };
            needs.push(Need { op, when });
        }
        needs.iter().for_each(|&need| builder.need(rank, id, need));
        all.push(Drawn { rank, id, step, needs, send });
        all.len() - 1
    };
    for tag in 0..3 + stream.below(30) as u32 {
        let rank = Rank(stream.below(ranks) as u32);
        if stream.chance(0.3) {
            let time = Time::from_ps(stream.below(9_000_000));
            add(stream, rank, Step::Compute { time }, None);
            continue;
        }
        let to = Rank((rank.0 + 1 + stream.below(ranks - 1) as u32) % ranks as u32);
        let bytes = 1 + stream.below(if apart { 100 } else { 5000 }) as u32;
        let send = add(stream, rank, Step::Send { to, tag: Tag(tag), bytes }, None);
        let step = Step::Receive { from: Some(rank), tag: Some(Tag(tag)), bytes };
        add(stream, to, step, Some(send));
    }
    (builder.finish().unwrap(), all)
}

/// When everything is done if nobody waits for a processor or a NIC: the longest path.
fn longest_path(all: &[Drawn], on: &Parameters, nodes: u32) -> Time {
    let (mut start, mut end) = (Vec::new(), Vec::new());
    for op in all {
        let ready = op.needs.iter().map(|need| {
            let met = |other: &Drawn| (other.rank, other.id) == (op.rank, need.op);
            let place = all.iter().position(met).unwrap();
            if need.when == When::Done { end[place] } else { start[place] }
        });
        let ready = ready.max().unwrap_or(Time::ZERO);
        start.push(ready);
        end.push(match (op.step, op.send) {
            (Step::Compute { time }, _) => ready + time,
            (Step::Get { .. }, _) => unreachable!("none is drawn"),
            (Step::Receive { bytes, .. }, Some(send)) => {
                let packet = Cut::new(on, bytes.into(), nodes).last;
                ready.max(start[send] + packet.send + packet.latency + packet.receive)
            }
            (Step::Send { bytes, .. }, _) => ready + Cut::new(on, bytes.into(), nodes).last.send,
            (Step::Receive { .. }, None) => unreachable!("every receive has a send"),
        });
    }
    end.into_iter().max().unwrap()
}

#[test]
fn without_gaps_the_longest_path_decides() {
    for case in 0..2000 {
        let mut stream = Seed(7).stream("paths", case);
        let mut on = drawn(&mut stream);
        (on.send_gap, on.receive_gap) = (Cost::default(), Cost::default());
        // Sends of several processors would wait for each other at the NIC if one had a longer
        // lead.
        on.send.byte = Time::ZERO;
        let (schedule, all) = random(&mut stream, true);
        let expected = longest_path(&all, &on, schedule.ranks());
        assert_eq!(priced(&schedule, &on).time, expected, "case {case}");
    }
}

/// With processors and NICs that many want at once.
#[test]
fn everybody_is_done_when_the_plain_rules_say() {
    for case in 0..1000 {
        let mut stream = Seed(9).stream("contention", case);
        let on = drawn(&mut stream);
        let (schedule, _) = random(&mut stream, false);
        let ends = reference::ends(&schedule, &on);
        let last = |rank| ends[schedule.places(Rank(rank))].iter().max().copied();
        let expected = (0..schedule.ranks()).map(|rank| last(rank).unwrap_or(Time::ZERO));
        let finish = priced(&schedule, &on).finish;
        assert_eq!(finish, expected.collect::<Vec<_>>(), "case {case}");
    }
}

/// Whatever the schedule, the critical path has no gap, and processors and NICs have time for what
/// they do.
#[test]
fn prices_are_sound() {
    let mut schedules = Vec::new();
    let mut stream = Seed(7).stream("schedules", 0);
    for _ in 0..300 {
        schedules.push(random(&mut stream, false).0);
    }
    for ranks in [2, 5, 8] {
        for algorithm in Broadcast::ALL {
            schedules.push(broadcast(algorithm, 10_000, ranks));
        }
        for algorithm in AllToAll::ALL {
            schedules.push(all_to_all(algorithm, 10_000, ranks));
        }
        for algorithm in AllReduce::ALL {
            let (size, combine) = (Bytes::new(10_000), Some("1 GB/s".parse().unwrap()));
            schedules.push(scheduled(Operation::AllReduce { algorithm, size, combine }, ranks));
        }
    }
    for schedule in schedules {
        let on = drawn(&mut stream);
        let Price { time, finish, path, shares, .. } = priced(&schedule, &on);
        let mut at = Time::ZERO;
        for stretch in &path {
            assert!(stretch.from == at && stretch.to > at, "{path:?}");
            at = stretch.to;
        }
        assert_eq!((at, finish.iter().max()), (time, Some(&time)));
        assert_eq!(shares.host + shares.gap + shares.wire + shares.compute, time);
        let mut busy = vec![Time::ZERO; schedule.ranks() as usize];
        let mut out = busy.clone();
        for rank in (0..schedule.ranks()).map(Rank) {
            for op in schedule.ops(rank) {
                let me = rank.0 as usize;
                match op.step {
                    Step::Compute { time } => busy[me] = busy[me] + time,
                    Step::Send { bytes, to, .. } => {
                        let cut = Cut::new(&on, bytes.into(), schedule.ranks());
                        busy[me] = busy[me] + cut.sum(|packet| packet.send);
                        let there = to.0 as usize;
                        busy[there] = busy[there] + cut.sum(|packet| packet.receive);
                        out[me] = out[me] + cut.spread(cut.full.send_gap, cut.full.send_gap);
                    }
                    Step::Receive { .. } | Step::Get { .. } => {}
                }
            }
        }
        assert!(busy.into_iter().chain(out).all(|busy| busy <= time));
    }
}
