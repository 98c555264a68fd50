//! What all tests need: a box or the reason for none, programs on its hosts, and quiet to measure
//! in.

use std::fs::File;
use std::io::{PipeReader, Read, pipe};
use std::time::Instant;

use crosstie_box::{Cluster, Command, Ending, Options, Program, Spec};
use nix::fcntl::{Flock, FlockArg};

/// A box as a file would describe it.
pub fn spec(text: &str) -> Spec {
    let spec: Spec = toml::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    spec.check().unwrap_or_else(|misfit| panic!("{misfit}\n{text}"));
    spec
}

/// A box file of the repository.
pub fn example(name: &str) -> Spec {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/box");
    let path = format!("{folder}/{name}.toml");
    spec(&std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}")))
}

/// The box, or `None` where this machine forbids it, after saying so.
pub fn live(spec: &Spec) -> Option<Cluster> {
    live_with(spec, &Options::default())
}

/// The same, made in a certain way.
pub fn live_with(spec: &Spec, options: &Options) -> Option<Cluster> {
    match Cluster::with(spec, options) {
        Ok(cluster) => Some(cluster),
        Err(error) if forbidden() => {
            skip(&error.to_string());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Says that the test of this thread is skipped, and why.
pub fn skip(why: &str) {
    let thread = std::thread::current();
    // Not `eprintln!`, which the harness shows of failed tests only.
    let line = format!("skipped {}: {why}\n", thread.name().unwrap_or("a test"));
    let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
}

/// Whether this machine forbids what boxes are made of.
pub fn forbidden() -> bool {
    use std::sync::OnceLock;
    static FORBIDDEN: OnceLock<bool> = OnceLock::new();
    *FORBIDDEN.get_or_init(|| {
        crosstie_box::permissions().iter().any(|finding| finding.works != Some(true))
    })
}

/// A hold on the machine, until it is dropped.
pub struct Hold(#[allow(dead_code)] Flock<File>);

impl Hold {
    /// By a lock on this executable, because some harnesses run every test in a process of its own.
    fn new(how: FlockArg) -> Hold {
        let file = File::open(std::env::current_exe().unwrap()).unwrap();
        Hold(Flock::lock(file, how).map_err(|(_, error)| error).unwrap())
    }
}

/// Holds the machine together with others, but not while somebody measures.
pub fn company() -> Hold {
    Hold::new(FlockArg::LockShared)
}

/// Holds the machine alone, to measure rates and times.
pub fn quiet() -> Hold {
    Hold::new(FlockArg::LockExclusive)
}

/// Tries again what a machine that stands still for a while, as virtual ones do, can spoil. One
/// that was without its cores for a two-hundredth of the time cannot tell, and says so: it is in
/// short moments that rates are lost.
pub fn patiently(times: usize, mut attempt: impl FnMut() -> Result<(), String>) {
    let (begin, before) = (Instant::now(), stolen());
    let mut why = Vec::new();
    for _ in 0..times {
        match attempt() {
            Ok(()) => return,
            Err(problem) => why.push(problem),
        }
    }
    let share = (stolen() - before) / begin.elapsed().as_secs_f64();
    match share > 0.005 {
        true => skip(&format!("this machine stood still for {:.1} % of the time", 100.0 * share)),
        false => panic!("{}", why.join("\n")),
    }
}

/// For how many seconds a core of a virtual machine was taken away, on average.
fn stolen() -> f64 {
    let statistics = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let all = statistics.lines().next().unwrap_or_default();
    let ticks: f64 =
        all.split_whitespace().nth(8).and_then(|text| text.parse().ok()).unwrap_or(0.0);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    ticks / 100.0 / cores as f64
}

/// A program whose output is kept.
pub struct Running {
    pub program: Program,
    output: PipeReader,
    /// Whether it may say more.
    open: bool,
}

/// What a program said, and how it ended.
#[derive(Debug)]
pub struct Said {
    pub ending: Ending,
    pub text: String,
}

impl Running {
    /// Waits for its next line of output.
    pub fn line(&mut self) -> String {
        let mut line = Vec::new();
        let mut byte = [0];
        while self.open && byte != *b"\n" {
            line.extend(&byte[..usize::from(byte != [0])]);
            self.open = self.output.read(&mut byte).unwrap() == 1;
        }
        String::from_utf8(line).unwrap()
    }

    /// Waits until it says a certain line.
    pub fn until(&mut self, said: &str) {
        loop {
            let line = self.line();
            assert!(!line.is_empty() || self.open, "it ended before it said `{said}`");
            if line.ends_with(&format!("=> {said}")) {
                return;
            }
        }
    }

    /// Waits for its end.
    pub fn end(mut self) -> Said {
        let mut text = String::new();
        self.output.read_to_string(&mut text).unwrap();
        Said { ending: self.program.wait().unwrap(), text }
    }
}

impl Said {
    /// What it said, if it ended well.
    pub fn well(self) -> String {
        assert!(self.ending.success(), "{:?}: {}", self.ending, self.text);
        self.text
    }
}

/// Starts a program and keeps its output.
pub fn start(cluster: &Cluster, host: usize, command: Command) -> Running {
    try_start(cluster, host, command).unwrap_or_else(|error| panic!("{error}"))
}

/// The same, where it may fail.
pub fn try_start(
    cluster: &Cluster,
    host: usize,
    command: Command,
) -> Result<Running, crosstie_box::BoxError> {
    let (output, input) = pipe().unwrap();
    let command = command.stdout(input);
    let program = cluster.spawn(host, &command)?;
    Ok(Running { program, output, open: true })
}

/// Runs a program to its end; what it said.
pub fn run<const N: usize>(cluster: &Cluster, host: usize, words: [&str; N]) -> Said {
    start(cluster, host, Command::new(words)).end()
}

/// Runs a line of a shell to its end; what it said.
pub fn shell(cluster: &Cluster, host: usize, line: &str) -> Said {
    run(cluster, host, ["/bin/sh", "-c", line])
}

/// Whether a program is installed on this machine; says so where it is not.
pub fn installed(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    if !found {
        skip(&format!("`{name}` is not installed"));
    }
    found
}
