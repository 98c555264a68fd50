//! `crosstie rails`: how many rails static allocation needs, and who transmits on which.

mod capacity;
mod comparison;
mod inspection;
mod need;
mod room;

use std::fs;
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use crosstie_protocol::matrix::{MAX_NODES, MAX_RAILS};

use crate::console::Console;
use crate::exit::{Answer, Exit, Failure};
use comparison::Comparison;
use inspection::Inspection;
use need::{Algorithm, Need};
use room::Room;

const EXAMPLES: &str = "\
Examples:
  crosstie rails --nodes 20
      the rails that 20 nodes need, and the matrix
  crosstie rails --rails 6                the nodes that 6 rails join
  crosstie rails --nodes 21 --rails 6     exits 1 if the nodes do not fit
  crosstie rails --nodes 8 --algorithm 1  the matrix of the simple algorithm
  crosstie rails --nodes 4096 --out matrix.txt
      a matrix too wide to be looked at
  crosstie rails --check matrix.txt
      exits 1 and names a pair without connection
  crosstie rails --figure rails.svg       both algorithms, from 2 to 4096 nodes";

/// Arguments of `crosstie rails`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group = ArgGroup::new("question").required(true).multiple(true)
    .args(["nodes", "rails", "check", "table", "figure"]))]
pub struct RailsArguments {
    /// How many rails so many nodes need, and which node transmits on which rail
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=i64::from(MAX_NODES)))]
    nodes: Option<u32>,

    /// How many nodes so many rails join; with --nodes, whether they join these
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_RAILS)))]
    rails: Option<u32>,

    /// The algorithm that makes the matrix: 1, simple, or 2, with the fewest rails
    #[arg(long, value_name = "1|2", requires = "nodes", default_value = "2")]
    #[arg(hide_possible_values = true)]
    algorithm: Algorithm,

    /// Print the matrix even if it is wider than the terminal
    #[arg(long, requires = "nodes")]
    matrix: bool,

    /// Write the matrix to a file, which --check reads
    #[arg(long, alias = "write", value_name = "FILE", requires = "nodes")]
    out: Option<PathBuf>,

    /// Verify a matrix: a row of 0 and 1 for each rail, 1 where a node transmits; - is stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["nodes", "rails", "table", "figure"])]
    check: Option<PathBuf>,

    /// Compare the rails that both algorithms need, from 2 to 4096 nodes
    #[arg(long, conflicts_with_all = ["nodes", "rails"])]
    table: bool,

    /// Draw the comparison too, as a figure (.svg)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["nodes", "rails"])]
    figure: Option<PathBuf>,
}

/// Answers what is asked of static allocation.
pub fn rails(arguments: &RailsArguments, console: &Console) -> Exit {
    match (&arguments.check, arguments.nodes, arguments.rails) {
        (Some(file), _, _) => check(file, console),
        (None, Some(nodes), rails) => need(arguments, nodes, rails, console),
        (None, None, Some(rails)) => room(rails, console),
        (None, None, None) => compare(arguments.figure.as_deref(), console),
    }
}

fn need(arguments: &RailsArguments, nodes: u32, rails: Option<u32>, console: &Console) -> Exit {
    let need = Need::of(nodes, rails, arguments.algorithm)?;
    if let (Some(path), Some(text)) = (&arguments.out, need.file()) {
        write(path, &text, console)?;
    }
    if console.json {
        console.print_json(&need)?;
    } else {
        let widest = if arguments.matrix { usize::MAX } else { console.terminal().width };
        console.tell(&format!("{need}{}", need.drawn(widest)))?;
    }
    Ok(if need.is_met() { Answer::Yes } else { Answer::No })
}

fn room(rails: u32, console: &Console) -> Exit {
    let room = Room::of(rails);
    if console.json {
        console.print_json(&room)?;
    } else {
        console.tell(&room.to_string())?;
    }
    Ok(Answer::Yes)
}

fn check(file: &Path, console: &Console) -> Exit {
    let inspection = Inspection::of(file)?;
    if console.json {
        console.print_json(&inspection)?;
    } else {
        console.tell(&inspection.to_string())?;
    }
    Ok(if inspection.is_connected() { Answer::Yes } else { Answer::No })
}

fn compare(figure: Option<&Path>, console: &Console) -> Exit {
    if let Some(path) = figure {
        if path.extension().is_none_or(|ending| !ending.eq_ignore_ascii_case("svg")) {
            let path = path.display();
            return Err(Failure::user(format!("`{path}`: a figure is written as .svg")));
        }
        write(path, &comparison::figure(), console)?;
    }
    let comparison = Comparison::made();
    if console.json {
        console.print_json(&comparison)?;
    } else {
        console.tell(&comparison.to_string())?;
    }
    Ok(Answer::Yes)
}

fn write(path: &Path, text: &str, console: &Console) -> Result<(), Failure> {
    fs::write(path, text)
        .map_err(|error| Failure::user(format!("cannot write `{}`: {error}", path.display())))?;
    console.remark(format_args!("wrote {}", path.display()));
    Ok(())
}

/// So many of something, in words.
fn counted(count: u32, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
