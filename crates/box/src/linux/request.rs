//! How a program is asked for: one message with its files, then signals; answered by how it began
//! and how it ended.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;

use nix::sys::memfd::{MFdFlags, memfd_create};

/// What one side tells the other, beside files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// Start a program; its [`Order`] and its three standard files come with it.
    Start,
    /// Send a signal to the program.
    Signal(i32),
    /// The program runs.
    Started,
    /// It does not: the number of the error.
    Failed(i32),
    /// It has ended, with a code.
    Exited(i32),
    /// It was ended by a signal.
    Killed(i32),
}

impl Word {
    pub fn to_bytes(self) -> [u8; 5] {
        let (kind, number) = match self {
            Word::Start => (b'S', 0),
            Word::Signal(number) => (b's', number),
            Word::Started => (b'B', 0),
            Word::Failed(number) => (b'F', number),
            Word::Exited(number) => (b'E', number),
            Word::Killed(number) => (b'K', number),
        };
        let [a, b, c, d] = number.to_ne_bytes();
        [kind, a, b, c, d]
    }

    pub fn from_bytes(bytes: &[u8]) -> Option<Word> {
        let [kind, number @ ..]: [u8; 5] = bytes.try_into().ok()?;
        let number = i32::from_ne_bytes(number);
        Some(match kind {
            b'S' => Word::Start,
            b's' => Word::Signal(number),
            b'B' => Word::Started,
            b'F' => Word::Failed(number),
            b'E' => Word::Exited(number),
            b'K' => Word::Killed(number),
            _ => return None,
        })
    }
}

/// A program with all that it is started with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Order {
    /// Where it starts.
    pub folder: CString,
    /// Whether it gets the terminal that its standard input is.
    pub terminal: bool,
    /// Its name and its arguments.
    pub words: Vec<CString>,
    /// Its environment, each as `NAME=value`.
    pub environment: Vec<CString>,
    /// Variables that whoever wants it has given to it, whatever the host says.
    pub own: Vec<(CString, CString)>,
}

/// The longest order. Arguments and environment of a program are shorter on every machine.
const LONGEST: u64 = 16 << 20;

impl Order {
    /// Puts variables of a host into the environment, and the program's own, in place of others of
    /// their names.
    pub fn tell(&mut self, variables: &[(CString, CString)]) {
        for (name, value) in variables.iter().chain(&self.own) {
            let start = [name.as_bytes(), b"="].concat();
            self.environment.retain(|part| !part.as_bytes().starts_with(&start));
            // Neither contains a zero.
            self.environment.extend(CString::new([&start, value.as_bytes()].concat()));
        }
    }

    /// A file with the order in it: messages would be too short for some environments.
    pub fn write(&self) -> io::Result<OwnedFd> {
        let mut text = Vec::new();
        let mut put = |part: &[u8]| {
            text.extend_from_slice(part);
            text.push(0);
        };
        put(if self.terminal { b"t" } else { b"-" });
        put(self.folder.as_bytes());
        put(self.words.len().to_string().as_bytes());
        put(self.own.len().to_string().as_bytes());
        let own = self.own.iter().flat_map(|(name, value)| [name, value]);
        let parts = self.words.iter().chain(own).chain(&self.environment);
        parts.for_each(|part| put(part.as_bytes()));
        let mut file = File::from(memfd_create(c"order", MFdFlags::MFD_CLOEXEC)?);
        file.write_all(&text)?;
        Ok(file.into())
    }

    /// Reads what [`Order::write`] has written.
    pub fn read(file: OwnedFd) -> io::Result<Order> {
        let mut file = File::from(file);
        file.seek(SeekFrom::Start(0))?;
        let mut text = Vec::new();
        file.take(LONGEST).read_to_end(&mut text)?;
        Order::parse(&text).ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))
    }

    fn parse(text: &[u8]) -> Option<Order> {
        let text = text.strip_suffix(&[0])?;
        // Parts end at a zero, so that none contains one.
        let mut parts = text.split(|byte| *byte == 0).map(|part| CString::new(part).ok());
        let terminal = parts.next()??.as_bytes() == b"t";
        let folder = parts.next()??;
        let mut count = || parts.next()??.to_str().ok()?.parse::<usize>().ok();
        let (count, own) = (count()?, count()?.checked_mul(2)?);
        let mut words = parts.collect::<Option<Vec<CString>>>()?;
        if count == 0 || count.checked_add(own)? > words.len() {
            return None;
        }
        let mut own_parts = words.split_off(count);
        let environment = own_parts.split_off(own);
        let pairs = own_parts.chunks_exact(2);
        let own = pairs.map(|pair| (pair[0].clone(), pair[1].clone())).collect();
        Some(Order { folder, terminal, words, environment, own })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_being_sent() {
        for word in [
            Word::Start,
            Word::Signal(15),
            Word::Started,
            Word::Failed(2),
            Word::Exited(255),
            Word::Killed(9),
        ] {
            assert_eq!(Word::from_bytes(&word.to_bytes()), Some(word));
        }
        for broken in [&b""[..], b"S", b"x\0\0\0\0", b"S\0\0\0\0\0"] {
            assert_eq!(Word::from_bytes(broken), None);
        }
    }

    #[test]
    fn orders_survive_being_sent() {
        let text = |text: &str| CString::new(text).unwrap();
        let order = Order {
            folder: text("/home/a folder"),
            terminal: true,
            words: vec![text("sh"), text("-c"), text("")],
            environment: vec![text("PATH=/bin"), text("EMPTY=")],
            own: vec![(text("NAME"), text("value")), (text("NOTHING"), text(""))],
        };
        assert_eq!(Order::read(order.write().unwrap()).unwrap(), order);
        let mut told = order.clone();
        told.tell(&[(text("NAME"), text("of the host")), (text("PATH"), text("/"))]);
        let expected = ["EMPTY=", "PATH=/", "NAME=value", "NOTHING="].map(text);
        assert_eq!(told.environment, expected);
        let (environment, own) = (Vec::new(), Vec::new());
        let plain = Order { terminal: false, environment, own, ..order };
        assert_eq!(Order::read(plain.write().unwrap()).unwrap(), plain);
        for broken in [
            &b""[..],
            b"t\0",
            b"t\0/\0",
            b"t\0/\x000\0",
            b"t\0/\x002\x000\0a\0",
            b"t\0/\0x\0a\0",
            b"t\0/\x001\x001\0a\0b\0",
        ] {
            assert_eq!(Order::parse(broken), None);
        }
    }
}
