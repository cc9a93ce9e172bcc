//! What the hub answers and takes. Times are milliseconds since the Unix epoch; `None` is a field that is null or missing.

mod command;
mod document;
mod economy;
mod localization;
mod matchmaking;
mod permission;
mod player;
mod punishment;
mod server;
mod world;

pub use command::{ChatMessage, ConsoleCommand, TransferCommand, TransferOutcome};
pub use document::{
    CollectionDefinition, CollectionIndex, ConfigDocument, DocumentBatch, DocumentPage, IndexStatus, IndexType, Order,
    RegisteredCollection, StoredDocument,
};
pub use economy::{
    Balance, BalanceOperation, ChangedBalance, CurrencyLeaderboard, CurrencyRank, IncrementedStatistic,
    ModifiedBalance, Period, StatisticLeaderboard, StatisticRank, StatisticValue, TransactionReceipt,
};
pub use localization::{Catalog, LanguageSource, Locale, PlayerLanguage};
pub use matchmaking::{Match, MatchRequest, RegionPopulation};
pub use permission::{EffectivePermissions, PermissionGroup, PermissionNode};
pub use player::{DataEntry, NamespaceData, PlayerConnection, PlayerProfile, PlayerStatistics, StoredData};
pub use punishment::{Punishment, PunishmentType};
pub use server::{
    LiveServer, LiveWorld, OnlinePlayer, PlayerName, PluginReport, Registered, ServerInfo, ServerPage, ServerRecord,
    ServerRole, ServerState, WorldState,
};
pub use world::{OpenWorldRequest, OpenedWorld, SnapshotUpload, WorldLease, WorldOpenCommand, WorldOwner, WorldSeed};
