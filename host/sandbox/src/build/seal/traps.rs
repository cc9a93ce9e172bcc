//! Functions that trap.

use wasm_encoder::reencode::{Reencode as _, RoundtripReencoder};
use wasm_encoder::{
    CodeSection, Component, ExportKind, ExportSection, Function, FunctionSection, InstanceSection, Instruction, Module,
    ModuleArg, ModuleSection, TypeSection,
};
use wasmparser::FuncType;

/// The start of a component: a core module of functions that trap, named by their numbers, and its instance.
pub(super) fn trap_module(types: &[FuncType]) -> Vec<u8> {
    let (mut signatures, mut functions) = (TypeSection::new(), FunctionSection::new());
    let (mut exports, mut code) = (ExportSection::new(), CodeSection::new());
    for (number, ty) in (0..).zip(types) {
        let values = |values: &[wasmparser::ValType]| -> Vec<_> {
            values.iter().filter_map(|value| RoundtripReencoder.val_type(*value).ok()).collect()
        };
        signatures.ty().function(values(ty.params()), values(ty.results()));
        functions.function(number);
        exports.export(&number.to_string(), ExportKind::Func, number);
        let mut body = Function::new([]);
        body.instruction(&Instruction::Unreachable).instruction(&Instruction::End);
        code.function(&body);
    }
    let mut module = Module::new();
    module.section(&signatures).section(&functions).section(&exports).section(&code);
    let mut component = Component::new();
    component.section(&ModuleSection(&module));
    let mut instances = InstanceSection::new();
    instances.instantiate(0, std::iter::empty::<(&str, ModuleArg)>());
    component.section(&instances);
    component.finish()
}
