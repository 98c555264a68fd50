//! The process between a launcher and its ranks, with which all of them end.
//!
//! The launcher forks it, and it forks the ranks. It ends when the *line* to the launcher closes,
//! because the launcher wants that or is gone, in whatever way; before, it kills everything below
//! it. On Linux nothing escapes from being below it: what loses its parent becomes its own child.
//! Ranks are tied to it in turn, should it be killed itself.
//!
//! It is forked from a program that may have threads, so that until it ends it only calls the
//! kernel and allocates memory: no environment, no standard output, no locks of others.

#![allow(unsafe_code)]

use std::ffi::CString;
use std::fs::File;
use std::io::{self, PipeReader, Read};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{
    SaFlags, SigAction, SigHandler, SigSet, SigmaskHow, Signal, kill, sigaction, signal,
    sigprocmask,
};
use nix::unistd::{ForkResult, Pid, fork};

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
    pub ranks: Vec<Recruit>,
}

/// A rank that is to be started.
pub(super) struct Recruit {
    /// Its environment, each as `NAME=value`.
    pub environment: Vec<CString>,
    /// Its standard files and its socket to the launcher, all [`apart`].
    pub files: [OwnedFd; 4],
}

/// What the launcher wants of the keeper: a byte on the line.
pub(super) mod order {
    /// Ask all ranks to end.
    pub const END: u8 = b'e';
    /// End all ranks.
    pub const KILL: u8 = b'k';
}

/// What the keeper tells of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum News {
    /// It was not started: the number of the error.
    Failed(i32),
    /// It has ended, with a code.
    Exited(i32),
    /// It was ended by a signal.
    Killed(i32),
}

impl News {
    /// How many bytes they take on the line.
    pub const LENGTH: usize = 9;

    fn to_bytes(self, rank: usize) -> [u8; News::LENGTH] {
        let (kind, number) = match self {
            News::Failed(number) => (b'F', number),
            News::Exited(number) => (b'E', number),
            News::Killed(number) => (b'K', number),
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
            b'E' => News::Exited(number),
            b'K' => News::Killed(number),
            _ => return None,
        };
        Some((u32::from_ne_bytes([a, b, c, d]) as usize, news))
    }
}

/// Starts a keeper, and with it the ranks. Returns its process, and the line.
pub(super) fn start(plan: Plan) -> io::Result<(Pid, UnixStream)> {
    let (ours, theirs) = UnixStream::pair()?;
    let (ours, theirs) = (apart(ours.into())?, apart(theirs.into())?);
    let group = nix::unistd::getpgrp();
    // SAFETY: the child only calls the kernel and allocates memory, which a child of a program with
    // threads may do with the allocators of the systems at hand; it never returns.
    match unsafe { fork() }? {
        ForkResult::Parent { child } => Ok((child, ours.into())),
        ForkResult::Child => never_return(|| {
            drop(ours);
            if let Ok(keeper) = Keeper::alone(plan, theirs.into(), group) {
                keeper.keep();
            }
        }),
    }
}

/// The same file under a number that is none of those that ranks get for their own.
pub(super) fn apart(file: OwnedFd) -> io::Result<OwnedFd> {
    if file.as_raw_fd() > PMI_FD {
        return Ok(file);
    }
    let number = fcntl(file, FcntlArg::F_DUPFD_CLOEXEC(PMI_FD + 1))?;
    // SAFETY: it has just been opened, and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Does what a new process is for, and ends it. Not even a panic gets back into the code of the old
/// one.
fn never_return(work: impl FnOnce()) -> ! {
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    // SAFETY: ends the process without running anything that was registered by others.
    unsafe { libc::_exit(1) }
}

struct Keeper {
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

impl Keeper {
    /// Closes everything that is not needed, and takes over the signals that matter.
    fn alone(plan: Plan, line: UnixStream, group: Pid) -> io::Result<Keeper> {
        reset_signals();
        let nothing = File::options().read(true).write(true).open("/dev/null")?;
        for standard in 0..3 {
            // SAFETY: nothing here uses the standard files.
            if unsafe { libc::dup2(nothing.as_raw_fd(), standard) } < 0 {
                return Err(io::Error::last_os_error());
            }
        }
        let files = plan.ranks.iter().flat_map(|rank| &rank.files).map(AsRawFd::as_raw_fd);
        let mut kept: Vec<RawFd> = files.chain([0, 1, 2, line.as_raw_fd()]).collect();
        kept.push(nothing.as_raw_fd());
        kept.sort_unstable();
        close_all_but(&kept);
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
        Ok(Keeper { line, plan, group, bell, ranks })
    }

    /// Starts the ranks, and stays until the line closes.
    fn keep(mut self) {
        #[cfg(target_os = "linux")]
        let _ = nix::sys::prctl::set_child_subreaper(true);
        let recruits = std::mem::take(&mut self.plan.ranks);
        for (rank, recruit) in recruits.into_iter().enumerate() {
            match self.begin(&recruit, rank) {
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

    fn begin(&self, recruit: &Recruit, rank: usize) -> nix::Result<Pid> {
        let keeper = nix::unistd::getpid();
        // SAFETY: there is no other thread here, and the child never returns.
        match unsafe { fork() }? {
            ForkResult::Parent { child } => Ok(child),
            ForkResult::Child => never_return(|| {
                let error = self.become_program(recruit, keeper);
                self.tell(rank, News::Failed(error as i32));
            }),
        }
    }

    /// Turns this process into the program; returns only if that fails. All files but those of the
    /// rank close by it.
    fn become_program(&self, recruit: &Recruit, keeper: Pid) -> Errno {
        let prepared = || -> nix::Result<()> {
            #[cfg(target_os = "linux")]
            nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
            // A keeper that has ended already sends no signal any more.
            if nix::unistd::getppid() != keeper {
                return Err(Errno::ESRCH);
            }
            let _ = nix::unistd::setpgid(Pid::from_raw(0), self.group);
            for (number, file) in recruit.files.iter().enumerate() {
                // SAFETY: nothing here uses these numbers, because all files are apart from them.
                if unsafe { libc::dup2(file.as_raw_fd(), number as RawFd) } < 0 {
                    return Err(Errno::last());
                }
            }
            Ok(())
        };
        if let Err(error) = prepared() {
            return error;
        }
        reset_signals();
        match nix::unistd::execve(&self.plan.path, &self.plan.words, &recruit.environment) {
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

    /// Takes note of children that have ended, and tells of ranks among them. Whether there are
    /// others.
    fn reap(&mut self) -> bool {
        let mut status = 0;
        loop {
            // SAFETY: the kernel writes one number, which lives until the call returns. Signals are
            // numbers here, because those in real time have no names.
            let who = match unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) } {
                -1 if Errno::last() == Errno::EINTR => continue,
                -1 => return false,
                0 => return true,
                who => Pid::from_raw(who),
            };
            let news = match status {
                status if libc::WIFEXITED(status) => News::Exited(libc::WEXITSTATUS(status)),
                status if libc::WIFSIGNALED(status) => News::Killed(libc::WTERMSIG(status)),
                _ => continue,
            };
            if let Some(rank) = self.ranks.iter().position(|process| *process == Some(who)) {
                self.ranks[rank] = None;
                self.tell(rank, news);
            }
        }
    }
}

/// Closes all files but some, given in order.
fn close_all_but(kept: &[RawFd]) {
    let ends = kept.iter().copied().chain([RawFd::MAX]);
    let mut from = 0;
    for end in ends {
        if from < end {
            close_between(from, end);
        }
        from = end.saturating_add(1);
    }
}

/// Closes the files from one number to before another.
fn close_between(from: RawFd, to: RawFd) {
    // SAFETY: nobody in this process uses these files.
    unsafe {
        #[cfg(target_os = "linux")]
        if libc::syscall(libc::SYS_close_range, from as u32, (to - 1) as u32, 0) == 0 {
            return;
        }
        // Systems without such a call, and kernels before 5.9, have fewer files than this.
        for number in from..to.min(1 << 16) {
            libc::close(number);
        }
    }
}

/// Takes all signals back to what they are for a new program.
fn reset_signals() {
    for number in
        Signal::iterator().filter(|number| !matches!(number, Signal::SIGKILL | Signal::SIGSTOP))
    {
        // SAFETY: the default handlers are nobody's code.
        let _ = unsafe { signal(number, SigHandler::SigDfl) };
    }
    let _ = sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_survive_the_line() {
        for news in [News::Failed(2), News::Exited(255), News::Killed(9)] {
            assert_eq!(News::from_bytes(news.to_bytes(70_000)), Some((70_000, news)));
        }
        assert_eq!(News::from_bytes([b'x'; News::LENGTH]), None);
    }
}
