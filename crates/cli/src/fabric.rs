//! `crosstie fabric`: a network described, converted or drawn.

mod description;
mod format;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use clap::{ArgGroup, Args};
use serde::Serialize;

use crate::console::Console;
use crate::exit::{Answer, Exit, Failure};
use crate::source::{Source, Subject};
use description::Description;
use format::Format;

const EXAMPLES: &str = "\
Examples:
  crosstie fabric --tree 4,3                   a 4-ary 3-tree: 64 hosts
  crosstie fabric --tree 4,4,128 --json
      128 hosts on half of a 4-ary 4-tree
  crosstie fabric --irregular 16,8,4 --seed 7
      16 switches with 8 ports and 4 hosts each
  crosstie fabric subnet.txt
      what ibnetdiscover printed of a subnet
  crosstie fabric ring.anynet --out ring.svg   draw a network of BookSim's
  crosstie fabric --tree 2,3 --format dot | dot -Tpdf
      draw with Graphviz
  crosstie fabric experiments/quickstart.toml  the network of an experiment";

/// Arguments of `crosstie fabric`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group = ArgGroup::new("network").args(Source::ARGUMENTS).required(true))]
pub struct FabricArguments {
    #[command(flatten)]
    source: Source,

    /// Write the network to a file; the ending is the format: .dot, .graphml, .anynet or .svg
    #[arg(long, alias = "write", value_name = "FILE")]
    out: Vec<PathBuf>,

    /// Print the network as dot, graphml, anynet or svg instead of describing it
    #[arg(long, hide_possible_values = true)]
    format: Option<Format>,
}

#[derive(Serialize)]
struct Listing {
    networks: Vec<Description>,
}

#[derive(Serialize)]
struct Written {
    /// The text, by the name of its format.
    network: BTreeMap<&'static str, String>,
}

/// Describes the network, or writes it.
pub fn fabric(arguments: &FabricArguments, console: &Console) -> Exit {
    // Endings are looked at before a large network is built for nothing.
    let targets = arguments.out.iter().map(|path| Ok((path, Format::of_file(path)?)));
    let targets = targets.collect::<Result<Vec<_>, Failure>>()?;
    let networks = arguments.source.networks(console)?;
    let only_one = || match networks.as_slice() {
        [network] => Ok(&network.fabric),
        several => Err(Failure::user(format!(
            "the experiment has {} different networks: choose one with --point N",
            several.len()
        ))),
    };
    for (path, format) in targets {
        let text = format.write(only_one()?)?;
        fs::write(path, text).map_err(|error| {
            Failure::user(format!("cannot write `{}`: {error}", path.display()))
        })?;
        console.remark(format_args!("wrote {}", path.display()));
    }
    if let Some(format) = arguments.format {
        let text = format.write(only_one()?)?;
        match console.json {
            true => console.print_json(&Written { network: [(format.name(), text)].into() })?,
            false => console.print(&text)?,
        }
        return Ok(Answer::Yes);
    }
    let describe = |subject: &Subject| Description::of(&subject.fabric);
    let networks: Vec<Description> = networks.iter().map(describe).collect();
    if console.json {
        console.print_json(&Listing { networks })?;
    } else {
        let texts: Vec<String> = networks.iter().map(Description::to_string).collect();
        console.tell(&texts.join("\n"))?;
    }
    Ok(Answer::Yes)
}
