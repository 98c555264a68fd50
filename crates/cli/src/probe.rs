//! `crosstie probe`: the parameters of a machine, measured.

mod document;
mod layout;
mod watch;

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use crosstie_lab::probe::{self as lab, Probe, ProbeOptions};
use crosstie_study::{Spec, World};

use crate::console::Console;
use crate::exit::{Answer, Exit, Failure};
use crate::machine::Machine;
use crate::{interrupt, run};
use document::Document;
use watch::Watch;

const EXAMPLES: &str = "\
Examples:
  crosstie probe --sim p450-ibm-8275-416               writes p450-ibm-8275-416.model.toml
  crosstie probe --sim gedp-up --samples               what each line was fitted to, too
  crosstie probe --sim p450-ibm-8275-326 --set fabric.single.hosts=24 --output 24.model.toml
  crosstie probe my-machine.toml --iterations 1000 --force
  crosstie probe --sim p733-cisco-3524 --json

What is measured, as in appendix A of Tam's thesis:
  O_s, g_s    packets are written one after the other, fewer and more than the transmit ring holds
  O_r         by how much a segment of a computation is longer when a packet comes
  U_r         picking up a packet that is there
  g_r         many nodes flood one
  L           half of a round trip less the rest, for more and more pairs at the same time
  B_L         what share of bursts comes through, by length, sources and sinks

Nothing is read from the machine but the rate of its links, the length of its ring and who is on
which switch. What it is configured to be stands beside what was found. `crosstie bench --list`
names the presets; those of Ethernet have nodes to measure.";

/// Arguments of `crosstie probe`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group = ArgGroup::new("machine").required(true).args(["file", "sim"]))]
pub struct ProbeArguments {
    /// The simulated machine: a file as of a preset
    #[arg(value_name = "FILE")]
    file: Option<String>,

    /// The simulated machine: a preset by name
    #[arg(long, value_name = "PRESET")]
    sim: Option<String>,

    /// Change a key of the machine
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,

    /// How often each packet is timed
    #[arg(long, value_name = "N", default_value_t = ProbeOptions::ITERATIONS)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    iterations: u32,

    /// Print the samples behind each line too
    #[arg(long, visible_alias = "verbose")]
    samples: bool,

    /// Write the model file here [default: the name of the machine, in this folder, with .model.toml]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write over a file that is there
    #[arg(long)]
    force: bool,
}

/// Measures a machine, prints what was found and writes it to a model file.
pub fn probe(arguments: &ProbeArguments, threads: Option<NonZeroUsize>, console: &Console) -> Exit {
    let (name, machine) = match (&arguments.sim, &arguments.file) {
        (Some(preset), _) => (preset, Machine::load("--sim", preset)?),
        (None, Some(file)) => (file, Machine::load("FILE", file)?),
        (None, None) => unreachable!("the command line asks for one of them"),
    };
    let machine = machine.with(&arguments.set)?;
    let output = arguments.output.clone().unwrap_or_else(|| usual_output(name));
    // Before anything takes time.
    writable(&output, arguments.force)?;
    let spec = machine.spec(console)?;
    remark_on_world(name, &spec, console);
    let interrupted = interrupt::watch()?;
    let options = ProbeOptions {
        iterations: arguments.iterations,
        threads: run::threads(threads),
        cancel: &interrupted,
    };
    let watch = Watch::new(name, console);
    let locate = |path: &str| machine.locate(path);
    let found = lab::probe(&spec, &locate, options, &|what| watch.measured(what));
    watch.close();
    let found = found.map_err(|error| match error.is_the_users() {
        true => Failure::user(format!("`{name}`: {error}")),
        false => error.into(),
    })?;
    let Some(found) = found else { return Ok(Answer::Interrupted) };
    let text = model_file(name, machine.title(), arguments, &found);
    write(&output, &text, arguments.force)?;
    let file = output.display().to_string();
    let document = Document::new(name, machine.title(), &spec, arguments.iterations, &found, &file);
    if console.json {
        console.print_json(&document)?;
    } else {
        console.tell(&layout::report(&document, arguments.samples))?;
    }
    Ok(Answer::Yes)
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
fn model_file(name: &str, title: &str, arguments: &ProbeArguments, found: &Probe) -> String {
    let one_line = |text: &str| text.split(char::is_control).collect::<Vec<_>>().join(" ");
    let set: String = arguments.set.iter().map(|set| format!(", {set}")).collect();
    let from = format!("{name}{set}: {title}");
    let iterations = arguments.iterations;
    format!("# {}\n# Simulated; {iterations} iterations.\n{}", one_line(&from), found.to_toml())
}

fn there(output: &Path) -> Failure {
    Failure::user(format!(
        "--output: found a file `{}`, expected none\n  help: name another with --output FILE, or write over it with \
         --force",
        output.display()
    ))
}

fn refused(output: &Path, error: impl std::fmt::Display) -> Failure {
    Failure::user(format!("--output: cannot write `{}`: {error}", output.display()))
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
