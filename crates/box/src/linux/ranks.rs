//! The ranks of a job on the hosts of a box.

use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crosstie_launch::{Event, Served, Server};

use super::{BoxError, Cluster, Command, Ending, Program};

/// Why the ranks of a box did not all end well.
#[derive(Debug, thiserror::Error)]
pub enum RanksError {
    /// A rank could not be started.
    #[error(transparent)]
    Box(#[from] BoxError),
    /// The start-up could not be served.
    #[error("ranks cannot be served: {0}")]
    Serve(#[from] std::io::Error),
    /// A rank asked for the end of all, or said what makes no sense.
    #[error("rank {rank}: {message}")]
    Rank {
        /// Which.
        rank: usize,
        /// What it said.
        message: String,
    },
    /// A rank ended badly.
    #[error("rank {rank} {}", told(*ending))]
    Failed {
        /// Which.
        rank: usize,
        /// How.
        ending: Ending,
    },
    /// They took too long.
    #[error("the ranks were not done after {after:?}")]
    Late {
        /// How long it was waited.
        after: Duration,
    },
    /// They were told to end.
    #[error("the ranks were told to end before they were done")]
    Stopped,
}

fn told(ending: Ending) -> String {
    match ending {
        Ending::Exited(code) => format!("exited with code {code}"),
        Ending::Killed(signal) => format!("was killed by signal {signal}"),
        Ending::Lost => "ended with its host".to_owned(),
    }
}

impl Cluster {
    /// Runs a program as the ranks of a job, each on one of these hosts, until all have ended well.
    /// Ranks find each other by PMI through their standard input. After `limit`, or when one fails,
    /// all are ended.
    pub fn run_ranks(
        &self,
        hosts: &[usize],
        command: impl FnMut(usize) -> Command,
        limit: Duration,
    ) -> Result<(), RanksError> {
        self.run_ranks_until(hosts, command, limit, &AtomicBool::new(false))
    }

    /// The same; all are ended as well when `stop` is set.
    pub fn run_ranks_until(
        &self,
        hosts: &[usize],
        mut command: impl FnMut(usize) -> Command,
        limit: Duration,
        stop: &AtomicBool,
    ) -> Result<(), RanksError> {
        let begin = Instant::now();
        let (mut streams, mut programs) = (Vec::new(), Vec::new());
        let mut start = || -> Result<(), RanksError> {
            for (rank, &host) in hosts.iter().enumerate() {
                let (ours, theirs) = UnixStream::pair()?;
                let command = command(rank)
                    .env("PMI_FD", "0")
                    .env("PMI_RANK", rank.to_string())
                    .env("PMI_SIZE", hosts.len().to_string())
                    .stdin(theirs);
                programs.push(self.spawn(host, &command)?);
                streams.push(ours);
            }
            Ok(())
        };
        let started = start();
        let mut server = Server::new(hosts.len()).on_hosts_of_their_own();
        let watch = || match stop.load(Ordering::Relaxed) {
            true => Err(RanksError::Stopped),
            false if begin.elapsed() > limit => Err(RanksError::Late { after: limit }),
            false => Ok(()),
        };
        let served = started.and_then(|()| serve(&mut server, &streams, &programs, &watch));
        if served.is_err() {
            for program in &programs {
                let _ = program.signal(libc::SIGKILL);
            }
        }
        served?;
        for (rank, program) in programs.iter().enumerate() {
            let ending = program.wait()?;
            if !ending.success() {
                return Err(RanksError::Failed { rank, ending });
            }
        }
        Ok(())
    }
}

/// Serves ranks until all have left, or `watch` gives a reason to end them.
fn serve(
    server: &mut Server,
    streams: &[UnixStream],
    programs: &[Program],
    watch: &dyn Fn() -> Result<(), RanksError>,
) -> Result<(), RanksError> {
    loop {
        let soon = Instant::now() + Duration::from_millis(20);
        match server.serve(streams, Some(soon))? {
            Served::Over => break,
            Served::Told(Event::Aborted { rank, message, .. }) => {
                return Err(RanksError::Rank { rank, message });
            }
            Served::Told(Event::Garbled { rank, found }) => {
                let message = format!("said `{found}`, which is not understood");
                return Err(RanksError::Rank { rank, message });
            }
            Served::Late => {}
        }
        check(programs)?;
        watch()?;
    }
    // They may still have something to do before they end.
    while !programs.iter().all(has_ended) {
        check(programs)?;
        watch()?;
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// Returns true if a program has ended.
fn has_ended(program: &Program) -> bool {
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use std::os::fd::AsFd;
    let mut file = [PollFd::new(program.as_fd(), PollFlags::POLLIN)];
    poll(&mut file, PollTimeout::ZERO).is_ok_and(|count| count > 0)
}

/// Returns an error if one has ended badly.
fn check(programs: &[Program]) -> Result<(), RanksError> {
    for (rank, program) in programs.iter().enumerate().filter(|(_, program)| has_ended(program)) {
        let ending = program.wait()?;
        if !ending.success() {
            return Err(RanksError::Failed { rank, ending });
        }
    }
    Ok(())
}
