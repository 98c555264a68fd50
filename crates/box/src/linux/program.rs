//! A program on a host, as whoever asked for it sees it.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crosstie_launch::process::{not_standard, standard_file};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, socket};

use super::BoxError;
use super::host::{BOX, PROGRAMS};
use super::keeper::TABLE;
use super::passing;
use super::request::{Order, Word};

/// A program to be started: its words, and what is not as in this process.
#[derive(Debug)]
pub struct Command {
    words: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
    folder: Option<PathBuf>,
    files: [Option<OwnedFd>; 3],
    terminal: bool,
}

impl Command {
    /// A program and its arguments. Files, folder and environment are those of this process.
    pub fn new<W: Into<OsString>>(words: impl IntoIterator<Item = W>) -> Command {
        Command {
            words: words.into_iter().map(Into::into).collect(),
            variables: Vec::new(),
            folder: None,
            files: [None, None, None],
            terminal: false,
        }
    }

    /// With a variable in its environment, whatever the host says.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Command {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// In another folder.
    pub fn current_dir(mut self, folder: impl Into<PathBuf>) -> Command {
        self.folder = Some(folder.into());
        self
    }

    /// With another standard input.
    pub fn stdin(mut self, file: impl Into<OwnedFd>) -> Command {
        self.files[0] = Some(file.into());
        self
    }

    /// With another standard output.
    pub fn stdout(mut self, file: impl Into<OwnedFd>) -> Command {
        self.files[1] = Some(file.into());
        self
    }

    /// With another standard error.
    pub fn stderr(mut self, file: impl Into<OwnedFd>) -> Command {
        self.files[2] = Some(file.into());
        self
    }

    /// In the foreground of the terminal that its standard input is.
    pub fn in_foreground(mut self) -> Command {
        self.terminal = true;
        self
    }

    fn order(&self) -> io::Result<Order> {
        let text = |text: &OsStr| {
            CString::new(text.as_bytes()).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))
        };
        let folder = match &self.folder {
            Some(folder) => folder.clone(),
            None => std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
        };
        let environment = std::env::vars_os()
            .filter_map(|(name, value)| text(&[name, value].join(OsStr::new("="))).ok());
        let variables = self.variables.iter().map(|(name, value)| Ok((text(name)?, text(value)?)));
        let variables = variables.collect::<io::Result<Vec<_>>>()?;
        Ok(Order {
            folder: text(folder.as_os_str())?,
            terminal: self.terminal,
            words: self.words.iter().map(|word| text(word)).collect::<io::Result<_>>()?,
            environment: environment.collect(),
            own: variables,
        })
    }
}

/// A program that was started on a host.
#[derive(Debug)]
pub struct Program {
    socket: OwnedFd,
    ending: OnceLock<Ending>,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// With a code.
    Exited(i32),
    /// By a signal.
    Killed(i32),
    /// With its host.
    Lost,
}

impl Ending {
    /// Whether it ended with code 0.
    pub fn success(self) -> bool {
        self == Ending::Exited(0)
    }

    /// The code by which a shell would tell of it.
    pub fn code(self) -> u8 {
        match self {
            Ending::Exited(code) => code as u8,
            Ending::Killed(signal) => 128u8.wrapping_add(signal as u8),
            Ending::Lost => 255,
        }
    }
}

impl Program {
    /// Starts a program on a host, whose socket is in a folder.
    pub(super) fn start(folder: &Path, host: &str, command: &Command) -> Result<Program, BoxError> {
        let name = command.words.first().map(|word| word.to_string_lossy()).unwrap_or_default();
        let doing = || format!("run `{name}` on `{host}`");
        let failed = |error: io::Error| BoxError::new(doing(), error);
        let own = standard_files().map_err(failed)?;
        let socket = call(&folder.join(host)).map_err(failed)?;
        let order = command.order().and_then(|order| order.write()).map_err(failed)?;
        let [input, output, errors] =
            [0, 1, 2].map(|number| command.files[number].as_ref().unwrap_or(&own[number]).as_fd());
        let files = [order.as_fd(), input, output, errors];
        passing::send(socket.as_fd(), &Word::Start.to_bytes(), &files).map_err(failed)?;
        match next(socket.as_fd()).map_err(failed)? {
            Some(Word::Started) => Ok(Program { socket, ending: OnceLock::new() }),
            Some(Word::Failed(code)) => {
                let error = io::Error::from_raw_os_error(code);
                let help = match code {
                    libc::ENOENT => {
                        Some(format!("there is no program `{name}` on the PATH, or no such file"))
                    }
                    libc::EACCES => Some(format!("`{name}` may not be executed")),
                    _ => None,
                };
                Err(BoxError::new(doing(), error).with_help(help))
            }
            _ => Err(BoxError::new(doing(), "the host is gone")),
        }
    }

    /// Sends a signal to the program and to those of its group.
    pub fn signal(&self, number: i32) -> Result<(), BoxError> {
        passing::send(self.socket.as_fd(), &Word::Signal(number).to_bytes(), &[])
            .map_err(|error| BoxError::new("send a signal", error))
    }

    /// Waits for its end.
    pub fn wait(&self) -> Result<Ending, BoxError> {
        if let Some(ending) = self.ending.get() {
            return Ok(*ending);
        }
        let ending = loop {
            match next(self.socket.as_fd()) {
                Ok(Some(Word::Exited(code))) => break Ending::Exited(code),
                Ok(Some(Word::Killed(signal))) => break Ending::Killed(signal),
                Ok(Some(_)) => {}
                Ok(None) => break Ending::Lost,
                Err(error) => return Err(BoxError::new("wait for a program", error)),
            }
        };
        Ok(*self.ending.get_or_init(|| ending))
    }
}

/// Readable when the program has ended.
impl AsFd for Program {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn next(socket: BorrowedFd<'_>) -> io::Result<Option<Word>> {
    Ok(passing::receive(socket)?.and_then(|message| Word::from_bytes(&message.bytes)))
}

/// The standard files of this process; nothing in place of one that is closed.
fn standard_files() -> io::Result<[OwnedFd; 3]> {
    Ok([standard_file(&io::stdin())?, standard_file(&io::stdout())?, standard_file(&io::stderr())?])
}

fn call(path: &Path) -> io::Result<OwnedFd> {
    let socket = socket(AddressFamily::Unix, SockType::SeqPacket, SockFlag::SOCK_CLOEXEC, None)?;
    let socket = not_standard(socket)?;
    connect(socket.as_raw_fd(), &UnixAddr::new(path)?)?;
    Ok(socket)
}

/// Starts a program on a host of the box that this process is in.
pub fn here(host: &str, command: &Command) -> Result<Program, BoxError> {
    let folder = Path::new(BOX);
    let doing = format!("reach `{}`", host.escape_debug());
    if !folder.join(TABLE).exists() {
        let help = "run this on a host of a box: `crosstie box FILE --shell host0`";
        return Err(
            BoxError::new(doing, "this is not a host of a box").with_help(Some(help.into()))
        );
    }
    let mut hosts: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name != TABLE && name != PROGRAMS)
        .collect();
    hosts.sort();
    if !hosts.iter().any(|known| known == host) {
        let help = format!("the hosts are {}", hosts.join(", "));
        return Err(BoxError::new(doing, "the box has no such host").with_help(Some(help)));
    }
    Program::start(folder, host, command)
}

/// Puts this process into the foreground of a terminal again, after a program that was in it.
#[allow(unsafe_code)]
pub fn take_terminal(terminal: BorrowedFd<'_>) -> io::Result<()> {
    use nix::sys::signal::{SigHandler, Signal, signal};
    // SAFETY: ignoring a signal runs nobody's code. Without it, asking from the background would
    // stop us.
    let before = unsafe { signal(Signal::SIGTTOU, SigHandler::SigIgn) }?;
    let taken = nix::unistd::tcsetpgrp(terminal, nix::unistd::getpgrp());
    // SAFETY: puts back what was there.
    unsafe { signal(Signal::SIGTTOU, before) }?;
    Ok(taken?)
}

/// The `PATH` of a host with programs of the box on it.
pub(super) fn path() -> OsString {
    let mut path = OsString::from_vec(format!("{BOX}/{PROGRAMS}").into_bytes());
    let usual = std::env::var_os("PATH").filter(|path| !path.is_empty());
    path.push(":");
    path.push(usual.unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into()));
    path
}
