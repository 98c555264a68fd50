#![no_main]
#[allow(dead_code)] // One of several.
#[path = "../files.rs"]
mod files;
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| files::experiment(bytes));
