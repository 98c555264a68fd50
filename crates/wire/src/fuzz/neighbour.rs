//! A rank whose only peer is on the same machine, and writes into its memory what it likes.
//!
//! It must not make the rank panic, write beside the memory of a message, or keep more than a
//! bounded number of bytes or answers for it.

use crosstie_protocol::PolicyKind;
use crosstie_protocol::message::{Class, Envelope, Tag};
use crosstie_units::Time;

use super::Decisions;
use super::pair::{choose, ms, spec};
use super::peer::words;
use crate::bare::{Bare, BareRequest};
use crate::envelope;
use crate::memory::Memory;

const MOST_HAPPENINGS: usize = 400;

/// Runs a rank against the records that the bytes write.
pub fn neighbour(bytes: &[u8]) {
    let mut decisions = Decisions::new(bytes);
    let (_, channel, eager) = choose(&mut decisions, 1);
    let Some((own, mut peer)) = memories() else { return };
    let policies = PolicyKind::recommended().policies(2, 1).expect("it fits");
    let mut rank = Bare::beside(spec(0, channel, eager), &policies, own).expect("it fits");
    let mut requests: Vec<BareRequest> = Vec::new();
    let (mut now, mut asked) = (Time::ZERO, 0);
    for _ in 0..MOST_HAPPENINGS {
        if decisions.is_empty() {
            break;
        }
        match decisions.byte() {
            0..24 => {
                let size = usize::from(decisions.byte()) * usize::from(decisions.byte());
                requests.push(rank.send(now, 1, tag(&mut decisions), &vec![7; size]));
                asked += 1;
            }
            24..48 => {
                let size = usize::from(decisions.byte()) * usize::from(decisions.byte());
                let tag = Some(tag(&mut decisions)).filter(|tag| tag.0 < 2);
                requests.push(rank.receive(now, Some(1), tag, size));
                asked += 1;
            }
            48..56 => now = now + ms(1 + u64::from(decisions.byte())),
            // The peer reads what it is told, as an honest one would.
            56..72 => _ = peer.poll(&mut |_, _| {}),
            choice => {
                let record = record(choice, &mut decisions);
                // The same many times over, since a rank may keep something for each.
                let times = if choice > 240 { 100 } else { 1 };
                (0..times).for_each(|_| _ = peer.push(0, &[&record]));
            }
        }
        now = now + Time::from_ns(20_000);
        rank.progress(now);
        requests.retain(|&request| rank.outcome(request).is_none());
        let most = rank.most_kept();
        assert!(rank.kept() <= most, "{} bytes are kept, not {most}", rank.kept());
        let most = 2 * asked + 64;
        assert!(rank.backlog() <= most, "{} answers wait, not {most}", rank.backlog());
    }
}

/// The memory of two ranks; `None` where there is no room for it.
fn memories() -> Option<(Memory, Memory)> {
    const RING: usize = 64 << 10;
    let mut own = Memory::with_rings(0, 2, RING).ok()?;
    let mut peer = Memory::with_rings(1, 2, RING).ok()?;
    own.connect(1, peer.name()).ok()?;
    peer.connect(0, own.name()).ok()?;
    own.unlink();
    peer.unlink();
    Some((own, peer))
}

fn tag(decisions: &mut Decisions<'_>) -> Tag {
    Tag(decisions.one_of(3) as u32)
}

/// A record: an envelope, an address, a piece, that something was read, or anything.
fn record(choice: u8, decisions: &mut Decisions<'_>) -> Vec<u8> {
    let kind = choice % 5;
    let mut record = vec![kind];
    match kind {
        0 => {
            let number = Some(decisions.number()).filter(|_| decisions.byte() > 64);
            let body = words(decisions);
            let class = Class::ALL[decisions.one_of(Class::ALL.len())];
            record.extend(&envelope::encode(&Envelope { class, number, body })[..]);
            record.extend(vec![choice; usize::from(decisions.byte()) * 8]);
        }
        1 => {
            record.extend(decisions.number().to_le_bytes());
            record.extend(decisions.number().to_le_bytes());
            // Bytes of our own, or whatever is at some address.
            let address = match decisions.byte() {
                0..128 => HERE.as_ptr() as u64,
                any => u64::from(any) << 40 | u64::from(decisions.number()),
            };
            record.extend(address.to_le_bytes());
            record.extend(u64::from(decisions.number()).to_le_bytes());
        }
        2 => {
            record.extend(decisions.number().to_le_bytes());
            record.push(decisions.byte() & 1);
            record.extend(u64::from(decisions.number()).to_le_bytes());
            record.extend(vec![choice; usize::from(decisions.byte())]);
        }
        3 => record.extend(decisions.number().to_le_bytes()),
        _ => {
            let count = decisions.one_of(40);
            record = decisions.bytes(count).to_vec();
        }
    }
    record
}

/// What an address can lead to.
static HERE: [u8; 1 << 12] = [0x5a; 1 << 12];
