//! The attribute `export`. Use it as `network_hub_module::export`: that crate re-exports and explains it.

mod expand;

use proc_macro::TokenStream;

/// Exports the type's implementation of an extension point's trait, such as `Chat`, to the hub, at this module's extension
/// point of that name.
#[proc_macro_attribute]
pub fn export(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand::export(&arguments.into(), &item.into()).into()
}
