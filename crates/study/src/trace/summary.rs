//! What a run came to, end by end.

use crosstie_box::{End, Sample, Spec};
use crosstie_units::Rate;

/// What is meant by the busiest moment: so many seconds.
const MOMENT: f64 = 0.1;

/// What all ends of all rails carried in a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// How long it took.
    pub seconds: f64,
    /// Each end of each host on each rail, in the order of the box file.
    pub ends: Vec<EndSummary>,
}

/// What one end of a rail carried in a run.
#[derive(Debug, Clone, PartialEq)]
pub struct EndSummary {
    /// The rail.
    pub rail: String,
    /// The host.
    pub host: String,
    /// Which end.
    pub end: End,
    /// What the rail carries at most, as the box file has it; `None`: as much as the machine can.
    pub line_rate: Option<Rate>,
    /// Bytes carried.
    pub bytes: u64,
    /// Frames carried.
    pub frames: u64,
    /// Frames that found no room.
    pub drops: u64,
    /// The most bytes that waited when somebody looked.
    pub longest_queue: u64,
    /// Bytes per second in the busiest tenth of a second.
    pub busiest: f64,
}

impl Summary {
    /// That of a run that has not begun.
    pub(super) fn of(spec: &Spec) -> Summary {
        let mut ends = Vec::new();
        for (number, rail) in spec.rails.iter().enumerate() {
            for host in spec.members(number) {
                let switch = spec.is_switched(number).then_some(End::Switch);
                for end in [End::Nic].into_iter().chain(switch) {
                    ends.push(EndSummary {
                        rail: spec.rail_name(number),
                        host: spec.hosts.names()[host].clone(),
                        end,
                        line_rate: rail.rate,
                        bytes: 0,
                        frames: 0,
                        drops: 0,
                        longest_queue: 0,
                        busiest: 0.0,
                    });
                }
            }
        }
        Summary { seconds: 0.0, ends }
    }

    /// Which end is meant; it is looked for from `guess` on, since they come in turns.
    pub(super) fn find(&self, rail: &str, host: &str, end: End, guess: usize) -> Option<usize> {
        let count = self.ends.len();
        (0..count).map(|step| (guess + step) % count).find(|&i| {
            let found = &self.ends[i];
            found.end == end && found.host == host && found.rail == rail
        })
    }

    /// Whether a rail with a switch is among them.
    pub fn has_switches(&self) -> bool {
        self.ends.iter().any(|end| end.end == End::Switch)
    }

    /// Bits per second of an end, over the whole run.
    pub fn mean(&self, end: &EndSummary) -> f64 {
        if self.seconds > 0.0 { 8.0 * end.bytes as f64 / self.seconds } else { 0.0 }
    }
}

impl EndSummary {
    /// Bits per second in the busiest tenth of a second.
    pub fn busiest_bits(&self) -> f64 {
        8.0 * self.busiest
    }

    /// The busiest tenth of a second as a share of what the rail carries; `None` if it has no rate.
    pub fn busiest_share(&self) -> Option<f64> {
        self.line_rate.map(|rate| self.busiest / rate.bytes_per_second() as f64)
    }

    /// Takes what was carried for so many seconds into account.
    pub(super) fn add(&mut self, sample: &Sample, seconds: f64) {
        self.bytes = self.bytes.saturating_add(sample.bytes);
        self.frames = self.frames.saturating_add(sample.frames);
        self.drops = self.drops.saturating_add(sample.drops);
        self.longest_queue = self.longest_queue.max(sample.queue);
        // What came in less than that has the rest of it for itself.
        self.busiest = self.busiest.max(sample.bytes as f64 / seconds.max(MOMENT));
    }
}
