//! Processes of tests: this executable, run again with a part to play.

use std::ffi::OsString;
use std::fmt::Display;
use std::time::Duration;

use crosstie_launch::{Job, Launcher};

/// The variable that says which part is to be played, with its arguments.
const PART: &str = "CROSSTIE_START_PART";

/// The words that run this executable again.
pub fn words() -> Vec<OsString> {
    let executable = std::env::current_exe().unwrap().into_os_string();
    let arguments = ["--exact", "parts::player", "--nocapture", "--quiet", "--test-threads=1"];
    [executable].into_iter().chain(arguments.map(OsString::from)).collect()
}

/// What the environment of one who plays a part has: name and value.
pub fn role(part: &str) -> (&'static str, &str) {
    (PART, part)
}

/// What players say, apart from what the harness of tests says: lines after a mark, in order.
pub fn lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> =
        text.lines().filter_map(|line| line.split_once("=> ").map(|(_, said)| said)).collect();
    lines.sort_unstable();
    lines
}

/// Says a line.
fn say(line: impl Display) {
    use std::io::Write;
    // In one piece, because others may write to the same pipe.
    let line = format!("\n=> {line}\n");
    let mut output = std::io::stdout().lock();
    output.write_all(line.as_bytes()).and_then(|()| output.flush()).unwrap();
}

/// Plays the part that the environment asks for; nothing where it asks for none.
#[test]
fn player() {
    let Ok(role) = std::env::var(PART) else { return };
    let words: Vec<&str> = role.split_whitespace().collect();
    let code = match words[0] {
        "exchange" => exchange(words[1].parse().unwrap()),
        "abort" => abort(words[1].parse().unwrap()),
        "leave" => leave(),
        "launch" => launch(words[1]),
        unknown => panic!("there is no part `{unknown}`"),
    };
    std::process::exit(code);
}

/// What a rank contributes: every rank other bytes, and another number of them.
pub fn contribution(rank: usize, length: usize) -> Vec<u8> {
    (0..length + rank).map(|at| (at * 7 + rank * 31) as u8).collect()
}

/// A rank that learns from all others, twice, and the secret.
fn exchange(length: usize) -> i32 {
    let mut job = Job::join().unwrap();
    let (rank, size) = (job.rank(), job.size());
    let all = job.exchange(&contribution(rank, length)).unwrap();
    let right = (0..size).all(|other| all[other] == contribution(other, length));
    let short = job.exchange(rank.to_string().as_bytes()).unwrap();
    let short: Vec<_> = short.iter().map(|bytes| String::from_utf8_lossy(bytes)).collect();
    let secret = job.secret().unwrap();
    let secrets = job.exchange(secret.bytes()).unwrap();
    let agreed = secrets.iter().all(|other| other == secret.bytes());
    job.finish().unwrap();
    say(format!("rank {rank} of {size}: {right} {} {agreed}", short.join(",")));
    0
}

/// A rank that waits for the others at a fence, and one that ends all instead.
fn abort(who: usize) -> i32 {
    let mut job = Job::join().unwrap();
    job.fence().unwrap();
    if job.rank() == who {
        job.abort(42, "cannot go on").unwrap();
        // The launcher ends this one too.
        std::thread::sleep(Duration::from_secs(100));
        return 0;
    }
    say(format!("rank {}: {}", job.rank(), job.fence().is_err()));
    std::thread::sleep(Duration::from_secs(100));
    0
}

/// Ranks of which the last leaves without a word; the others say what they are told then.
fn leave() -> i32 {
    let mut job = Job::join().unwrap();
    job.fence().unwrap();
    if job.rank() + 1 < job.size() {
        let told = job.fence().unwrap_err().to_string();
        say(told.lines().next().unwrap_or_default());
    }
    0
}

/// A launcher of ranks that do not listen, and have left processes behind; stays until it is ended.
fn launch(how: &str) -> i32 {
    let line = "trap '' HUP TERM; setsid sh -c 'trap \"\" TERM; sleep 300 & sleep 300' & sleep 300; sleep 300";
    let line = match how {
        "said" => format!("echo; echo '=> up'; {line}"),
        _ => line.to_owned(),
    };
    let group = Launcher::new(3, ["/bin/sh", "-c", &line]).start(|_| Ok([None, None, None]));
    match group.unwrap().wait() {
        Ok(_) => 0,
        Err(error) => {
            say(error);
            1
        }
    }
}
