//! Ranks on the hosts of a box: they find each other without a launcher, and end together.

use std::io::{Read, pipe};
use std::time::Duration;

use crosstie_box::{Ending, RanksError};
use crosstie_launch::Job;

use crate::parts::{self, say};
use crate::stage::{company, live, spec};

const LIMIT: Duration = Duration::from_secs(60);

/// A rank that learns from all others, and agrees with them on a secret.
pub fn learn(_: &[&str]) -> i32 {
    let mut job = Job::join().unwrap();
    let contribution = |rank: usize| vec![rank as u8; 2000 + rank];
    let all = job.exchange(&contribution(job.rank())).unwrap();
    let right = (0..job.size()).all(|other| all[other] == contribution(other));
    let secret = job.secret().unwrap();
    let agreed = job.exchange(secret.bytes()).unwrap().iter().all(|it| it == secret.bytes());
    say(format!("rank {} of {}: {right} {agreed}", job.rank(), job.size()));
    job.finish().unwrap();
    0
}

/// A rank that ends badly while the others wait for it.
pub fn desert(words: &[&str]) -> i32 {
    let mut job = Job::join().unwrap();
    if job.rank().to_string() == words[0] {
        return 7;
    }
    let _ = job.fence();
    std::thread::sleep(LIMIT);
    0
}

#[test]
fn ranks_on_hosts_learn_from_each_other() {
    let Some(cluster) = live(&spec("hosts = 3\n[[rail]]")) else { return };
    let _company = company();
    let (mut output, input) = pipe().unwrap();
    let command = |_| parts::part("learn", &[]).stdout(input.try_clone().unwrap());
    cluster.run_ranks(&[0, 1, 2], command, LIMIT).unwrap();
    drop(input);
    let mut text = String::new();
    output.read_to_string(&mut text).unwrap();
    let mut lines: Vec<&str> = parts::lines(&text).collect();
    lines.sort_unstable();
    let line = |rank| format!("rank {rank} of 3: true true");
    assert_eq!(lines, [line(0), line(1), line(2)]);
}

#[test]
fn a_rank_that_fails_ends_all() {
    let Some(cluster) = live(&spec("hosts = 3\n[[rail]]")) else { return };
    let _company = company();
    let ended = cluster.run_ranks(&[0, 1, 2], |_| parts::part("desert", &[&1]), LIMIT);
    let failed = Ending::Exited(7);
    match ended {
        Err(RanksError::Failed { rank: 1, ending }) if ending == failed => {}
        other => panic!("{other:?}"),
    }
}
