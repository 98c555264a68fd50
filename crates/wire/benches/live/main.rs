//! What real rails give, in boxes, beside what is bare: `cargo bench -p crosstie-wire --bench live
//! [-- NAME...]`.
//!
//! The program starts itself again on the hosts of boxes, as the ranks of each scene.

#[cfg(target_os = "linux")]
mod bare;
#[cfg(target_os = "linux")]
mod rank;
#[cfg(target_os = "linux")]
mod scene;

#[cfg(target_os = "linux")]
fn main() {
    let words: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    match words.split_first() {
        Some((first, rest)) if first == "rank" => rank::run(rest),
        _ => scene::all(&words),
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("boxes need Linux");
}
