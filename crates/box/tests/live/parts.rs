//! Programs on hosts: this executable, run again with a part to play.

use std::ffi::OsString;
use std::fmt::Display;

use crosstie_box::Command;

use crate::{events, odd, outages, programs, ranks, remains, small_switch, traffic, users};

/// The variable that says which part is to be played, with its arguments.
const PART: &str = "CROSSTIE_LIVE_PART";

/// The words that run this executable again.
pub fn words() -> Vec<OsString> {
    let executable = std::env::current_exe().unwrap().into_os_string();
    let arguments = ["--exact", "parts::player", "--nocapture", "--quiet", "--test-threads=1"];
    [executable].into_iter().chain(arguments.map(OsString::from)).collect()
}

/// What the environment of one who plays a part has: name and value.
pub fn role(part: &str, arguments: &[&dyn Display]) -> (&'static str, String) {
    let mut role = part.to_owned();
    for argument in arguments {
        role = format!("{role} {argument}");
    }
    (PART, role)
}

/// This executable as the player of a part.
pub fn part(part: &str, arguments: &[&dyn Display]) -> Command {
    let (name, value) = role(part, arguments);
    Command::new(words()).env(name, value)
}

/// What a player says, apart from what the harness of tests says: lines after a mark.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.split_once("=> ").map(|(_, said)| said))
}

/// The last line that a player says.
pub fn line(text: &str) -> &str {
    lines(text).last().unwrap_or_else(|| panic!("a part said nothing:\n{text}"))
}

/// Says a line.
pub fn say(line: impl Display) {
    use std::io::Write;
    let mut output = std::io::stdout().lock();
    writeln!(output, "\n=> {line}").and_then(|()| output.flush()).unwrap();
}

/// Plays the part that the environment asks for; nothing where it asks for none.
#[test]
fn player() {
    let Ok(role) = std::env::var(PART) else { return };
    let words: Vec<&str> = role.split_whitespace().collect();
    let code = match words[0] {
        "send" => traffic::send(&words[1..]),
        "receive" => traffic::receive(&words[1..]),
        "clock" => traffic::clock(&words[1..]),
        "volley" => traffic::volley(&words[1..]),
        "offer" => small_switch::offer(&words[1..]),
        "acknowledge" => small_switch::acknowledge(&words[1..]),
        "tick" => events::tick(&words[1..]),
        "watch" => events::watch(&words[1..]),
        "try" => outages::try_to_send(&words[1..]),
        "await" => outages::wait_for(&words[1..]),
        "resolve" => programs::resolve(&words[1..]),
        "queue" => programs::queue(&words[1..]),
        "visit" => programs::visit(&words[1..]),
        "learn" => ranks::learn(&words[1..]),
        "desert" => ranks::desert(&words[1..]),
        "make-one" => remains::make_one(&words[1..]),
        "make-many" => remains::make_many(&words[1..]),
        "refused" => users::refused(&words[1..]),
        "parcel" => odd::parcel(&words[1..]),
        "unpack" => odd::unpack(&words[1..]),
        "nest" => odd::nest(&words[1..]),
        "crowded" => odd::crowded(&words[1..]),
        "bare" => odd::bare(&words[1..]),
        "noisy" => odd::noisy(&words[1..]),
        unknown => panic!("there is no part `{unknown}`"),
    };
    std::process::exit(code);
}
