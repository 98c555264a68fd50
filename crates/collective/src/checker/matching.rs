//! Which receive takes which message: same ranks, same tag, in the order in which they are posted.

use super::{Fault, order};
use crate::{Block, Collective, OpId, Rank, Step, Tag};

/// One end of a message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    /// Receiver, sender and tag.
    key: (u32, u32, u32),
    /// When its rank posts it.
    turn: u32,
    place: u32,
}

/// For each operation the place of the other end of its message; computations have none.
pub(super) fn peers(collective: &Collective) -> Result<Vec<u32>, Fault> {
    let Collective { schedule, cargo, .. } = collective;
    let (mut sends, mut receives) = (Vec::new(), Vec::new());
    for rank in (0..schedule.ranks()).map(Rank) {
        let turns = order::turns(schedule, rank);
        for ((place, op), turn) in schedule.places(rank).zip(schedule.ops(rank)).zip(turns) {
            let id = OpId((place - schedule.places(rank).start) as u32);
            let place = place as u32;
            match op.step {
                Step::Send { to, .. } if to == rank || to.0 >= schedule.ranks() => {
                    return Err(Fault::NoSuchReceiver { rank, op: id, to });
                }
                Step::Send { to, tag, .. } => {
                    sends.push(End { key: (to.0, rank.0, tag.0), turn, place });
                }
                Step::Receive { from: Some(from), tag: Some(tag), .. } => {
                    receives.push(End { key: (rank.0, from.0, tag.0), turn, place });
                }
                Step::Receive { .. } => return Err(Fault::Anything { rank, op: id }),
                Step::Get { .. } => return Err(Fault::Gets { rank, op: id }),
                Step::Compute { .. } => {}
            }
        }
    }
    sends.sort_unstable();
    receives.sort_unstable();
    let first = |place: u32| cargo.blocks(place as usize).first().copied();
    let id = |rank: u32, place: u32| OpId(place - schedule.places(Rank(rank)).start as u32);
    let mut peers = vec![u32::MAX; schedule.all().len()];
    let (mut sent, mut received) = (sends.iter().peekable(), receives.iter().peekable());
    let mut last: Option<(&End, &End)> = None;
    loop {
        let alone = match (sent.peek(), received.peek()) {
            (None, None) => return Ok(peers),
            (Some(send), Some(receive)) => send.key.cmp(&receive.key),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
        };
        if alone.is_gt() {
            let End { key: (rank, from, tag), place, .. } = **received.peek().expect("it is there");
            let (op, block) = (id(rank, place), first(place));
            let (rank, from, tag) = (Rank(rank), Rank(from), Tag(tag));
            return Err(Fault::ReceiveAlone { rank, op, block, from, tag });
        }
        let send = sent.next().expect("it is there");
        let End { key: (to, from, tag), place, .. } = *send;
        if alone.is_lt() {
            let (op, block) = (id(from, place), first(place));
            let (rank, to, tag) = (Rank(from), Rank(to), Tag(tag));
            return Err(Fault::SendAlone { rank, op, block, to, tag });
        }
        let receive = received.next().expect("it is there");
        fits(collective, send, receive)?;
        if let Some((before, taken)) = last.filter(|(before, _)| before.key == send.key) {
            distinct(collective, Rank(from), before, send)?;
            distinct(collective, Rank(to), taken, receive)?;
        }
        last = Some((send, receive));
        peers[send.place as usize] = receive.place;
        peers[receive.place as usize] = send.place;
    }
}

/// Refuses a receive that is too short for its message, or expects other blocks.
fn fits(collective: &Collective, send: &End, receive: &End) -> Result<(), Fault> {
    let Collective { schedule, cargo, .. } = collective;
    let (sent, received) = (send.place as usize, receive.place as usize);
    let (rank, sender) = (Rank(send.key.0), Rank(send.key.1));
    let op = OpId((received - schedule.places(rank).start) as u32);
    let (carried, expected) = (cargo.blocks(sent), cargo.blocks(received));
    if let (Step::Send { bytes: sent, .. }, Step::Receive { bytes, .. }) =
        (schedule.all()[sent].step, schedule.all()[received].step)
        && sent > bytes
    {
        let block = expected.first().copied();
        return Err(Fault::TooShort { rank, op, block, bytes, sent });
    }
    if carried == expected {
        return Ok(());
    }
    let at = |blocks: &[Block], index: usize| blocks.get(index).copied();
    let differs = |&index: &usize| at(carried, index) != at(expected, index);
    let index = (0..).find(differs).expect("they differ");
    let (expected, found) = (at(expected, index), at(carried, index));
    let sender_op = OpId((sent - schedule.places(sender).start) as u32);
    Err(Fault::OtherBlock { rank, op, expected, sender, sender_op, found })
}

/// Refuses two ends of messages that look alike, carry something else and may change places.
fn distinct(collective: &Collective, rank: Rank, one: &End, other: &End) -> Result<(), Fault> {
    let Collective { schedule, cargo, .. } = collective;
    let blocks = |end: &End| cargo.blocks(end.place as usize);
    let first = schedule.places(rank).start;
    let op = |end: &End| OpId((end.place as usize - first) as u32);
    if blocks(one) == blocks(other) || order::starts_before(schedule, rank, op(one), op(other)) {
        return Ok(());
    }
    let block = blocks(other).first().copied();
    Err(Fault::Alike { rank, one: op(one), other: op(other), block })
}
