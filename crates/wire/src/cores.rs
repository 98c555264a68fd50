//! The cores on which a rank runs.

use std::collections::BTreeSet;
use std::thread;

/// The most cores of a machine that are told apart.
const MOST: usize = 4096;

/// Those on which a rank may run, as its launcher or its user has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cores(BTreeSet<usize>);

impl Cores {
    /// Those of this thread.
    pub fn allowed() -> Cores {
        match system::allowed() {
            Some(cores) if !cores.is_empty() => Cores(cores),
            _ => Cores((0..granted()).collect()),
        }
    }

    /// What others can [read](Cores::read): `0-3,8`.
    pub fn write(&self) -> String {
        let cores: Vec<usize> = self.0.iter().copied().collect();
        let runs = cores.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
            [one] => one.to_string(),
            run => format!("{}-{}", run[0], run[run.len() - 1]),
        });
        runs.collect::<Vec<_>>().join(",")
    }

    /// What another rank has written, if it can be.
    pub fn read(text: &str) -> Option<Cores> {
        let mut cores = BTreeSet::new();
        for run in text.split(',') {
            let (first, last) = run.split_once('-').unwrap_or((run, run));
            let (first, last) = (first.parse::<usize>().ok()?, last.parse::<usize>().ok()?);
            if last >= MOST || first > last {
                return None;
            }
            cores.extend(first..=last);
        }
        Some(Cores(cores))
    }

    /// Returns how many ranks share a core, of those that may run on these, one of which this is.
    pub fn ranks_each(&self, all: &[&Cores]) -> u32 {
        // The system may grant less than there is.
        let granted = granted();
        match granted < self.0.len() {
            true => all.len().div_ceil(granted.max(1)) as u32,
            false => Cores::ranks_per_core(all),
        }
    }

    /// Returns how many ranks share a core, of those that may run on these. All ranks get the same
    /// value, unlike from [`ranks_each`](Cores::ranks_each), which knows this rank's CPU quota.
    pub fn ranks_per_core(all: &[&Cores]) -> u32 {
        let cores = all.iter().flat_map(|cores| &cores.0).collect::<BTreeSet<_>>();
        all.len().div_ceil(cores.len().max(1)) as u32
    }
}

/// How many this process has the time of.
fn granted() -> usize {
    thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Goes to another core, if there is one: somebody else is on this one. It may come back later.
pub(crate) fn move_on() {
    system::move_on();
}

#[cfg(target_os = "linux")]
mod system {
    use nix::sched::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
    use nix::unistd::Pid;
    use std::collections::BTreeSet;

    /// This thread.
    const OWN: Pid = Pid::from_raw(0);

    pub fn allowed() -> Option<BTreeSet<usize>> {
        let set = sched_getaffinity(OWN).ok()?;
        Some((0..CpuSet::count()).filter(|core| set.is_set(*core).unwrap_or(false)).collect())
    }

    pub fn move_on() {
        let (Ok(all), Ok(here)) = (sched_getaffinity(OWN), sched_getcpu()) else { return };
        let mut others = all;
        // There may be none, which is refused.
        if others.unset(here).is_ok() && sched_setaffinity(OWN, &others).is_ok() {
            let _ = sched_setaffinity(OWN, &all);
        }
    }
}

/// Other systems are not asked.
#[cfg(not(target_os = "linux"))]
mod system {
    use std::collections::BTreeSet;

    pub fn allowed() -> Option<BTreeSet<usize>> {
        None
    }

    pub fn move_on() {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cores(all: &[usize]) -> Cores {
        Cores(all.iter().copied().collect())
    }

    #[test]
    fn cores_are_told_in_runs() {
        assert_eq!(cores(&[0, 1, 2, 5, 7, 8]).write(), "0-2,5,7-8");
        assert_eq!(Cores::read("3"), Some(cores(&[3])));
        for wrong in ["", "a", "1-", "-1", "2-1", "0-4096", "1,,2", "99999999999999999999"] {
            assert_eq!(Cores::read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn ranks_that_are_bound_each_to_a_core_have_one() {
        let [first, second] = [cores(&[0]), cores(&[1])];
        assert_eq!(first.ranks_each(&[&first, &second]), 1);
        assert_eq!(first.ranks_each(&[&first, &first]), 2);
        let both = cores(&[0, 1]);
        assert_eq!(first.ranks_each(&[&first, &both]), 1);
        assert_eq!(first.ranks_each(&[&first, &both, &both]), 2);
        assert_eq!(Cores::ranks_per_core(&[&first, &second]), 1);
        assert_eq!(Cores::ranks_per_core(&[&both; 7]), 4);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn whoever_moves_on_may_run_where_it_might_before() {
        let allowed = Cores::allowed();
        let here = || nix::sched::sched_getcpu().unwrap();
        let before = here();
        move_on();
        // It may have been moved back at once, but hardly every time.
        let moved = here() != before
            || (0..100).any(|_| {
                let before = here();
                move_on();
                here() != before
            });
        assert_eq!(moved, allowed.0.len() > 1);
        assert_eq!(Cores::allowed(), allowed);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(all in prop::collection::btree_set(0..MOST, 1..50)) {
            let cores = Cores(all);
            prop_assert_eq!(Cores::read(&cores.write()), Some(cores));
        }

        #[test]
        fn anything_is_read_or_refused(text in "[0-9,-]{0,20}") {
            let _ = Cores::read(&text);
        }
    }
}
