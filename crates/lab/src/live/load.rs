//! What else the machines of ranks did meanwhile: who measures while others take the cores measures
//! them too.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;

/// Ticks of all cores at least before a share of them means anything.
const ENOUGH: u64 = 20;

/// The share of the cores from which on what is measured meanwhile is doubtful.
const DISTURBED: f64 = 0.05;

/// What a rank saw of its machine while it worked, in ticks of the system's clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Load {
    /// The machine: hosts of a box are on one.
    machine: String,
    /// Those of all its cores, those that programs had, and those that other machines of the same
    /// hardware had.
    all: u64,
    programs: u64,
    stolen: u64,
    /// What this rank had.
    own: u64,
}

/// A rank that watches its machine.
pub(super) struct Watch(Option<Load>);

impl Watch {
    /// From now on.
    pub fn begin() -> Watch {
        Watch(Load::so_far())
    }

    /// Until now, where the system tells.
    pub fn end(self) -> Option<Load> {
        let (before, now) = (self.0?, Load::so_far()?);
        let since = |of: fn(&Load) -> u64| of(&now).saturating_sub(of(&before));
        Some(Load {
            all: since(|load| load.all),
            programs: since(|load| load.programs),
            stolen: since(|load| load.stolen),
            own: since(|load| load.own),
            machine: now.machine,
        })
    }
}

impl Load {
    /// Since the machine was started.
    fn so_far() -> Option<Load> {
        let word = |path: &str| fs::read_to_string(path).ok();
        let machine = word("/proc/sys/kernel/random/boot_id")?.trim().to_owned();
        Load::read(machine, &word("/proc/stat")?, &word("/proc/self/stat")?)
    }

    fn read(machine: String, machines: &str, own: &str) -> Option<Load> {
        let words = machines.lines().next()?.strip_prefix("cpu ")?.split_whitespace();
        let ticks: Vec<u64> = words.take(8).map_while(|word| word.parse().ok()).collect();
        // What interrupts take is nobody's: frames of ranks make most of them.
        let &[user, nice, system, _idle, _waits, _hard, _soft, stolen] = &ticks[..] else {
            return None;
        };
        // The name may be of any characters.
        let mut words = own.rsplit_once(')')?.1.split_whitespace().skip(11);
        let mut number = || words.next()?.parse::<u64>().ok();
        let own = number()?.checked_add(number()?)?;
        let all = ticks.iter().sum();
        Some(Load { machine, all, programs: user + nice + system, stolen, own })
    }
}

/// The share of the cores of a machine that others had while ranks worked there, of the machine
/// where it was largest; `None` if it is not known or that was too short to tell.
pub(crate) fn busy(loads: &[&Load]) -> Option<f64> {
    let mut machines: BTreeMap<&str, Load> = BTreeMap::new();
    for &load in loads {
        let whole =
            machines.entry(&load.machine).or_insert_with(|| Load { own: 0, ..load.clone() });
        if load.all > whole.all {
            *whole = Load { own: whole.own, ..load.clone() };
        }
        whole.own += load.own;
    }
    let told = machines.values().filter(|whole| whole.all >= ENOUGH);
    let shares = told.map(|whole| {
        let others = whole.programs.saturating_sub(whole.own) + whole.stolen;
        others as f64 / whole.all as f64
    });
    shares.reduce(f64::max)
}

/// What there is to say of what was measured while others had such a share of the cores (the column
/// `busy`).
pub fn disturbance(busy: f64) -> Option<String> {
    let told = || format!("disturbed: others had {:.0} % of the cores", 100.0 * busy);
    (busy >= DISTURBED).then(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(machine: &str, [all, programs, stolen, own]: [u64; 4]) -> Load {
        Load { machine: machine.to_owned(), all, programs, stolen, own }
    }

    #[test]
    fn the_system_tells_who_had_the_cores() {
        let stat = "cpu  10 1 20 400 5 6 7 8 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n";
        let own = "17 (a) b) R 2 2 0 0 -1 4194304 98 0 0 0 30 12 0 0 20 0 1 0 1194578";
        let read = Load::read("m".to_owned(), stat, own);
        assert_eq!(read, Some(load("m", [457, 31, 8, 42])));
        assert_eq!(Load::read("m".to_owned(), "cpu  1 2 3", own), None);
        assert_eq!(Load::read("m".to_owned(), stat, "17 a R 2"), None);
        assert_eq!(Load::read("m".to_owned(), "", ""), None);
    }

    #[test]
    fn what_ranks_have_themselves_is_not_of_others() {
        let ranks = [load("a", [100, 90, 0, 40]), load("a", [96, 86, 0, 45])];
        assert_eq!(busy(&[&ranks[0], &ranks[1]]), Some(0.05));
        // Other machines of the same hardware are others too; the worst of all counts.
        let stolen = load("b", [200, 100, 20, 100]);
        assert_eq!(busy(&[&ranks[0], &stolen, &ranks[1]]), Some(0.1));
        // Ticks of ranks and of machines are not quite the same.
        assert_eq!(busy(&[&load("a", [100, 90, 0, 95])]), Some(0.0));
    }

    #[test]
    fn of_a_moment_nothing_is_told() {
        assert_eq!(busy(&[&load("a", [ENOUGH - 1, 10, 0, 0])]), None);
        assert_eq!(busy(&[]), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn who_works_has_the_ticks() {
        let watch = Watch::begin();
        let begin = std::time::Instant::now();
        while begin.elapsed() < std::time::Duration::from_millis(300) {}
        let load = watch.end().expect("Linux tells");
        assert!(load.own > 0 && load.own <= load.programs, "{load:?}");
        assert!(load.programs <= load.all, "{load:?}");
    }
}
