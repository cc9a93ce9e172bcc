//! The JetStream stream of all networks' events: its limits, and its epoch.

use super::connection::Cluster;
use super::settings::ClusterError;
use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::context::{CreateStreamError, CreateStreamErrorKind, GetStreamError, GetStreamErrorKind};
use async_nats::jetstream::stream::{Config, DiscardPolicy, Info, Republish, StorageType, Stream};
use std::time::Duration;

/// Maximum time that NATS needs to delete a stream's files after it answered that there is none of that name.
const DELETION_TIME: Duration = Duration::from_millis(300);

/// Sequence that the events' numbers belong to. Every node finds it in the stream's description; for a stream that was
/// never replaced, it is the time of its creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Epoch {
    /// Higher than those of all earlier sequences.
    pub(crate) number: u64,
    /// Events up to this one are of earlier sequences.
    pub(crate) begin: u64,
    /// Epoch of the database whose changes the events tell of.
    pub(crate) database: u64,
}

impl Epoch {
    pub(crate) fn of(stream: &Info) -> Self {
        let described = stream.config.description.as_deref().and_then(Self::parse);
        described.unwrap_or_else(|| {
            let created = stream.created.unix_timestamp_nanos() / 1_000;
            Self { number: u64::try_from(created).unwrap_or(0), begin: 0, database: 0 }
        })
    }

    fn describe(self) -> String {
        format!("epoch {} after {} of database {}", self.number, self.begin, self.database)
    }

    fn parse(text: &str) -> Option<Self> {
        let (number, rest) = text.strip_prefix("epoch ")?.split_once(" after ")?;
        let (begin, database) = rest.split_once(" of database ")?;
        Some(Self { number: number.parse().ok()?, begin: begin.parse().ok()?, database: database.parse().ok()? })
    }
}

fn is_missing(error: &GetStreamError) -> bool {
    matches!(error.kind(), GetStreamErrorKind::JetStream(error) if error.error_code() == ErrorCode::STREAM_NOT_FOUND)
}

/// True if NATS, its cluster or the account has less storage to give than the stream asked for.
fn lacks_storage(error: &CreateStreamError) -> bool {
    let CreateStreamErrorKind::JetStream(error) = error.kind() else { return false };
    match error.error_code() {
        ErrorCode::STORAGE_RESOURCES_EXCEEDED
        | ErrorCode::ACCOUNT_RESOURCES_EXCEEDED
        | ErrorCode::INSUFFICIENT_RESOURCES
        | ErrorCode::STREAM_MAX_STREAM_BYTES_EXCEEDED => true,
        // For other reasons, too.
        ErrorCode::CLUSTER_NO_PEERS => error.to_string().contains("storage"),
        _ => false,
    }
}

impl Cluster {
    /// The stream of events, created if it is missing.
    pub(crate) async fn event_stream(&self) -> Result<Stream, ClusterError> {
        let wanted = self.stream_config();
        let stream = self.get_or_create_stream(&wanted).await?;
        let found = &stream.cached_info().config;
        let takes_events = wanted.subjects.iter().all(|subject| found.subjects.contains(subject));
        if !takes_events || found.republish.is_none() {
            // Created by another program. Not every version of NATS can change it into one that republishes its events.
            tracing::warn!("the stream of events is not the hub's; it is replaced");
            let deleted = self.jetstream().delete_stream(&wanted.name).await;
            deleted.map_err(|error| ClusterError::Stream(error.to_string()))?;
            return self.get_or_create_stream(&wanted).await;
        }
        if found.max_messages_per_subject <= 0 {
            let max_messages_per_subject = wanted.max_messages_per_subject;
            self.update_stream(Config { max_messages_per_subject, ..found.clone() }).await?;
            return self.get_or_create_stream(&wanted).await;
        }
        Ok(stream)
    }

    pub(super) async fn find_stream(&self, name: &str) -> Result<Option<Stream>, ClusterError> {
        match self.jetstream().get_stream(name).await {
            Ok(stream) => Ok(Some(stream)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(ClusterError::Stream(error.to_string())),
        }
    }

    async fn get_or_create_stream(&self, config: &Config) -> Result<Stream, ClusterError> {
        if let Some(stream) = self.find_stream(&config.name).await? {
            return Ok(stream);
        }
        // It was deleted, perhaps just now: NATS may still be deleting its files, and with them those of a new one.
        tokio::time::sleep(DELETION_TIME).await;
        self.create_stream(config.clone()).await
    }

    /// Creates the stream with the largest history that NATS has room for, from the wanted one down to a network's.
    async fn create_stream(&self, mut config: Config) -> Result<Stream, ClusterError> {
        let wanted = config.max_bytes;
        let least = i64::try_from(self.config().network_bytes).unwrap_or(i64::MAX).min(wanted);
        loop {
            match self.jetstream().get_or_create_stream(config.clone()).await {
                Ok(stream) => {
                    if config.max_bytes < wanted {
                        tracing::warn!(
                            "NATS has less than {} MiB of storage for events, so they have {} MiB; for more, raise \
                             `max_file_store` or the account's limit, and run `nats stream edit {} --max-bytes {wanted}`",
                            wanted >> 20,
                            config.max_bytes >> 20,
                            config.name
                        );
                    }
                    return Ok(stream);
                }
                Err(error) if lacks_storage(&error) && config.max_bytes / 2 >= least => config.max_bytes /= 2,
                Err(error) if lacks_storage(&error) => return Err(ClusterError::Storage { mib: least >> 20 }),
                Err(error) => return Err(ClusterError::Stream(error.to_string())),
            }
        }
    }

    /// Replaces the stream of this epoch if it cannot store events and never did, such as when its files are deleted.
    pub(crate) async fn replace_unusable(&self, epoch: Epoch) -> Result<(), ClusterError> {
        let stream = self.event_stream().await?;
        let info = stream.cached_info();
        if Epoch::of(info) == epoch && info.state.last_sequence == 0 {
            tracing::warn!("the stream of events cannot store any; it is replaced");
            let deleted = self.jetstream().delete_stream(&info.config.name).await;
            deleted.map_err(|error| ClusterError::Stream(error.to_string()))?;
            self.event_stream().await?;
        }
        Ok(())
    }

    /// The stream's epoch and newest number.
    pub(crate) async fn position(&self) -> Result<(Epoch, u64), ClusterError> {
        let stream = self.event_stream().await?;
        let info = stream.cached_info();
        Ok((Epoch::of(info), info.state.last_sequence))
    }

    fn stream_config(&self) -> Config {
        let config = self.config();
        Config {
            name: config.stream_name(),
            subjects: vec![format!("{}.in.*", config.prefix)],
            republish: Some(Republish {
                source: format!("{}.in.*", config.prefix),
                destination: format!("{}.out.{{{{wildcard(1)}}}}", config.prefix),
                headers_only: false,
            }),
            // On disk, so that a restart of the bus neither loses events that may be resumed from nor restarts the
            // sequence.
            storage: StorageType::File,
            max_age: config.retention,
            max_bytes: i64::try_from(config.max_bytes).unwrap_or(i64::MAX),
            max_messages_per_subject: i64::try_from(config.network_events).unwrap_or(i64::MAX),
            discard: DiscardPolicy::Old,
            duplicate_window: config.retention,
            num_replicas: config.replicas,
            ..Config::default()
        }
    }

    /// Starts a new sequence for the stream's numbers from now on.
    pub(crate) async fn begin_epoch(&self, stream: &Info, number: u64, database: u64) -> Result<Epoch, ClusterError> {
        let epoch = Epoch { number, begin: stream.state.last_sequence, database };
        self.update_stream(Config { description: Some(epoch.describe()), ..stream.config.clone() }).await?;
        Ok(epoch)
    }

    async fn update_stream(&self, config: Config) -> Result<(), ClusterError> {
        let updated = self.jetstream().update_stream(config).await;
        updated.map(drop).map_err(|error| ClusterError::Stream(error.to_string()))
    }
}
