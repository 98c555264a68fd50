//! The file in which the peers of a rank write their records.
//!
//! A segment holds the inbound rings of one rank, one for each peer. Its owner makes it, peers open
//! it by its name, and when all have it open the name is taken away, so that nothing is left behind
//! however the ranks end.
//!
//! It is a file with a name, and not a `memfd` that peers open as `/proc/PID/fd/N`. A `memfd` can
//! be sealed, so that nobody makes it shorter while others have it in memory, which would end them
//! by a signal. But only processes that see each other's numbers find it, and that may look into
//! each other: not those of several containers that share their memory, nor those with capabilities
//! of their own; and other systems do not have it, so there would have to be files with names all
//! the same. What a seal prevents can be done only by processes of the same user, which may end us
//! by any signal they like; what happens by accident, that the folder is full when a page is
//! touched, is prevented by taking all pages at once.
//!
//! The owner holds a lock on the file as long as it lives. Peers see by it that it has died, and
//! ranks of later jobs which files are nobody's: of ranks that were killed before the name was
//! taken away.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::time::Duration;

use super::MemoryError;
use super::folder::Name;
use super::layout::{Layout, MAGIC, SMALLEST_RING};
use super::lines::Lines;
use super::mapping::Mapping;
use super::reading::{Beacon, Reader};
use super::ring::{Consumer, Producer};

#[cfg(test)]
mod tests;

/// The inbound rings of one rank.
#[derive(Debug)]
pub(super) struct Segment {
    path: PathBuf,
    file: File,
    mapping: Arc<Mapping>,
    layout: Layout,
    /// Whether the file has its name, and we have to take it away.
    named: bool,
}

impl Segment {
    /// Makes the segment of a rank, with rings of the given size, or with smaller ones if there is
    /// no room for these.
    pub(super) fn create(
        folder: &Path,
        name: &Name,
        mut layout: Layout,
        beacon: &Beacon,
    ) -> Result<Segment, MemoryError> {
        let path = name.segment(folder);
        let failed = |source| MemoryError::Create { path: path.clone(), source };
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(&path)
            .map_err(failed)?;
        // From here on the file is removed when this is dropped.
        let nothing = NamedFile { path: path.clone(), keep: false };
        file.lock().map_err(failed)?;
        while let Err(source) = take(&file, layout.size()) {
            let full = matches!(
                source.kind(),
                io::ErrorKind::StorageFull
                    | io::ErrorKind::QuotaExceeded
                    | io::ErrorKind::FileTooLarge
            );
            if !full {
                return Err(failed(source));
            }
            if layout.ring() == SMALLEST_RING {
                return Err(MemoryError::NoRoom { path, bytes: layout.size(), source });
            }
            layout = Layout::new(layout.owner(), layout.ranks(), layout.ring() / 2)?;
        }
        let mapping = Arc::new(Mapping::of(&file, layout.size()).map_err(failed)?);
        mapping.touch(0, layout.size());
        let segment = Segment { path: nothing.kept(), file, mapping, layout, named: true };
        segment.describe(beacon);
        Ok(segment)
    }

    /// Writes what peers have to know.
    fn describe(&self, beacon: &Beacon) {
        let word = |at, value: usize| self.mapping.word(at).store(value as u32, Relaxed);
        word(Layout::ranks_word(), self.layout.ranks());
        word(Layout::owner_word(), self.layout.owner());
        word(Layout::ring_word(), self.layout.ring());
        word(Layout::process(), std::process::id() as usize);
        self.mapping.long(Layout::beacon_address()).store(beacon.address(), Relaxed);
        self.mapping.long(Layout::beacon()).store(beacon.word(), Relaxed);
        self.mapping.long(Layout::magic()).store(MAGIC, Release);
    }

    /// Opens the segment of a peer on a machine with so many ranks.
    pub(super) fn open(
        folder: &Path,
        name: &Name,
        peer: usize,
        ranks: usize,
    ) -> Result<Segment, MemoryError> {
        let path = name.segment(folder);
        let failed = |source| MemoryError::Open { path: path.clone(), peer, source };
        let foreign = |found: String, expected: &str| MemoryError::Foreign {
            path: path.clone(),
            peer,
            found,
            expected: expected.to_owned(),
        };
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(flags)
            .open(&path)
            .map_err(failed)?;
        let found = file.metadata().map_err(failed)?;
        let ours = nix::unistd::geteuid().as_raw();
        if !found.is_file() || found.uid() != ours || found.mode() & 0o077 != 0 {
            let mode = format!("mode {:o} of user {}", found.mode(), found.uid());
            return Err(foreign(mode, &format!("a file of user {ours} that nobody else can open")));
        }
        let head = Layout::new(peer, ranks, SMALLEST_RING)?.ring_of_slot(0);
        if found.len() < head as u64 {
            return Err(foreign(format!("{} bytes", found.len()), &format!("more than {head}")));
        }
        // Whatever is in the file may change at any time, so all of it is read once.
        let header = Mapping::of(&file, head).map_err(failed)?;
        let magic = header.long(Layout::magic()).load(Acquire);
        let [says_ranks, says_peer, ring] =
            [Layout::ranks_word(), Layout::owner_word(), Layout::ring_word()]
                .map(|at| header.word(at).load(Relaxed) as usize);
        if magic != MAGIC {
            return Err(foreign(
                format!("{magic:016x} at its beginning"),
                &format!("{MAGIC:016x}"),
            ));
        }
        if says_ranks != ranks || says_peer != peer {
            let expected = format!("that of rank {peer} of {ranks}");
            return Err(foreign(format!("memory of rank {says_peer} of {says_ranks}"), &expected));
        }
        let layout = Layout::new(peer, ranks, ring)
            .map_err(|_| foreign(format!("rings of {ring} bytes"), "a sound size"))?;
        if found.len() != layout.size() as u64 {
            let expected = layout.size().to_string();
            return Err(foreign(format!("{} bytes", found.len()), &expected));
        }
        let mapping = Arc::new(Mapping::of(&file, layout.size()).map_err(failed)?);
        Ok(Segment { path, file, mapping, layout, named: false })
    }

    /// Takes the name away: nobody can open the file any more.
    pub(super) fn unlink(&mut self) {
        if std::mem::take(&mut self.named) {
            // It may have been removed by somebody else, and then there is nothing to do.
            let _ = fs::remove_file(&self.path);
        }
    }

    /// Where what is.
    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Whether the owner of this segment lives, if that can be told.
    pub(super) fn owner_lives(&self) -> bool {
        match self.file.try_lock_shared() {
            Ok(()) => {
                let _ = self.file.unlock();
                false
            }
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => true,
        }
    }

    /// How the memory of the owner can be read.
    pub(super) fn reader(&self) -> Reader {
        Reader {
            process: self.mapping.word(Layout::process()).load(Relaxed),
            address: self.mapping.long(Layout::beacon_address()).load(Relaxed),
            word: self.mapping.long(Layout::beacon()).load(Relaxed),
        }
    }

    /// The end of a ring that its owner has.
    pub(super) fn consumer(&self, slot: usize) -> Consumer<Lines> {
        Consumer::new(self.lines(slot), self.layout.start(slot))
    }

    /// The end of a ring that a peer has; there is one.
    pub(super) fn producer(&self, rank: usize) -> Result<Producer<Lines>, MemoryError> {
        let slot = self.layout.slot(rank);
        if self.word(Layout::claim(slot)).swap(1, AcqRel) != 0 {
            return Err(MemoryError::Claimed { rank, peer: self.layout.owner() });
        }
        self.mapping.touch(self.layout.ring_of_slot(slot), self.layout.ring());
        Ok(Producer::new(self.lines(slot), self.layout.start(slot)))
    }

    /// The lines of a ring.
    fn lines(&self, slot: usize) -> Lines {
        let (head, at) = (Layout::head(slot), self.layout.ring_of_slot(slot));
        Lines::new(Arc::clone(&self.mapping), head, at, self.layout.lines())
    }

    /// Which of some shared words is the first that is not 0.
    #[inline]
    pub(super) fn first_set(&self, words: &[usize]) -> Option<usize> {
        let mapping = &*self.mapping;
        words.iter().position(|at| mapping.word(*at).load(Relaxed) != 0)
    }

    /// A shared word.
    #[inline]
    pub(super) fn word(&self, at: usize) -> &AtomicU32 {
        self.mapping.word(at)
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        self.unlink();
    }
}

/// A file that is removed again unless it is kept.
struct NamedFile {
    path: PathBuf,
    keep: bool,
}

impl NamedFile {
    fn kept(mut self) -> PathBuf {
        self.keep = true;
        std::mem::take(&mut self.path)
    }
}

impl Drop for NamedFile {
    fn drop(&mut self) {
        if !self.keep {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Makes a file so long, and takes its pages, so that no access finds later that there are none.
fn take(file: &File, length: usize) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        file.set_len(length as u64)?;
        let length = libc::off_t::try_from(length).map_err(|_| io::ErrorKind::FileTooLarge)?;
        loop {
            match nix::fcntl::posix_fallocate(file, 0, length) {
                Err(nix::errno::Errno::EINTR) => {}
                taken => return Ok(taken?),
            }
        }
    }
    #[cfg(not(target_os = "linux"))]
    file.set_len(length as u64)
}

/// Removes segments whose owners were killed before their names were taken away, and the bells
/// beside them. A file that says what it is was locked by its owner before: if nobody has it
/// locked, that is dead. Others may have been made this moment.
pub(super) fn sweep(folder: &Path) {
    sweep_older(folder, Duration::from_secs(60));
}

fn sweep_older(folder: &Path, age: Duration) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let Some(name) = entry.file_name().to_str().and_then(Name::parse) else { continue };
        let path = name.segment(folder);
        let Ok(found) = entry.metadata() else { continue };
        if !found.is_file() {
            continue;
        }
        let old = found.modified().ok().and_then(|time| time.elapsed().ok());
        let old = old.is_some_and(|found| found >= age);
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let Ok(file) = OpenOptions::new().read(true).write(true).custom_flags(flags).open(&path)
        else {
            continue;
        };
        let mut magic = [0; 8];
        let read = file.read_exact_at(&mut magic, Layout::magic() as u64);
        let whole = read.is_ok() && u64::from_ne_bytes(magic) == MAGIC;
        if (old || whole) && file.try_lock().is_ok() {
            let _ = fs::remove_file(name.bell(folder));
            let _ = fs::remove_file(&path);
        }
    }
}
