//! Schedules never change by accident: every number that a published row rests on follows from
//! them. `tests/pinned/schedules.txt` has a fingerprint of each algorithm's schedules among 1 to 64
//! ranks, for every root. Where an algorithm changes on purpose, set `CROSSTIE_BLESS=1`.

use crosstie_collective::algorithm::{AllToAll, Barrier, Broadcast, Pairs, Permutation};
use crosstie_collective::{Access, Collective, Counting, Operation, Reading, Step, When};
use crosstie_units::{Bytes, Rate};

/// FNV-1a of the numbers that are put in.
struct Fingerprint(u64);

impl Fingerprint {
    fn put(&mut self, number: impl Into<u64>) {
        for byte in number.into().to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    fn collective(&mut self, collective: &Collective) {
        let Collective { schedule, cargo, .. } = collective;
        self.put(schedule.ranks());
        self.put(schedule.outstanding().map_or(0, |most| most + 1));
        self.put(schedule.injection().interleaved);
        let window = schedule.injection().window;
        self.put(window.map_or(0, |window| window.packets));
        self.put(window.map_or(0, |window| window.counts as u8));
        for rank in 0..schedule.ranks() {
            self.put(schedule.places(crosstie_collective::Rank(rank)).len() as u64);
        }
        for (place, op) in schedule.all().iter().enumerate() {
            match op.step {
                Step::Send { to, tag, bytes } => {
                    [0, to.0, tag.0, bytes].into_iter().for_each(|n| self.put(n));
                }
                Step::Receive { from, tag, bytes } => {
                    let (from, tag) = (from.expect("a rank").0, tag.expect("a tag").0);
                    [1, from, tag, bytes].into_iter().for_each(|n| self.put(n));
                }
                Step::Cast { first, last, tag, bytes } => {
                    [2, first.0, last.0, tag.0, bytes].into_iter().for_each(|n| self.put(n));
                }
                Step::Get { .. } => unreachable!("no algorithm reads"),
                Step::Compute { time } => self.put(3 + time.ps()),
            }
            self.put(op.cpu);
            self.put(op.nic.map_or(0, |nic| nic + 1));
            self.put(schedule.needs(place).len() as u64);
            for need in schedule.needs(place) {
                self.put(need.op.0);
                self.put(need.when == When::Done);
            }
            for need in schedule.dependents(place) {
                self.put(need.op.0);
                self.put(need.when == When::Done);
            }
            self.put(match cargo.access(place) {
                Access::Read => 0u32,
                Access::Store => 1,
                Access::Add => 2,
                Access::Merge => 3,
                Access::Combine => 4,
                Access::Replace => 5,
            });
            self.put(cargo.blocks(place).len() as u64);
            cargo.blocks(place).iter().for_each(|block| self.put(block.0));
        }
    }
}

/// Every algorithm, some with several keys, under the name of its line.
fn all(ranks: u32, root: u32) -> Vec<(String, Operation)> {
    let size = Bytes::new(u64::from(ranks % 3) * 100 + 1);
    let rate = Some(Rate::from_bytes_per_second(1_000_000_000));
    let mut all = Vec::new();
    let mut add = |operation: Operation, what: &str| {
        let name = format!("{} {} {what}", operation.name(), operation.algorithm().name);
        if root == 0 || operation.root().is_some() {
            all.push((name.trim_end().to_owned(), operation));
        }
    };
    for operation in Operation::by_every_algorithm(root, size, None) {
        add(operation, "");
    }
    for operation in Operation::by_every_algorithm(root, size, rate) {
        if operation.keys().contains(&"combine") {
            add(operation, "1 GB/s");
        }
    }
    let segment = Bytes::new(7);
    for algorithm in [Broadcast::Chain { segment }, Broadcast::SegmentedBinomial { segment }] {
        add(Operation::Broadcast { algorithm, root, size }, "7 B");
    }
    add(Operation::Barrier { algorithm: Barrier::KAryTree { arity: 2 } }, "2");
    let half = ranks.is_multiple_of(2).then_some(ranks / 2);
    let window = Some(ranks);
    for (algorithm, what) in [
        (AllToAll::Pairwise { pairs: Some(Pairs::Xor), hosts_per_switch: half }, "xor, half"),
        (AllToAll::Pairwise { pairs: Some(Pairs::EdgeColour), hosts_per_switch: None }, "colour"),
        (
            AllToAll::GroupShuffle { group: 1, pairs: Pairs::Xor, hosts_per_switch: half },
            "1, xor, half",
        ),
        (
            AllToAll::GroupShuffle { group: 7, pairs: Pairs::EdgeColour, hosts_per_switch: None },
            "7",
        ),
        (
            AllToAll::SynchronousShuffle {
                permutation: Some(Permutation::Shift),
                hosts_per_switch: half,
                window,
                counts: Counting::Received,
            },
            "shift, half, window",
        ),
        (
            AllToAll::ModifiedShuffle {
                hosts_per_switch: half,
                buffer: 20,
                reading: Reading::Data,
                permutation: None,
                counts: Counting::Received,
            },
            "half",
        ),
    ] {
        add(Operation::AllToAll { algorithm, size }, what);
    }
    all
}

#[test]
fn schedules_are_what_they_were() {
    let mut lines: Vec<(String, Fingerprint)> = Vec::new();
    for ranks in 1..=64 {
        for root in 0..ranks {
            for (name, operation) in all(ranks, root) {
                let at = lines.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
                    lines.push((name, Fingerprint(0xcbf2_9ce4_8422_2325)));
                    lines.len() - 1
                });
                match operation.collective(ranks) {
                    Ok(collective) => lines[at].1.collective(&collective),
                    Err(error) => error.to_string().bytes().for_each(|byte| lines[at].1.put(byte)),
                }
            }
        }
    }
    lines.sort_by(|one, other| one.0.cmp(&other.0));
    let line =
        |(name, Fingerprint(print)): &(String, Fingerprint)| format!("{print:016x} {name}\n");
    let found: String = lines.iter().map(line).collect();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pinned/schedules.txt");
    if std::env::var_os("CROSSTIE_BLESS").is_some() {
        std::fs::write(path, &found).unwrap();
    }
    let expected = std::fs::read_to_string(path).unwrap();
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.lines().count(), expected.lines().count());
}
