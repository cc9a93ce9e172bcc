//! The compiling child on its own, for tests and tools that run without the hub's binary.

fn main() -> std::io::Result<()> {
    // Its arguments are `compile-module`, and optionally `--probe LAYER`.
    match std::env::args().nth(3) {
        Some(layer) => hub_sandbox::confined::probe_main(&layer, std::io::stdout().lock()),
        None => hub_sandbox::child_main(std::io::stdin(), std::io::stdout().lock()),
    }
}
