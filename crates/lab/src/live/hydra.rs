//! Ranks on machines by name, which `mpiexec.hydra` starts there.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::LiveError;
use super::listening::Listening;
use super::place::{Company, Ended, Failure};

/// The program that starts ranks on other machines.
const LAUNCHER: &str = "mpiexec.hydra";

/// How often it is looked whether they have ended, or should.
const LOOK: Duration = Duration::from_millis(10);

/// Where it is installed.
pub(super) fn find() -> Result<PathBuf, LiveError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(LAUNCHER));
    found.into_iter().find(|file| file.is_file()).ok_or_else(|| {
        let problem =
            format!("ranks on other machines are started by `{LAUNCHER}`, which is not installed");
        LiveError::place(problem, "install `hydra` or `mpich`, or run in a box or on `localhost`")
    })
}

/// Runs them until all have ended. The executable has to be at the same place on all machines.
pub(super) fn run(
    names: &[String],
    company: &Company<'_>,
    variables: &[(&str, String)],
) -> Result<Ended, LiveError> {
    let mut command = Command::new(find()?);
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    // It ends by itself then, should nobody be left to end it.
    command.env("MPIEXEC_TIMEOUT", (company.limit.as_secs() + 10).to_string());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let blocks: Vec<String> = (blocks(names, company.hosts).iter())
        .map(|(machine, count)| format!("{machine}:{count}"))
        .collect();
    let count = company.hosts.len().to_string();
    command.args(["-hosts", &blocks.join(","), "-n", &count]).args(company.words());
    let system = |error: std::io::Error| {
        LiveError::place(format!("cannot run `{LAUNCHER}`: {error}"), "mend it")
    };
    let begin = Instant::now();
    let mut launcher = command.spawn().map_err(system)?;
    let (Some(found), Some(said)) = (launcher.stdout.take(), launcher.stderr.take()) else {
        unreachable!("both are pipes");
    };
    let listening = Listening::new(found, said);
    let (status, stopped) = loop {
        if let Some(status) = launcher.try_wait().map_err(system)? {
            break (status, None);
        }
        if let Some(stop) = company.stop(begin) {
            // Its helpers on other machines end ranks when it is gone.
            launcher.kill().map_err(system)?;
            break (launcher.wait().map_err(system)?, Some(stop));
        }
        std::thread::sleep(LOOK);
    };
    let (found, said) = listening.finish();
    let failure = match stopped {
        Some(stop) => Some(Failure::Stopped(stop)),
        None if status.success() => None,
        None => Some(Failure::Rank(format!("`{LAUNCHER}` ended with {status}"))),
    };
    Ok(Ended { found, said, failure })
}

/// The machines of ranks, and for each how many in a row it has: hosts have their machines in turn.
fn blocks<'a>(names: &'a [String], hosts: &[usize]) -> Vec<(&'a str, usize)> {
    let mut blocks: Vec<(&str, usize)> = Vec::new();
    for &host in hosts {
        let name = &names[host % names.len()][..];
        match blocks.last_mut() {
            Some((last, count)) if *last == name => *count += 1,
            _ => blocks.push((name, 1)),
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_take_hosts_in_turn() {
        let names = ["a", "b"].map(str::to_owned);
        assert_eq!(blocks(&names, &[0, 0, 1, 2, 3]), [("a", 2), ("b", 1), ("a", 1), ("b", 1)]);
        assert_eq!(blocks(&names[..1], &[0, 1, 2]), [("a", 3)]);
    }
}
