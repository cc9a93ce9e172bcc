//! What `wit-bindgen` makes of the contract. One world per extension point, so that a module declares exactly
//! the points it exports; the host interfaces are shared by all of them.
//!
//! The code is generated, so it is exempt from the lints of code that is written.

#![allow(unsafe_code, missing_docs, unreachable_pub, unused_qualifications, clippy::pedantic)]

pub mod host {
    wit_bindgen::generate!({
        path: "../wit/1.0",
        world: "host",
        generate_unused_types: true,
        additional_derives: [PartialEq],
    });
}

pub mod matchmaking {
    wit_bindgen::generate!({
        path: "../wit/1.0",
        world: "matchmaking-module",
        with: {
            "network-hub:module/types@1.0.0": crate::bindings::host::network_hub::module::types,
            "network-hub:module/log@1.0.0": crate::bindings::host::network_hub::module::log,
            "network-hub:module/store@1.0.0": crate::bindings::host::network_hub::module::store,
            "network-hub:module/players@1.0.0": crate::bindings::host::network_hub::module::players,
            "network-hub:module/candidates@1.0.0": crate::bindings::host::network_hub::module::candidates,
        },
        additional_derives: [PartialEq],
        pub_export_macro: true,
        export_macro_name: "export_matchmaking",
    });
}

pub mod chat {
    wit_bindgen::generate!({
        path: "../wit/1.0",
        world: "chat-module",
        with: {
            "network-hub:module/types@1.0.0": crate::bindings::host::network_hub::module::types,
            "network-hub:module/log@1.0.0": crate::bindings::host::network_hub::module::log,
            "network-hub:module/store@1.0.0": crate::bindings::host::network_hub::module::store,
            "network-hub:module/players@1.0.0": crate::bindings::host::network_hub::module::players,
            "network-hub:module/candidates@1.0.0": crate::bindings::host::network_hub::module::candidates,
        },
        additional_derives: [PartialEq],
        pub_export_macro: true,
        export_macro_name: "export_chat",
    });
}

pub mod punishment {
    wit_bindgen::generate!({
        path: "../wit/1.0",
        world: "punishment-module",
        with: {
            "network-hub:module/types@1.0.0": crate::bindings::host::network_hub::module::types,
            "network-hub:module/log@1.0.0": crate::bindings::host::network_hub::module::log,
            "network-hub:module/store@1.0.0": crate::bindings::host::network_hub::module::store,
            "network-hub:module/players@1.0.0": crate::bindings::host::network_hub::module::players,
            "network-hub:module/candidates@1.0.0": crate::bindings::host::network_hub::module::candidates,
        },
        additional_derives: [PartialEq],
        pub_export_macro: true,
        export_macro_name: "export_punishment",
    });
}
