//! Windows and time-outs for many flows into one port [tam, 4.1 and 4.3.4].

use super::Architecture;
use crosstie_units::Time;
use std::f64::consts::E;

/// Whether packets are lost when so many senders begin together, each with a full window [tam,
/// 4.1]: at an input port if W > B_L, at an output port if W P > B_L. A shared buffer is taken for
/// an output port with all of it.
pub fn loses(architecture: Architecture, window: u32, senders: u32, frames: u32) -> bool {
    match architecture {
        Architecture::Input => window > frames,
        Architecture::Output | Architecture::Shared => {
            u64::from(window) * u64::from(senders) > u64::from(frames)
        }
    }
}

/// The largest window with which nothing is lost; 0 if even one packet of each sender is too much.
pub fn largest_window(architecture: Architecture, senders: u32, frames: u32) -> u32 {
    match architecture {
        Architecture::Input => frames,
        Architecture::Output | Architecture::Shared => frames / senders.max(1),
    }
}

/// A range of time-outs, in slots.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timeouts {
    /// The shortest. Where buffers are at the output it is itself too short by a hair.
    pub shortest: f64,
    /// The longest.
    pub longest: f64,
}

impl Timeouts {
    /// The same as times, if a slot takes g_r.
    pub fn times(&self, slot: Time) -> [Time; 2] {
        let time = |slots: f64| Time::from_ps((slots * slot.ps() as f64).ceil() as u64);
        [time(self.shortest), Time::from_ps((self.longest * slot.ps() as f64) as u64)]
    }
}

/// The time-outs that are recommended [tam, 4.3.4]: B_L e < TO <= B_L e^2 where buffers are at the
/// output or shared, 2 B_L P <= TO <= 3 B_L P where they are at the input.
pub fn timeouts(architecture: Architecture, senders: u32, frames: u32) -> Timeouts {
    let (p, b) = (f64::from(senders), f64::from(frames));
    match architecture {
        Architecture::Input => Timeouts { shortest: 2.0 * b * p, longest: 3.0 * b * p },
        Architecture::Output | Architecture::Shared => {
            Timeouts { shortest: b * E, longest: b * E * E }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_that_lose_nothing() {
        assert!(!loses(Architecture::Input, 43, 15, 43) && loses(Architecture::Input, 44, 15, 43));
        assert!(!loses(Architecture::Output, 19, 5, 95) && loses(Architecture::Output, 20, 5, 95));
        for architecture in Architecture::ALL {
            for (senders, frames) in (1..40).flat_map(|p| (1..200).map(move |b| (p, b))) {
                let window = largest_window(architecture, senders, frames);
                assert!(!loses(architecture, window, senders, frames));
                assert!(loses(architecture, window + 1, senders, frames));
            }
        }
    }

    #[test]
    fn recommended_timeouts() {
        for (frames, low, high) in
            [(45, 122.323, 332.508), (95, 258.237, 701.96), (128, 347.94, 945.799)]
        {
            let found = timeouts(Architecture::Output, 15, frames);
            assert!((found.shortest - low).abs() < 0.01 && (found.longest - high).abs() < 0.01);
            assert_eq!(timeouts(Architecture::Shared, 1, frames), found);
        }
        for (senders, low, high) in [(7, 602.0, 903.0), (15, 1290.0, 1935.0), (23, 1978.0, 2967.0)]
        {
            let found = timeouts(Architecture::Input, senders, 43);
            assert_eq!((found.shortest, found.longest), (low, high));
        }
        let slot = Time::from_ns(123_000);
        let [low, high] = timeouts(Architecture::Input, 7, 43).times(slot);
        assert_eq!((low, high), (slot * 602, slot * 903));
    }
}
