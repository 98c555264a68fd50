//! The first process of a host: it gives the host what is its own, and starts programs on it.

use std::convert::Infallible;
use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;

use crosstie_launch::Ending;
use crosstie_launch::process::{self, Reaped};
use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigHandler, SigSet, Signal, killpg, signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockType, UnixAddr, accept4, bind, listen, socket,
};
use nix::sys::wait::waitpid;
use nix::unistd::{Pid, pipe2};

use super::keeper::{Doing, FOLDER, Failed, Plan, TABLE, news};
use super::netlink;
use super::passing;
use super::request::{Order, Word};

/// The number under which the first process of every host holds the folder of the box open.
const DOOR: RawFd = 9;

/// The folder of the box, as programs on a host find it.
pub(super) const BOX: &str = "/proc/1/fd/9";

/// The programs of the box, in its folder. No host can have such a name.
pub(super) const PROGRAMS: &str = ".bin";

/// Stands for the host until it is killed.
pub(super) fn serve(
    plan: &Plan,
    number: usize,
    line: &OwnedFd,
    keeper: OwnedFd,
) -> Result<Infallible, Failed> {
    // It must not outlive the keeper, and nothing of the host outlives it. One that has ended
    // already sends no signal any more.
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL).doing("tie the host to its keeper")?;
    let mut ended = [PollFd::new(keeper.as_fd(), PollFlags::POLLIN)];
    if poll(&mut ended, PollTimeout::ZERO).doing("look after the keeper")? > 0 {
        return Err(Errno::ESRCH).doing("find the keeper");
    }
    drop(keeper);
    let name = &plan.hosts[number].name;
    nix::unistd::sethostname(std::ffi::OsStr::from_bytes(name.as_bytes()))
        .doing("name the host")?;
    let (netlink, namespace) = netlink::open().doing("open a netlink socket")?;
    let listener = listen_at(name).doing("listen for programs")?;
    let _door = door().doing("open the folder of the box")?;
    own_mounts()?;
    settings();
    let mut bytes = vec![news::HOST];
    bytes.extend((number as u32).to_ne_bytes());
    let files = [netlink.as_fd(), namespace.as_fd()];
    passing::send(line.as_fd(), &bytes, &files).doing("tell the maker of the box")?;
    drop((netlink, namespace));
    be_like_others().doing("give up privileges")?;
    let variables = plan.hosts[number].variables.as_slice();
    Reception::new(listener, variables).doing("watch for programs that end")?.serve()
}

/// Gives up what programs of the host do not have either: the kernel lets them through the door
/// only of one that is not above them.
#[allow(unsafe_code)]
fn be_like_others() -> io::Result<()> {
    /// `struct __user_cap_header_struct` of the kernel, with the version that has two sets.
    #[repr(C)]
    struct Header {
        version: u32,
        process: i32,
    }
    let header = Header { version: 0x2008_0522, process: 0 };
    let none = [[0u32; 3]; 2];
    // SAFETY: both are as the kernel expects them, and live until the call returns.
    if unsafe { libc::syscall(libc::SYS_capset, &header, &none) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(nix::sys::prctl::set_dumpable(true)?)
}

fn listen_at(name: &CStr) -> io::Result<OwnedFd> {
    let listener = socket(AddressFamily::Unix, SockType::SeqPacket, SockFlag::SOCK_CLOEXEC, None)?;
    let path = format!("{FOLDER}/{}", name.to_string_lossy());
    bind(listener.as_raw_fd(), &UnixAddr::new(path.as_str())?)?;
    listen(&listener, Backlog::new(128)?)?;
    Ok(listener)
}

/// Opens the folder of the box under its number.
#[allow(unsafe_code)]
fn door() -> io::Result<OwnedFd> {
    let folder = fs::File::open(FOLDER)?;
    // SAFETY: the number is above those in use here.
    match unsafe { libc::dup3(folder.as_raw_fd(), DOOR, libc::O_CLOEXEC) } {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: it has just been opened.
        door => Ok(unsafe { OwnedFd::from_raw_fd(door) }),
    }
}

/// Mounts what a host has of its own.
fn own_mounts() -> Result<(), Failed> {
    let none: Option<&str> = None;
    let table = format!("{FOLDER}/{TABLE}");
    mount(Some(table.as_str()), "/etc/hosts", none, MsFlags::MS_BIND, none)
        .doing("give the host its own /etc/hosts")?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("shm"), "/dev/shm", Some("tmpfs"), flags, Some("mode=1777"))
        .doing("give the host its own /dev/shm")?;
    let flags = flags | MsFlags::MS_NOEXEC;
    mount(Some("proc"), "/proc", Some("proc"), flags, none).doing("give the host its own /proc")?;
    own_devices(flags);
    Ok(())
}

/// Shows the devices of the host in `/sys`. Where that is forbidden, programs that look there see
/// those of the machine; all else works.
#[allow(unsafe_code)]
fn own_devices(flags: MsFlags) {
    const GROUPS: &CStr = c"/sys/fs/cgroup";
    let clone = libc::OPEN_TREE_CLONE | libc::OPEN_TREE_CLOEXEC | libc::AT_RECURSIVE as u32;
    // SAFETY: the path is a text that lives for ever.
    let groups =
        unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, GROUPS.as_ptr(), clone) };
    let none: Option<&str> = None;
    if mount(Some("sysfs"), "/sys", Some("sysfs"), flags, none).is_err() || groups < 0 {
        return;
    }
    // SAFETY: both paths are texts that live for ever, and the number was opened above.
    unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            groups,
            c"".as_ptr(),
            libc::AT_FDCWD,
            GROUPS.as_ptr(),
            libc::MOVE_MOUNT_F_EMPTY_PATH,
        );
    }
}

/// What the kernel lets a host choose for its network; nothing of it is needed.
fn settings() {
    let group = nix::unistd::getgid();
    for (name, value) in [
        // No frames but those of programs.
        ("ipv6/conf/default/disable_ipv6", "1".to_owned()),
        // `ping` for everybody.
        ("ipv4/ping_group_range", format!("{group} {group}")),
    ] {
        let _ = fs::write(format!("/proc/sys/net/{name}"), value);
    }
}

/// Where programs are asked for, and where the first process learns how they ended.
struct Reception<'a> {
    listener: OwnedFd,
    /// What the environment of every program says of the host.
    variables: &'a [(CString, CString)],
    deaths: SignalFd,
    visits: Vec<Visit>,
}

/// Somebody who has asked for a program, or will.
struct Visit {
    socket: OwnedFd,
    program: Option<Pid>,
}

impl<'a> Reception<'a> {
    fn new(listener: OwnedFd, variables: &'a [(CString, CString)]) -> io::Result<Reception<'a>> {
        let mut deaths = SigSet::empty();
        deaths.add(Signal::SIGCHLD);
        deaths.thread_block()?;
        let deaths = SignalFd::with_flags(&deaths, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
        Ok(Reception { listener, variables, deaths, visits: Vec::new() })
    }

    fn serve(mut self) -> Result<Infallible, Failed> {
        loop {
            let mut files = vec![
                PollFd::new(self.deaths.as_fd(), PollFlags::POLLIN),
                PollFd::new(self.listener.as_fd(), PollFlags::POLLIN),
            ];
            files.extend(
                self.visits.iter().map(|v| PollFd::new(v.socket.as_fd(), PollFlags::POLLIN)),
            );
            match poll(&mut files, PollTimeout::NONE) {
                Err(Errno::EINTR) => continue,
                waited => waited.doing("wait for programs")?,
            };
            let ready: Vec<bool> = files.iter().map(|file| file.any().unwrap_or(true)).collect();
            drop(files);
            for visit in (0..self.visits.len()).rev().filter(|visit| ready[2 + visit]) {
                if !self.visits[visit].hear(self.variables) {
                    self.visits.swap_remove(visit);
                }
            }
            if ready[1] {
                self.welcome();
            }
            if ready[0] {
                self.bury();
            }
        }
    }

    #[allow(unsafe_code)]
    fn welcome(&mut self) {
        if let Ok(socket) = accept4(self.listener.as_raw_fd(), SockFlag::SOCK_CLOEXEC) {
            // SAFETY: the kernel has just opened it for us.
            let socket = unsafe { OwnedFd::from_raw_fd(socket) };
            self.visits.push(Visit { socket, program: None });
        }
    }

    /// Tells of programs that have ended. Others' children end up here too.
    fn bury(&mut self) {
        while let Ok(Some(_)) = self.deaths.read_signal() {}
        while let Reaped::Ended(child, ending) = process::reap() {
            if let Some(at) = self.visits.iter().position(|visit| visit.program == Some(child)) {
                let visit = self.visits.swap_remove(at);
                let word = match ending {
                    Ending::Exited(code) => Word::Exited(code),
                    Ending::Killed(signal) => Word::Killed(signal),
                };
                let _ = passing::send(visit.socket.as_fd(), &word.to_bytes(), &[]);
            }
        }
    }
}

/// Sends a signal to a program and those of its group; to it alone while it has not made a group
/// yet.
#[allow(unsafe_code)]
fn send_signal(program: Pid, number: i32) {
    // SAFETY: signals are for processes of this host, which are others.
    unsafe {
        if libc::kill(-program.as_raw(), number) < 0 {
            libc::kill(program.as_raw(), number);
        }
    }
}

impl Visit {
    /// Does what is asked; false if nobody is there any more.
    fn hear(&mut self, variables: &[(CString, CString)]) -> bool {
        let Ok(Some(message)) = passing::receive(self.socket.as_fd()) else {
            if let Some(program) = self.program {
                // As when the line to a remote shell breaks.
                let _ = killpg(program, Signal::SIGHUP);
                let _ = killpg(program, Signal::SIGTERM);
                let _ = killpg(program, Signal::SIGCONT);
            }
            return false;
        };
        match (Word::from_bytes(&message.bytes), self.program) {
            (Some(Word::Start), None) => {
                let word = match begin(message.files, variables) {
                    Ok(program) => {
                        self.program = Some(program);
                        Word::Started
                    }
                    Err(error) => Word::Failed(error.raw_os_error().unwrap_or(libc::EIO)),
                };
                passing::send(self.socket.as_fd(), &word.to_bytes(), &[]).is_ok()
                    && self.program.is_some()
            }
            (Some(Word::Signal(number)), Some(program)) => {
                send_signal(program, number);
                true
            }
            _ => true,
        }
    }
}

/// Starts a program with an order and three standard files.
#[allow(unsafe_code)]
fn begin(files: Vec<OwnedFd>, variables: &[(CString, CString)]) -> io::Result<Pid> {
    let invalid = || io::Error::from_raw_os_error(libc::EINVAL);
    let [order, input, output, errors]: [OwnedFd; 4] = files.try_into().map_err(|_| invalid())?;
    let mut order = Order::read(order)?;
    order.tell(variables);
    let paths = candidates(&order);
    // Tells of a program that cannot be started; closed by one that can.
    let (verdict, voice) = pipe2(nix::fcntl::OFlag::O_CLOEXEC)?;
    let work = || {
        let error = become_program(&order, &paths, [&input, &output, &errors]);
        let _ = nix::unistd::write(&voice, &(error as i32).to_ne_bytes());
    };
    // SAFETY: there is no other thread here.
    let child = unsafe { process::fork(work) }?;
    drop(voice);
    let mut code = [0; 4];
    match nix::unistd::read(&verdict, &mut code) {
        Ok(4) => {
            let _ = waitpid(child, None);
            Err(io::Error::from_raw_os_error(i32::from_ne_bytes(code)))
        }
        _ => Ok(child),
    }
}

/// The files that a program may be, in order, by the `PATH` of its own environment.
fn candidates(order: &Order) -> Vec<CString> {
    let name = order.words[0].as_bytes();
    if name.contains(&b'/') {
        return vec![order.words[0].clone()];
    }
    let path = order.environment.iter().find_map(|part| part.as_bytes().strip_prefix(b"PATH="));
    let path = path.unwrap_or(b"/usr/local/bin:/usr/bin:/bin");
    let joined = path.split(|byte| *byte == b':').map(|folder| {
        let folder: &[u8] = if folder.is_empty() { b"." } else { folder };
        CString::new([folder, b"/", name].concat())
    });
    joined.filter_map(Result::ok).collect()
}

/// Turns this process into the program; returns only if that fails. All files but the standard ones
/// are closed by it.
#[allow(unsafe_code)]
fn become_program(order: &Order, paths: &[CString], files: [&OwnedFd; 3]) -> Errno {
    let prepared = || -> nix::Result<()> {
        let myself = Pid::from_raw(0);
        nix::unistd::setpgid(myself, myself)?;
        // SAFETY: nothing here uses the standard files.
        unsafe { process::place_files(files) }?;
        if order.terminal {
            // SAFETY: ignoring a signal runs nobody's code. Without it, asking for the terminal
            // would stop us.
            let _ = unsafe { signal(Signal::SIGTTOU, SigHandler::SigIgn) };
            let _ = nix::unistd::tcsetpgrp(files[0], nix::unistd::getpid());
        }
        process::reset_signals();
        // The folder may not be there for this user; any other is better than no program.
        nix::unistd::chdir(order.folder.as_c_str()).or_else(|_| nix::unistd::chdir("/"))
    };
    if let Err(error) = prepared() {
        return error;
    }
    let mut worst = Errno::ENOENT;
    for path in paths {
        match nix::unistd::execve(path, &order.words, &order.environment) {
            Err(Errno::ENOENT | Errno::ENOTDIR) => {}
            Err(Errno::EACCES) => worst = Errno::EACCES,
            Err(error) => return error,
            Ok(never) => match never {},
        }
    }
    worst
}
