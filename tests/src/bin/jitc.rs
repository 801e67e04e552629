//! `jitc`: the compiler's levels from the command line. See [`tierup_tests::jitc`].

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match tierup_tests::jitc::main(&args) {
        Ok(text) => print!("{text}"),
        Err(text) => {
            eprintln!("{text}");
            std::process::exit(1);
        }
    }
}
