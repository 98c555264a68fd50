#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| crosstie_launch::fuzz::server(bytes));
