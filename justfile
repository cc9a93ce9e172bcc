# Everyday commands; `just` lists them.

default:
    @just --list

# Run all tests, or those named: just test -p hub punishments
test *arguments:
    scripts/test {{arguments}}

# Start a hub with a demo network
demo:
    cargo run --release -- demo

# Format everything
fmt:
    cargo fmt --all

# Run the linter
lint:
    cargo clippy --workspace --all-targets -- -D warnings

# Build the starter modules from their sources
modules:
    scripts/modules

# Generate the SDKs' C bindings and Python types from the contract
sdk:
    scripts/sdk

# Generate the models of the connectors from the hub's document
models:
    scripts/connectors --generate

# Write the generated pages of the documentation: options, commands, limits, error codes, events, metrics
references *arguments:
    scripts/references {{arguments}}

# Check the links of all pages
links:
    scripts/check-links

# Compare the instructions of the functions that are called most with those that were recorded
counts *arguments:
    scripts/counts {{arguments}}

# Run all checks
ci:
    .ci/run
