//! The one declaration of the command line: parsing, help, manual pages and completions follow.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::builder::FalseyValueParser;
use clap::error::{ContextKind, ContextValue};
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::bench::BenchArguments;
use crate::boxes::BoxArguments;
use crate::fabric::FabricArguments;
use crate::launch::LaunchArguments;
use crate::paper::PaperArguments;
use crate::predict::PredictArguments;
use crate::probe::ProbeArguments;
use crate::rails::RailsArguments;
use crate::report::ReportArguments;
use crate::routes::RoutesArguments;
use crate::run::RunArguments;

const EXAMPLES: &str = "\
Examples:
  crosstie run experiments/quickstart.toml  run an experiment; see results/
  crosstie check study.toml                 is the file sound? which points run?
  crosstie report results/quickstart        draw again, without running
  crosstie fabric --tree 4,3                describe a 4-ary 3-tree
  crosstie routes net.anynet --certify      can this network deadlock?
  crosstie paper coll-multirail --quick     a paper's claims, and what is found
  crosstie predict broadcast --sim fedp     what it takes, and what holds it up
  crosstie probe --sim p450-ibm-8275-416    what packets take of a machine
  crosstie box two-rails.toml -- hostname   a cluster on this machine
  crosstie launch -n 4 -- ./program         four ranks on this machine
  crosstie rails --nodes 20                 how many rails join 20 nodes?

Exit codes:
  0    done
  1    the answer is no
  2    a mistake in the input
  3    a bug in Crosstie
  130  interrupted

A variable named in [env: ...] sets its flag; a flag on the command line wins.";

/// A laboratory for multirail cluster networks.
#[derive(Debug, Parser)]
#[command(name = "crosstie", version, after_help = EXAMPLES, max_term_width = 100)]
#[command(arg_required_else_help = true, propagate_version = true)]
pub struct Arguments {
    /// Flags of every verb.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// Flags of every verb.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Print data as JSON on stdout
    #[arg(long, global = true, env = "CROSSTIE_JSON", value_parser = FalseyValueParser::new())]
    #[arg(action = ArgAction::SetTrue, hide_env_values = true)]
    pub json: bool,

    /// Print no progress and no remarks; data and errors only
    #[arg(long, short, global = true, env = "CROSSTIE_QUIET")]
    #[arg(value_parser = FalseyValueParser::new(), action = ArgAction::SetTrue)]
    #[arg(hide_env_values = true)]
    pub quiet: bool,

    /// When to use colours: auto, always or never; NO_COLOR is obeyed too
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        env = "CROSSTIE_COLOR",
        hide_env_values = true
    )]
    #[arg(default_value_t = Colour::Auto, value_enum, hide_possible_values = true)]
    pub color: Colour,

    /// Threads that simulate [default: one per core]
    #[arg(long, global = true, value_name = "N", env = "CROSSTIE_THREADS", hide_env_values = true)]
    pub threads: Option<NonZeroUsize>,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// On a terminal.
    Auto,
    /// Into files and pipes too.
    Always,
    /// Nowhere.
    Never,
}

/// What the command can do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Run experiment files: progress, table, figures, report
    Run(RunArguments),
    /// Draw figures and report again from stored results, without running anything
    Report(ReportArguments),
    /// Check experiment files and list their points; check box files
    #[command(after_help = crate::check::EXAMPLES)]
    Check {
        /// Experiment files, and files for `crosstie box`
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
    },
    /// Reproduce a paper: what it publishes beside what is measured
    Paper(PaperArguments),
    /// Run microbenchmarks on simulated or real ranks: ping, bandwidth, collective operations
    Bench(BenchArguments),
    /// Price communication on paper: transfers and collective operations, with their bottlenecks
    Predict(PredictArguments),
    /// Measure the parameters of a machine with microbenchmarks, and write a model file
    Probe(ProbeArguments),
    /// Make hosts and shaped rails on this machine, and run programs on them
    Box(BoxArguments),
    /// Start a program as several ranks on this machine, of Crosstie or of MPICH
    Launch(LaunchArguments),
    /// Be a rank that another verb has started
    #[command(hide = true, after_help = crate::rank::EXAMPLES)]
    Rank,
    /// Describe, convert or draw a network
    Fabric(FabricArguments),
    /// Compute routes: length, balance, deadlock certificate, single routes
    Routes(RoutesArguments),
    /// Allocate rails statically: how many are needed, and who transmits on which
    Rails(RailsArguments),
    /// Print completions for a shell
    #[command(after_help = crate::manual::COMPLETION_EXAMPLES)]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page, or write those of all verbs
    #[command(after_help = crate::manual::MANUAL_EXAMPLES)]
    Man {
        /// Write one page per verb into this folder instead
        #[arg(long, alias = "dir", value_name = "FOLDER")]
        out: Option<PathBuf>,
    },
}

/// A mistake with a better suggestion. What `--sim` takes is a preset, so that people write
/// `--preset`: the name most similar to that is `--predict`, which is something else.
pub fn better(mut mistake: clap::Error) -> clap::Error {
    let says =
        |kind, text| matches!(mistake.get(kind), Some(ContextValue::String(it)) if it == text);
    if says(ContextKind::InvalidArg, "--preset") && says(ContextKind::SuggestedArg, "--predict") {
        mistake.insert(ContextKind::SuggestedArg, ContextValue::String("--sim".to_owned()));
        // It would show the former suggestion.
        mistake.remove(ContextKind::Usage);
    }
    mistake
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_declaration_is_sound() {
        Arguments::command().debug_assert();
    }

    /// What clap does not know the layout of must not be broken by it.
    #[test]
    fn help_fits_into_80_columns() {
        let command = Arguments::command();
        for verb in command.get_subcommands().chain([&command]) {
            let help = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
            for line in help.lines() {
                assert!(line.chars().count() <= 80, "{}: {line}", verb.get_name());
            }
        }
    }

    #[test]
    fn every_verb_has_examples_that_parse() {
        let command = Arguments::command();
        let helps = command
            .get_subcommands()
            .map(|verb| (verb.get_name(), verb.get_after_help()))
            .chain([("crosstie", command.get_after_help())]);
        for (verb, help) in helps {
            let help = help.unwrap_or_else(|| panic!("{verb} has no examples")).to_string();
            let examples: Vec<&str> = help
                .lines()
                .map(str::trim)
                .filter(|line| line.starts_with("crosstie "))
                // The explanation stands behind a gap; what a shell would do, behind its sign.
                .map(|line| line.split("  ").next().unwrap_or(line))
                .map(|line| line.split([';', '|', '>', '#']).next().unwrap_or(line))
                .collect();
            assert!(!examples.is_empty(), "{verb}: {help}");
            for example in examples {
                let parsed = Arguments::try_parse_from(example.split_whitespace());
                assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
            }
        }
    }
}
