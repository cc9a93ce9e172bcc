//! How a room's handlers become routes: only handlers that state their permission are taken.

use crate::http::caller::Permission;

/// A handler whose first argument is a [`Permission`].
pub trait Guarded<Arguments> {}

macro_rules! guarded {
    ($($argument:ident),*) => {
        impl<F, P, O, $($argument),*> Guarded<(P, $($argument,)*)> for F
        where
            F: Fn(P, $($argument),*) -> O,
            P: Permission,
        {
        }
    };
}
guarded!();
guarded!(A);
guarded!(A, B);
guarded!(A, B, C);
guarded!(A, B, C, D);
guarded!(A, B, C, D, E);

/// Compiles only for a guarded handler.
pub const fn assert_guarded<Arguments, H: Guarded<Arguments>>(_: &H) {}

/// `endpoints![list, create]`: the router of these handlers, each with its `#[utoipa::path]`. A handler whose first
/// argument is not a [`Permission`] does not compile; the few public ones are mounted in `http/public.rs`.
macro_rules! endpoints {
    ($($handler:path),+ $(,)?) => {
        utoipa_axum::router::OpenApiRouter::<$crate::app::App>::new()
            $(.routes({
                $crate::http::endpoints::assert_guarded(&$handler);
                utoipa_axum::routes!($handler)
            }))+
    };
}
pub(crate) use endpoints;
