//! A program that is to be started as several ranks on this machine.

use std::env;
use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::unistd::{AccessFlags, access};

use super::MOST_RANKS;
use super::group::ProcessGroup;
use super::process::{nothing, standard_file};
use super::server::Server;
use super::supervisor::{self, PMI_FD, Plan, RankSpec, apart};

/// How long ranks that are asked to end have for it.
const GRACE: Duration = Duration::from_secs(2);

/// Starts the ranks of a job.
///
/// Each of them has a socket to this process as `PMI_FD`, so that it can [join](super::Job::join),
/// or be a rank of MPICH. It has the environment of this process beside that, and no open files but
/// those that it is given. When this process ends, in whatever way, so do the ranks and, on Linux,
/// everything that they have started.
#[derive(Debug, Clone)]
pub struct Launcher {
    size: usize,
    words: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
    grace: Duration,
}

/// Why ranks do not run.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// There is nothing to run.
    #[error("nothing to run\nhelp: name a program, and its arguments")]
    Nothing,
    /// That many ranks cannot be.
    #[error("found {found} ranks, expected 1 to {MOST_RANKS}")]
    Ranks {
        /// How many were asked for.
        found: usize,
    },
    /// There is no such program.
    #[error("cannot run `{program}`: {}", missing(program))]
    NotFound {
        /// Its name.
        program: String,
    },
    /// It is there, but no program.
    #[error("cannot run `{program}`: {path} {why}")]
    NotExecutable {
        /// Its name.
        program: String,
        /// Where it is.
        path: String,
        /// What it lacks.
        why: &'static str,
    },
    /// A text that no program can be told.
    #[error("found a zero byte in `{text}`, expected none: arguments and variables end there")]
    Zero {
        /// The text.
        text: String,
    },
    /// The kernel does not let a rank start.
    #[error("cannot start rank {rank} of `{program}`: {cause}")]
    Start {
        /// Which.
        rank: usize,
        /// The program.
        program: String,
        /// What the kernel says.
        cause: io::Error,
    },
    /// The kernel does not give what ranks need.
    #[error("cannot {doing}: {cause}{}", more_files(cause))]
    System {
        /// What was to be done.
        doing: &'static str,
        /// What the kernel says.
        cause: io::Error,
    },
    /// The process that keeps the ranks was killed, and they with it.
    #[error("the process that keeps the ranks was killed by somebody else, and the ranks with it")]
    Lost,
}

fn missing(program: &str) -> String {
    match program.contains('/') {
        true => "there is no such file".to_owned(),
        false => format!(
            "there is no such program on the PATH\nhelp: for one in this folder, write `./{program}`"
        ),
    }
}

fn more_files(cause: &io::Error) -> &'static str {
    match cause.raw_os_error() {
        Some(libc::EMFILE) => "\nhelp: every rank takes several; `ulimit -n 8192` allows more",
        _ => "",
    }
}

impl Launcher {
    /// So many ranks of a program with its arguments.
    pub fn new<W: Into<OsString>>(size: usize, words: impl IntoIterator<Item = W>) -> Launcher {
        let words = words.into_iter().map(Into::into).collect();
        Launcher { size, words, variables: Vec::new(), grace: GRACE }
    }

    /// With a variable in the environment of all ranks.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Launcher {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// With another time for ranks to end in when they are asked to; 2 s unless it is set.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Launcher {
        self.grace = grace;
        self
    }

    /// Starts the ranks. `files` gives each of them its standard input, output and error; what is
    /// `None` is, for rank 0, that of this process, and for the others nothing to read, but
    /// output and error of this process.
    pub fn start(
        &self,
        mut files: impl FnMut(usize) -> io::Result<[Option<OwnedFd>; 3]>,
    ) -> Result<ProcessGroup, LaunchError> {
        if !(1..=MOST_RANKS).contains(&self.size) {
            return Err(LaunchError::Ranks { found: self.size });
        }
        let path = find(self.words.first().ok_or(LaunchError::Nothing)?)?;
        let words = self.words.iter().map(|word| text(word)).collect::<Result<Vec<_>, _>>()?;
        let environment = self.environment()?;
        let connecting = |cause| LaunchError::System { doing: "connect ranks", cause };
        let (mut streams, mut ranks) = (Vec::new(), Vec::new());
        for rank in 0..self.size {
            let (ours, theirs) = UnixStream::pair().map_err(connecting)?;
            let given = files(rank).map_err(connecting)?;
            let files = standard_files(rank, given, theirs.into()).map_err(connecting)?;
            let mut environment = environment.clone();
            let own = [
                ("PMI_RANK", rank),
                ("PMI_SIZE", self.size),
                ("PMI_FD", PMI_FD as usize),
                ("MPI_LOCALRANKID", rank),
                ("MPI_LOCALNRANKS", self.size),
            ];
            for (name, value) in own {
                environment.push(text(OsStr::new(&format!("{name}={value}")))?);
            }
            streams.push(ours);
            ranks.push(RankSpec { environment, files });
        }
        let plan = Plan { path: text(path.as_os_str())?, words, ranks };
        let (supervisor, line) = supervisor::start(plan)
            .map_err(|cause| LaunchError::System { doing: "start a process for ranks", cause })?;
        let program = self.words[0].to_string_lossy().into_owned();
        let server = Server::new(self.size);
        ProcessGroup::new(program, supervisor, line, streams, server, self.grace)
            .map_err(|cause| LaunchError::System { doing: "watch over ranks", cause })
    }

    /// What all ranks have in their environment: everything but what another launcher has told this
    /// process.
    fn environment(&self) -> Result<Vec<CString>, LaunchError> {
        let others = |name: &OsStr| {
            let name = name.as_bytes();
            let starts = |start: &str| name.starts_with(start.as_bytes());
            starts("PMI_") || starts("PMIX_") || name == b"HYDI_CONTROL_FD"
        };
        let chosen = |name: &OsStr| self.variables.iter().any(|(other, _)| other == name);
        let inherited = env::vars_os().filter(|(name, _)| !others(name) && !chosen(name));
        let mut all: Vec<(OsString, OsString)> = inherited.collect();
        // Fortran keeps lines to itself otherwise, until there are many.
        let fortran = OsStr::new("GFORTRAN_UNBUFFERED_PRECONNECTED");
        if env::var_os(fortran).is_none() {
            all.push((fortran.to_owned(), "y".into()));
        }
        let pairs = all.iter().chain(&self.variables);
        pairs.map(|(name, value)| text(&[&**name, &**value].join(OsStr::new("=")))).collect()
    }
}

fn text(text: &OsStr) -> Result<CString, LaunchError> {
    let zero = |_| LaunchError::Zero { text: text.to_string_lossy().replace('\0', "\\0") };
    CString::new(text.as_bytes()).map_err(zero)
}

fn standard_files(
    rank: usize,
    given: [Option<OwnedFd>; 3],
    socket: OwnedFd,
) -> io::Result<[OwnedFd; 4]> {
    let [input, output, errors] = given;
    let input = match input {
        Some(input) => input,
        None if rank == 0 => standard_file(&io::stdin())?,
        None => nothing()?,
    };
    let output = output.map_or_else(|| standard_file(&io::stdout()), Ok)?;
    let errors = errors.map_or_else(|| standard_file(&io::stderr()), Ok)?;
    Ok([apart(input)?, apart(output)?, apart(errors)?, apart(socket)?])
}

/// The file of a program, as a shell would find it.
fn find(name: &OsStr) -> Result<PathBuf, LaunchError> {
    let program = name.to_string_lossy().into_owned();
    if name.is_empty() {
        return Err(LaunchError::Nothing);
    }
    let candidates: Vec<PathBuf> = match name.as_bytes().contains(&b'/') {
        true => vec![name.into()],
        false => {
            let path = env::var_os("PATH").filter(|path| !path.is_empty());
            let path = path.unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
            env::split_paths(&path).map(|folder| folder.join(name)).collect()
        }
    };
    let mut refused = None;
    for path in candidates {
        match fault(&path) {
            Ok(None) => return Ok(path),
            Ok(Some(why)) => refused = refused.or(Some((path, why))),
            Err(_) => {}
        }
    }
    let (path, why) = refused.ok_or_else(|| LaunchError::NotFound { program: program.clone() })?;
    Err(LaunchError::NotExecutable { program, path: path.display().to_string(), why })
}

/// What keeps a file from being a program; an error if it is not there.
fn fault(path: &Path) -> io::Result<Option<&'static str>> {
    let metadata = path.metadata()?;
    if metadata.is_dir() {
        return Ok(Some("is a folder"));
    }
    match access(path, AccessFlags::X_OK) {
        Ok(()) => Ok(None),
        Err(_) => Ok(Some("may not be executed\nhelp: `chmod +x` makes a file a program")),
    }
}

#[cfg(test)]
mod tests;
