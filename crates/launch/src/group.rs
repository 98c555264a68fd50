//! The process group: the ranks of a job from their start until all have ended.

use std::fmt;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::wait::waitpid;
use nix::unistd::Pid;

use super::ending::Ending;
use super::launcher::LaunchError;
use super::server::{Event, Server};
use super::supervisor::{News, order};

/// The ranks that a [`Launcher`](super::Launcher) has started, a process group as PMI has the word.
/// They end when this is dropped, and everything below them with them.
#[derive(Debug)]
pub struct ProcessGroup {
    program: String,
    supervisor: Pid,
    /// The supervisor ends when this is closed.
    line: Option<UnixStream>,
    streams: Vec<UnixStream>,
    server: Server,
    grace: Duration,
    begin: Instant,
    /// Somebody wants the ranks to end.
    wishes: PipeReader,
    wisher: PipeWriter,
}

/// By which a process group can be asked to end, from any thread.
#[derive(Debug)]
pub struct Ender(PipeWriter);

impl Ender {
    /// Asks all ranks to end; the second time they are killed.
    pub fn end(&self) {
        // One that has ended already needs no wishes.
        let _ = (&self.0).write_all(&[0]);
    }
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Its ranks.
    pub ranks: Vec<RankEnd>,
    /// What the first rank that failed has done, if one has.
    pub failure: Option<Failure>,
    /// Whether an [`Ender`] wanted them to end.
    pub interrupted: bool,
}

/// How a rank ended, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankEnd {
    /// How.
    pub ending: Ending,
    /// So long after the start.
    pub after: Duration,
}

/// What the first rank that failed has done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// It ended, and not well.
    Ended {
        /// Which.
        rank: usize,
        /// How.
        ending: Ending,
    },
    /// It asked for the end of all.
    Aborted {
        /// Which.
        rank: usize,
        /// With this exit code.
        code: i32,
        /// What it says to it; perhaps nothing.
        message: String,
    },
    /// It said something to its launcher that no rank says.
    Garbled {
        /// Which.
        rank: usize,
        /// What, or how.
        found: String,
    },
}

impl Failure {
    /// Which rank.
    pub fn rank(&self) -> usize {
        match *self {
            Failure::Ended { rank, .. }
            | Failure::Aborted { rank, .. }
            | Failure::Garbled { rank, .. } => rank,
        }
    }

    /// The exit code that tells of it, which is not 0.
    pub fn code(&self) -> u8 {
        let code = match self {
            Failure::Ended { ending, .. } => ending.code(),
            Failure::Aborted { code, .. } => *code as u8,
            Failure::Garbled { .. } => 1,
        };
        code.max(1)
    }
}

/// Which rank did what: `rank 2 ended with code 7`.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Ended { rank, ending } => write!(f, "rank {rank} {ending}"),
            Failure::Aborted { rank, code, message } if message.is_empty() => {
                write!(f, "rank {rank} aborted with code {code}")
            }
            Failure::Aborted { rank, code, message } => {
                write!(f, "rank {rank} aborted with code {code}: {message}")
            }
            Failure::Garbled { rank, found } => {
                write!(f, "rank {rank} said `{found}` to its launcher, expected a request of PMI-1")
            }
        }
    }
}

impl From<Event> for Failure {
    fn from(event: Event) -> Failure {
        match event {
            Event::Aborted { rank, code, message } => Failure::Aborted { rank, code, message },
            Event::Garbled { rank, found } => Failure::Garbled { rank, found },
        }
    }
}

/// How far the end of a process group has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Nobody wants it.
    Running,
    /// Ranks have been asked, and have until then.
    Asked(Instant),
    /// They have been killed.
    Killed,
}

impl ProcessGroup {
    pub(super) fn new(
        program: String,
        supervisor: Pid,
        line: UnixStream,
        streams: Vec<UnixStream>,
        server: Server,
        grace: Duration,
    ) -> io::Result<ProcessGroup> {
        // Whatever fails from here on, the supervisor has to be taken note of.
        let begin = Instant::now();
        let pipe = io::pipe();
        let (wishes, wisher) = match pipe {
            Ok(pipe) => pipe,
            Err(error) => {
                drop(line);
                bury(supervisor);
                return Err(error);
            }
        };
        let line = Some(line);
        Ok(ProcessGroup {
            program,
            supervisor,
            line,
            streams,
            server,
            grace,
            begin,
            wishes,
            wisher,
        })
    }

    /// By which it can be asked to end while it is waited for.
    ///
    /// # Errors
    /// If this process has too many files open.
    pub fn ender(&self) -> io::Result<Ender> {
        self.wisher.try_clone().map(Ender)
    }

    /// Serves the ranks until all have ended. When one fails the others are asked to end, and
    /// killed when their time is up.
    pub fn wait(mut self) -> Result<Outcome, LaunchError> {
        let watching = |cause| LaunchError::System { doing: "watch over ranks", cause };
        let mut endings: Vec<Option<RankEnd>> = vec![None; self.streams.len()];
        let mut failure: Option<Failure> = None;
        let mut interrupted = false;
        let mut stage = Stage::Running;
        while endings.iter().any(Option::is_none) {
            let Some(line) = &self.line else { return Err(LaunchError::Lost) };
            let patience = match stage {
                Stage::Asked(end) => Some(end.saturating_duration_since(Instant::now())),
                Stage::Running | Stage::Killed => None,
            };
            let others = [line.as_fd(), self.wishes.as_fd()];
            let ready = self.server.turn(&self.streams, &others, patience).map_err(watching)?;
            // A rank may have said why it ends before it has.
            while let Some(event) = self.server.next_event() {
                failure = failure.or(Some(event.into()));
            }
            if ready[0] {
                let (rank, news) = self.news()?;
                let ending = match news {
                    News::Ended(ending) => ending,
                    News::Failed(code) => {
                        let cause = io::Error::from_raw_os_error(code);
                        let program = std::mem::take(&mut self.program);
                        return Err(LaunchError::Start { rank, program, cause });
                    }
                };
                if let Some(end @ None) = endings.get_mut(rank) {
                    *end = Some(RankEnd { ending, after: self.begin.elapsed() });
                    if !ending.success() {
                        failure = failure.or(Some(Failure::Ended { rank, ending }));
                    }
                }
            }
            let mut wished = 0;
            if ready[1] {
                wished = self.wishes.read(&mut [0; 16]).map_err(watching)?;
                interrupted = true;
            }
            let next = match stage {
                Stage::Running if wished > 1 => Stage::Killed,
                Stage::Running if wished > 0 || failure.is_some() => {
                    Stage::Asked(Instant::now() + self.grace)
                }
                Stage::Asked(end) if wished > 0 || end <= Instant::now() => Stage::Killed,
                stage => stage,
            };
            if next != stage {
                stage = next;
                self.order(if stage == Stage::Killed { order::KILL } else { order::END });
            }
        }
        let ranks = endings.into_iter().flatten().collect();
        Ok(Outcome { ranks, failure, interrupted })
    }

    /// What the supervisor tells next.
    fn news(&mut self) -> Result<(usize, News), LaunchError> {
        let mut bytes = [0; News::LENGTH];
        let read = self.line.as_mut().map(|line| line.read_exact(&mut bytes));
        match (read, News::from_bytes(bytes)) {
            (Some(Ok(())), Some(news)) => Ok(news),
            _ => Err(LaunchError::Lost),
        }
    }

    fn order(&mut self, order: u8) {
        // A supervisor that is gone is noticed by what it tells.
        let _ = self.line.as_mut().map(|line| line.write_all(&[order]));
    }
}

/// Ends what is left of the ranks, and waits for that.
impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.line = None;
        bury(self.supervisor);
    }
}

fn bury(supervisor: Pid) {
    while waitpid(supervisor, None) == Err(Errno::EINTR) {}
}

#[cfg(test)]
mod tests;
