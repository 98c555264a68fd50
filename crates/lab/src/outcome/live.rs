//! Rows of real ranks.

use super::iterations::{self, Beside};
use super::{Columns, Outcome, extend};
use crate::World;
use crate::live::{Found, Record, What, busy, disturbance, host_rows};
use crate::world::Task;
use crosstie_sim::host::Episode;
use crosstie_sim::premises::Carried;
use crosstie_sim::run::{Delivery, Played};
use crosstie_study::{Point, SideTables};
use crosstie_units::Time;
use crosstie_work::Rank;
use std::collections::{BTreeMap, VecDeque};

/// What ranks have found, or why they have not, and how many frames rails have dropped.
pub(super) fn of(
    point: &Point,
    world: &World,
    found: Result<Vec<Found>, String>,
    lost: Option<u64>,
) -> Outcome {
    let Task::Application { script, confidence, .. } = world.task() else {
        unreachable!("real ranks do closed-loop work only")
    };
    let (played, found) = match found {
        Ok(found) => (played(point, &found), found),
        Err(failure) => (Played { failure: Some(failure), ..Played::default() }, Vec::new()),
    };
    let resent: u64 = found.iter().map(|found| found.resent).sum();
    let loads: Vec<_> = found.iter().filter_map(|found| found.load.as_ref()).collect();
    let busy = busy(&loads);
    let mut columns = Columns::new();
    if !found.is_empty() {
        let lost = lost.map(|lost| lost as f64);
        extend(&mut columns, [("lost", lost), ("resent", Some(resent as f64)), ("busy", busy)]);
    }
    let notes = busy.and_then(disturbance).into_iter().collect();
    let beside = Beside { columns, notes };
    let outcome = iterations::of(point, world, script.as_ref(), *confidence, played, beside);
    let machines: Vec<_> = found.iter().map(|found| &found.machine).collect();
    let rates = world.plan().map_or(&[][..], |plan| &plan.rates);
    let hosts = host_rows(point.index, &machines, rates);
    Outcome { side: SideTables { hosts, ..outcome.side }, ..outcome }
}

/// What ranks have found, as if it had been simulated.
fn played(point: &Point, found: &[Found]) -> Played {
    let longest = found.iter().map(|found| found.iterations.len()).max().unwrap_or(0);
    // Each as long as for the rank for which it took longest.
    let took = |number: usize| {
        let took = found.iter().filter_map(|found| found.iterations.get(number));
        Time::from_ps(took.copied().max().unwrap_or(0))
    };
    let finish = found.iter().map(|found| Time::from_ps(found.finish));
    Played {
        iterations: (0..longest).map(took).collect(),
        time: finish.clone().max().unwrap_or(Time::ZERO),
        finished: (0..).map(Rank).zip(finish).collect(),
        bytes_per_iteration: found.first().map_or(0, |found| found.bytes_per_iteration),
        episodes: episodes(found),
        delivery: Delivery { carried: carried(point, found), ..Delivery::default() },
        ..Played::default()
    }
}

/// What competitors have got across, in their order.
fn carried(point: &Point, found: &[Found]) -> Vec<Carried> {
    let mut carried = vec![Carried::default(); point.spec.competitors.len()];
    for crossed in found.iter().flat_map(|found| &found.crossed) {
        if let Some(carried) = carried.get_mut(crossed.competitor as usize) {
            *carried = Carried { bytes: crossed.bytes, lost: crossed.lost };
        }
    }
    carried
}

/// Who did what when, in the order in which it ended. Of every message it is told when its receive
/// was done: the first one of two ranks with the same tag is taken by the first receive. Ranks have
/// begun together, but for what a barrier is off by.
fn episodes(found: &[Found]) -> Vec<Episode> {
    let mut taken: BTreeMap<(u32, u32, u32), VecDeque<u64>> = BTreeMap::new();
    for (rank, found) in (0..).zip(found) {
        for record in &found.records {
            if let What::Received { from: Some(from), tag: Some(tag) } = record.what {
                taken.entry((from, rank, tag)).or_default().push_back(record.end);
            }
        }
    }
    let mut episodes = Vec::new();
    for (rank, found) in (0..).zip(found) {
        for &Record { what, begin, end } in &found.records {
            let (message, there) = match what {
                What::Received { .. } => continue,
                What::Computed => (None, None),
                What::Sent { to, tag, bytes } => {
                    let ends = taken.get_mut(&(rank, to, tag));
                    (Some((Rank(to), bytes)), ends.and_then(VecDeque::pop_front))
                }
            };
            let (begin, left) = (Time::from_ps(begin), Time::from_ps(end));
            let end = there.map_or(left, |there| Time::from_ps(there).max(begin));
            let rank = Rank(rank);
            episodes.push(Episode { rank, message, begin, left: left.min(end), end });
        }
    }
    episodes.sort_by_key(|episode| episode.end);
    episodes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(records: &[Record]) -> Found {
        let found = serde_json::json!({
            "iterations": [], "finish": 0, "bytes_per_iteration": 0, "resent": 0, "crossed": [],
            "records": records,
            "machine": {"kernel": "", "cpu": "", "cores": 1, "clock": "", "devices": []},
            "load": null,
        });
        serde_json::from_value(found).unwrap()
    }

    #[test]
    fn messages_end_where_they_are_received() {
        let sent = |begin, end| {
            let what = What::Sent { to: 1, tag: 5, bytes: 9 };
            Record { what, begin, end }
        };
        let received = |tag, end| {
            let what = What::Received { from: Some(0), tag: Some(tag) };
            Record { what, begin: 0, end }
        };
        let computed = Record { what: What::Computed, begin: 1, end: 2 };
        // The second message was there before its sender knew that it had left; the third was never
        // received.
        let ranks = [
            found(&[sent(0, 10), sent(10, 40), computed, sent(50, 60)]),
            found(&[received(4, 5), received(5, 20), received(5, 30)]),
        ];
        let told: Vec<_> = episodes(&ranks)
            .into_iter()
            .map(|it| (it.message.is_some(), it.begin.ps(), it.left.ps(), it.end.ps()))
            .collect();
        assert_eq!(
            told,
            [(false, 1, 2, 2), (true, 0, 10, 20), (true, 10, 30, 30), (true, 50, 60, 60)]
        );
    }
}
