# The few commands people run every day; `just` lists them.

default:
    @just --list

# Run all tests, or those named: just test -p hub punishments
test *arguments:
    scripts/test {{arguments}}

# A hub with a demo network
demo:
    cargo run --release -- demo

# Format everything
fmt:
    cargo fmt --all

# What the linter says
lint:
    cargo clippy --workspace --all-targets -- -D warnings

# Build the starter modules from their sources
modules:
    scripts/modules

# Write the SDKs' C bindings and Python types from the contract
sdk:
    scripts/sdk

# Everything that must be green
ci:
    .ci/run
