//! Table of all bounds; `docs/limits.md` is generated from it.

use crate::bounds::ANSWER_LIMIT;

macro_rules! limits {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal, $bound:expr $(, $effect:literal)?;)+) => {
        /// Limit, by its name in the API and documentation.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, strum::Display, strum::EnumString,
            strum::IntoStaticStr, strum::VariantArray,
        )]
        pub enum Limit {
            $($(#[doc = $doc])+ #[strum(serialize = $name)] $variant),+
        }

        impl Limit {
            /// Maximum for any network, regardless of its plan.
            pub const fn bound(self) -> i64 {
                match self {
                    $(Self::$variant => $bound),+
                }
            }

            /// Name in the API.
            pub fn name(self) -> &'static str {
                self.into()
            }

            /// Counted things, as in the documentation.
            pub fn description(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!($($doc),+).trim_ascii()),+
                }
            }

            /// Effect of the limit, if it is not a refusal.
            pub(crate) const fn effect(self) -> Option<&'static str> {
                match self {
                    $(Self::$variant => limits!(@effect $($effect)?)),+
                }
            }
        }
    };
    (@effect) => { None };
    (@effect $effect:literal) => { Some($effect) };
}

limits! {
    // Servers and who is on them.
    /// Online servers.
    Servers = "servers", 1_000;
    /// Known servers, online or not.
    KnownServers = "knownServers", 20_000, "the servers offline for the longest time are deleted";
    /// Worlds of one server.
    WorldsPerServer = "worldsPerServer", 64;
    /// Bytes of JSON of one server in lists, including its worlds.
    ServerBytes = "serverBytes", 17_000;
    /// Bytes of JSON of a node agent's report about one server.
    AgentReportBytes = "agentReportBytes", 2_000;
    /// Plugins of one server.
    PluginsPerServer = "pluginsPerServer", 500;
    /// Online players.
    Players = "players", 200_000;
    /// Players on one server.
    PlayersPerServer = "playersPerServer", 10_000;
    /// Slots reserved for players in transfer.
    Reservations = "reservations", 100_000;
    /// Servers that are or were provisioned.
    ProvisionedServers = "provisionedServers", 2_000;
    /// Open event and log streams at one node of the hub. A second event stream of a server replaces the first and is
    /// not counted.
    Streams = "streams", 5_000;

    // Node agents.
    /// Servers with a node agent.
    Agents = "agents", 2_000;
    /// Commands waiting for one server's node agent.
    PendingCommands = "pendingCommands", 100;
    /// Servers with a log.
    ServerLogs = "serverLogs", 2_000, "the log of the least recently seen server is deleted";
    /// Lines of one server's log.
    LogLines = "logLines", 5_000, "the oldest lines are deleted";
    /// Bytes of one line of a log; its JSON has at most twice as many.
    LogLineBytes = "logLineBytes", 8_192, "the line is truncated";

    // Players.
    /// Players ever seen.
    KnownPlayers = "knownPlayers", 20_000_000;
    /// Names of one player.
    NamesPerPlayer = "namesPerPlayer", 50, "the least recently seen names are deleted";
    /// Addresses of one player.
    AddressesPerPlayer = "addressesPerPlayer", 1_000, "the least recently seen addresses are deleted";
    /// Erased players, including those in progress.
    ForgottenPlayers = "forgottenPlayers", 1_000_000;
    /// Players being erased by one node of the hub at the same time.
    PlayersForgottenAtOnce = "playersForgottenAtOnce", 8;
    /// Data namespaces of all players.
    DataEntries = "dataEntries", 50_000_000;
    /// Data namespaces of one player in one game mode.
    NamespacesPerPlayer = "namespacesPerPlayer", 64;
    /// Bytes of data of one player in one game mode, counted for new namespaces and namespaces over 8 KiB.
    ProfileBytes = "profileBytes", 1_152 * 1_024;
    /// Players with a stored language.
    PlayerLanguages = "playerLanguages", 20_000_000;

    // Currencies and statistics.
    /// Currencies, which exist from their first use.
    Currencies = "currencies", 500;
    /// Balances of all owners.
    Balances = "balances", 50_000_000;
    /// Statistics of one owner in one game mode.
    StatisticsPerOwner = "statisticsPerOwner", 500;

    // Punishments.
    /// Punishments, active or not.
    Punishments = "punishments", 10_000_000;
    /// Punishments of one player, name or address, active or not.
    PunishmentsPerPlayer = "punishmentsPerPlayer", 2_000;
    /// Punishments in one response.
    PunishmentsPerAnswer = "punishmentsPerAnswer", 400, "the response contains the newest ones, bans first";

    // Permissions.
    /// Permission groups.
    Groups = "groups", 1_000;
    /// Bytes of JSON of all groups together; each character of a name or prefix counts as six.
    GroupBytes = "groupBytes", 3 * 1_024 * 1_024;
    /// Nodes of one group.
    NodesPerGroup = "nodesPerGroup", 2_000;
    /// Nodes of one player.
    NodesPerPlayer = "nodesPerPlayer", 2_000;
    /// Bytes of one player's nodes, plus 100 per node.
    NodeBytesPerPlayer = "nodeBytesPerPlayer", 512 * 1_024;
    /// Nodes of all players.
    PlayerNodes = "playerNodes", 50_000_000;
    /// Players who have or had their own nodes.
    PlayersWithNodes = "playersWithNodes", 20_000_000;

    // Localization and configuration.
    /// Locales.
    Locales = "locales", 200;
    /// Messages of the catalog, in each locale.
    Messages = "messages", 50_000;
    /// Bytes of JSON of a message's text.
    MessageBytes = "messageBytes", 6_000;
    /// Bytes of JSON of the catalog: keys, default texts and overrides.
    CatalogBytes = "catalogBytes", 3_584 * 1_024;
    /// Config documents.
    ConfigDocuments = "configDocuments", 10_000;

    // Collections.
    /// Collections.
    Collections = "collections", 1_000;
    /// Indexes of one collection.
    IndexesPerCollection = "indexesPerCollection", 16;
    /// Documents of all collections.
    Documents = "documents", 5_000_000;

    // Worlds and transfers.
    /// Worlds ever opened.
    Worlds = "worlds", 5_000_000;
    /// Worlds that are booting, ready or being unloaded.
    WorldLeases = "worldLeases", 10_000;
    /// Incomplete snapshot uploads of one world lease with a valid link.
    SnapshotUploads = "snapshotUploads", 100;
    /// Transfers of the last day.
    Transfers = "transfers", 10_000_000;

    // Files and modules.
    /// Artifacts.
    Artifacts = "artifacts", 10_000;
    /// Bundles for provisioned machines.
    Bundles = "bundles", 1_000;
    /// Bytes of artifacts, bundles, world snapshots, modules and import files.
    FileBytes = "fileBytes", 100 * 1_024 * 1_024 * 1_024;
    /// Concurrent uploads of artifacts, bundles, snapshots and import files at one node of the hub.
    Uploads = "uploads", 64;
    /// Versions of modules.
    Modules = "modules", 1_000;
    /// Modules in the chain of one extension point.
    ChainLinks = "chainLinks", 16, "400 `invalid_request`";
    /// Bytes in one module's store.
    ModuleStoreBytes = "moduleStoreBytes", 16 * 1_024 * 1_024, "the module's write fails";

    // Imports from other tools.
    /// Listed imports.
    Imports = "imports", 100, "the oldest ones are deleted";
    /// Bytes of an import file.
    ImportBytes = "importBytes", 256 * 1_024 * 1_024, "413 `body_too_large`";
    /// Records of an import file: groups, players, punishments, names, balances.
    ImportRecords = "importRecords", 2_000_000, "the import fails before it changes anything";

    // Webhooks.
    /// Webhooks.
    Webhooks = "webhooks", 20;
    /// Deliveries waiting for one webhook.
    WebhookBacklog = "webhookBacklog", 5_000, "the oldest deliveries are dropped";
    /// Bytes of events waiting for one webhook.
    WebhookBacklogBytes = "webhookBacklogBytes", 8 * 1_024 * 1_024, "the oldest deliveries are dropped";
    /// Finished deliveries of one webhook, listed for up to seven days.
    WebhookDeliveries = "webhookDeliveries", 1_000, "the oldest deliveries are deleted";

    // Keys, people and requests.
    /// Members and invited people.
    People = "people", 500;
    /// Sessions of one person in all networks, including those that ended in the last month.
    SessionsPerPerson = "sessionsPerPerson", 50, "the oldest ones end";
    /// API keys that are neither revoked nor expired.
    Keys = "keys", 1_000;
    /// API keys that are revoked or expired.
    EndedKeys = "endedKeys", 1_000, "those that ended first are deleted";
    /// Bytes of JSON of one API key's name, servers and addresses.
    KeyBytes = "keyBytes", 16_000;
    /// Uses of an `Idempotency-Key` in the last day.
    IdempotencyKeys = "idempotencyKeys", 5_000_000;
    /// Bytes of a response stored under an `Idempotency-Key`.
    KeptAnswerBytes = "keptAnswerBytes", 64 * 1_024, "the response is not stored: a retry is 409 `answer_not_kept`";
    /// Entries of the audit log.
    AuditEntries = "auditEntries", 500_000, "the oldest entries are deleted";
    /// Concurrent exports of players and audit logs at one node of the hub.
    Exports = "exports", 4;
    /// Bytes of JSON of a previous or new value in an audit log entry.
    AuditValueBytes = "auditValueBytes", 4_096, "the entry contains their number instead";
    /// Documents requested by one `mget`.
    DocumentsPerRequest = "documentsPerRequest", 200, "400 `invalid_request`";
    /// Bytes of one response, except files.
    AnswerBytes = "answerBytes", ANSWER_LIMIT as i64, "a list is cut and refers to the rest";
    /// Bytes of responses over 64 KiB being built by one node of the hub or not yet read by their clients.
    UnreadAnswerBytes = "unreadAnswerBytes", 64 * 1_024 * 1_024,
        "the request waits for up to 5 seconds; then 503 `answers_unread`";
    /// Addresses on the waitlist, which belongs to the hub.
    WaitlistEntries = "waitlistEntries", 1_000_000, "no more are added";
    /// Bytes of players' data, documents, config documents, the catalog and modules' stores, plus 64 per row.
    StorageBytes = "storageBytes", 1 << 40;
}
