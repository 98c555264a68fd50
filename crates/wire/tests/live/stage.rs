//! What all tests need: a box or the reason for none, and ranks on its hosts or on this machine.

use std::io::{PipeReader, PipeWriter, Read, pipe};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crosstie_box::{Cluster, Command, RanksError, Spec};
use crosstie_launch::{Launcher, Outcome};

use crate::parts;

/// How long ranks may take, also on a machine that is busy.
pub const LIMIT: Duration = Duration::from_secs(100);

/// The box, or `None` where this machine forbids it, after saying so.
pub fn live(text: &str) -> Option<Cluster> {
    let spec: Spec = toml::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    spec.check().unwrap_or_else(|misfit| panic!("{misfit}\n{text}"));
    match Cluster::start(&spec) {
        Ok(cluster) => Some(cluster),
        Err(error)
            if crosstie_box::permissions().iter().any(|finding| finding.works != Some(true)) =>
        {
            let thread = std::thread::current();
            // Not `eprintln!`, which the harness shows of failed tests only.
            let line = format!("skipped {}: {error}\n", thread.name().unwrap_or("a test"));
            let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Reads all that ranks say.
fn listen(reader: PipeReader) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut text = String::new();
        let mut reader = reader;
        reader.read_to_string(&mut text).map(|_| text).unwrap()
    })
}

/// Runs ranks on hosts of a box, with these variables; what they said, in order.
pub fn ranks(
    cluster: &Cluster,
    hosts: &[usize],
    part: &str,
    variables: &[(&str, &str)],
) -> (Vec<String>, Result<(), RanksError>) {
    ranks_within(LIMIT, cluster, hosts, part, variables)
}

/// The same, for as long as this.
pub fn ranks_within(
    limit: Duration,
    cluster: &Cluster,
    hosts: &[usize],
    part: &str,
    variables: &[(&str, &str)],
) -> (Vec<String>, Result<(), RanksError>) {
    ranks_with(limit, cluster, hosts, part, |_| variables)
}

/// The same, with variables that each rank has for itself.
pub fn ranks_with<'a>(
    limit: Duration,
    cluster: &Cluster,
    hosts: &[usize],
    part: &str,
    variables: impl Fn(usize) -> &'a [(&'a str, &'a str)],
) -> (Vec<String>, Result<(), RanksError>) {
    let (reader, writer): (PipeReader, PipeWriter) = pipe().unwrap();
    let said = listen(reader);
    let result = cluster.run_ranks(
        hosts,
        |rank| {
            let command = Command::new(parts::words())
                .env(parts::PART, part)
                .stdout(writer.try_clone().unwrap())
                .stderr(writer.try_clone().unwrap());
            let variables = variables(rank).iter();
            variables.fold(command, |command, &(name, value)| command.env(name, value))
        },
        limit,
    );
    drop(writer);
    let text = said.join().unwrap();
    if result.is_err() {
        let _ = std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes());
    }
    (parts::lines(&text), result)
}

/// The same, and all must end well.
pub fn well(
    cluster: &Cluster,
    hosts: &[usize],
    part: &str,
    variables: &[(&str, &str)],
) -> Vec<String> {
    let (lines, result) = ranks(cluster, hosts, part, variables);
    result.unwrap_or_else(|error| panic!("{error}"));
    lines
}

/// Runs ranks on this machine, and all must end well.
pub fn here(count: usize, part: &str, variables: &[(&str, &str)]) -> Vec<String> {
    let Ended { lines, outcome, .. } = ended(count, part, variables);
    assert!(outcome.failure.is_none(), "{:?}\n{lines:#?}", outcome.failure);
    lines
}

/// Ranks that have ended.
pub struct Ended {
    pub lines: Vec<String>,
    pub outcome: Outcome,
    pub after: Duration,
}

/// Runs ranks on this machine, however they end; but they must within the limit.
pub fn ended(count: usize, part: &str, variables: &[(&str, &str)]) -> Ended {
    let (reader, writer) = pipe().unwrap();
    let said = listen(reader);
    let launcher = Launcher::new(count, parts::words()).env(parts::PART, part);
    let launcher =
        variables.iter().fold(launcher, |launcher, &(name, value)| launcher.env(name, value));
    let begin = Instant::now();
    let group = launcher
        .start(|_| {
            let out = || writer.try_clone().map(|file| Some(file.into()));
            Ok([None, out()?, out()?])
        })
        .unwrap();
    drop(writer);
    let ender = group.ender().unwrap();
    let (done, waits) = mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        if waits.recv_timeout(LIMIT) == Err(mpsc::RecvTimeoutError::Timeout) {
            ender.end();
            ender.end();
        }
    });
    let outcome = group.wait().unwrap();
    let after = begin.elapsed();
    drop(done);
    watch.join().unwrap();
    let text = said.join().unwrap();
    assert!(!outcome.interrupted, "{part}: not done after {LIMIT:?}\n{text}");
    Ended { lines: parts::lines(&text), outcome, after }
}
