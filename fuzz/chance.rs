//! How tests run the targets of fuzzers: on every seed, and on what is made of seeds by chance.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use crosstie_units::{Seed, Stream};

/// The folder of the seeds of a target, as crates of the workspace find it.
pub fn folder(target: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target)
}

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = folder(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// Something that is like a seed.
fn mutate(seeds: &[Vec<u8>], random: &mut Stream) -> Vec<u8> {
    let mut below = |count: usize| random.below(count as u64) as usize;
    let mut bytes = seeds[below(seeds.len())].clone();
    for _ in 0..1 + below(4) {
        let place = below(bytes.len() + 1);
        match below(6) {
            0 if place < bytes.len() => bytes[place] ^= 1 << below(8),
            1 if place < bytes.len() => bytes[place] = below(256) as u8,
            2 => bytes.truncate(place),
            3 => bytes.insert(place, below(256) as u8),
            4 => {
                let other = &seeds[below(seeds.len())];
                let from = below(other.len() + 1);
                let count = below(32).min(other.len() - from);
                bytes.splice(place..place, other[from..from + count].iter().copied());
            }
            _ => {
                let end = (place + below(8)).min(bytes.len());
                bytes.drain(place..end);
            }
        }
    }
    bytes
}

/// Runs a target on all its seeds, and on so many others.
pub fn run(name: &str, target: fn(&[u8]), count: u64) {
    let seeds = seeds(name);
    assert!(!seeds.is_empty(), "{name} has no seeds");
    let mut random = Seed(1).stream(name, 0);
    let others = (0..count).map(|_| mutate(&seeds, &mut random));
    let begin = Instant::now();
    for bytes in seeds.iter().cloned().chain(others) {
        if std::panic::catch_unwind(|| target(&bytes)).is_err() {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            panic!("{name} fails on {hex}");
        }
        // A slow machine may do less of what is left to chance.
        if begin.elapsed().as_secs() > 60 {
            break;
        }
    }
}
