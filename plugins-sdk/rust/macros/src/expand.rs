//! Expands the attribute `export`.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, ItemImpl, Result, Type};

/// The traits of the extension points. The module of each in the SDK is its name in lower case.
const TRAITS: [&str; 10] =
    ["Chat", "Economy", "Endpoints", "Events", "Login", "Matchmaking", "Punishment", "Queue", "Schedules", "Timers"];

/// The implementation unchanged, followed by its export or by a compile error.
pub(crate) fn export(arguments: &TokenStream, item: &TokenStream) -> TokenStream {
    let glue = glue(arguments, item).unwrap_or_else(Error::into_compile_error);
    quote!(#item #glue)
}

fn glue(arguments: &TokenStream, item: &TokenStream) -> Result<TokenStream> {
    if !arguments.is_empty() {
        return Err(Error::new_spanned(arguments, "`export` takes no arguments"));
    }
    let item: ItemImpl = syn::parse2(item.clone()).map_err(|_| misplaced(Span::call_site()))?;
    let name = point_trait(&item)?;
    if !item.generics.params.is_empty() || item.generics.where_clause.is_some() {
        let generics = (&item.generics.params, &item.generics.where_clause);
        let span = generics.0.first().map_or_else(|| generics.1.span(), Spanned::span);
        return Err(Error::new(span, "the hub calls one type: an exported implementation can't be generic"));
    }
    Ok(exports(name, &item.self_ty))
}

/// The extension point's trait that is implemented.
fn point_trait(item: &ItemImpl) -> Result<&'static str> {
    let Some((_, path, _)) = &item.trait_ else { return Err(misplaced(item.self_ty.span())) };
    let last = path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
    TRAITS.into_iter().find(|name| *name == last).ok_or_else(|| {
        let message =
            format!("`{last}` is no extension point; the traits that can be exported are {}", TRAITS.join(", "));
        Error::new_spanned(path, message)
    })
}

fn misplaced(span: Span) -> Error {
    let message =
        "`export` belongs on the implementation of an extension point's trait: `impl Chat for YourType { … }`";
    Error::new(span, message)
}

fn exports(name: &str, exported: &Type) -> TokenStream {
    let point = format_ident!("{}", name.to_lowercase());
    let export_point = format_ident!("export_{point}");
    let name = format_ident!("{name}");
    let exported = exported.to_token_stream();
    // Reports a missing trait at the type's name.
    let is_implemented = quote_spanned!(exported.span() => is_implemented::<#exported>);
    quote! {
        const _: () = {
            // Uses the type in native builds, too, where nothing calls it.
            const fn is_implemented<T: ::network_hub_module::#point::#name>() {}
            #is_implemented();

            #[cfg(target_arch = "wasm32")]
            type Exported = ::network_hub_module::entry::Exported<#exported>;
            #[cfg(target_arch = "wasm32")]
            ::network_hub_module::bindings::#point::#export_point!(
                Exported with_types_in ::network_hub_module::bindings::#point
            );
        };
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn message(arguments: &str, item: &str) -> String {
        glue(&arguments.parse().unwrap(), &item.parse().unwrap()).unwrap_err().to_string()
    }

    #[test]
    fn other_items_are_refused_with_a_reason() {
        for (item, reason) in [
            ("struct Guard;", "belongs on the implementation"),
            ("fn filter() {}", "belongs on the implementation"),
            ("impl Guard {}", "belongs on the implementation"),
            ("impl Clone for Guard {}", "`Clone` is no extension point; the traits that can be exported are Chat, "),
            ("impl other::Chats for Guard {}", "`Chats` is no extension point"),
            ("impl<T> Chat for Guard<T> {}", "can't be generic"),
            ("impl Chat for Guard where Guard: Clone {}", "can't be generic"),
        ] {
            let message = message("", item);
            assert!(message.contains(reason), "{item}: {message}");
        }
        assert_eq!(message("chat", "impl Chat for Guard {}"), "`export` takes no arguments");
    }

    #[test]
    fn the_implementation_is_unchanged() {
        for item in ["impl Chat for Guard { fn filter() {} }", "struct Guard;"] {
            let item: TokenStream = item.parse().unwrap();
            let expanded = export(&TokenStream::new(), &item).to_string();
            assert!(expanded.starts_with(&item.to_string()), "{expanded}");
        }
    }

    #[test]
    fn each_trait_is_exported_as_its_point() {
        for (path, point) in
            [("Chat", "chat"), ("matchmaking::Matchmaking", "matchmaking"), ("::a::Punishment", "punishment")]
        {
            let item = format!("impl {path} for rules::Guard<Strict> {{}}");
            let glue = glue(&TokenStream::new(), &item.parse().unwrap()).unwrap().to_string();
            assert!(glue.contains(&format!("export_{point} !")), "{glue}");
            assert!(glue.contains("Exported < rules :: Guard < Strict > >"), "{glue}");
        }
    }
}
