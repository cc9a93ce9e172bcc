//! The table of all bounds; `docs/reference/limits.md` is made from it.

use crate::http::answer::ANSWER_LIMIT;

macro_rules! limits {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal, $bound:expr $(, $effect:literal)?;)+) => {
        /// What is limited, by the name that the wire and the documentation use.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, strum::Display, strum::EnumString,
            strum::IntoStaticStr, strum::VariantArray,
        )]
        pub enum Limit {
            $($(#[doc = $doc])+ #[strum(serialize = $name)] $variant),+
        }

        impl Limit {
            /// The most that any network may have, whatever its plan.
            pub const fn bound(self) -> i64 {
                match self {
                    $(Self::$variant => $bound),+
                }
            }

            /// As the wire writes it.
            pub fn name(self) -> &'static str {
                self.into()
            }

            /// What is counted, as the documentation says it.
            pub fn description(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!($($doc),+).trim_ascii()),+
                }
            }

            /// What happens instead of a refusal, where something else does.
            pub(super) const fn effect(self) -> Option<&'static str> {
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
    /// Servers that are online.
    Servers = "servers", 1_000;
    /// Servers in the registry, online or not.
    KnownServers = "knownServers", 20_000, "the servers that are offline for the longest are forgotten";
    /// Worlds of one server.
    WorldsPerServer = "worldsPerServer", 64;
    /// Bytes of JSON that the lists show of one server, its worlds included.
    ServerBytes = "serverBytes", 17_000;
    /// Bytes of JSON of what a node agent reports of one server.
    AgentReportBytes = "agentReportBytes", 2_000;
    /// Plugins of one server.
    PluginsPerServer = "pluginsPerServer", 500;
    /// Players online.
    Players = "players", 200_000;
    /// Players on one server.
    PlayersPerServer = "playersPerServer", 10_000;
    /// Slots that are reserved for players on their way.
    Reservations = "reservations", 100_000;
    /// Servers that are, or were, provisioned.
    ProvisionedServers = "provisionedServers", 2_000;
    /// Streams of events and of logs that are open at one node of the hub. A second event stream of a server replaces the
    /// first and is not counted.
    Streams = "streams", 5_000;

    // Node agents.
    /// Servers with a node agent.
    Agents = "agents", 2_000;
    /// Commands that wait for one server's node agent.
    PendingCommands = "pendingCommands", 100;
    /// Servers with a log.
    ServerLogs = "serverLogs", 2_000, "the log of the server seen least lately is deleted";
    /// Lines of one server's log.
    LogLines = "logLines", 5_000, "the oldest lines are deleted";
    /// Bytes of one line of a log; as JSON it has at most twice as many.
    LogLineBytes = "logLineBytes", 8_192, "the line is cut";

    // Players.
    /// Players who were ever seen.
    KnownPlayers = "knownPlayers", 20_000_000;
    /// Names that one player was seen with.
    NamesPerPlayer = "namesPerPlayer", 50, "the names not seen for the longest are forgotten";
    /// Addresses that one player was seen with.
    AddressesPerPlayer = "addressesPerPlayer", 1_000, "the addresses not seen for the longest are forgotten";
    /// Players whose data was, or is being, deleted for good.
    ForgottenPlayers = "forgottenPlayers", 1_000_000;
    /// Players whose data one node of the hub deletes at once.
    PlayersForgottenAtOnce = "playersForgottenAtOnce", 8;
    /// Data namespaces of all players.
    DataEntries = "dataEntries", 50_000_000;
    /// Data namespaces of one player in one game mode.
    NamespacesPerPlayer = "namespacesPerPlayer", 64;
    /// Bytes of data of one player in one game mode, counted when a namespace is new or has more than 8 KiB.
    ProfileBytes = "profileBytes", 1_152 * 1_024;
    /// Players whose language is stored.
    PlayerLanguages = "playerLanguages", 20_000_000;

    // Currencies and statistics.
    /// Currencies; a currency is there from its first use on.
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
    /// Punishments in one answer.
    PunishmentsPerAnswer = "punishmentsPerAnswer", 400, "the answer has the newest ones, bans before all others";

    // Permissions.
    /// Permission groups.
    Groups = "groups", 1_000;
    /// Bytes of JSON of all groups together; each character of a name or a prefix counts as six.
    GroupBytes = "groupBytes", 3 * 1_024 * 1_024;
    /// Nodes of one group.
    NodesPerGroup = "nodesPerGroup", 2_000;
    /// Nodes of one player.
    NodesPerPlayer = "nodesPerPlayer", 2_000;
    /// Bytes of the nodes of one player, with 100 for each node.
    NodeBytesPerPlayer = "nodeBytesPerPlayer", 512 * 1_024;
    /// Nodes of all players.
    PlayerNodes = "playerNodes", 50_000_000;
    /// Players who have, or had, nodes of their own.
    PlayersWithNodes = "playersWithNodes", 20_000_000;

    // Localization and configuration.
    /// Locales.
    Locales = "locales", 200;
    /// Messages of the catalog, counted in each locale.
    Messages = "messages", 50_000;
    /// Bytes of JSON of one text of a message.
    MessageBytes = "messageBytes", 6_000;
    /// Bytes of JSON of the catalog: keys, default texts and the owner's texts.
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
    /// Worlds that were ever opened.
    Worlds = "worlds", 5_000_000;
    /// Worlds that boot, are up or are being unloaded.
    WorldLeases = "worldLeases", 10_000;
    /// Snapshot uploads of one lease of a world that are not complete and whose link is still good.
    SnapshotUploads = "snapshotUploads", 100;
    /// Transfers of the last day.
    Transfers = "transfers", 10_000_000;

    // Files and modules.
    /// Artifacts.
    Artifacts = "artifacts", 10_000;
    /// Bundles for provisioned machines.
    Bundles = "bundles", 1_000;
    /// Bytes of artifacts, bundles, snapshots of worlds, modules and files that are imported.
    FileBytes = "fileBytes", 100 * 1_024 * 1_024 * 1_024;
    /// Uploads of artifacts, bundles, snapshots and files to import that are under way at one node of the hub.
    Uploads = "uploads", 64;
    /// Versions of modules.
    Modules = "modules", 1_000;
    /// Modules in the chain of one extension point.
    ChainLinks = "chainLinks", 16, "400 `invalid_request`";
    /// Bytes in the store of one module.
    ModuleStoreBytes = "moduleStoreBytes", 16 * 1_024 * 1_024, "the module's write fails";

    // Imports from other tools.
    /// Imports that are listed.
    Imports = "imports", 100, "the oldest ones are forgotten";
    /// Bytes of a file that is imported.
    ImportBytes = "importBytes", 256 * 1_024 * 1_024, "413 `body_too_large`";
    /// Records of a file that is imported: groups, players, punishments, names, balances.
    ImportRecords = "importRecords", 2_000_000, "the import fails before it changes anything";

    // Webhooks.
    /// Webhooks.
    Webhooks = "webhooks", 20;
    /// Deliveries that wait for one webhook.
    WebhookBacklog = "webhookBacklog", 5_000, "the oldest deliveries are dropped";
    /// Bytes of events that wait for one webhook.
    WebhookBacklogBytes = "webhookBacklogBytes", 8 * 1_024 * 1_024, "the oldest deliveries are dropped";
    /// Deliveries of one webhook that have ended and are listed, for up to seven days.
    WebhookDeliveries = "webhookDeliveries", 1_000, "the oldest deliveries are forgotten";

    // Keys, people and requests.
    /// People who are members, and those who are invited.
    People = "people", 500;
    /// Sessions of one person, whatever their networks, with those that ended in the last month.
    SessionsPerPerson = "sessionsPerPerson", 50, "the oldest ones end";
    /// API keys that are neither revoked nor expired.
    Keys = "keys", 1_000;
    /// API keys that were revoked or have expired.
    EndedKeys = "endedKeys", 1_000, "those that ended first are forgotten";
    /// Bytes of JSON of one API key's name, servers and addresses.
    KeyBytes = "keyBytes", 16_000;
    /// Uses of an `Idempotency-Key` in the last day.
    IdempotencyKeys = "idempotencyKeys", 5_000_000;
    /// Bytes of an answer that is kept under an `Idempotency-Key`.
    KeptAnswerBytes = "keptAnswerBytes", 64 * 1_024, "the answer is not kept: a repeat is 409 `answer_not_kept`";
    /// Entries of the audit log.
    AuditEntries = "auditEntries", 500_000, "the oldest entries are deleted";
    /// Exports of players and of the audit log that one node of the hub sends at once.
    Exports = "exports", 4;
    /// Bytes of JSON that an entry of the audit log shows of what was, and of what is.
    AuditValueBytes = "auditValueBytes", 4_096, "the entry has their number instead";
    /// Documents asked for by one `mget`.
    DocumentsPerRequest = "documentsPerRequest", 200, "400 `invalid_request`";
    /// Bytes of one answer, but for files.
    AnswerBytes = "answerBytes", ANSWER_LIMIT as i64, "a list is cut short and says where it goes on";
    /// Bytes of answers over 64 KiB that one node of the hub puts together, or that their callers have not read yet.
    UnreadAnswerBytes = "unreadAnswerBytes", 64 * 1_024 * 1_024,
        "the request waits for up to 5 seconds; then 503 `answers_unread`";
    /// Addresses on the waitlist, which is the hub's own.
    WaitlistEntries = "waitlistEntries", 1_000_000, "no more are added";
    /// Bytes of players' data, documents, config documents, the catalog and modules' stores, with 64 for each row.
    StorageBytes = "storageBytes", 1 << 40;
}
