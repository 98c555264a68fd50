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

/// How long it is waited for the end of a launcher that cannot reach a machine.
const MOMENT: Duration = Duration::from_secs(1);

/// How long ssh may take to reach a machine, in seconds. The system's limit is minutes.
const REACH: u32 = 10;

/// What ssh says when it cannot reach a machine, and when: ranks there will never start.
#[derive(Default)]
struct Refusal(Option<(String, Instant)>);

impl Refusal {
    /// Takes notice of a line.
    fn hear(&mut self, line: String) {
        let text = line.trim();
        let is_one = text.starts_with("ssh: ")
            || text.starts_with("Host key verification failed")
            || text.contains("Permission denied (");
        if is_one && self.0.is_none() {
            self.0 = Some((text.to_owned(), Instant::now()));
        }
    }

    /// Returns true if the launcher has had time enough to end by itself.
    fn is_final(&self) -> bool {
        self.0.as_ref().is_some_and(|(_, since)| since.elapsed() > MOMENT)
    }

    /// What to say of it, if there is one.
    fn told(&self, names: &[String]) -> Option<LiveError> {
        let (line, _) = self.0.as_ref()?;
        let problem = format!("`{LAUNCHER}` cannot start ranks on {}: {line}", names.join(", "));
        Some(LiveError::place(problem, "`ssh NAME true` must work without a question"))
    }
}

/// Has ssh give up soon, where hydra starts ranks by it and nobody has said how.
fn hurry(command: &mut Command) {
    let others = [
        "HYDRA_LAUNCHER",
        "HYDRA_LAUNCHER_EXEC",
        "HYDRA_LAUNCHER_EXTRA_ARGS",
        "HYDRA_BOOTSTRAP",
        "HYDRA_BOOTSTRAP_EXEC",
        "SLURM_JOBID",
        "SLURM_JOB_ID",
        "PBS_JOBID",
        "LSB_JOBID",
        "LOADL_STEP_ID",
        "PE_HOSTFILE",
    ];
    if others.iter().all(|name| std::env::var_os(name).is_none()) {
        let reach = format!("-o ConnectTimeout={REACH} -o BatchMode=yes");
        command.env("HYDRA_LAUNCHER_EXTRA_ARGS", reach);
    }
}

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
    hurry(&mut command);
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
    let mut refusal = Refusal::default();
    let (status, stopped) = loop {
        for line in listening.news() {
            company.progress.said(&line);
            refusal.hear(line);
        }
        if let Some(status) = launcher.try_wait().map_err(system)? {
            break (status, None);
        }
        let stop = company.stop(begin);
        if stop.is_some() || refusal.is_final() {
            // Its helpers on other machines end ranks when it is gone.
            launcher.kill().map_err(system)?;
            let status = launcher.wait().map_err(system)?;
            match (stop, refusal.told(names)) {
                (None, Some(error)) => return Err(error),
                _ => break (status, stop),
            }
        }
        std::thread::sleep(LOOK);
    };
    let (found, said, rest) = listening.finish();
    for line in rest {
        company.progress.said(&line);
        refusal.hear(line);
    }
    if stopped.is_none()
        && !status.success()
        && let Some(error) = refusal.told(names)
    {
        return Err(error);
    }
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
