//! Rewriting a component.

use super::renumbered::Renumbered;
use super::traps::trap_module;
use crate::inspect::is_of_contract;
use std::convert::Infallible;
use wasm_encoder::reencode::{self, Reencode, ReencodeComponent};
use wasm_encoder::{
    Alias, CanonicalFunctionSection, Component, ComponentAliasSection, ComponentExportKind, ComponentExportSection,
    ComponentImportSection, ComponentInstanceSection, ComponentTypeSection, ExportKind, InstanceSection,
    PrimitiveValType, RawSection,
};
use wasmparser::component_types::ComponentAnyTypeId;
use wasmparser::types::{Types, TypesRef};
use wasmparser::{
    CanonicalFunction, Chunk, ComponentAlias, ComponentExternalKind, ComponentTypeRef, ExternalKind, FuncType, Parser,
    Payload,
};

/// The bytes before a binary's first section.
const HEADER: usize = 8;

/// Rewrites a component's root; nested items are copied unchanged.
pub(super) struct Sealer<'a> {
    types: TypesRef<'a>,
    sealed: Component,
    /// The types of the functions that trap.
    traps: Vec<FuncType>,
    /// Numbers of types and core functions read.
    types_seen: u32,
    core_functions_seen: u32,
    /// New indices of the items read.
    instances: Renumbered,
    functions: Renumbered,
}

pub(super) type Encoded<T> = Result<T, reencode::Error>;

impl Reencode for Sealer<'_> {
    type Error = Infallible;
}

impl ReencodeComponent for Sealer<'_> {
    fn component_instance_index(&mut self, index: u32) -> u32 {
        self.instances.index(index)
    }

    fn component_func_index(&mut self, index: u32) -> u32 {
        self.functions.index(index)
    }

    // The module of traps, and its instance, come before the original's.
    fn module_index(&mut self, index: u32) -> u32 {
        index + 1
    }

    fn instance_index(&mut self, index: u32) -> u32 {
        index + 1
    }
}

impl<'a> Sealer<'a> {
    pub(super) fn new(types: &'a Types) -> Self {
        Self {
            types: types.as_ref(),
            sealed: Component::new(),
            traps: Vec::new(),
            types_seen: 0,
            core_functions_seen: 0,
            instances: Renumbered::default(),
            functions: Renumbered::default(),
        }
    }

    pub(super) fn seal(mut self, component: &[u8]) -> Encoded<Vec<u8>> {
        let mut parser = Parser::new(0);
        let mut rest = component;
        while let Chunk::Parsed { consumed, payload } = parser.parse(rest, true)? {
            rest = &rest[consumed..];
            match payload {
                Payload::End(_) => break,
                Payload::ModuleSection { unchecked_range: range, .. }
                | Payload::ComponentSection { unchecked_range: range, .. } => {
                    let data = &component[range.clone()];
                    let id = if Parser::is_component(data) { 4 } else { 1 };
                    self.sealed.section(&RawSection { id, data });
                    rest = &component[range.end..];
                }
                payload => self.section(component, payload)?,
            }
        }
        let mut whole = trap_module(&self.traps);
        whole.extend(self.sealed.finish().split_off(HEADER));
        Ok(whole)
    }

    fn section(&mut self, component: &[u8], payload: Payload<'_>) -> Encoded<()> {
        match payload {
            Payload::ComponentImportSection(section) => {
                for import in section {
                    self.import(&import?)?;
                }
            }
            Payload::ComponentAliasSection(section) => {
                for alias in section {
                    self.alias(alias?)?;
                }
            }
            Payload::ComponentCanonicalSection(section) => {
                for function in section {
                    self.canonical(function?)?;
                }
            }
            Payload::ComponentExportSection(section) => {
                for export in section {
                    self.export(export?)?;
                }
            }
            Payload::ComponentInstanceSection(section) => {
                let mut instances = ComponentInstanceSection::new();
                for instance in section {
                    self.parse_component_instance(&mut instances, instance?)?;
                    self.instances.keep(false);
                }
                self.sealed.section(&instances);
            }
            Payload::InstanceSection(section) => {
                let mut instances = InstanceSection::new();
                self.parse_instance_section(&mut instances, section)?;
                self.sealed.section(&instances);
            }
            // The section names items by their old indices.
            Payload::CustomSection(section) if section.name() == "component-name" => {}
            payload => {
                if let Payload::ComponentTypeSection(section) = &payload {
                    self.types_seen += section.count();
                }
                if let Some((id, range)) = payload.as_section() {
                    self.sealed.section(&RawSection { id, data: &component[range] });
                }
            }
        }
        Ok(())
    }

    fn import(&mut self, import: &wasmparser::ComponentImport<'_>) -> Encoded<()> {
        let foreign = !is_of_contract(import.name.name);
        match import.ty {
            ComponentTypeRef::Instance(_) => self.instances.keep(foreign),
            ComponentTypeRef::Func(_) => self.functions.keep(false),
            ComponentTypeRef::Type(_) => self.types_seen += 1,
            _ => {}
        }
        if foreign && matches!(import.ty, ComponentTypeRef::Instance(_)) {
            let mut empty = ComponentInstanceSection::new();
            empty.export_items(std::iter::empty::<(&str, ComponentExportKind, u32)>());
            self.sealed.section(&empty);
        } else {
            let mut imports = ComponentImportSection::new();
            imports.import(import.name, self.component_type_ref(import.ty)?);
            self.sealed.section(&imports);
        }
        Ok(())
    }

    fn alias(&mut self, alias: ComponentAlias<'_>) -> Encoded<()> {
        match alias {
            ComponentAlias::InstanceExport { kind, instance_index, .. } => {
                let foreign = self.instances.is_foreign(instance_index);
                match kind {
                    ComponentExternalKind::Type => self.types_seen += 1,
                    ComponentExternalKind::Instance => self.instances.keep(false),
                    ComponentExternalKind::Func if foreign => self.functions.remove(),
                    ComponentExternalKind::Func => self.functions.keep(false),
                    _ => {}
                }
                if foreign && kind == ComponentExternalKind::Type {
                    self.add_placeholder_type();
                }
                if foreign {
                    return Ok(());
                }
            }
            ComponentAlias::CoreInstanceExport { kind: ExternalKind::Func, .. } => self.core_functions_seen += 1,
            ComponentAlias::Outer { .. } => self.types_seen += 1,
            ComponentAlias::CoreInstanceExport { .. } => {}
        }
        let mut aliases = ComponentAliasSection::new();
        aliases.alias(self.component_alias(alias)?);
        self.sealed.section(&aliases);
        Ok(())
    }

    /// Adds a placeholder for the type read last, for the types that refer to it.
    fn add_placeholder_type(&mut self) {
        let mut types = ComponentTypeSection::new();
        if let ComponentAnyTypeId::Resource(_) = self.types.component_any_type_at(self.types_seen - 1) {
            types.resource(wasm_encoder::ValType::I32, None);
        } else {
            types.defined_type().primitive(PrimitiveValType::Bool);
        }
        self.sealed.section(&types);
    }

    fn canonical(&mut self, function: CanonicalFunction) -> Encoded<()> {
        if let CanonicalFunction::Lift { .. } = function {
            self.functions.keep(false);
        } else {
            self.core_functions_seen += 1;
        }
        match function {
            CanonicalFunction::Lower { func_index, .. } if self.functions.is_foreign(func_index) => {
                let mut aliases = ComponentAliasSection::new();
                let name = self.traps.len().to_string();
                aliases.alias(Alias::CoreInstanceExport { instance: 0, kind: ExportKind::Func, name: &name });
                self.sealed.section(&aliases);
                let id = self.types.core_function_at(self.core_functions_seen - 1);
                self.traps.push(self.types[id].unwrap_func().clone());
            }
            function => {
                let mut functions = CanonicalFunctionSection::new();
                self.parse_component_canonical(&mut functions, function)?;
                self.sealed.section(&functions);
            }
        }
        Ok(())
    }

    fn export(&mut self, export: wasmparser::ComponentExport<'_>) -> Encoded<()> {
        let (kind, foreign) = (export.kind, !is_of_contract(export.name.name));
        if !foreign {
            let mut exports = ComponentExportSection::new();
            self.parse_component_export(&mut exports, export)?;
            self.sealed.section(&exports);
        }
        // An export has an index of its own.
        match kind {
            ComponentExternalKind::Instance if foreign => self.instances.remove(),
            ComponentExternalKind::Instance => self.instances.keep(false),
            ComponentExternalKind::Func if foreign => self.functions.remove(),
            ComponentExternalKind::Func => self.functions.keep(false),
            ComponentExternalKind::Type => {
                self.types_seen += 1;
                if foreign {
                    self.add_placeholder_type();
                }
            }
            _ => {}
        }
        Ok(())
    }
}
