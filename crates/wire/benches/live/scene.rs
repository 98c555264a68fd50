//! The scenes: which box, which ranks, and what is held against what.

use std::io::Read;
use std::time::Duration;

use crosstie_box::{Cluster, Command, Spec};
use crosstie_wire::start::run_in_box;

/// A scene.
struct Scene {
    name: &'static str,
    /// The rates of the rails, in Mbit/s; none: one that is as fast as it can be.
    rails: &'static [u32],
    /// Whether segments pass these whole.
    whole: bool,
    /// What ranks do: words for `rank`.
    does: &'static str,
    /// What rank 0's number is a share of, if it is one: bits per second of payload at line rate.
    of: Option<f64>,
    unit: &'static str,
    floor: f64,
    aim: f64,
}

/// Two hosts and rails of these rates, in Mbit/s. Segments pass whole, as with NICs that cut them up themselves: two cores that cut
/// them into frames have no time for anything else beyond 2 Gbit/s. What happens within a millisecond is not that of a slow rail then.
fn rails(rates: &[u32], whole: bool) -> String {
    let rail = |rate: &u32| format!("[[rail]]\nrate = '{rate} Mbit/s'\nwhole = {whole}\n");
    format!("hosts = 2\n{}", rates.iter().map(rail).collect::<String>())
}

const SCENES: &[Scene] = &[
    Scene {
        name: "two-equal-1M",
        rails: &[1000, 1000],
        whole: true,
        does: "stream 1048576 16 3",
        of: Some(2e9),
        unit: "%",
        floor: 92.0,
        aim: 94.5,
    },
    Scene {
        name: "two-equal-4M",
        rails: &[1000, 1000],
        whole: true,
        does: "stream 4194304 8 3",
        of: Some(2e9),
        unit: "%",
        floor: 92.0,
        aim: 94.5,
    },
    Scene {
        name: "unequal-4M",
        rails: &[1000, 250],
        whole: true,
        does: "stream 4194304 8 3",
        of: Some(1.25e9),
        unit: "%",
        floor: 92.0,
        aim: 94.5,
    },
    Scene {
        name: "unequal-1M",
        rails: &[1000, 250],
        whole: true,
        does: "stream 1048576 16 3",
        of: Some(1.25e9),
        unit: "%",
        floor: 92.0,
        aim: 94.5,
    },
    Scene {
        name: "unequal-1M-alone",
        rails: &[1000, 250],
        whole: false,
        does: "stream 1048576 1 3",
        of: Some(1.25e9),
        unit: "%",
        floor: 85.0,
        aim: 92.0,
    },
    Scene {
        name: "four-4M",
        rails: &[1000; 4],
        whole: true,
        does: "stream 4194304 8 3",
        of: Some(4e9),
        unit: "%",
        floor: 90.0,
        aim: 94.0,
    },
    Scene {
        name: "both-ways",
        rails: &[1000, 1000],
        whole: true,
        does: "both 4194304 8 3",
        of: Some(4e9),
        unit: "%",
        floor: 86.0,
        aim: 92.0,
    },
    Scene {
        name: "ping-bare",
        rails: &[],
        whole: true,
        does: "bare-ping 8 50000",
        of: None,
        unit: "us",
        floor: 0.0,
        aim: 0.0,
    },
    Scene {
        name: "ping",
        rails: &[],
        whole: true,
        does: "ping 8 400000",
        of: None,
        unit: "us",
        floor: 0.0,
        aim: 0.0,
    },
    Scene {
        name: "unshaped-4M",
        rails: &[],
        whole: true,
        does: "stream 4194304 8 2",
        of: None,
        unit: "Gbit/s",
        floor: 24.0,
        aim: 40.0,
    },
];

/// Plays all scenes, or those whose names begin with one of these.
pub fn all(names: &[String]) {
    println!("{:20} {:>10} {:>8} {:>8}  unit", "scene", "measured", "floor", "aim");
    for scene in SCENES {
        if !names.is_empty() && !names.iter().any(|name| scene.name.starts_with(&name[..])) {
            continue;
        }
        match play(scene) {
            Ok(text) => {
                let number: f64 =
                    text.lines().next().and_then(|line| line.parse().ok()).unwrap_or(f64::NAN);
                let shown = scene.of.map_or(number, |of| 100.0 * number / of);
                println!(
                    "{:20} {shown:>10.2} {:>8} {:>8}  {}",
                    scene.name, scene.floor, scene.aim, scene.unit
                );
                text.lines().skip(1).for_each(|line| println!("    {line}"));
            }
            Err(error) => println!("{:20} {error}", scene.name),
        }
    }
}

fn play(scene: &Scene) -> Result<String, Box<dyn std::error::Error>> {
    let text = match scene.rails {
        [] => "hosts = 2\n[[rail]]".to_owned(),
        rates => rails(rates, scene.whole),
    };
    let spec: Spec = toml::from_str(&text)?;
    let cluster = Cluster::start(&spec)?;
    let this = std::env::current_exe()?;
    let (mut reader, writer) = std::io::pipe()?;
    let result = run_in_box(
        &cluster,
        &[0, 1],
        |_| {
            let words = [this.as_os_str().to_owned(), "rank".into()];
            let rest = scene.does.split(' ').map(Into::into);
            let out = writer.try_clone().expect("a file can be opened twice");
            Command::new(words.into_iter().chain(rest)).stdout(out)
        },
        Duration::from_secs(120),
    );
    drop(writer);
    let mut text = String::new();
    reader.read_to_string(&mut text)?;
    result?;
    Ok(text)
}
