//! Ranks on machines by name, which `mpiexec.hydra` starts there.

use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
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

/// The most lines of ssh that are told.
const MOST_LINES: usize = 3;

/// How lines of ssh begin that nobody else prints.
const OWN: [&str; 6] = [
    "ssh: ",
    "ssh_dispatch_run_fatal: ",
    "ssh_exchange_identification: ",
    "kex_exchange_identification: ",
    "client_loop: ",
    "Host key verification failed",
];

/// How its lines begin that go on with `HOST port NUMBER`.
const OF_HOST: [&str; 8] = [
    "Connection to ",
    "Connection closed by ",
    "Connection reset by ",
    "Disconnected from ",
    "Received disconnect from ",
    "Unable to negotiate with ",
    "banner exchange: Connection to ",
    "connect to host ",
];

/// Whether a line is how ssh says that it cannot reach a machine, or has lost it.
///
/// Login scripts and ranks print to the same place. Where ssh's words are usual ones, the rest of
/// the line has to be ssh's as well.
fn is_of_ssh(line: &str) -> bool {
    OWN.iter().any(|start| line.starts_with(start))
        || line.contains("Permission denied (")
        || line == "Connection timed out during banner exchange"
        || is_lost(line)
        || OF_HOST.iter().any(|start| line.strip_prefix(start).is_some_and(names_port))
}

/// Whether a text is `HOST port NUMBER`, and then nothing, `timed out` or a reason.
fn names_port(text: &str) -> bool {
    let Some((host, rest)) = text.split_once(" port ") else { return false };
    // A proxy's end has the number -1.
    let rest = rest.strip_prefix('-').unwrap_or(rest);
    let end = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let has_reason = end.len() > 1 && end.starts_with(':');
    !host.contains(' ')
        && end.len() < rest.len()
        && (["", " timed out"].contains(&end) || has_reason)
}

/// Whether a line of ssh is about a machine that it had reached.
fn is_lost(line: &str) -> bool {
    let is_one = |start: &str, end: &str| {
        let host = line.strip_prefix(start).and_then(|rest| rest.strip_suffix(end));
        host.is_some_and(|host| !host.is_empty() && !host.contains(' '))
    };
    line.starts_with("client_loop: ")
        || is_one("Timeout, server ", " not responding.")
        || is_one("Connection to ", " closed by remote host.")
}

/// What ssh says when it cannot reach a machine, and when it began: ranks there will never start.
#[derive(Default)]
struct Refusal {
    lines: Vec<String>,
    since: Option<Instant>,
}

impl Refusal {
    /// Takes notice of a line.
    fn hear(&mut self, line: &str) {
        let text = line.trim();
        if is_of_ssh(text) && self.lines.len() < MOST_LINES {
            self.since.get_or_insert_with(Instant::now);
            self.lines.push(text.to_owned());
        }
    }

    /// Returns true if the launcher has had time enough to end by itself.
    fn is_final(&self) -> bool {
        self.since.is_some_and(|since| since.elapsed() > MOMENT)
    }

    /// What to say of it, if there is one.
    fn told(&self, names: &[String]) -> Option<LiveError> {
        let first = self.lines.first()?;
        let (problem, help) = match is_lost(first) {
            true => ("has lost", "look whether these machines and the network to them still work"),
            false => ("cannot start", "`ssh NAME true` must work without a question"),
        };
        let (names, lines) = (names.join(", "), self.lines.join("; "));
        let problem = format!("`{LAUNCHER}` {problem} ranks on {names}: {lines}");
        Some(LiveError::place(problem, help))
    }
}

/// Ends a launcher and what it has started on this machine, such as an ssh that still waits. Its
/// helpers on other machines end ranks when it is gone.
fn end(launcher: &mut Child) -> std::io::Result<ExitStatus> {
    #[cfg(target_os = "linux")]
    {
        crosstie_launch::kill_with_descendants(launcher)
    }
    #[cfg(not(target_os = "linux"))]
    {
        launcher.kill()?;
        launcher.wait()
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
            refusal.hear(&line);
        }
        if let Some(status) = launcher.try_wait().map_err(system)? {
            break (status, None);
        }
        let stop = company.stop(begin);
        if stop.is_some() || refusal.is_final() {
            let status = end(&mut launcher).map_err(system)?;
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
        refusal.hear(&line);
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

    #[test]
    fn lines_of_ssh_are_told_from_others() {
        for line in [
            "ssh: connect to host a port 22: No route to host",
            "ssh: Could not resolve hostname a: Name or service not known",
            "Host key verification failed.",
            "me@a: Permission denied (publickey,password).",
            "Connection timed out during banner exchange",
            "Connection to 10.0.0.1 port 22 timed out",
            "Connection to UNKNOWN port -1 timed out",
            "kex_exchange_identification: read: Connection reset by peer",
            "ssh_exchange_identification: Connection closed by remote host",
            "banner exchange: Connection to 10.0.0.1 port 22: invalid format",
            "ssh_dispatch_run_fatal: Connection to 10.0.0.1 port 22: Broken pipe",
            "Connection closed by fe80::1%eth0 port 2222",
            "Connection reset by 10.0.0.1 port 22",
            "Received disconnect from 10.0.0.1 port 22:2: Too many authentication failures",
            "Unable to negotiate with 10.0.0.1 port 22: no matching cipher found.",
            "connect to host a port 22: No route to host",
            "Timeout, server 10.0.0.1 not responding.",
            "Connection to a closed by remote host.",
            "client_loop: send disconnect: Broken pipe",
        ] {
            assert!(is_of_ssh(line), "{line}");
        }
        for line in [
            "",
            "Connection timed out",
            "Connection timed out during banner exchange, again",
            "Connection to the database port 5432 timed out",
            "Connection to a port",
            "Connection to a port x timed out",
            "Connection to a port 22 is slow",
            "Connection to a closed.",
            "Connection reset by peer",
            "Connection closed by the user",
            "No route to host",
            "Timeout, server a is not responding.",
            "rank 1: kex_exchange_identification: read",
            "error: client_loop: none",
        ] {
            assert!(!is_of_ssh(line), "{line}");
        }
    }

    #[test]
    fn all_that_ssh_says_of_a_machine_is_told() {
        let names = ["a", "b"].map(str::to_owned);
        let told = |lines: &[&str]| {
            let mut refusal = Refusal::default();
            lines.iter().for_each(|line| refusal.hear(line));
            refusal.told(&names).map(|error| error.to_string())
        };
        assert_eq!(told(&["welcome"]), None);
        let lines = [
            "Connection timed out during banner exchange\r",
            "welcome",
            "Connection to 10.0.0.1 port 22 timed out\r",
        ];
        let expected = "`mpiexec.hydra` cannot start ranks on a, b: Connection timed out during \
                        banner exchange; Connection to 10.0.0.1 port 22 timed out\n  help: `ssh \
                        NAME true` must work without a question";
        assert_eq!(told(&lines).as_deref(), Some(expected));
        let lost = told(&["Timeout, server b not responding."]).unwrap();
        assert!(lost.starts_with("`mpiexec.hydra` has lost ranks on a, b: Timeout"), "{lost}");
    }
}
