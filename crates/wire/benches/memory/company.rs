//! Ranks in processes of their own, all with shared memory.

#![allow(unsafe_code)]

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::num::NonZeroUsize;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::AtomicU64;

use crosstie_wire::memory::Memory;
use nix::sys::mman::{MapFlags, ProtFlags, mmap};

/// What the ranks of a machine do together.
pub type Measure = fn(&mut Rank);

/// One rank.
pub struct Rank {
    pub memory: Memory,
    /// Bare words in shared memory, each in a line of its own.
    pub flags: [&'static AtomicU64; 2],
    /// How much of everything is done, as a share of the usual.
    pub share: f64,
}

impl Rank {
    /// So many times, or as few or many as asked for.
    pub fn times(&self, usual: usize) -> usize {
        ((usual as f64 * self.share) as usize).max(1)
    }
}

/// Runs each measure on its number of ranks; those whose number is named in `CROSSTIE_BENCH_RANKS`,
/// if that is set.
pub fn run(measures: &[(usize, Measure)]) {
    let chosen = std::env::var("CROSSTIE_BENCH_RANKS").ok();
    match std::env::var("CROSSTIE_BENCH_PEER") {
        Ok(part) => peer(&part, measures),
        Err(_) => {
            for &(ranks, measure) in measures {
                let number = ranks.to_string();
                if chosen.as_ref().is_none_or(|chosen| chosen.split(',').any(|one| one == number)) {
                    first(ranks, measure);
                }
            }
        }
    }
}

/// With rings of the usual size, or of `CROSSTIE_BENCH_RING` bytes.
fn create(rank: usize, ranks: usize) -> Memory {
    let ring = std::env::var("CROSSTIE_BENCH_RING").ok().and_then(|ring| ring.parse().ok());
    let made = match ring {
        Some(ring) => Memory::with_rings(rank, ranks, ring),
        None => Memory::create(rank, ranks),
    };
    made.unwrap_or_else(|error| panic!("{error}"))
}

fn share() -> f64 {
    let share = std::env::var("CROSSTIE_BENCH_SHARE").ok();
    share.and_then(|share| share.parse().ok()).unwrap_or(1.0)
}

/// Rank 0, which starts the others.
fn first(ranks: usize, measure: Measure) {
    let mut memory = create(0, ranks);
    let path = std::env::temp_dir().join(format!("{}.flags", memory.name()));
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path);
    let flags = flags(&file.expect("a file for flags"));
    let others: Vec<_> =
        (1..ranks).map(|rank| start(rank, ranks, &path.to_string_lossy())).collect();
    let (mut inputs, mut outputs, mut processes) = (Vec::new(), Vec::new(), Vec::new());
    for (input, output, process) in others {
        inputs.push(input);
        outputs.push(output);
        processes.push(process);
    }
    let mut names = vec![memory.name().to_owned()];
    names.extend(outputs.iter_mut().map(line));
    for input in &mut inputs {
        writeln!(input, "{}", names.join(" ")).expect("a peer that listens");
    }
    connect(&mut memory, &names);
    for output in &mut outputs {
        assert_eq!(line(output), "connected");
    }
    memory.unlink();
    std::fs::remove_file(&path).expect("the file for flags");
    drop(inputs);
    bind(0, ranks);
    measure(&mut Rank { memory, flags, share: share() });
    for mut process in processes {
        assert!(process.wait().expect("a peer").success());
    }
}

fn start(rank: usize, ranks: usize, flags: &str) -> (ChildStdin, BufReader<ChildStdout>, Child) {
    let mut process = Command::new(std::env::current_exe().expect("an executable"))
        .env("CROSSTIE_BENCH_PEER", format!("{rank} {ranks} {flags}"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a peer");
    let (input, output) = (process.stdin.take(), process.stdout.take());
    (input.expect("a pipe"), BufReader::new(output.expect("a pipe")), process)
}

fn line(from: &mut impl BufRead) -> String {
    let mut text = String::new();
    from.read_line(&mut text).expect("a line of a peer");
    text.trim().to_owned()
}

/// Another rank.
fn peer(part: &str, measures: &[(usize, Measure)]) {
    let mut words = part.splitn(3, ' ');
    let mut number = || words.next().and_then(|word| word.parse().ok()).expect("a number");
    let (rank, ranks): (usize, usize) = (number(), number());
    let file = OpenOptions::new().read(true).write(true).open(words.next().expect("a path"));
    let flags = flags(&file.expect("the file for flags"));
    let mut memory = create(rank, ranks);
    println!("{}", memory.name());
    let mut input = std::io::stdin().lock();
    let names: Vec<String> = line(&mut input).split(' ').map(str::to_owned).collect();
    connect(&mut memory, &names);
    println!("connected");
    line(&mut input);
    memory.unlink();
    bind(rank, ranks);
    let measure = measures.iter().find(|(number, _)| *number == ranks).expect("a measure").1;
    measure(&mut Rank { memory, flags, share: share() });
}

fn connect(memory: &mut Memory, names: &[String]) {
    let rank = memory.rank();
    for (peer, name) in names.iter().enumerate().filter(|(peer, _)| *peer != rank) {
        memory.connect(peer, name).unwrap_or_else(|error| panic!("{error}"));
    }
}

fn flags(file: &File) -> [&'static AtomicU64; 2] {
    const LENGTH: usize = 4096;
    file.set_len(LENGTH as u64).expect("a page");
    let length = NonZeroUsize::new(LENGTH).expect("a page");
    let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
    // SAFETY: the kernel chooses a place where nothing is; it is never unmapped.
    let base =
        unsafe { mmap(None, length, access, MapFlags::MAP_SHARED, file, 0) }.expect("a page");
    // SAFETY: both are aligned and inside the page.
    [0, 256].map(|at| unsafe { &*base.as_ptr().byte_add(at).cast::<AtomicU64>() })
}

/// Two ranks get a core each; more share what there is.
fn bind(rank: usize, ranks: usize) {
    #[cfg(target_os = "linux")]
    if ranks == 2 && std::thread::available_parallelism().is_ok_and(|cores| cores.get() >= 2) {
        // SAFETY: an empty set is a set, and the call reads as much as it is told.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(rank, &mut set);
            libc::sched_setaffinity(0, size_of_val(&set), &set);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (rank, ranks);
}
