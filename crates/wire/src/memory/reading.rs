//! Reading the memory of another process: long messages by one copy.
//!
//! Whether the kernel allows it depends on users, namespaces and security modules, so it is tried:
//! every rank has a *beacon*, a random word in memory of its own, and says in its segment where it
//! is and what it says. Who can read it may read the rest. The beacon is read again with every
//! piece of a message, by the same system call. If the peer has died and another process has its
//! number now, the beacon is not there.

use std::io;

use super::MemoryError;

/// A word by which a process knows that it reads the memory of the one it means.
#[derive(Debug)]
pub(super) struct Beacon(Box<u64>);

impl Beacon {
    /// A beacon in the memory of this process.
    pub(super) fn light() -> Result<Beacon, MemoryError> {
        allow_readers();
        let word = getrandom::u64().map_err(|error| MemoryError::Random(error.into()))?;
        Ok(Beacon(Box::new(word)))
    }

    /// Where it is.
    pub(super) fn address(&self) -> u64 {
        &raw const *self.0 as u64
    }

    /// What it says.
    pub(super) fn word(&self) -> u64 {
        *self.0
    }
}

/// The memory of a peer, as it describes itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader {
    pub process: u32,
    pub address: u64,
    pub word: u64,
}

impl Reader {
    /// Whether its memory can be read.
    pub(super) fn works(&self) -> bool {
        self.read_piece(self.address, &mut [0; 8], None).is_ok()
    }

    /// Copies from an address in the memory of the peer.
    pub(super) fn read(&self, address: u64, into: &mut [u8]) -> io::Result<()> {
        self.copy(address, into, None)
    }

    /// The same, and then the word at another address, by the same system call as the end of it.
    pub(super) fn read_and_then(
        &self,
        address: u64,
        into: &mut [u8],
        then: u64,
    ) -> io::Result<u64> {
        let mut word = [0; 8];
        if into.is_empty() {
            self.read(then, &mut word)?;
        } else {
            self.copy(address, into, Some((then, &mut word)))?;
        }
        Ok(u64::from_ne_bytes(word))
    }

    fn copy(
        &self,
        address: u64,
        into: &mut [u8],
        mut then: Option<(u64, &mut [u8; 8])>,
    ) -> io::Result<()> {
        // The kernel copies a call to its end even if we are asked to end meanwhile.
        const PIECE: usize = 16 << 20;
        let mut done = 0;
        while done < into.len() {
            let end = into.len().min(done + PIECE);
            let from = address.checked_add(done as u64).ok_or(io::ErrorKind::InvalidInput)?;
            let then = then.as_mut().map(|(then, word)| (*then, &mut **word));
            done += self.read_piece(from, &mut into[done..end], then)?;
        }
        Ok(())
    }
}

#[cfg(target_os = "linux")]
impl Reader {
    /// Copies what can be had by one system call: at least a byte. If that is all, the word at
    /// another address is copied after it.
    fn read_piece(
        &self,
        address: u64,
        into: &mut [u8],
        then: Option<(u64, &mut [u8; 8])>,
    ) -> io::Result<usize> {
        use nix::errno::Errno;
        use nix::sys::uio::{RemoteIoVec, process_vm_readv};
        use nix::unistd::Pid;
        use std::io::IoSliceMut;

        let mut beacon = [0; 8];
        let process = i32::try_from(self.process).ok().filter(|process| *process > 0);
        let process = Pid::from_raw(process.ok_or(Errno::ESRCH)?);
        let place = |address: u64| usize::try_from(address).map_err(|_| Errno::EFAULT);
        let (wanted, mut nothing) = (into.len(), [0; 8]);
        let (then, word) = then.unwrap_or((self.address, &mut nothing));
        let theirs = [
            RemoteIoVec { base: place(self.address)?, len: beacon.len() },
            RemoteIoVec { base: place(address)?, len: wanted },
            RemoteIoVec { base: place(then)?, len: word.len() },
        ];
        let mut ours = [IoSliceMut::new(&mut beacon), IoSliceMut::new(into), IoSliceMut::new(word)];
        let length = loop {
            match process_vm_readv(process, &mut ours, &theirs) {
                Err(Errno::EINTR) => {}
                length => break length?,
            }
        };
        if length < beacon.len() || u64::from_ne_bytes(beacon) != self.word {
            return Err(Errno::ESRCH.into());
        }
        match length - beacon.len() {
            0 => Err(Errno::EFAULT.into()),
            // All of it, but the word is nowhere.
            length if length >= wanted && length < wanted + 8 => Err(Errno::EFAULT.into()),
            length => Ok(length.min(wanted)),
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Reader {
    /// Nobody reads the memory of others on these systems.
    fn read_piece(
        &self,
        _: u64,
        _: &mut [u8],
        _: Option<(u64, &mut [u8; 8])>,
    ) -> io::Result<usize> {
        let _ = (self.process, self.word);
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Allows peers to read our memory where the Yama security module keeps them from it, although they
/// are of the same user.
///
/// Yama's mode 1 lets nobody read a process but its ancestors, and those that it names itself.
/// Peers are siblings and do not know each other yet, so any process of the user is allowed to, as
/// it is without Yama. In mode 0 there is nothing to allow, and modes 2 and 3 do not ask us; there
/// nothing is changed.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn allow_readers() {
    let mode = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope");
    if mode.is_ok_and(|mode| mode.trim() == "1") {
        // SAFETY: this changes who may look at this process, and nothing in it. Where it fails,
        // peers find that they cannot read.
        let _ = unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY, 0, 0, 0) };
    }
}

#[cfg(not(target_os = "linux"))]
fn allow_readers() {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn ourselves(beacon: &Beacon) -> Reader {
        let process = std::process::id();
        Reader { process, address: beacon.address(), word: beacon.word() }
    }

    #[test]
    fn reads_what_is_there() {
        let beacon = Beacon::light().unwrap();
        let reader = ourselves(&beacon);
        if !reader.works() {
            eprintln!("skipped: this machine does not let processes read each other");
            return;
        }
        // More than one piece.
        let source: Vec<u8> = (0..20_000_001u32).map(|at| (at % 251) as u8).collect();
        let mut copy = vec![0; source.len()];
        reader.read(source.as_ptr() as u64, &mut copy).unwrap();
        assert!(copy == source);
        reader.read(1, &mut []).expect("nothing can be read from anywhere");
    }

    #[test]
    fn another_process_is_found_out() {
        let beacon = Beacon::light().unwrap();
        let reader = ourselves(&beacon);
        let source = [1u8; 64];
        let mut copy = [0; 64];
        let mut read = |reader: Reader, address| reader.read(address, &mut copy).unwrap_err();
        let address = source.as_ptr() as u64;
        read(Reader { word: !reader.word, ..reader }, address);
        read(Reader { process: 0, ..reader }, address);
        read(Reader { process: u32::MAX, ..reader }, address);
        read(Reader { address: 8, ..reader }, address);
        read(reader, 8);
        read(reader, u64::MAX - 8);
        assert!(!Reader { word: !reader.word, ..reader }.works());
    }
}
