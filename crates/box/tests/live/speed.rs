//! Boxes are quickly there and quickly gone.

use std::time::{Duration, Instant};

use crate::stage::{example, live, patiently, quiet};

#[test]
fn eight_hosts_with_four_rails_stand_and_are_gone_within_a_second() {
    let _quiet = quiet();
    let spec = example("eight-hosts");
    patiently(5, || {
        let begin = Instant::now();
        let Some(cluster) = live(&spec) else { return Ok(()) };
        let made = begin.elapsed();
        drop(cluster);
        let gone = begin.elapsed() - made;
        match made.max(gone) < Duration::from_secs(1) {
            true => Ok(()),
            false => Err(format!("it took {made:?} to make and {gone:?} to leave")),
        }
    });
}
