//! The two wasmtime engines: one runs modules and reserves the pool of their instances, the other only compiles. Both
//! generate, and accept, the same code.

use std::hash::{Hash, Hasher};
use wasmparser::WasmFeatures;
use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Result, WasmBacktraceDetails,
};

/// WebAssembly features of modules: version 3 and components, except for features that depend on the CPU, need a
/// garbage collector, or don't fit the pool.
pub(crate) const FEATURES: WasmFeatures = WasmFeatures::WASM3
    .union(WasmFeatures::COMPONENT_MODEL)
    .difference(WasmFeatures::RELAXED_SIMD)
    .difference(WasmFeatures::GC_TYPES)
    .difference(WasmFeatures::EXCEPTIONS)
    .difference(WasmFeatures::THREADS)
    .difference(WasmFeatures::MEMORY64)
    .difference(WasmFeatures::MULTI_MEMORY);

/// Settings that affect generated code. No WASI is linked anywhere: a module has the contract alone.
fn base() -> Config {
    let mut config = Config::new();
    config
        // Synchronous calls cost half of asynchronous ones.
        .concurrency_support(false)
        .consume_fuel(true)
        .epoch_interruption(true)
        // The same bits on every CPU, so that a replay gives the same bytes.
        .cranelift_nan_canonicalization(true)
        .wasm_features(WasmFeatures::all().difference(FEATURES), false)
        .wasm_features(FEATURES, true)
        .max_wasm_stack(512 << 10)
        // Files and lines in backtraces if a module carries them, whatever the environment is set to.
        .wasm_backtrace_details(WasmBacktraceDetails::Enable);
    config
}

/// An engine for compiling: it reserves no address space, so that a child under a limit can have one.
pub(crate) fn compiling() -> Result<Engine> {
    Engine::new(&base())
}

/// The engine for running, with a pool of `instances` of up to `memory_bytes` each, of which the first `keep_resident`
/// are cleared in place for the next call.
pub(crate) fn running(instances: u32, memory_bytes: usize, keep_resident: usize) -> Result<Engine> {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(instances)
        .total_memories(instances)
        .total_core_instances(instances.saturating_mul(48))
        .total_tables(instances.saturating_mul(8))
        .max_memories_per_component(1)
        .max_tables_per_component(8)
        // Python's runtime and libraries take 39.
        .max_core_instances_per_component(48)
        .max_core_instance_size(1 << 20)
        .max_component_instance_size(1 << 20)
        .table_elements(50_000)
        .max_memory_size(memory_bytes)
        // Small modules touch little memory: clearing it in place beats giving it back and faulting it in again.
        .linear_memory_keep_resident(keep_resident)
        .table_keep_resident(16 << 10)
        .pagemap_scan(Enabled::No);
    let mut config = base();
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    Engine::new(&config)
}

/// Compatibility key of compiled code: it changes with wasmtime's version, the CPU's features and the settings above.
pub(crate) fn compatibility(engine: &Engine) -> String {
    #[allow(deprecated)]
    // SipHash with fixed keys: the same in every process, which a file name needs.
    let mut hasher = std::hash::SipHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_engines_accept_the_same_code() {
        let compiling = compiling().unwrap();
        let running = running(2, 1 << 20, 0).unwrap();
        assert_eq!(compatibility(&compiling), compatibility(&running));
    }
}
