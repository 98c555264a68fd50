//! The global window of an exchange on a two-level network [tam, 6.1].

use serde::{Deserialize, Serialize};

/// How the size of the global window follows from the buffer B_L of the bottleneck.
///
/// With nu packets to an uplink in a step, on average:
///
/// | reading | W_g |
/// |---|---|
/// | `floor` | floor(B_L / 2 nu): each packet is counted with its acknowledgement |
/// | `published` | the same, where both divisions truncate as those of integers in C do |
/// | `data` | floor(B_L / nu): without acknowledgements |
///
/// `published` reproduces the values that Tam used; `floor` is at most that.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// floor(B_L / 2 nu).
    #[default]
    Floor,
    /// B_L / (2 (p - d_1) d_1 / (p - 1)) in integers.
    Published,
    /// floor(B_L / nu).
    Data,
}

/// Packets that each switch sends to others in a step of an exchange, on average, as a fraction:
/// nu = (p - d_1) d_1 / (p - 1) \[tam, 6.1\]. On a single switch, the one packet of a step for each
/// of its ports.
///
/// # Panics
/// If there are fewer than two ranks, or none at a switch.
pub fn crossing(ranks: u32, per_switch: u32) -> (u64, u64) {
    assert!(ranks >= 2 && per_switch >= 1, "an exchange has two ranks, and switches have hosts");
    let (ranks, here) = (u64::from(ranks), u64::from(per_switch));
    match ranks.saturating_sub(here) {
        0 => (1, 1),
        remote => (remote * here, ranks - 1),
    }
}

/// The global window W_g: how many packets each rank may have outstanding so that the buffer of the
/// bottleneck, of so many packets, holds those that meet there. At least 1.
///
/// # Panics
/// As [`crossing`] does.
pub fn global_window(ranks: u32, per_switch: u32, buffer: u32, reading: Reading) -> u32 {
    let (packets, steps) = crossing(ranks, per_switch);
    let buffer = u64::from(buffer);
    let window = match reading {
        Reading::Floor => buffer * steps / (2 * packets),
        Reading::Published => buffer / (2 * packets / steps).max(1),
        Reading::Data => buffer * steps / packets,
    };
    u32::try_from(window).unwrap_or(u32::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The configurations of Tam, chapter 6, by hosts at a switch and switches.
    const CONFIGURATIONS: [(u32, u32); 4] = [(8, 2), (8, 3), (6, 4), (8, 4)];

    fn windows(reading: Reading) -> [u32; 4] {
        CONFIGURATIONS.map(|(here, switches)| global_window(here * switches, here, 45, reading))
    }

    #[test]
    fn windows_are_those_of_chapter_6() {
        assert_eq!(windows(Reading::Data), [10, 8, 9, 7]);
        assert_eq!(windows(Reading::Floor), [5, 4, 4, 3]);
        assert_eq!(windows(Reading::Published), [5, 4, 5, 3]);
        assert_eq!(global_window(16, 4, 30, Reading::Data), 9);
    }

    #[test]
    fn a_single_switch_has_the_buffer_of_a_port() {
        assert_eq!(global_window(16, 16, 43, Reading::Data), 43);
        assert_eq!(global_window(16, 16, 43, Reading::Floor), 21);
        assert_eq!(global_window(16, 16, 43, Reading::Published), 21);
    }

    #[test]
    fn something_may_always_be_outstanding() {
        for reading in [Reading::Floor, Reading::Published, Reading::Data] {
            assert_eq!(global_window(1024, 32, 1, reading), 1);
            assert_eq!(global_window(2, 1, 0, reading), 1);
        }
    }

    #[test]
    fn crossing_is_what_equation_6_1_says() {
        for ((here, switches), nu) in CONFIGURATIONS.into_iter().zip([4.267, 5.565, 4.696, 6.194]) {
            let (packets, steps) = crossing(here * switches, here);
            assert!((packets as f64 / steps as f64 - nu).abs() < 5e-4);
        }
    }
}
