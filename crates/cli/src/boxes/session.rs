//! A box from its making to its end.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::thread::{self, JoinHandle};

use crosstie_box::{
    Cluster, Command, Ending, Finding, Options, Program, Spec, Timetable, permissions,
};
use serde::Serialize;
use signal_hook::consts::{SIGHUP, SIGINT, SIGKILL, SIGPIPE, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::Signals;

use super::recording::{Recording, TraceListing};
use super::{BoxArguments, BoxFile, terminal};
use crate::console::Console;
use crate::exit::{Answer, Exit, Failure};
use crate::labelled;

/// Makes the box, runs what was asked for, and takes it down again.
pub fn run(arguments: &BoxArguments, file: &BoxFile, console: &Console) -> Exit {
    let spec = &file.spec;
    let named = arguments.on.as_deref().or(arguments.shell.as_deref());
    let only = named.map(|host| number(spec, host)).transpose()?;
    let words = match &arguments.shell {
        Some(_) => vec![shell()],
        None => arguments.program.clone(),
    };
    if words.is_empty() {
        let help = "add a program behind `--`, or `--shell HOST`";
        return Err(Failure::user(format!("nothing to run\nhelp: {help}")));
    }
    let options = Options { remote_shell: remote_shell(), root: arguments.root };
    // Signals from here on are for the programs.
    let signals = watch()?;
    let cluster = Cluster::with(spec, &options).map_err(Failure::user)?;
    let trace = arguments.trace.as_deref();
    let recording =
        trace.map(|folder| Recording::begin(&cluster, folder, file, &words)).transpose()?;
    let (mut recording, tell) = recording.unzip();
    let mut crew = match only {
        Some(host) => Crew::on_one(&cluster, host, words, console)?,
        None => Crew::on_all(&cluster, words, console)?,
    };
    let clock = Timetable::new();
    let (endings, played) = thread::scope(|scope| {
        let (cluster, clock) = (&cluster, &clock);
        let events = scope.spawn(move || {
            clock.play(cluster, |applied| {
                // A recorder that has given up has told of it.
                let _ = tell.as_ref().map(|tell| tell.send(applied.told(cluster)));
            })
        });
        if let Some(recording) = &mut recording {
            let named = thread::Builder::new().name("trace".to_owned());
            let begun = named.spawn_scoped(scope, || recording.run(clock));
            begun.expect("a thread can be started");
        }
        let endings = accompany(&crew.programs, signals);
        clock.stop();
        (endings, events.join().expect("events do not panic"))
    });
    let recorded = recording.map(Recording::finish);
    let stands = cluster.stands();
    // What programs have left running ends here, and with it what they print.
    drop(cluster);
    let unread = crew.fall_silent();
    if !stands {
        return Err(Failure::user("the processes of the box were killed by somebody else"));
    }
    played.map_err(Failure::user)?;
    let endings = endings?;
    let hosts: Vec<&String> = match only {
        Some(host) => vec![&spec.hosts.names()[host]],
        None => spec.hosts.names().iter().collect(),
    };
    if console.json {
        let programs = hosts.into_iter().zip(&endings).map(ProgramListing::of).collect();
        let trace = recorded.as_ref().map(|recorded| recorded.listing());
        console.print_json(&Outcome { programs, trace })?;
    } else if let Some(recorded) = &recorded {
        recorded.show(console);
    }
    conclude(&endings, unread, spec, console)
}

#[derive(Serialize)]
struct Outcome<'a> {
    programs: Vec<ProgramListing<'a>>,
    trace: Option<TraceListing<'a>>,
}

/// How a program ended: with a code, by a signal, or with its host.
#[derive(Serialize)]
struct ProgramListing<'a> {
    host: &'a str,
    code: Option<i32>,
    signal: Option<i32>,
}

impl ProgramListing<'_> {
    fn of<'a>((host, ending): (&'a String, &Ending)) -> ProgramListing<'a> {
        let (code, signal) = match *ending {
            Ending::Exited(code) => (Some(code), None),
            Ending::Killed(signal) => (None, Some(signal)),
            Ending::Lost => (None, None),
        };
        ProgramListing { host, code, signal }
    }
}

/// The programs of a box.
struct Crew {
    programs: Vec<Program>,
    /// Threads that print what programs say.
    readers: Vec<JoinHandle<bool>>,
    /// Whether they have the terminal.
    terminal: bool,
}

impl Crew {
    /// A program on one host, with standard files as they are; where stdout is for data of ours, it
    /// has stderr instead.
    fn on_one(
        cluster: &Cluster,
        host: usize,
        words: Vec<OsString>,
        console: &Console,
    ) -> Result<Crew, Failure> {
        let terminal = io::stdin().is_terminal();
        let mut command = Command::new(words);
        if console.json {
            let errors = io::stderr().as_fd().try_clone_to_owned();
            command = command.stdout(errors.map_err(cannot_connect)?);
        }
        let command = if terminal { command.in_foreground() } else { command };
        let program = cluster.spawn(host, &command).map_err(Failure::user)?;
        Ok(Crew { programs: vec![program], readers: Vec::new(), terminal })
    }

    /// A program on every host, its output labelled.
    fn on_all(cluster: &Cluster, words: Vec<OsString>, console: &Console) -> Result<Crew, Failure> {
        let to_stdout = if console.json { labelled::to_stderr } else { labelled::to_stdout };
        let mut crew = Crew { programs: Vec::new(), readers: Vec::new(), terminal: false };
        for (host, name) in cluster.spec().hosts.names().iter().enumerate() {
            let (output, to_output) = io::pipe().map_err(cannot_connect)?;
            let (errors, to_errors) = io::pipe().map_err(cannot_connect)?;
            let nothing = File::open("/dev/null").map_err(cannot_connect)?;
            let command = Command::new(words.iter().cloned());
            let command = command.stdin(nothing).stdout(to_output).stderr(to_errors);
            crew.programs.push(cluster.spawn(host, &command).map_err(Failure::user)?);
            let label = format!("{name}: ");
            crew.readers.push(thread::spawn(move || labelled::copy(output, &label, to_stdout)));
            let label = format!("{name}: ");
            crew.readers
                .push(thread::spawn(move || labelled::copy(errors, &label, labelled::to_stderr)));
        }
        Ok(crew)
    }

    /// Waits until all that was said is printed, and takes the terminal back. Returns true if
    /// nobody was left to read it.
    fn fall_silent(&mut self) -> bool {
        let mut unread = false;
        for reader in self.readers.drain(..) {
            // A reader that panicked has told of it.
            unread |= reader.join().unwrap_or(false);
        }
        if self.terminal {
            terminal::take_back();
        }
        unread
    }
}

fn cannot_connect(error: io::Error) -> Failure {
    Failure::user(format!("cannot connect programs: {error}"))
}

/// What the programs' endings come to; `unread` if nobody was left to read what they print.
fn conclude(endings: &[Ending], unread: bool, spec: &Spec, console: &Console) -> Exit {
    if endings.len() > 1 {
        for (name, ending) in spec.hosts.names().iter().zip(endings) {
            match ending {
                Ending::Exited(0) => {}
                Ending::Exited(code) => {
                    console.remark(format_args!("{name}: ended with code {code}"))
                }
                Ending::Killed(SIGPIPE) if unread => {}
                Ending::Killed(signal) => {
                    console.remark(format_args!("{name}: ended by signal {signal}"));
                }
                Ending::Lost => console.remark(format_args!("{name}: lost with its host")),
            }
        }
    }
    let worst = endings.iter().find(|ending| !ending.success());
    Ok(worst.map_or(Answer::Yes, |ending| Answer::Code(ending.code())))
}

/// Waits for a single program that has the terminal if there is one, and ends as it does.
pub fn foreground(program: Program) -> Exit {
    let endings = accompany(&[program], watch()?);
    if io::stdin().is_terminal() {
        terminal::take_back();
    }
    Ok(endings?.first().map_or(Answer::Yes, |ending| Answer::Code(ending.code())))
}

/// Passes signals on to programs until they have ended. A second wish to end is an order.
fn accompany(programs: &[Program], mut signals: Signals) -> Result<Vec<Ending>, Failure> {
    let handle = signals.handle();
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut asked = false;
            for signal in &mut signals {
                let ends = matches!(signal, SIGINT | SIGTERM);
                let signal = if ends && asked { SIGKILL } else { signal };
                asked |= ends;
                for program in programs {
                    // One that has ended needs no signal.
                    let _ = program.signal(signal);
                }
            }
        });
        let endings = programs.iter().map(Program::wait).collect::<Result<Vec<Ending>, _>>();
        handle.close();
        endings.map_err(Failure::user)
    })
}

/// Takes over the signals that are passed on.
fn watch() -> Result<Signals, Failure> {
    Signals::new([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2])
        .map_err(|error| Failure::ours(format!("cannot watch for signals: {error}")))
}

/// The number of a host that the command line names.
fn number(spec: &Spec, host: &str) -> Result<usize, Failure> {
    let names = spec.hosts.names();
    names.iter().position(|name| name == host).ok_or_else(|| {
        let known = names.iter().map(String::as_str);
        let nearest = crosstie_study::nearest(host, known);
        let meant = nearest.map_or(String::new(), |name| format!("\nhelp: did you mean `{name}`?"));
        Failure::user(format!(
            "there is no host `{host}`: the hosts are {}{meant}",
            names.join(", ")
        ))
    })
}

/// The shell that the user likes.
pub fn shell() -> OsString {
    env::var_os("SHELL").filter(|shell| !shell.is_empty()).unwrap_or_else(|| "/bin/sh".into())
}

/// How hosts call this very program as `ssh`.
fn remote_shell() -> Option<String> {
    let program = env::current_exe().ok()?;
    let quoted = program.to_str()?.replace('\'', r"'\''");
    Some(format!("'{quoted}' box ssh"))
}

#[derive(Serialize)]
struct Listing {
    allowed: bool,
    needs: Vec<Need>,
}

#[derive(Serialize)]
struct Need {
    what: &'static str,
    works: Option<bool>,
    problem: Option<String>,
    help: Option<String>,
}

/// Says what this machine allows.
pub fn check(console: &Console) -> Exit {
    let needs: Vec<Need> = permissions().into_iter().map(need).collect();
    let allowed = needs.iter().all(|need| need.works == Some(true));
    if console.json {
        console.print_json(&Listing { allowed, needs })?;
    } else {
        let mut text = String::new();
        for Need { what, works, problem, help } in needs {
            let mark = match works {
                Some(true) => "yes",
                Some(false) => "no",
                None => "-",
            };
            text += &format!("{mark:<4} {what}\n");
            for line in [problem, help.map(|help| format!("help: {help}"))].into_iter().flatten() {
                text += &format!("     {line}\n");
            }
        }
        console.tell(&text)?;
    }
    Ok(if allowed { Answer::Yes } else { Answer::No })
}

fn need(Finding { what, works, problem }: Finding) -> Need {
    let help = problem.as_ref().and_then(|problem| problem.help().map(str::to_owned));
    let problem = problem.map(|problem| problem.to_string());
    // The help has a line of its own.
    let problem = problem.map(|text| text.lines().next().unwrap_or_default().to_owned());
    Need { what, works, problem, help }
}
