//! The compiling child on its own, for tests and tools that run without the hub's binary.

fn main() -> std::io::Result<()> {
    hub_sandbox::child_main(std::io::stdin(), std::io::stdout().lock())
}
