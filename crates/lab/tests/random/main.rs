//! Thousands of random valid experiments: what must hold of every row, and between runs.
//!
//! The number of a case is the seed of its experiment. `CROSSTIE_RANDOM_CASES` says how many to
//! try, `CROSSTIE_RANDOM_FIRST` the number of the first one; a failure tells both, and the smallest
//! experiment that still fails in the same way.

#[path = "../lab/bench.rs"]
#[expect(dead_code, reason = "the target `lab` uses the rest")]
mod bench;
mod documented;
mod draw;
mod elan;
mod ethernet;
mod exchange;
mod experiment;
mod frame;
mod generator;
mod goal;
mod idle;
mod invariants;
mod live;
mod networks;
mod profile;
mod rails;
mod relations;
mod trial;
mod worlds;

use experiment::Experiment;
use generator::generate;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many cases there are unless somebody says otherwise.
const CASES: u64 = 300;
/// From how many on every status and every relation must have been met.
const MANY: u64 = 200;
/// Failures that are shown before giving up.
const MOST_SHOWN: usize = 3;

fn variable(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name}={text}: expected a number")),
        Err(_) => default,
    }
}

#[test]
fn invariants_and_relations_hold_of_random_experiments() {
    let first = variable("CROSSTIE_RANDOM_FIRST", 0);
    let cases = variable("CROSSTIE_RANDOM_CASES", CASES);
    let next = AtomicU64::new(first);
    let failures = Mutex::new(Vec::new());
    let seen = Mutex::new(BTreeMap::<String, u64>::new());
    let work = || {
        loop {
            let case = next.fetch_add(1, Ordering::Relaxed);
            if case >= first + cases || failures.lock().unwrap().len() >= MOST_SHOWN {
                return;
            }
            let file = generate(case);
            match trial::of(&file) {
                Ok(met) => {
                    let mut seen = seen.lock().unwrap();
                    met.into_iter().for_each(|what| *seen.entry(what).or_default() += 1);
                }
                Err(failure) => {
                    let (file, failure) = trial::shrink(file, failure);
                    failures.lock().unwrap().push(described(case, &file, &failure));
                }
            }
        }
    };
    // Results are made safe on disk, and waiting for it keeps no core busy.
    let threads = 4 * std::thread::available_parallelism().map_or(1, |cores| cores.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let (failures, seen) = (failures.into_inner().unwrap(), seen.into_inner().unwrap());
    println!("{seen:#?}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    for name in trial::expected() {
        assert!(cases < MANY || seen.contains_key(name), "no case met: {name}");
    }
}

/// There is one small case for this number of others.
const IDLE: u64 = 4;

/// The same for Elans, of which each runs a dozen relations.
const ELANS: u64 = 10;

#[test]
fn an_idle_network_sends_nothing_again_and_is_as_fast_as_its_best_rail() {
    small_cases(&[], IDLE, |case| {
        let idle = idle::Idle::draw(case);
        idle.check().map_err(|problem| (problem, idle.file.text()))
    });
}

/// Cases in which nodes wait for each other: for a window that finds itself, for NICs that were
/// reserved before, for a processor that picks nothing up.
const ACQUAINTED: [u64; 3] = [5021, 7005, 7185];

#[test]
fn model_ideal_and_frame_agree_where_nobody_waits_for_others() {
    small_cases(&ACQUAINTED, IDLE, |case| {
        let worlds = worlds::Worlds::draw(case);
        worlds.check().map_err(|problem| (problem, worlds.file.text()))
    });
}

#[test]
fn elans_release_barriers_and_exchange_messages() {
    let seen = Mutex::new(BTreeMap::<&str, u64>::new());
    small_cases(&[], ELANS, |case| {
        let file = elan::small(case);
        let failed = |failure: trial::Failure| format!("{}: {}", failure.check, failure.message);
        trial::of(&file).map_err(|failure| (failed(failure), file.text()))?;
        let mut seen = seen.lock().unwrap();
        elan::rare(&file).for_each(|what| *seen.entry(what).or_default() += 1);
        Ok(())
    });
    let seen = seen.into_inner().unwrap();
    println!("{seen:#?}");
    let is_enough = seen.len() == 4 && seen.values().all(|&count| count >= 3);
    assert!(is_enough || variable("CROSSTIE_RANDOM_CASES", CASES) < MANY, "{seen:?}");
}

/// Tries cases that tell a problem and their experiment if they fail: some always, and others.
fn small_cases(always: &[u64], share: u64, check: impl Fn(u64) -> Result<(), (String, String)>) {
    let first = variable("CROSSTIE_RANDOM_FIRST", 0);
    let cases = first..first + variable("CROSSTIE_RANDOM_CASES", CASES).div_ceil(share);
    let failed = always.iter().copied().chain(cases).filter_map(|case| {
        let (problem, file) = check(case).err()?;
        Some(format!("=== case {case}: {problem}\n{file}"))
    });
    let failures: Vec<String> = failed.take(MOST_SHOWN).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn described(case: u64, file: &Experiment, failure: &trial::Failure) -> String {
    let files: String =
        file.files.iter().map(|(name, content)| format!("--- {name}\n{content}")).collect();
    format!(
        "=== case {case}: {}\n{}\n--- experiment.toml\n{}{files}--- again with \
         CROSSTIE_RANDOM_FIRST={case} CROSSTIE_RANDOM_CASES=1\n",
        failure.check,
        failure.message,
        file.text()
    )
}

#[test]
fn every_documented_key_is_generated() {
    let generated: BTreeSet<String> =
        (0..20_000).flat_map(|case| generate(case).mentioned()).collect();
    let missing: Vec<String> = documented::keys()
        .into_iter()
        .filter(|key| !generated.iter().any(|found| documented::matches(key, found)))
        .collect();
    assert!(missing.is_empty(), "no experiment has {missing:?}");
}

#[test]
fn a_number_always_gives_the_same_experiment() {
    for case in 0..20 {
        assert_eq!(generate(case).text(), generate(case).text());
    }
    assert_ne!(generate(0).text(), generate(1).text());
}
