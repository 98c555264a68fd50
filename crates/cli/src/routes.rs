//! `crosstie routes`: how packets find their way, and whether they can block each other for good.

mod format;
mod overview;
mod passage;
mod proof;
mod ranges;
mod spread;
mod wanted;

use clap::{ArgGroup, Args};
use crosstie_fabric::{Fabric, Shape};
use crosstie_routing::kind::{Auto, Declaration};
use crosstie_routing::{Promise, Routing, RoutingKind};
use crosstie_study::argument;
use crosstie_units::Seed;
use serde::Serialize;

use crate::console::Console;
use crate::exit::{Answer, Exit, Failure};
use crate::source::{Source, Subject};
use format::Format;
use overview::Overview;
use passage::Passage;
use proof::Proof;
use ranges::{RangeProof, Ranges};
use spread::Spread;
use wanted::{RoutingParser, Wanted};

const EXAMPLES: &str = "\
Examples:
  crosstie routes --tree 4,3             how long routes are, how even the load
  crosstie routes --tree 4,3 --certify   the proof that they cannot deadlock
  crosstie routes ring.anynet --certify
      exits 1 and prints the cycle if they can
  crosstie routes --tree 4,2 --certify --ranges all
      the same with packets that switches fork to ranges of hosts
  crosstie routes --tree 4,2 --from 1 --to 14
      one route, switch by switch
  crosstie routes --irregular 32,8,4 --seeds 1..30 --routing up-down
      least, mean and most over 30 networks
  crosstie routes --irregular 16,8,4 --seed 1 --routing dfs,root=0 --export text
      every route, for another program
  crosstie routes experiments/quickstart.toml --json
      every network and routing of an experiment
  crosstie routes --list                 what each routing does";

/// The most hosts whose routes are followed: they are a quarter of a billion.
const MOST_HOSTS: usize = 1 << 14;

/// Arguments of `crosstie routes`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group = ArgGroup::new("network").args(Source::ARGUMENTS).arg("list").required(true))]
pub struct RoutesArguments {
    #[command(flatten)]
    source: Source,

    /// The routing, one of --list, perhaps with keys as in up-down,root=0,pick=balanced [default:
    /// as in the experiment; else auto]
    #[arg(long, value_name = "NAME[,KEY=VALUE...]", value_parser = RoutingParser)]
    #[arg(hide_possible_values = true)]
    routing: Option<RoutingKind>,

    /// The number from which a routing draws among equally good routes [default: that of a random
    /// network, else 1]
    #[arg(long, value_name = "N")]
    routing_seed: Option<u64>,

    /// Prove that packets cannot wait for each other in a circle, or show the circle and exit 1
    #[arg(long, conflicts_with_all = ["from", "to"])]
    certify: bool,

    /// Prove it of packets to ranges of hosts as well, such as 0..7,3..5, or all
    #[arg(long, value_name = "FIRST..LAST[,...]|all", requires = "certify")]
    ranges: Option<Ranges>,

    /// Show the route from this host, by number or label
    #[arg(long, value_name = "HOST", requires = "to")]
    from: Option<String>,

    /// Show the route to this host
    #[arg(long, value_name = "HOST", requires = "from")]
    to: Option<String>,

    /// Print every route for another program
    #[arg(long, value_name = "FORMAT", conflicts_with_all = ["certify", "from", "to"])]
    export: Option<Format>,

    /// Say what each routing does
    #[arg(long, conflicts_with_all = ["routing", "routing_seed", "certify", "from", "to", "export"])]
    list: bool,
}

/// What was asked, answered on one network under one routing.
#[derive(Serialize)]
struct Answered<T> {
    network: String,
    routing: &'static str,
    /// The routing with its keys, where it was chosen for the network.
    #[serde(skip_serializing_if = "Option::is_none")]
    chosen: Option<String>,
    #[serde(flatten)]
    content: T,
}

#[derive(Serialize)]
struct Listing<T> {
    routes: Vec<Answered<T>>,
}

/// Answers what is asked of the routes.
pub fn routes(arguments: &RoutesArguments, console: &Console) -> Exit {
    if arguments.list {
        return list(console);
    }
    let networks = arguments.source.networks(console)?;
    let last_seed = networks.iter().skip(1).filter_map(|network| network.seed).next_back();
    let worlds = (networks.into_iter())
        .map(|network| arguments.world(network))
        .collect::<Result<Vec<_>, Failure>>()?;
    if let Some(format) = arguments.export {
        return export(&worlds, format, console);
    }
    match (&arguments.from, &arguments.to) {
        (Some(from), Some(to)) => {
            answer(&worlds, console, |fabric, routes| Passage::find(fabric, routes, from, to))?;
        }
        _ if let Some(ranges) = &arguments.ranges => {
            let proofs = answer(&worlds, console, |fabric, routes| {
                RangeProof::find(fabric, routes, ranges)
            })?;
            if !proofs.iter().all(RangeProof::is_deadlock_free) {
                return Ok(Answer::No);
            }
        }
        _ if arguments.certify => {
            let proofs = answer(&worlds, console, Proof::find)?;
            if !proofs.iter().all(Proof::is_deadlock_free) {
                return Ok(Answer::No);
            }
        }
        _ => match last_seed {
            Some(last) => compare(&worlds, last, console)?,
            None => _ = answer(&worlds, console, Overview::of)?,
        },
    }
    Ok(Answer::Yes)
}

/// A network and its routings, at least one.
type World = (Fabric, Vec<Wanted>);

impl RoutesArguments {
    /// The network with the routing asked for, else with those of the experiment, else with the
    /// usual one.
    fn world(&self, subject: Subject) -> Result<World, Failure> {
        let Subject { fabric, routings, seed } = subject;
        if fabric.hosts().len() > MOST_HOSTS {
            return Err(Failure::user(format!(
                "{} has {} hosts; routes are followed between at most {MOST_HOSTS}",
                fabric.name(),
                fabric.hosts().len()
            )));
        }
        let seed = self.routing_seed.map(Seed).or(seed).unwrap_or(Seed(1));
        let named: Vec<RoutingKind> = self.routing.into_iter().collect();
        let usual = vec![RoutingKind::Auto(Auto::default())];
        let chosen = [named, routings, usual].into_iter().find(|names| !names.is_empty());
        let wanted = chosen.into_iter().flatten().map(|routing| Wanted { routing, seed });
        let wanted = wanted.collect();
        Ok((fabric, wanted))
    }
}

/// Sums up the routes of random networks that differ in their seeds alone.
fn compare(worlds: &[World], last: Seed, console: &Console) -> Result<(), Failure> {
    let [(first, routings), ..] = worlds else { return Ok(()) };
    let mut answers = Vec::new();
    for (i, wanted) in routings.iter().enumerate() {
        let content = Spread::of(worlds.iter().map(|(fabric, wanted)| (fabric, &wanted[i])))?;
        // The name of a random network ends in its seed.
        let network = format!("{} to {}", first.name(), last.0);
        answers.push(Answered { network, routing: wanted.routing.name(), chosen: None, content });
    }
    print(answers, console).map(|_| ())
}

/// Prints every route of one network under one routing.
fn export(worlds: &[World], format: Format, console: &Console) -> Exit {
    let ([(fabric, wanted)], Some(_)) = (worlds, worlds.first().filter(|(_, w)| w.len() == 1))
    else {
        return Err(Failure::user(
            "--export prints the routes of one network under one routing: choose them with --point, \
             --seed or --routing",
        ));
    };
    let (_, routes) = wanted[0].on(fabric)?;
    let text = format.write(fabric, &*routes)?;
    console.print(&text)?;
    Ok(Answer::Yes)
}

/// Asks one question on every network under each of its routings, and prints the answers.
fn answer<T: Serialize + ToString>(
    worlds: &[World],
    console: &Console,
    question: impl Fn(&Fabric, &dyn Routing) -> Result<T, Failure>,
) -> Result<Vec<T>, Failure> {
    let mut answers = Vec::new();
    for (fabric, routings) in worlds {
        for wanted in routings {
            let network = fabric.name().to_owned();
            let (made_by, routes) = wanted.on(fabric)?;
            let routing = made_by.name();
            // What suits a known shape goes without saying.
            let told = made_by != wanted.routing && fabric.shape() == Shape::Irregular;
            let chosen = told.then(|| argument::write(&made_by));
            let content = question(fabric, &*routes)?;
            answers.push(Answered { network, routing, chosen, content });
        }
    }
    print(answers, console)
}

/// Prints answers and hands them back.
fn print<T: Serialize + ToString>(
    answers: Vec<Answered<T>>,
    console: &Console,
) -> Result<Vec<T>, Failure> {
    let listing = Listing { routes: answers };
    if console.json {
        console.print_json(&listing)?;
    } else {
        let text = |a: &Answered<T>| {
            let told =
                |words| format!("  chosen         {words}: the most even that cannot deadlock\n");
            let chosen = a.chosen.as_ref().map(told).unwrap_or_default();
            format!("{}, {}\n{chosen}{}", a.network, a.routing, a.content.to_string())
        };
        let texts: Vec<String> = listing.routes.iter().map(text).collect();
        console.tell(&texts.join("\n"))?;
    }
    Ok(listing.routes.into_iter().map(|answered| answered.content).collect())
}

/// What a routing declares.
#[derive(Serialize)]
struct Entry {
    name: &'static str,
    networks: &'static str,
    description: &'static str,
    keys: &'static [&'static str],
    needs: Vec<String>,
    /// Why it cannot deadlock; nothing if it promises nothing and is certified.
    deadlock_free_because: Option<&'static str>,
    paper: Option<&'static str>,
}

impl Entry {
    fn of(kind: RoutingKind) -> Entry {
        let declaration = kind.declaration();
        let &Declaration { name, description, needs, promise, paper } = declaration;
        Entry {
            name,
            networks: declaration.networks(),
            description,
            keys: kind.keys(),
            needs: needs.iter().map(ToString::to_string).collect(),
            deadlock_free_because: match promise {
                Promise::DeadlockFree { because } => Some(because),
                Promise::Nothing => None,
            },
            paper,
        }
    }

    /// The entry in lines of at most so many characters.
    fn text(&self, width: usize) -> String {
        let mut text = format!("{} (on {})\n", self.name, self.networks);
        text += &folded(self.description, width);
        if !self.keys.is_empty() {
            text += &folded(&format!("Keys: {}.", self.keys.join(", ")), width);
        }
        text
    }
}

/// Says what each routing does.
fn list(console: &Console) -> Exit {
    #[derive(Serialize)]
    struct Catalogue {
        routings: Vec<Entry>,
    }
    let routings: Vec<Entry> = RoutingKind::all().into_iter().map(Entry::of).collect();
    if console.json {
        console.print_json(&Catalogue { routings })?;
    } else {
        let width = console.terminal().width.clamp(40, 100) - 2;
        let texts: Vec<String> = routings.iter().map(|entry| entry.text(width)).collect();
        console.tell(&texts.join("\n"))?;
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
