//! The table of the bounds that the hub's own components have. `docs/reference/limits.md` is made from the configurable ones;
//! the others keep a network from what none does, and tests lower them. A component may declare further ones beside its code.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// Limit, told apart by its name.
#[derive(Clone, Copy)]
pub struct Limit(&'static LimitRow);

/// Row of the table of limits.
pub struct LimitRow {
    /// Name in the API and documentation.
    pub name: &'static str,
    /// Maximum for any network, regardless of its plan.
    pub bound: i64,
    /// Counted things, as in the documentation.
    pub counted: &'static str,
    /// Effect of the limit, if it is not a refusal.
    pub effect: Option<&'static str>,
}

impl Limit {
    pub const fn new(row: &'static LimitRow) -> Self {
        Self(row)
    }

    /// Maximum for any network, regardless of its plan.
    pub const fn bound(self) -> i64 {
        self.0.bound
    }

    /// Name in the API.
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// Counted things, as in the documentation.
    pub fn description(self) -> &'static str {
        self.0.counted.trim_ascii()
    }

    /// Effect of the limit, if it is not a refusal.
    pub const fn effect(self) -> Option<&'static str> {
        self.0.effect
    }
}

impl PartialEq for Limit {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for Limit {}

impl PartialOrd for Limit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Limit {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.name.cmp(other.0.name)
    }
}

impl Hash for Limit {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name.hash(state);
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

impl fmt::Debug for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

macro_rules! limits {
    (configurable { $($configurable:tt)+ } fixed { $($fixed:tt)+ }) => {
        limits!(@rows $($configurable)+ $($fixed)+);
        limits!(@list CONFIGURABLE "Limits that the documentation lists and that an operator can lower." $($configurable)+);
        limits!(@list FIXED "Limits that only tests lower." $($fixed)+);
    };
    (@list $list:ident $about:literal $($(#[doc = $doc:literal])+ $limit:ident = $name:literal, $bound:expr $(, $effect:literal)?;)+) => {
        impl Limit {
            #[doc = $about]
            pub const $list: &[Self] = &[$(Self::$limit),+];
        }
    };
    (@rows $($(#[doc = $doc:literal])+ $limit:ident = $name:literal, $bound:expr $(, $effect:literal)?;)+) => {
        #[allow(non_upper_case_globals, reason = "each stands for a row, like the variant of an enumeration")]
        impl Limit {
            $(
                $(#[doc = $doc])+
                pub const $limit: Self = Self(&LimitRow {
                    name: $name,
                    bound: $bound,
                    counted: concat!($($doc),+),
                    effect: limits!(@effect $($effect)?),
                });
            )+
        }
    };
    (@effect) => { None };
    (@effect $effect:literal) => { Some($effect) };
}

limits! {
    configurable {
        // Servers and who is on them.
        /// Online servers.
        Servers = "servers", 1_000;
        /// Worlds of one server.
        WorldsPerServer = "worldsPerServer", 64;
        /// Online players.
        Players = "players", 200_000;
        /// Players on one server.
        PlayersPerServer = "playersPerServer", 10_000;
        /// Open event and log streams at one node of the hub. A second event stream of a server replaces the first and is
        /// not counted.
        Streams = "streams", 5_000;

        // Waiting lines.
        /// Players who wait in lines.
        Waiting = "waiting", 50_000;

        // Node agents.
        /// Servers with a node agent.
        Agents = "agents", 2_000;

        // Players.
        /// Players ever seen.
        KnownPlayers = "knownPlayers", 20_000_000;
        /// Data namespaces of one player in one game mode.
        NamespacesPerPlayer = "namespacesPerPlayer", 64;
        /// Bytes of data of one player in one game mode, counted for new namespaces and namespaces over 8 KiB.
        ProfileBytes = "profileBytes", 1_152 * 1_024;

        // Currencies and statistics.
        /// Currencies, which exist from their first use.
        Currencies = "currencies", 500;

        // Punishments.
        /// Punishments, active or not.
        Punishments = "punishments", 10_000_000;

        // Deliveries.
        /// Open deliveries: pending, claimed or held ones.
        Deliveries = "deliveries", 1_000_000;

        // Permissions.
        /// Permission groups.
        Groups = "groups", 1_000;
        /// Bytes of JSON of all groups together; each character of a name or prefix counts as six.
        GroupBytes = "groupBytes", 3 * 1_024 * 1_024;
        /// Nodes of one group.
        NodesPerGroup = "nodesPerGroup", 2_000;
        /// Nodes of one player.
        NodesPerPlayer = "nodesPerPlayer", 2_000;

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

        // Files and modules.
        /// Artifacts.
        Artifacts = "artifacts", 10_000;
        /// Bytes of artifacts, bundles, world snapshots, modules and import files.
        FileBytes = "fileBytes", 100 * 1_024 * 1_024 * 1_024;
        /// Versions of modules.
        Modules = "modules", 1_000;

        // Imports from other tools.
        /// Bytes of an import file.
        ImportBytes = "importBytes", 256 * 1_024 * 1_024, "413 `body_too_large`";

        // Webhooks.
        /// Webhooks.
        Webhooks = "webhooks", 20;

        // Staff.
        /// Reports that are not closed.
        Reports = "reports", 10_000;

        // Keys, people and requests.
        /// Members and invited people.
        People = "people", 500;
        /// API keys that are neither revoked nor expired.
        Keys = "keys", 1_000;
        /// Entries of the audit log.
        AuditEntries = "auditEntries", 500_000, "the oldest entries are deleted";
        /// Bytes of responses over 64 KiB being built by one node of the hub or not yet read by their clients.
        UnreadAnswerBytes = "unreadAnswerBytes", 64 * 1_024 * 1_024,
            "the request waits for up to 5 seconds; then 503 `answers_unread`";
        /// Bytes of players' data, documents, config documents, the catalog and modules' stores, plus 64 per row.
        StorageBytes = "storageBytes", 1 << 40;
    }
    fixed {
        // Servers and who is on them.
        /// Servers in the registry, online or not.
        KnownServers = "knownServers", 20_000, "the servers that are offline for the longest are forgotten";
        /// Bytes of one server in lists, as JSON, including its worlds.
        ServerBytes = "serverBytes", 17_000;
        /// Bytes of JSON of what a node agent reports of one server.
        AgentReportBytes = "agentReportBytes", 2_000;
        /// Plugins of one server.
        PluginsPerServer = "pluginsPerServer", 500;
        /// Slots that are reserved for players on their way.
        Reservations = "reservations", 100_000;
        /// Servers that are, or were, provisioned.
        ProvisionedServers = "provisionedServers", 2_000;

        // Waiting lines.
        /// Waiting lines with settings of their own.
        Lines = "lines", 1_000;
        /// Waiting lines in memory: those with tickets or settings, or where a slot came free lately.
        LinesInMemory = "linesInMemory", 5_000;

        // Node agents.
        /// Commands that wait for one server's node agent.
        PendingCommands = "pendingCommands", 100;
        /// Servers with a log.
        ServerLogs = "serverLogs", 2_000, "the log of the server seen least lately is deleted";

        // Players.
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
        /// Players whose language is stored.
        PlayerLanguages = "playerLanguages", 20_000_000;

        // Currencies and statistics.
        /// Balances of all owners.
        Balances = "balances", 50_000_000;
        /// Statistics of one owner in one game mode.
        StatisticsPerOwner = "statisticsPerOwner", 500;
        /// Values of statistics: each has one for its lifetime, each day, each week and each month. At the limit those that
        /// exist go on.
        StatisticValues = "statisticValues", 50_000_000;

        // Punishments.
        /// Punishments of one player, name or address, active or not.
        PunishmentsPerPlayer = "punishmentsPerPlayer", 2_000;

        // Deliveries.
        /// Open deliveries of one player or name.
        DeliveriesPerPlayer = "deliveriesPerPlayer", 1_000;

        // Permissions.
        /// Bytes of the nodes of one player, with 100 for each node.
        NodeBytesPerPlayer = "nodeBytesPerPlayer", 512 * 1_024;
        /// Nodes of all players.
        PlayerNodes = "playerNodes", 50_000_000;
        /// Players who have, or had, nodes of their own.
        PlayersWithNodes = "playersWithNodes", 20_000_000;

        // Localization and configuration.

        // Worlds and transfers.
        /// Snapshot uploads of one lease of a world that are not complete and whose link is still good.
        SnapshotUploads = "snapshotUploads", 100;
        /// Transfers of the last day.
        Transfers = "transfers", 10_000_000;

        // Files and modules.
        /// Bundles for provisioned machines.
        Bundles = "bundles", 1_000;
        /// Uploads of artifacts, bundles, snapshots and files to import that are under way at one node of the hub.
        Uploads = "uploads", 64;

        // Imports from other tools.
        /// Imports that are listed.
        Imports = "imports", 100, "the oldest ones are forgotten";
        /// Records of a file that is imported: groups, players, punishments, names, balances.
        ImportRecords = "importRecords", 2_000_000, "the import fails before it changes anything";

        // Webhooks.
        /// Deliveries that wait for one webhook.
        WebhookBacklog = "webhookBacklog", 5_000, "the oldest deliveries are dropped";
        /// Bytes of events that wait for one webhook.
        WebhookBacklogBytes = "webhookBacklogBytes", 8 * 1_024 * 1_024, "the oldest deliveries are dropped";
        /// Deliveries of one webhook that have ended and are listed, for up to seven days.
        WebhookDeliveries = "webhookDeliveries", 1_000, "the oldest deliveries are forgotten";

        // Keys, people and requests.
        /// Sessions of one person in all networks, including those that ended in the last month.
        SessionsPerPerson = "sessionsPerPerson", 50, "the oldest ones end";
        /// API keys that are revoked or expired.
        EndedKeys = "endedKeys", 1_000, "those that ended first are deleted";
        /// Bytes of JSON of one API key's name, servers and addresses.
        KeyBytes = "keyBytes", 16_000;
        /// Uses of an `Idempotency-Key` in the last day.
        IdempotencyKeys = "idempotencyKeys", 5_000_000;
        /// Bytes of a response stored under an `Idempotency-Key`.
        KeptAnswerBytes = "keptAnswerBytes", 64 * 1_024, "the response is not stored: a retry is 409 `answer_not_kept`";
        /// Concurrent exports of players and audit logs at one node of the hub.
        Exports = "exports", 4;
        /// Addresses on the waitlist, which belongs to the hub.
        WaitlistEntries = "waitlistEntries", 1_000_000, "no more are added";
    }
}
