//! The binary `hub`.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match hub::cli::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            hub::cli::report(&error);
            ExitCode::FAILURE
        }
    }
}
