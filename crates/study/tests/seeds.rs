//! Every seed of the fuzzers of files, and what is made of it by chance.

#[path = "../../../fuzz/chance.rs"]
mod chance;
#[path = "../../../fuzz/files.rs"]
mod files;

#[test]
fn experiments() {
    chance::run("experiment", files::experiment, 1000);
}

#[test]
fn boxes() {
    chance::run("boxfile", files::boxfile, 2000);
}

#[test]
fn claims() {
    chance::run("claims", files::claims, 2000);
}

#[test]
fn schedules() {
    chance::run("goal", files::goal, 5000);
}

#[test]
fn networks() {
    chance::run("network", files::network, 5000);
}

#[test]
fn traces() {
    chance::run("trace", files::trace, 1000);
}
