//! How many packets wait in the router.
//!
//! A packet waits from when it could be at the receiver until it is delivered. Between the first
//! and the last packet of a message they come and go at an even pace, so that the number of those
//! that wait changes its slope only when a message begins or ends: there the peaks are.

use super::Congestion;
use super::engine::{Log, Message};
use crate::{Architecture, Buffer};
use crosstie_collective::Rank;
use crosstie_units::Time;

/// From a time on so many packets more wait at a port, and from then on so many more in every
/// picosecond.
struct Change {
    port: u32,
    at: u64,
    jump: f64,
    slope: f64,
}

/// Where most packets wait, if they are more than the buffer keeps.
pub(super) fn overflow(log: &Log, buffer: Buffer) -> Option<Congestion> {
    let Buffer { architecture, frames } = buffer;
    let port = |message: &Message| match architecture {
        Architecture::Input => message.from.0,
        Architecture::Output => message.to.0,
        Architecture::Shared => 0,
    };
    let mut changes = Vec::new();
    let waits = |message: &&Message| message.begin > message.first || message.last > message.alone;
    for message in log.messages.iter().filter(waits) {
        let packets = message.cut.packets;
        flow(&mut changes, port(message), 1.0, packets, message.first, message.alone);
        flow(&mut changes, port(message), -1.0, packets, message.begin, message.last);
    }
    changes.sort_by_key(|change| (change.port, change.at));
    let (peak, port, at) = peak(&changes)?;
    (peak > u64::from(frames)).then_some(Congestion {
        architecture,
        port: (architecture != Architecture::Shared).then_some(Rank(port)),
        at: Time::from_ps(at),
        peak,
        frames,
    })
}

/// Packets from a first to a last time, which come or go.
fn flow(changes: &mut Vec<Change>, port: u32, sign: f64, packets: u64, first: Time, last: Time) {
    let behind = (packets - 1) as f64;
    if first == last {
        return changes.push(Change {
            port,
            at: first.ps(),
            jump: sign * (1.0 + behind),
            slope: 0.0,
        });
    }
    let slope = sign * behind / (last - first).ps() as f64;
    changes.push(Change { port, at: first.ps(), jump: sign, slope });
    changes.push(Change { port, at: last.ps(), jump: 0.0, slope: -slope });
}

/// The most that wait at any port, where and when.
fn peak(changes: &[Change]) -> Option<(u64, u32, u64)> {
    let mut most: Option<(f64, u32, u64)> = None;
    for port in changes.chunk_by(|a, b| a.port == b.port) {
        let (mut level, mut slope, mut at) = (0.0f64, 0.0f64, 0);
        for together in port.chunk_by(|a, b| a.at == b.at) {
            level += slope * (together[0].at - at) as f64;
            at = together[0].at;
            let before = level;
            level += together.iter().map(|change| change.jump).sum::<f64>();
            slope += together.iter().map(|change| change.slope).sum::<f64>();
            let here = before.max(level);
            if most.is_none_or(|(most, ..)| here > most) {
                most = Some((here, together[0].port, at));
            }
        }
    }
    // Sums of slopes are off by less than a hundredth of a packet.
    most.map(|(level, port, at)| ((level + 0.01).floor().max(0.0) as u64, port, at))
}
