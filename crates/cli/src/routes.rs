//! `crosstie routes`: how packets find their way, and whether they can block each other for good.

mod catalogue;
mod overview;
mod passage;
mod proof;

use clap::{ArgGroup, Args};
use crosstie_fabric::Fabric;
use serde::Serialize;

use crate::console::Console;
use crate::exit::{Answer, Failure, Verdict};
use crate::source::{Network, Source};
pub use catalogue::RoutingName;
use overview::Overview;
use passage::Passage;
use proof::Proof;

const EXAMPLES: &str = "\
Examples:
  crosstie routes --tree 4,3                            how long routes are, how even the load
  crosstie routes --tree 4,3 --certify                  the proof that they cannot deadlock
  crosstie routes ring.anynet --certify                 exits 1 and prints the cycle if they can
  crosstie routes --tree 4,2 --from 1 --to 14           one route, switch by switch
  crosstie routes experiments/quickstart.toml --json    every network and routing of an experiment
  crosstie routes --list                                what each routing does";

/// The most hosts whose routes are followed: they are a quarter of a billion.
const MOST_HOSTS: usize = 1 << 14;

/// Arguments of `crosstie routes`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group = ArgGroup::new("network").args(Source::ARGUMENTS).arg("list").required(true))]
pub struct RoutesArguments {
    #[command(flatten)]
    source: Source,

    /// The routing, one of --list [default: as in the experiment; else tree-adaptive on trees and
    /// shortest elsewhere]
    #[arg(long, value_name = "NAME", hide_possible_values = true)]
    routing: Option<RoutingName>,

    /// Prove that packets cannot wait for each other in a circle, or show the circle and exit 1
    #[arg(long, conflicts_with_all = ["from", "to"])]
    certify: bool,

    /// Show the route from this host, by number or label
    #[arg(long, value_name = "HOST", requires = "to")]
    from: Option<String>,

    /// Show the route to this host
    #[arg(long, value_name = "HOST", requires = "from")]
    to: Option<String>,

    /// Say what each routing does
    #[arg(long, conflicts_with_all = ["routing", "certify", "from", "to"])]
    list: bool,
}

/// What was asked, answered on one network under one routing.
#[derive(Serialize)]
struct Answered<T> {
    network: String,
    routing: &'static str,
    #[serde(flatten)]
    content: T,
}

#[derive(Serialize)]
struct Listing<T> {
    routes: Vec<Answered<T>>,
}

/// Answers what is asked of the routes.
pub fn routes(arguments: &RoutesArguments, console: &Console) -> Verdict {
    if arguments.list {
        return list(console);
    }
    let networks = arguments.source.networks(console)?;
    let network = |Network { fabric, routings }: Network| {
        if fabric.hosts().len() > MOST_HOSTS {
            return Err(Failure::user(format!(
                "{} has {} hosts; routes are followed between at most {MOST_HOSTS}",
                fabric.name(),
                fabric.hosts().len()
            )));
        }
        let named: Vec<RoutingName> = arguments.routing.into_iter().collect();
        let usual = vec![RoutingName::usual(&fabric)];
        let chosen = [named, routings, usual].into_iter().find(|names| !names.is_empty());
        Ok((fabric, chosen.unwrap_or_default()))
    };
    let worlds = networks.into_iter().map(network).collect::<Result<Vec<_>, Failure>>()?;
    match (&arguments.from, &arguments.to) {
        (Some(from), Some(to)) => {
            answer(&worlds, console, |fabric, name| Passage::find(fabric, name, from, to))?;
        }
        _ if arguments.certify => {
            let proofs = answer(&worlds, console, Proof::find)?;
            if !proofs.iter().all(Proof::is_deadlock_free) {
                return Ok(Answer::No);
            }
        }
        _ => _ = answer(&worlds, console, Overview::of)?,
    }
    Ok(Answer::Yes)
}

/// Asks one question on every network under each of its routings, and prints the answers.
fn answer<T: Serialize + ToString>(
    worlds: &[(Fabric, Vec<RoutingName>)],
    console: &Console,
    question: impl Fn(&Fabric, RoutingName) -> Result<T, Failure>,
) -> Result<Vec<T>, Failure> {
    let mut answers = Vec::new();
    for (fabric, names) in worlds {
        for &name in names {
            let network = fabric.name().to_owned();
            let content = question(fabric, name)?;
            answers.push(Answered { network, routing: name.name(), content });
        }
    }
    if console.json {
        let listing = Listing { routes: answers };
        console.print_json(&listing)?;
        answers = listing.routes;
    } else {
        let text =
            |a: &Answered<T>| format!("{}, {}\n{}", a.network, a.routing, a.content.to_string());
        let texts: Vec<String> = answers.iter().map(text).collect();
        console.tell(&texts.join("\n"))?;
    }
    Ok(answers.into_iter().map(|answered| answered.content).collect())
}

/// Says what each routing does.
fn list(console: &Console) -> Verdict {
    #[derive(Serialize)]
    struct Entry {
        name: &'static str,
        networks: &'static str,
        description: &'static str,
    }
    #[derive(Serialize)]
    struct Catalogue {
        routings: Vec<Entry>,
    }
    let routings = RoutingName::ALL.map(|routing| Entry {
        name: routing.name(),
        networks: routing.networks(),
        description: routing.description(),
    });
    if console.json {
        console.print_json(&Catalogue { routings: routings.into() })?;
    } else {
        let entry = |entry: &Entry| {
            let text = folded(entry.description, console.terminal().width.clamp(40, 100) - 2);
            format!("{} (on {})\n{text}", entry.name, entry.networks)
        };
        console.tell(&routings.each_ref().map(entry).join("\n"))?;
    }
    Ok(Answer::Yes)
}

/// A paragraph in lines of at most so many characters, each indented by two.
fn folded(paragraph: &str, width: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in paragraph.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(format!("  {word}")),
        }
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_folded_between_words() {
        assert_eq!(folded("a bb ccc dddd", 8), "  a bb\n  ccc\n  dddd\n");
    }
}
