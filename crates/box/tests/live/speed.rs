//! Boxes are quickly there and quickly gone.

use std::time::{Duration, Instant};

use crosstie_box::Spec;

use crate::stage::{example, live, patiently, quiet, spec};

/// A box stands and is gone, each within a time.
fn quick(spec: &Spec, limit: Duration) {
    let _quiet = quiet();
    patiently(5, || {
        let begin = Instant::now();
        let Some(cluster) = live(spec) else { return Ok(()) };
        let made = begin.elapsed();
        drop(cluster);
        let gone = begin.elapsed() - made;
        match made.max(gone) < limit {
            true => Ok(()),
            false => Err(format!("it took {made:?} to make and {gone:?} to leave")),
        }
    });
}

#[test]
fn eight_hosts_with_four_rails_come_and_go_within_a_second() {
    quick(&example("eight-hosts"), Duration::from_secs(1));
}

#[test]
fn two_hosts_with_a_rail_of_any_kind_come_and_go_at_once() {
    for shape in ["cable", "switch"] {
        for rate in ["", "rate = '1 Gbit/s'\n", "rate = '10 MB/s'\nqueue = '10 frames'\n"] {
            let spec = spec(&format!("hosts = 2\n[[rail]]\nshape.{shape} = {{}}\n{rate}"));
            // The kernel tells of links at once if it has not done so for a second, so once is not
            // enough.
            for _ in 0..2 {
                quick(&spec, Duration::from_millis(250));
            }
        }
    }
}
