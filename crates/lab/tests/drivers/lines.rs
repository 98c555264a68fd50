//! How long packets take from rank to rank, for both worlds: the same, to the picosecond.

use std::collections::BTreeMap;

use crosstie_units::Time;

/// A line: from whom to whom on which rail.
pub type Line = (u32, u32, u32);

/// What is put on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// The first bytes of a packet.
    Packet(u64),
    /// More bytes of the same packet.
    More(u64),
    /// An acknowledgement of a channel, or first words: they overtake everything.
    Word,
}

/// Everything happens at a multiple of so many picoseconds, and a rest that tells what it was: no
/// two things happen at once by accident.
pub const STEP: u64 = 256;

/// The first of the rests of packets, and of words.
const PACKETS: u64 = 0;
const WORDS: u64 = 64;

/// The rest of what programs do.
pub const PROGRAM: u64 = 255;

/// The first time from then on that has this rest.
pub fn tick(time: Time, rest: u64) -> Time {
    Time::from_ps((time.ps() + STEP - 1 - rest) / STEP * STEP + rest)
}

/// All lines between four ranks on four rails.
pub struct Lines {
    /// When the last byte that was put on each has passed it.
    free: BTreeMap<Line, Time>,
    /// How many packets were put on each.
    packets: BTreeMap<Line, u64>,
    /// Whether the last of these is lost.
    lost: BTreeMap<Line, bool>,
    /// Of so many packets one is lost; 0: none.
    loses: u64,
    /// How long a word takes.
    word: Time,
}

/// A number that looks random.
pub fn mix(number: u64) -> u64 {
    let mixed = (number ^ number >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 11
}

impl Lines {
    pub fn new(word: Time, loses: u64) -> Lines {
        let (free, packets, lost) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Lines { free, packets, lost, loses, word }
    }

    /// When what is put on a line now is there; `None`: never.
    pub fn put(&mut self, now: Time, line: Line, what: Put) -> Option<Time> {
        let (from, to, rail) = line;
        let number = u64::from(from << 4 | to << 2 | rail);
        let own = mix(u64::from(from) << 40 | u64::from(to) << 20 | u64::from(rail));
        let bytes = match what {
            Put::Word if self.word == Time::ZERO => return Some(now),
            Put::Word => {
                let there = now + self.word + Time::from_ps(own % 100_000);
                return Some(tick(there, WORDS + number));
            }
            Put::Packet(bytes) => {
                let count = self.packets.entry(line).or_default();
                *count += 1;
                let lost = self.loses > 0 && mix(own ^ *count).is_multiple_of(self.loses);
                self.lost.insert(line, lost);
                bytes
            }
            Put::More(bytes) => bytes,
        };
        // Rails of 1 GB/s, 250 MB/s and between, and ways of 10 to 20 microseconds.
        let byte = Time::from_ps(1009 + 997 * (u64::from(rail) % 4) + own % 89);
        let free = self.free.entry(line).or_insert(now);
        *free = (*free).max(now) + byte * bytes;
        let there = *free + Time::from_ps(10_000_000 + own % 10_000_000);
        (!self.lost[&line]).then(|| tick(there, PACKETS + number))
    }
}
