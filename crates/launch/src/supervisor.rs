//! The supervisor: the process between a launcher and its ranks, with which all of them end.
//!
//! The launcher forks it, and it forks the ranks. It ends when the *line* to the launcher closes,
//! because the launcher wants that or is gone, in whatever way; before, it kills everything below
//! it. On Linux nothing escapes from being below it: what loses its parent becomes its own child.
//! Ranks are tied to it in turn, should it be killed itself.
//!
//! The launcher may have threads, so the supervisor keeps to what [`process`] allows.

#![allow(unsafe_code)]

use std::ffi::CString;
use std::io::{self, PipeReader, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, kill, sigaction, signal};
use nix::unistd::Pid;

use super::ending::Ending;
use super::process::{self, Reaped};

/// The number under which ranks find the socket to the launcher.
pub(super) const PMI_FD: RawFd = 3;

/// For how long what is left is killed before it is given up. Only what may not be killed is left
/// then.
const PERSISTENCE: Duration = Duration::from_secs(5);

/// What is to be started.
pub(super) struct Plan {
    /// The file of the program.
    pub path: CString,
    /// Its name and its arguments.
    pub words: Vec<CString>,
    pub ranks: Vec<RankSpec>,
}

/// A rank that is to be started.
pub(super) struct RankSpec {
    /// Its environment, each as `NAME=value`.
    pub environment: Vec<CString>,
    /// Its standard files and its socket to the launcher, all [`apart`].
    pub files: [OwnedFd; 4],
}

/// What the launcher wants of the supervisor: a byte on the line.
pub(super) mod order {
    /// Ask all ranks to end.
    pub const END: u8 = b'e';
    /// End all ranks.
    pub const KILL: u8 = b'k';
}

/// What the supervisor tells of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum News {
    /// It was not started: the number of the error.
    Failed(i32),
    /// It has ended.
    Ended(Ending),
}

impl News {
    /// How many bytes they take on the line.
    pub const LENGTH: usize = 9;

    fn to_bytes(self, rank: usize) -> [u8; News::LENGTH] {
        let (kind, number) = match self {
            News::Failed(number) => (b'F', number),
            News::Ended(Ending::Exited(code)) => (b'E', code),
            News::Ended(Ending::Killed(signal)) => (b'K', signal),
        };
        let mut bytes = [kind; News::LENGTH];
        bytes[1..5].copy_from_slice(&(rank as u32).to_ne_bytes());
        bytes[5..].copy_from_slice(&number.to_ne_bytes());
        bytes
    }

    /// A rank and what there is to tell of it.
    pub fn from_bytes(bytes: [u8; News::LENGTH]) -> Option<(usize, News)> {
        let [kind, a, b, c, d, number @ ..] = bytes;
        let number = i32::from_ne_bytes(number);
        let news = match kind {
            b'F' => News::Failed(number),
            b'E' => News::Ended(Ending::Exited(number)),
            b'K' => News::Ended(Ending::Killed(number)),
            _ => return None,
        };
        Some((u32::from_ne_bytes([a, b, c, d]) as usize, news))
    }
}

/// Starts a supervisor, and with it the ranks. Returns its process, and the line.
pub(super) fn start(plan: Plan) -> io::Result<(Pid, UnixStream)> {
    let (ours, theirs) = UnixStream::pair()?;
    let (ours, theirs) = (apart(ours.into())?, apart(theirs.into())?);
    let group = nix::unistd::getpgrp();
    let work = || {
        if let Ok(supervisor) = Supervisor::alone(plan, theirs.into(), group) {
            supervisor.supervise();
        }
    };
    // SAFETY: the child only calls the kernel and allocates memory.
    let supervisor = unsafe { process::fork(work) }?;
    Ok((supervisor, ours.into()))
}

/// The same file under a number that is none of those that ranks get for their own.
pub(super) fn apart(file: OwnedFd) -> io::Result<OwnedFd> {
    process::numbered_from(PMI_FD + 1, file)
}

struct Supervisor {
    line: UnixStream,
    plan: Plan,
    /// The process group of the launcher, in which ranks are too: they can read its terminal.
    group: Pid,
    /// Readable when a child has ended.
    bell: PipeReader,
    /// The processes of ranks that have not ended.
    ranks: Vec<Option<Pid>>,
}

/// Where the handler of signals writes to.
static BELL: AtomicI32 = AtomicI32::new(-1);

extern "C" fn ring(_: libc::c_int) {
    let before = Errno::last();
    // SAFETY: writes one byte that lives for ever. A full pipe is as good as one byte more in it.
    unsafe { libc::write(BELL.load(Ordering::Relaxed), c"!".as_ptr().cast(), 1) };
    before.set();
}

impl Supervisor {
    /// Closes everything that is not needed, and takes over the signals that matter.
    fn alone(plan: Plan, line: UnixStream, group: Pid) -> io::Result<Supervisor> {
        process::reset_signals();
        process::silence()?;
        let files = plan.ranks.iter().flat_map(|rank| &rank.files).map(AsRawFd::as_raw_fd);
        let mut kept: Vec<RawFd> = files.chain([0, 1, 2, line.as_raw_fd()]).collect();
        kept.sort_unstable();
        // SAFETY: this process uses no others.
        unsafe { process::close_all_but(&kept) };
        // Ctrl-C at a terminal is for the launcher and its ranks, and what is meant for their group
        // too.
        let _ = nix::unistd::setpgid(Pid::from_raw(0), Pid::from_raw(0));
        // SAFETY: ignoring a signal runs nobody's code. A launcher that is gone is noticed in other
        // ways.
        unsafe { signal(Signal::SIGPIPE, SigHandler::SigIgn) }?;
        let (bell, ringer) = io::pipe()?;
        for file in [bell.as_fd(), ringer.as_fd()] {
            fcntl(file, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        }
        BELL.store(ringer.as_raw_fd(), Ordering::Relaxed);
        std::mem::forget(ringer);
        let flags = SaFlags::SA_RESTART | SaFlags::SA_NOCLDSTOP;
        let action = SigAction::new(SigHandler::Handler(ring), flags, SigSet::empty());
        // SAFETY: the handler only writes a byte.
        unsafe { sigaction(Signal::SIGCHLD, &action) }?;
        let ranks = vec![None; plan.ranks.len()];
        Ok(Supervisor { line, plan, group, bell, ranks })
    }

    /// Starts the ranks, and stays until the line closes.
    fn supervise(mut self) {
        #[cfg(target_os = "linux")]
        let _ = nix::sys::prctl::set_child_subreaper(true);
        let specs = std::mem::take(&mut self.plan.ranks);
        for (rank, spec) in specs.into_iter().enumerate() {
            match self.begin(&spec, rank) {
                Ok(process) => self.ranks[rank] = Some(process),
                Err(error) => self.tell(rank, News::Failed(error as i32)),
            }
        }
        self.wait_for_the_end();
        let begin = Instant::now();
        while self.reap() && begin.elapsed() < PERSISTENCE {
            self.signal(Signal::SIGKILL);
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn begin(&self, spec: &RankSpec, rank: usize) -> nix::Result<Pid> {
        let supervisor = nix::unistd::getpid();
        let work = || {
            let error = self.become_program(spec, supervisor);
            self.tell(rank, News::Failed(error as i32));
        };
        // SAFETY: there is no other thread here.
        unsafe { process::fork(work) }
    }

    /// Turns this process into the program; returns only if that fails. All files but those of the
    /// rank close by it.
    fn become_program(&self, spec: &RankSpec, supervisor: Pid) -> Errno {
        let prepared = || -> nix::Result<()> {
            #[cfg(target_os = "linux")]
            nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
            // A supervisor that has ended already sends no signal any more.
            if nix::unistd::getppid() != supervisor {
                return Err(Errno::ESRCH);
            }
            let _ = nix::unistd::setpgid(Pid::from_raw(0), self.group);
            // SAFETY: nothing here uses these numbers, because all files are apart from them.
            unsafe { process::place_files(&spec.files) }
        };
        if let Err(error) = prepared() {
            return error;
        }
        process::reset_signals();
        match nix::unistd::execve(&self.plan.path, &self.plan.words, &spec.environment) {
            Err(error) => error,
            Ok(never) => match never {},
        }
    }

    fn tell(&self, rank: usize, news: News) {
        use std::io::Write;
        // Who is not there to hear it ends all this anyway.
        let _ = (&self.line).write_all(&news.to_bytes(rank));
    }

    /// Does what the launcher wants until it closes the line, or is gone.
    fn wait_for_the_end(&mut self) {
        loop {
            let mut files = [&self.line.as_fd(), &self.bell.as_fd()]
                .map(|file| PollFd::new(*file, PollFlags::POLLIN));
            match poll(&mut files, PollTimeout::NONE) {
                Err(Errno::EINTR) => continue,
                Err(_) => return,
                Ok(_) => {}
            }
            let [spoken, rung] = files.map(|file| file.any().unwrap_or(true));
            if rung {
                while self.bell.read(&mut [0; 64]).is_ok_and(|count| count > 0) {}
                self.reap();
            }
            if spoken {
                let mut order = [0];
                match self.line.read(&mut order) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Ok(0) | Err(_) => return,
                    Ok(_) => match order[0] {
                        order::END => {
                            self.signal(Signal::SIGTERM);
                            // What is stopped could not obey.
                            self.signal(Signal::SIGCONT);
                        }
                        order::KILL => self.signal(Signal::SIGKILL),
                        _ => {}
                    },
                }
            }
        }
    }

    /// Sends a signal to all below.
    fn signal(&self, signal: Signal) {
        #[cfg(target_os = "linux")]
        for process in super::descendants::descendants(nix::unistd::getpid().as_raw()) {
            let _ = kill(Pid::from_raw(process), signal);
        }
        #[cfg(not(target_os = "linux"))]
        for process in self.ranks.iter().flatten() {
            let _ = kill(*process, signal);
        }
    }

    /// Takes note of children that have ended, and tells of ranks among them. Returns true if there
    /// are others.
    fn reap(&mut self) -> bool {
        loop {
            let (child, ending) = match process::reap() {
                Reaped::Ended(child, ending) => (child, ending),
                Reaped::Running => return true,
                Reaped::Childless => return false,
            };
            if let Some(rank) = self.ranks.iter().position(|process| *process == Some(child)) {
                self.ranks[rank] = None;
                self.tell(rank, News::Ended(ending));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_survive_the_line() {
        for news in
            [News::Failed(2), News::Ended(Ending::Exited(255)), News::Ended(Ending::Killed(9))]
        {
            assert_eq!(News::from_bytes(news.to_bytes(70_000)), Some((70_000, news)));
        }
        assert_eq!(News::from_bytes([b'x'; News::LENGTH]), None);
    }
}
