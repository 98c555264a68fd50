//! Processes between `fork` and `exec`, as launchers and boxes need them.
//!
//! The child of a program with threads may call the kernel and allocate memory, since the
//! allocators of the systems at hand survive a fork. It must not touch the environment, standard
//! output, or any lock that another thread may hold.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::sys::signal::{SigHandler, SigSet, SigmaskHow, Signal, signal, sigprocmask};
use nix::unistd::{ForkResult, Pid};

use super::Ending;

/// Starts a child that does some work and ends.
///
/// # Safety
/// If this process has other threads, the work only calls the kernel and allocates memory.
pub unsafe fn fork(work: impl FnOnce()) -> nix::Result<Pid> {
    // SAFETY: the caller promises what the child does, and the child never returns.
    match unsafe { nix::unistd::fork() }? {
        ForkResult::Parent { child } => Ok(child),
        ForkResult::Child => never_return(work),
    }
}

/// Does the work of a child and ends the process. Not even a panic gets back into the code of the
/// parent.
pub fn never_return(work: impl FnOnce()) -> ! {
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    // SAFETY: ends the process without running anything that others registered.
    unsafe { libc::_exit(1) }
}

/// Resets all signals to what they are for a new program.
pub fn reset_signals() {
    for number in
        Signal::iterator().filter(|number| !matches!(number, Signal::SIGKILL | Signal::SIGSTOP))
    {
        // SAFETY: the default handlers run no code of this process.
        let _ = unsafe { signal(number, SigHandler::SigDfl) };
    }
    let _ = sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None);
}

/// A file with nothing to read that takes whatever is written: `/dev/null`.
pub fn nothing() -> io::Result<OwnedFd> {
    Ok(File::options().read(true).write(true).open("/dev/null")?.into())
}

/// A copy of a standard file of this process, or [`nothing`] if that is closed.
pub fn standard_file(file: &impl AsFd) -> io::Result<OwnedFd> {
    match file.as_fd().try_clone_to_owned() {
        Err(error) if error.raw_os_error() == Some(libc::EBADF) => not_standard(nothing()?),
        file => file,
    }
}

/// The same file under a number from `least` on, closed by `exec`.
pub fn numbered_from(least: RawFd, file: OwnedFd) -> io::Result<OwnedFd> {
    if file.as_raw_fd() >= least {
        return Ok(file);
    }
    let number = fcntl(file, FcntlArg::F_DUPFD_CLOEXEC(least))?;
    // SAFETY: it has just been opened, and no other code has it.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// The same file under a number that is not that of a standard one. A process that has closed one
/// of these gets its number for the next file that it opens, and programs would take that for their
/// own.
pub fn not_standard(file: OwnedFd) -> io::Result<OwnedFd> {
    numbered_from(3, file)
}

/// Opens files under the numbers 0, 1, 2 and so on, where a program that is executed finds them.
///
/// # Safety
/// No code in this process uses what is open under these numbers, and none of the files is.
pub unsafe fn place_files(files: impl IntoIterator<Item: AsFd>) -> nix::Result<()> {
    for (number, file) in (0..).zip(files) {
        // SAFETY: the caller promises that no code uses this number.
        if unsafe { libc::dup2(file.as_fd().as_raw_fd(), number) } < 0 {
            return Err(Errno::last());
        }
    }
    Ok(())
}

/// Opens [`nothing`] as standard input, output and error.
pub fn silence() -> io::Result<()> {
    let nothing = not_standard(nothing()?)?;
    // SAFETY: code that uses standard files takes them as they are.
    Ok(unsafe { place_files([&nothing; 3]) }?)
}

/// Closes all files but some, whose numbers are given in ascending order.
///
/// # Safety
/// No code in this process uses a file that is closed.
pub unsafe fn close_all_but(kept: &[RawFd]) {
    let ends = kept.iter().copied().chain([RawFd::MAX]);
    let mut from = 0;
    for end in ends {
        if from < end {
            // SAFETY: as promised by the caller.
            unsafe { close_between(from, end) };
        }
        from = end.saturating_add(1);
    }
}

/// Closes the files from one number to before another.
///
/// # Safety
/// No code in this process uses them.
unsafe fn close_between(from: RawFd, to: RawFd) {
    // SAFETY: as promised by the caller.
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

/// What [`reap`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaped {
    /// A child that has ended.
    Ended(Pid, Ending),
    /// Children of which none has ended.
    Running,
    /// No children.
    Childless,
}

/// Looks for a child that has ended, and takes note of it. Signals stay numbers, because those in
/// real time have no names.
pub fn reap() -> Reaped {
    let mut status = 0;
    loop {
        // SAFETY: the kernel writes one number, which lives until the call returns.
        let child = match unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) } {
            -1 if Errno::last() == Errno::EINTR => continue,
            -1 => return Reaped::Childless,
            0 => return Reaped::Running,
            child => Pid::from_raw(child),
        };
        if libc::WIFEXITED(status) {
            return Reaped::Ended(child, Ending::Exited(libc::WEXITSTATUS(status)));
        }
        if libc::WIFSIGNALED(status) {
            return Reaped::Ended(child, Ending::Killed(libc::WTERMSIG(status)));
        }
    }
}
