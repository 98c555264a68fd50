//! `crosstie probe`: the parameters of a machine, measured.

mod document;
mod layout;
mod watch;

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use crosstie_lab::live::Lead;
use crosstie_lab::probe::{self as lab, LiveProbe, Probe, ProbeOptions, Target};
use crosstie_study::{Spec, World};

use crate::console::Console;
use crate::exit::{Answer, Exit, Failure};
use crate::machine::Machine;
use crate::{interrupt, joined, run};
use document::{Document, LIVE, Subject};
use watch::Watch;

const EXAMPLES: &str = "\
Examples:
  crosstie probe --sim p450-ibm-8275-416  writes p450-ibm-8275-416.model.toml
  crosstie probe --sim gedp-up --samples  what each line was fitted to, too
  crosstie probe --sim fedp --set link.rate=1Gbit/s --out faster.model.toml
  crosstie probe --sim my-machine.toml --iterations 1000 --force
  crosstie probe --sim p733-cisco-3524 --json
  crosstie probe --box experiments/box/small-switch.toml
      real ranks on the hosts of a box
  crosstie probe --live --ranks 2         real ranks on this machine
  mpiexec.hydra -hosts a,b crosstie probe --live
      the ranks that a launcher has started

What is measured, as in appendix A of Tam's thesis:
  O_s, g_s    packets are written one after the other, fewer and more than the
              transmit ring holds
  O_r         by how much a segment of a computation is longer when a packet
              comes
  U_r         picking up a packet that is there
  g_r         many nodes flood one
  L           half of a round trip less the rest, for more and more pairs at the
              same time
  B_L         what share of bursts comes through, by length, sources and sinks

Nothing is read from the machine but the rate of its links, the length of its
ring and who is on which switch. What it is configured to be stands beside what
was found. `crosstie bench --list` names the presets; those of Ethernet have
nodes to measure.

Real ranks are this program, started on each host in its turn, and exchange raw
frames: UDP datagrams of one frame each that are never sent again, with a
transmit ring of --ring frames. Nothing else should use the machine meanwhile.
Times vary, and are told with their spread; what cannot be seen is not resolved,
with the reason.";

/// Arguments of `crosstie probe`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group = ArgGroup::new("machine").args(["file", "sim", "boxed", "live"]))]
pub struct ProbeArguments {
    /// The simulated machine: a file, as --sim names it
    #[arg(value_name = "FILE", hide = true)]
    file: Option<String>,

    /// The simulated machine: a preset by name, or a file
    #[arg(long, value_name = "PRESET", required_unless_present_any = ["file", "boxed", "live"])]
    sim: Option<String>,

    /// Real hosts: those of a box
    #[arg(long = "box", value_name = "FILE")]
    boxed: Option<PathBuf>,

    /// Real ranks on this machine, or those that a launcher has started
    #[arg(long)]
    live: bool,

    /// Of a box, the rail to measure [default: the first]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["file", "sim", "live"])]
    rail: Option<String>,

    /// With --live, how many ranks [default: 2; of a launcher, all]
    #[arg(long, value_name = "N", conflicts_with_all = ["file", "sim", "boxed"])]
    #[arg(value_parser = clap::value_parser!(u32).range(2..=64))]
    ranks: Option<u32>,

    /// Of real ranks, how many frames the transmit ring holds
    #[arg(long, value_name = "FRAMES", default_value_t = 32, conflicts_with_all = ["file", "sim"])]
    #[arg(value_parser = clap::value_parser!(u32).range(8..=4096))]
    ring: u32,

    /// Change a key of the simulated machine
    #[arg(long, value_name = "KEY=VALUE", conflicts_with_all = ["boxed", "live"])]
    set: Vec<String>,

    /// How often each packet is timed
    #[arg(long, value_name = "N", default_value_t = ProbeOptions::ITERATIONS)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    iterations: u32,

    /// Print the samples behind each line too
    #[arg(long, visible_alias = "verbose")]
    samples: bool,

    /// Write the model file here [default: the name of the machine, in this folder, with
    /// .model.toml]
    #[arg(long, short, alias = "output", value_name = "FILE")]
    out: Option<PathBuf>,

    /// Write over a file that is there
    #[arg(long)]
    force: bool,
}

impl ProbeArguments {
    /// Whether real ranks are wanted.
    pub fn is_live(&self) -> bool {
        self.boxed.is_some() || self.live
    }
}

/// Measures a machine, prints what was found and writes it to a model file; with the ranks of a
/// launcher's job if this one leads them.
pub fn probe(
    arguments: &ProbeArguments,
    threads: Option<NonZeroUsize>,
    lead: Option<&Lead>,
    console: &Console,
) -> Exit {
    if let Some(lead) = lead {
        joined::stay(lead, arguments.boxed.as_deref(), None)?;
    }
    let interrupted = interrupt::watch()?;
    let options = ProbeOptions {
        iterations: arguments.iterations,
        threads: run::threads(threads),
        cancel: &interrupted,
    };
    match (arguments.sim.as_ref().or(arguments.file.as_ref()), &arguments.boxed) {
        (Some(machine), _) => simulated(machine, arguments, options, console),
        (None, Some(file)) => boxed(file, arguments, options, console),
        (None, None) => {
            let (target, ranks, title) = match (lead, arguments.ranks) {
                (Some(_), Some(_)) => {
                    return Err(Failure::user(
                        "--ranks: a launcher has started this command, and with it as many ranks as there are\n  \
                         help: leave it out",
                    ));
                }
                (Some(lead), None) => (Target::Job(lead), lead.size() as u32, joined::title(lead)),
                (None, ranks) => {
                    let ranks = ranks.unwrap_or(2);
                    (Target::Here(ranks), ranks, format!("{ranks} ranks on this machine"))
                }
            };
            let name = format!("live-{ranks}");
            let subject =
                Subject { name: &name, title: &title, world: LIVE, loses: false, room: ROOM };
            live(target, &subject, arguments, options, console)
        }
    }
}

fn simulated(
    name: &str,
    arguments: &ProbeArguments,
    options: ProbeOptions<'_>,
    console: &Console,
) -> Exit {
    let machine = Machine::load("--sim", name)?.with(&arguments.set)?;
    // Before anything takes time.
    let output = output(name, arguments)?;
    let spec = machine.spec()?;
    remark_on_world(name, &spec, console);
    let watch = Watch::new(name, console);
    let locate = |path: &str| machine.locate(path);
    let found = lab::probe(&spec, &locate, options, &|what| watch.measured(what));
    watch.close();
    let subject = Subject {
        name,
        title: machine.title(),
        world: spec.world.name(),
        loses: spec.world == World::Frame,
        room: "give `node.commodity.pool` more",
    };
    tell(&subject, found, &output, arguments, console)
}

/// What gives real receivers more room.
const ROOM: &str = "raise `net.core.rmem_max`, or leave the machine alone meanwhile";

fn boxed(
    file: &Path,
    arguments: &ProbeArguments,
    options: ProbeOptions<'_>,
    console: &Console,
) -> Exit {
    let spec = crate::boxes::load(file, console)?.spec;
    let names = spec.rail_names();
    let rail = match &arguments.rail {
        None => 0,
        Some(name) => names.iter().position(|known| known == name).ok_or_else(|| {
            let known = names.join(", ");
            Failure::user(format!("--rail: found `{name}`, expected a rail of the box: {known}"))
        })?,
    };
    if spec.members(rail).len() < spec.hosts.count() {
        let (name, count) = (&names[rail], spec.hosts.count());
        return Err(Failure::user(format!(
            "--box: rail `{name}` does not join all {count} hosts\n  help: name one that does with --rail"
        )));
    }
    let name = file.display().to_string();
    let title = spec.title.clone().unwrap_or_default();
    let loses = spec.rails[rail].rate.is_some() && spec.is_switched(rail);
    let subject = Subject { name: &name, title: &title, world: LIVE, loses, room: ROOM };
    live(Target::Box(&spec, rail), &subject, arguments, options, console)
}

fn live(
    target: Target<'_>,
    subject: &Subject<'_>,
    arguments: &ProbeArguments,
    options: ProbeOptions<'_>,
    console: &Console,
) -> Exit {
    let output = output(subject.name, arguments)?;
    let Some(executable) = run::executable() else {
        return Err(Failure::user(
            "the system does not tell which program this is, and ranks are the same",
        ));
    };
    let probe = LiveProbe { target, executable: &executable, ring: arguments.ring };
    let watch = Watch::new(subject.name, console);
    let found = lab::probe_live(probe, options, &|what| watch.measured(what));
    watch.close();
    tell(subject, found, &output, arguments, console)
}

/// Writes and prints what was found.
fn tell(
    subject: &Subject<'_>,
    found: Result<Option<Probe>, crosstie_lab::LabError>,
    output: &Path,
    arguments: &ProbeArguments,
    console: &Console,
) -> Exit {
    let found = found.map_err(|error| match error.is_the_users() {
        true => Failure::user(format!("`{}`: {error}", subject.name)),
        false => error.into(),
    })?;
    let Some(found) = found else { return Ok(Answer::Interrupted) };
    write(output, &model_file(subject, arguments, &found), arguments.force)?;
    let file = output.display().to_string();
    let document = Document::new(subject, arguments.iterations, &found, &file);
    if console.json {
        console.print_json(&document)?;
    } else {
        console.tell(&layout::report(&document, arguments.samples))?;
    }
    Ok(Answer::Yes)
}

/// Where what is found goes, if it can.
fn output(name: &str, arguments: &ProbeArguments) -> Result<PathBuf, Failure> {
    let output = arguments.out.clone().unwrap_or_else(|| usual_output(name));
    writable(&output, arguments.force)?;
    Ok(output)
}

/// In the folder where one is, by the name of the preset or file.
fn usual_output(name: &str) -> PathBuf {
    let stem = match name.strip_suffix(".toml") {
        Some(_) => Path::new(name).file_stem(),
        None => Path::new(name).file_name(),
    };
    PathBuf::from(format!("{}.model.toml", stem.unwrap_or_default().display()))
}

/// Networks that lose nothing have less to show.
fn remark_on_world(name: &str, spec: &Spec, console: &Console) {
    let world = spec.world.name();
    match spec.world {
        // The lab refuses where nothing moves, or nothing takes nodes any time.
        World::Frame | World::Model | World::Live => {}
        World::Wormhole | World::Ideal if spec.node.commodity.is_none() => {}
        World::Wormhole | World::Ideal => console.remark(format_args!(
            "{name}: its world is {world}, which loses no packets, so that nothing shows of B_L; for gaps and L \
             there is nothing configured to compare them with"
        )),
    }
}

/// What was found, and on what.
fn model_file(subject: &Subject<'_>, arguments: &ProbeArguments, found: &Probe) -> String {
    let one_line = |text: &str| text.split(char::is_control).collect::<Vec<_>>().join(" ");
    let set: String = arguments.set.iter().map(|set| format!(", {set}")).collect();
    let from = format!("{}{set}: {}", subject.name, subject.title);
    let iterations = arguments.iterations;
    let how = match subject.world {
        LIVE => format!("Measured on real ranks, which vary; a ring of {} frames", arguments.ring),
        _ => "Simulated".to_owned(),
    };
    format!("# {}\n# {how}; {iterations} iterations.\n{}", one_line(&from), found.to_toml())
}

fn there(output: &Path) -> Failure {
    Failure::user(format!(
        "--out: found a file `{}`, expected none\n  help: name another with --out FILE, or write over it with \
         --force",
        output.display()
    ))
}

fn refused(output: &Path, error: impl std::fmt::Display) -> Failure {
    Failure::user(format!("--out: cannot write `{}`: {error}", output.display()))
}

/// Refuses what could not be written in the end.
fn writable(output: &Path, force: bool) -> Result<(), Failure> {
    if output.is_dir() {
        return Err(refused(output, "it is a folder, expected a file"));
    }
    if output.exists() && !force {
        return Err(there(output));
    }
    match output.parent() {
        Some(folder) if folder != Path::new("") && !folder.is_dir() => {
            Err(refused(output, "its folder does not exist"))
        }
        _ => Ok(()),
    }
}

fn write(output: &Path, text: &str, force: bool) -> Result<(), Failure> {
    if force {
        return fs::write(output, text).map_err(|error| refused(output, error));
    }
    // Somebody may have been faster.
    let file = OpenOptions::new().write(true).create_new(true).open(output);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => there(output),
        _ => refused(output, error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_after_machines() {
        for (name, expected) in [
            ("p450-ibm-8275-416", "p450-ibm-8275-416.model.toml"),
            ("machines/mine.toml", "mine.model.toml"),
            ("../mine.v2", "mine.v2.model.toml"),
        ] {
            assert_eq!(usual_output(name), Path::new(expected));
        }
    }
}
