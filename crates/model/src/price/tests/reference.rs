//! The rules of prices, slow and plain: at every instant everybody is asked again.

use super::*;
use crate::Cut;
use crosstie_collective::When;
use std::collections::BTreeSet;

#[derive(Clone, Copy, Default)]
struct Done {
    came: Option<Time>,
    start: Option<Time>,
    end: Option<Time>,
}

struct Flight {
    send: usize,
    to: usize,
    cut: Cut,
    handed: Time,
    first: Time,
    ready: Option<Time>,
    came: Option<Time>,
    end: Option<Time>,
}

impl Flight {
    /// When its last packet is delivered, and received by somebody who has nothing else to do:
    /// packet by packet.
    fn taken(&self, begin: Time) -> (Time, Time) {
        let Cut { packets, full, last } = self.cut;
        let mut taken = (Time::ZERO, Time::ZERO);
        for number in 0..packets {
            let packet = if number + 1 < packets { full } else { last };
            let there = self.handed + full.departure() * number + packet.latency;
            let (delivered, received) = taken;
            let turn = if number == 0 { begin } else { delivered + packet.receive_gap };
            let delivered = there.max(turn);
            taken = (delivered, delivered.max(received) + packet.receive);
        }
        taken
    }
}

/// When each operation is done, if every rank has one processor and one NIC, and no two messages
/// have the same tag.
pub(super) fn ends(schedule: &Schedule, on: &Parameters) -> Vec<Time> {
    let ranks = schedule.ranks() as usize;
    let count = schedule.all().len();
    let owner = |place: usize| {
        (0..ranks).find(|&rank| schedule.places(Rank(rank as u32)).contains(&place)).unwrap()
    };
    let cut = |bytes: u32| Cut::new(on, bytes.into(), schedule.ranks());
    let past = |time: Option<Time>, now: Time| time.is_some_and(|time| time <= now);
    let mut ops = vec![Done::default(); count];
    let mut flights: Vec<Flight> = Vec::new();
    let (mut cpu, mut out) = (vec![Time::ZERO; ranks], vec![Time::ZERO; ranks]);
    let mut into: Vec<Option<Time>> = vec![None; ranks];
    let mut instants = BTreeSet::from([Time::ZERO]);
    while let Some(now) = instants.pop_first() {
        loop {
            let mut changed = false;
            // Who may go on?
            for place in 0..count {
                let first = schedule.places(Rank(owner(place) as u32)).start;
                let met = |need: &crosstie_collective::Need| {
                    let other = ops[first + need.op.0 as usize];
                    past(if need.when == When::Done { other.end } else { other.start }, now)
                };
                if ops[place].came.is_none() && schedule.needs(place).iter().all(met) {
                    (ops[place].came, changed) = (Some(now), true);
                    if let Step::Receive { .. } = schedule.all()[place].step {
                        ops[place].start = Some(now);
                    }
                }
                if let Step::Receive { tag, .. } = schedule.all()[place].step
                    && ops[place].came.is_some()
                    && ops[place].end.is_none()
                {
                    let sent = |flight: &Flight| match schedule.all()[flight.send].step {
                        Step::Send { tag: found, .. } => Some(found) == tag,
                        _ => false,
                    };
                    if flights.iter().any(|flight| sent(flight) && past(flight.end, now)) {
                        (ops[place].end, changed) = (Some(now), true);
                    }
                }
            }
            // What is there?
            flights.sort_by_key(|flight| (flight.first, flight.send));
            for flight in &mut flights {
                if flight.ready.is_none() && flight.first <= now {
                    let gap = flight.cut.first().receive_gap;
                    let begin = into[flight.to].map_or(now, |last| now.max(last + gap));
                    let (last, end) = flight.taken(begin);
                    into[flight.to] = Some(last);
                    flight.ready = Some(end - flight.cut.sum(|packet| packet.receive));
                    instants.extend(flight.ready);
                    changed = true;
                }
                if flight.came.is_none() && past(flight.ready, now) {
                    (flight.came, changed) = (Some(now), true);
                }
            }
            if changed {
                continue;
            }
            // Who starts?
            for rank in 0..ranks {
                if cpu[rank] > now {
                    continue;
                }
                let waits =
                    |place: &usize| ops[*place].came.is_some() && ops[*place].start.is_none();
                let mine = || schedule.places(Rank(rank as u32)).filter(waits);
                let sends =
                    |place: &usize| matches!(schedule.all()[*place].step, Step::Send { .. });
                let send = mine().filter(sends).min_by_key(|&place| ops[place].came);
                let able = |place: &usize| match schedule.all()[*place].step {
                    Step::Send { bytes, .. } => {
                        Some(*place) == send && out[rank] <= now + cut(bytes).first().send
                    }
                    _ => true,
                };
                if let Some(place) = mine().filter(able).min_by_key(|&place| ops[place].came) {
                    ops[place].start = Some(now);
                    changed = true;
                    let end = match schedule.all()[place].step {
                        Step::Compute { time } => now + time,
                        Step::Send { to, bytes, .. } => {
                            let cut = cut(bytes);
                            let handed = now + cut.first().send;
                            let every = cut.full.departure();
                            out[rank] = handed + cut.spread(every, every) + cut.last.send_gap;
                            instants.extend((0..count).filter_map(|place| {
                                match schedule.all()[place].step {
                                    Step::Send { bytes, .. } => {
                                        let lead = Cut::new(on, bytes.into(), schedule.ranks());
                                        let lead = lead.first().send.ps();
                                        Some(Time::from_ps(out[rank].ps().saturating_sub(lead)))
                                    }
                                    _ => None,
                                }
                            }));
                            let first = handed + cut.first().latency;
                            instants.insert(first);
                            let to = to.0 as usize;
                            let (ready, came, end) = (None, None, None);
                            flights.push(Flight {
                                send: place,
                                to,
                                cut,
                                handed,
                                first,
                                ready,
                                came,
                                end,
                            });
                            now + cut.sum(|packet| packet.send)
                        }
                        Step::Get { .. } => unreachable!("what has gets has no price"),
                        Step::Receive { .. } => unreachable!("it has started"),
                    };
                    (ops[place].end, cpu[rank]) = (Some(end), end);
                    instants.insert(end);
                    continue;
                }
                let waits = |flight: &&mut Flight| {
                    flight.to == rank && flight.came.is_some() && flight.end.is_none()
                };
                if let Some(flight) =
                    flights.iter_mut().filter(waits).min_by_key(|f| (f.came, f.send))
                {
                    let end = now + flight.cut.sum(|packet| packet.receive);
                    (flight.end, cpu[rank], changed) = (Some(end), end, true);
                    instants.insert(end);
                }
            }
            if !changed {
                break;
            }
        }
        instants = instants.split_off(&(now + Time::from_ps(1)));
    }
    ops.into_iter().map(|op| op.end.unwrap()).collect()
}
