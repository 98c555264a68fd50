//! Boxes are quickly there and quickly gone.

use std::time::{Duration, Instant};

use crosstie_box::Spec;

use crate::stage::{example, live, patiently, quiet, spec};

/// A box stands and is gone, each within a second.
fn quick(spec: &Spec) {
    let _quiet = quiet();
    patiently(5, || {
        let begin = Instant::now();
        let Some(cluster) = live(spec) else { return Ok(()) };
        let made = begin.elapsed();
        drop(cluster);
        let gone = begin.elapsed() - made;
        match made.max(gone) < Duration::from_secs(1) {
            true => Ok(()),
            false => Err(format!("it took {made:?} to make and {gone:?} to leave")),
        }
    });
}

#[test]
fn eight_hosts_with_four_rails_come_and_go_within_a_second() {
    quick(&example("eight-hosts"));
}

#[test]
fn rails_of_every_kind_come_and_go_within_a_second() {
    for shape in ["cable", "switch"] {
        for rate in ["", "rate = '1 Gbit/s'\n", "rate = '10 MB/s'\nqueue = '10 frames'\n"] {
            quick(&spec(&format!("hosts = 2\n[[rail]]\nshape.{shape} = {{}}\n{rate}")));
        }
    }
}
