#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| crosstie_wire::fuzz::addresses(bytes));
