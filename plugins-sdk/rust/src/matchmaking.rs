//! The extension point `matchmaking`: where a player is sent.

pub use crate::bindings::matchmaking::exports::network_hub::module::matchmaking::{
    GameState, MatchRequest, Refusal, ServerCandidate, WorldCandidate,
};

use crate::CallContext;

/// The indices of the candidates wanted, best first, or why nobody is matched. What is left out is not wanted.
pub type Ranking = Result<Vec<u32>, Refusal>;

/// Decides where a player is sent. Export it with [`matchmaking!`](crate::matchmaking!).
///
/// The candidates are those the player could join at all, in the order the hub would choose, or as the module
/// before this one in the chain left them. A function that is not implemented leaves that order as it is.
pub trait Matchmaking {
    /// Ranks servers.
    fn rank_servers(context: &CallContext, request: &MatchRequest, servers: Vec<ServerCandidate>) -> Ranking {
        let _ = (context, request);
        Ok(servers.iter().map(|server| server.index).collect())
    }

    /// Ranks worlds.
    fn rank_worlds(context: &CallContext, request: &MatchRequest, worlds: Vec<WorldCandidate>) -> Ranking {
        let _ = (context, request);
        Ok(worlds.iter().map(|world| world.index).collect())
    }
}

/// Exports a type that implements [`Matchmaking`](crate::matchmaking::Matchmaking) as this module's
/// `matchmaking`.
#[macro_export]
macro_rules! matchmaking {
    ($policy:ty) => {
        const _: () = {
            use $crate::bindings::matchmaking::exports::network_hub::module::matchmaking as point;

            struct Exported;

            impl point::Guest for Exported {
                fn rank_servers(
                    context: $crate::CallContext,
                    request: point::MatchRequest,
                    servers: ::std::vec::Vec<point::ServerCandidate>,
                ) -> $crate::matchmaking::Ranking {
                    $crate::entry::start();
                    <$policy as $crate::matchmaking::Matchmaking>::rank_servers(&context, &request, servers)
                }

                fn rank_worlds(
                    context: $crate::CallContext,
                    request: point::MatchRequest,
                    worlds: ::std::vec::Vec<point::WorldCandidate>,
                ) -> $crate::matchmaking::Ranking {
                    $crate::entry::start();
                    <$policy as $crate::matchmaking::Matchmaking>::rank_worlds(&context, &request, worlds)
                }
            }

            // Nothing calls it in a native build, where it is not exported; it is in use all the same.
            #[cfg(not(target_arch = "wasm32"))]
            const _: fn() = || {
                let _ = <Exported as point::Guest>::rank_servers;
                let _ = <Exported as point::Guest>::rank_worlds;
            };

            #[cfg(target_arch = "wasm32")]
            $crate::bindings::matchmaking::export_matchmaking!(
                Exported with_types_in $crate::bindings::matchmaking
            );
        };
    };
}
