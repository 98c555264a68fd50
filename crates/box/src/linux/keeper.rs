//! The process that holds a box: it enters namespaces of its own, makes the first process of every
//! host in further ones, and ends with whoever made it, and they with it.
//!
//! Its maker may have threads, so the keeper keeps to what [`process`] allows.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};

use crosstie_launch::process;
use nix::mount::{MsFlags, mount};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::sys::wait::waitpid;
use nix::unistd::Pid;

use super::{host, netlink, passing};

/// What a box needs to know of its hosts before there are any.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    /// The hosts.
    pub hosts: Vec<Resident>,
    /// `/etc/hosts` of all of them.
    pub table: String,
    /// The program that `ssh` and `rsh` call on every host, with its first arguments.
    pub remote_shell: Option<String>,
}

/// What there is to know of a host.
#[derive(Debug, Clone)]
pub(super) struct Resident {
    /// Its name.
    pub name: CString,
    /// What the environment of every program says of it: names and values.
    pub variables: Vec<(CString, CString)>,
}

/// Where the folder of the box lies until a host covers it with shared memory of its own.
pub(super) const FOLDER: &str = "/dev/shm";

/// The file for a host's table of names, in the folder of the box. No host can have such a name.
pub(super) const TABLE: &str = ".hosts";

/// What a keeper and its hosts tell the maker of the box while it is made. The first byte says
/// which, the rest is a number or a text.
pub(super) mod news {
    /// It has a user namespace, whose users the maker has to map.
    pub const ENTERED: u8 = b'u';
    /// It has all that is not a host's; its netlink socket, network namespace and folder come with
    /// it.
    pub const KEPT: u8 = b'k';
    /// A host stands, number first; its netlink socket and network namespace come with it.
    pub const HOST: u8 = b'h';
    /// Something failed: the number of the error, then what was tried.
    pub const FAILED: u8 = b'f';
}

/// A failure with what was tried.
#[derive(Debug)]
pub(super) struct Failed {
    pub doing: &'static str,
    pub code: i32,
}

/// Says what was tried when a call of the kernel fails.
pub(super) trait Doing<T> {
    fn doing(self, what: &'static str) -> Result<T, Failed>;
}

impl<T, E: Into<io::Error>> Doing<T> for Result<T, E> {
    fn doing(self, what: &'static str) -> Result<T, Failed> {
        self.map_err(|error| {
            let code = error.into().raw_os_error().unwrap_or(libc::EIO);
            Failed { doing: what, code }
        })
    }
}

/// Tells the maker of a failure.
pub(super) fn complain(line: BorrowedFd<'_>, failed: &Failed) {
    let mut bytes = vec![news::FAILED];
    bytes.extend(failed.code.to_ne_bytes());
    bytes.extend(failed.doing.as_bytes());
    // Who is not there to hear it has no box either.
    let _ = passing::send(line, &bytes, &[]);
}

/// Starts a keeper. Returns its process, and the line on which it tells its news; when that closes,
/// it ends.
#[allow(unsafe_code)]
pub(super) fn start(plan: &Plan) -> io::Result<(Pid, OwnedFd)> {
    let (ours, theirs) = passing::pair()?;
    let work = || {
        if let Ok(line) = alone(theirs) {
            let _ = keep(plan, &line).inspect_err(|failed| complain(line.as_fd(), failed));
        }
    };
    // SAFETY: the child only calls the kernel and allocates memory.
    let keeper = unsafe { process::fork(work) }?;
    Ok((keeper, ours))
}

/// Closes everything but one file, and takes the signals back to what they are for a new program.
#[allow(unsafe_code)]
fn alone(line: OwnedFd) -> io::Result<OwnedFd> {
    /// The number of the only open file beside the standard ones.
    const LINE: RawFd = 3;
    process::silence()?;
    let line = line.into_raw_fd();
    // SAFETY: this process has no other thread and uses none of the files that are closed.
    unsafe {
        if line != LINE && libc::dup3(line, LINE, libc::O_CLOEXEC) < 0 {
            return Err(io::Error::last_os_error());
        }
        process::close_all_but(&[0, 1, 2, LINE]);
    }
    process::reset_signals();
    // SAFETY: it is open, and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(LINE) })
}

fn keep(plan: &Plan, line: &OwnedFd) -> Result<(), Failed> {
    // Ctrl-C at a terminal is for whoever made the box.
    let _ = nix::unistd::setpgid(Pid::from_raw(0), Pid::from_raw(0));
    enter(line)?;
    private()?;
    folder(plan).doing("fill the folder of the box")?;
    // No frames but those of hosts.
    let _ = fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
    let (socket, namespace) = netlink::open().doing("open a netlink socket")?;
    let folder = fs::File::open(FOLDER).doing("open the folder of the box")?;
    let files = [socket.as_fd(), namespace.as_fd(), folder.as_fd()];
    passing::send(line.as_fd(), &[news::KEPT], &files).doing("tell the maker of the box")?;
    drop((socket, namespace, folder));
    let mut hosts = Vec::new();
    for number in 0..plan.hosts.len() {
        hosts.push(first_process(plan, number, line)?);
    }
    wait_for_the_end(line);
    for host in &hosts {
        let _ = kill(*host, Signal::SIGKILL);
    }
    for host in &hosts {
        let _ = waitpid(*host, None);
    }
    Ok(())
}

/// Enters namespaces: of users first, which gives the right to the others.
fn enter(line: &OwnedFd) -> Result<(), Failed> {
    let others = CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWNET
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWUTS;
    match unshare(CloneFlags::CLONE_NEWUSER) {
        Ok(()) => {
            let tell = passing::send(line.as_fd(), &[news::ENTERED], &[]);
            tell.and_then(|()| passing::receive(line.as_fd())).doing("have the users mapped")?;
            unshare(others).doing("make network, mount, IPC and UTS namespaces")
        }
        // An administrator needs no namespace of users.
        Err(refused) => match unshare(others) {
            Ok(()) => Ok(()),
            Err(_) => Err(refused).doing("make a user namespace"),
        },
    }
}

/// Cuts the mount table off from everybody else's, and mounts the folder of the box in it.
fn private() -> Result<(), Failed> {
    let none: Option<&str> = None;
    let all = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(none, "/", none, all, none).doing("make the mount table private")?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("box"), FOLDER, Some("tmpfs"), flags, Some("mode=0755"))
        .doing("mount a folder for the box on /dev/shm")
}

fn folder(plan: &Plan) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    nix::sys::stat::umask(Mode::from_bits_truncate(0o022));
    fs::write(format!("{FOLDER}/{TABLE}"), &plan.table)?;
    let Some(shell) = &plan.remote_shell else { return Ok(()) };
    fs::create_dir(format!("{FOLDER}/{}", host::PROGRAMS))?;
    for name in ["ssh", "rsh"] {
        let mut options = fs::OpenOptions::new();
        let path = format!("{FOLDER}/{}/{name}", host::PROGRAMS);
        let mut file = options.write(true).create_new(true).mode(0o755).open(path)?;
        io::Write::write_all(&mut file, format!("#!/bin/sh\nexec {shell} \"$@\"\n").as_bytes())?;
    }
    Ok(())
}

/// Makes the first process of a host, in namespaces of its own.
#[allow(unsafe_code)]
fn first_process(plan: &Plan, number: usize, line: &OwnedFd) -> Result<Pid, Failed> {
    let myself = pidfd(nix::unistd::getpid()).doing("hold on to the keeper")?;
    let flags = libc::CLONE_NEWPID
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWNET
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS
        | libc::SIGCHLD;
    // SAFETY: without a stack of its own the child goes on as after `fork`. There is no other
    // thread here, so that no lock can be held in the child; it never returns from this block.
    let child = unsafe { libc::syscall(libc::SYS_clone, flags as libc::c_ulong, 0, 0, 0, 0) };
    match child {
        -1 => Err(io::Error::last_os_error()).doing("make the namespaces of a host"),
        0 => process::never_return(|| {
            let Err(failed) = host::serve(plan, number, line, myself);
            complain(line.as_fd(), &failed);
        }),
        child => Ok(Pid::from_raw(child as i32)),
    }
}

/// A file that is readable when a process has ended.
#[allow(unsafe_code)]
fn pidfd(pid: Pid) -> io::Result<OwnedFd> {
    // SAFETY: the call takes two numbers.
    match unsafe { libc::syscall(libc::SYS_pidfd_open, pid.as_raw(), 0) } {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: it has just been opened, and nobody else has it.
        file => Ok(unsafe { OwnedFd::from_raw_fd(file as RawFd) }),
    }
}

/// Waits until the maker of the box closes the line, or is gone.
fn wait_for_the_end(line: &OwnedFd) {
    loop {
        let mut files = [PollFd::new(line.as_fd(), PollFlags::POLLIN)];
        match poll(&mut files, PollTimeout::NONE) {
            Err(nix::errno::Errno::EINTR) => {}
            Err(_) => return,
            Ok(_) => match passing::receive(line.as_fd()) {
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => return,
            },
        }
    }
}
