//! What Ethernet adds to what a frame carries, in bytes.

/// Before a frame: preamble and start delimiter.
pub const PREAMBLE: u32 = 8;
/// Addresses and type.
pub const HEADER: u32 = 14;
/// The least that a frame carries; less is padded.
pub const MINIMUM: u32 = 46;
/// The check sequence.
pub const CHECK: u32 = 4;
/// What a link pauses behind a frame.
pub const PAUSE: u32 = 12;

/// What a frame carries, padded.
pub const fn padded(bytes: u32) -> u32 {
    if bytes < MINIMUM { MINIMUM } else { bytes }
}

/// From the first bit of the preamble to the last of the header.
pub const HEAD: u32 = PREAMBLE + HEADER;

/// From the first bit of the preamble to the last of the check sequence.
pub const fn whole(bytes: u32) -> u32 {
    HEAD + padded(bytes) + CHECK
}

/// From the first bit of a frame to the first of the next: g_th [tam, 3.2.1].
pub const fn occupied(bytes: u32) -> u32 {
    whole(bytes) + PAUSE
}

/// What a frame fills of the memory of a switch.
pub const fn stored(bytes: u32) -> u32 {
    HEADER + padded(bytes) + CHECK
}
