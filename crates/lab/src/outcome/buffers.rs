//! What every memory of a switch did.

use crosstie_sim::network::{Blueprint, BufferPlace, BufferTally};
use crosstie_study::{BufferRow, Point};
use crosstie_units::Time;

/// The memories that have had to do with anything.
pub(super) fn rows(
    point: &Point,
    blueprint: &dyn Blueprint,
    buffers: &[BufferTally],
    time: Time,
) -> Vec<BufferRow> {
    let used = buffers.iter().filter(|buffer| buffer.taken + buffer.dropped > 0);
    let row = |buffer: &BufferTally| BufferRow {
        point: point.index,
        place: match buffer.place {
            BufferPlace::Switch(switch) => blueprint.switch_name(switch),
            BufferPlace::Input(channel) => format!("behind {}", blueprint.channel_name(channel)),
            BufferPlace::Output(channel) => format!("before {}", blueprint.channel_name(channel)),
        },
        capacity: buffer.capacity,
        unit: if buffer.in_bytes { "bytes" } else { "frames" }.to_owned(),
        peak: buffer.peak,
        taken: buffer.taken,
        dropped: buffer.dropped,
        full: buffer.full.ps() as f64 / time.ps().max(1) as f64,
    };
    used.map(row).collect()
}
