-- Schema on PostgreSQL. `../sqlite/0001_schema.sql` has the same tables for SQLite.
--
-- Times are milliseconds since the epoch.

-- Both come with PostgreSQL and may be created by the database's owner. The documentation of players says what to do
-- where they are missing.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;


-- Networks, their keys and plans ---------------------------------------------------------------------------------------

-- Networks, each a tenant with an owner of its own.
CREATE TABLE networks (
    network_id              UUID    NOT NULL PRIMARY KEY,
    name                    TEXT    NOT NULL UNIQUE,
    -- Name in `plans`.
    plan                    TEXT    NOT NULL,
    suspended               BOOLEAN NOT NULL,
    -- Sealed by the secrets key; empty until it is first needed.
    signing_secret          TEXT    NOT NULL,
    -- The secret before `signing_secret`, valid until the time beside it.
    previous_signing_secret TEXT,
    previous_signing_until  BIGINT,
    created_at              BIGINT  NOT NULL,
    -- Settings of its owner's.
    stage                   TEXT    NOT NULL DEFAULT 'LIVE',
    sessions_required       BOOLEAN NOT NULL DEFAULT FALSE,
    require_second_factor   BOOLEAN NOT NULL DEFAULT FALSE,
    chat_history_days       BIGINT NOT NULL DEFAULT 0
);

-- API keys of networks. Only hashes are stored.
CREATE TABLE api_keys (
    network_id      UUID   NOT NULL,
    key_id          TEXT   NOT NULL,
    name            TEXT   NOT NULL,
    scopes          TEXT   NOT NULL,
    -- Servers and addresses that the key is bound to, as JSON arrays; null: not bound.
    servers         TEXT,
    addresses       TEXT,
    sha256          BYTEA  NOT NULL,
    -- Hash of the secret before the last roll, valid until the time beside it.
    previous_sha256 BYTEA,
    previous_until  BIGINT,
    created_at      BIGINT NOT NULL,
    -- Key or person that created it.
    created_by      TEXT,
    -- Key or person that replaced its secret last, and so knows it.
    rolled_by       TEXT,
    -- The same of the secret before.
    previous_by     TEXT,
    expires_at      BIGINT,
    revoked_at      BIGINT,
    last_used_at    BIGINT,
    PRIMARY KEY (network_id, key_id)
);
-- A request names its key alone, before its network is known.
CREATE UNIQUE INDEX api_keys_by_id ON api_keys (key_id);
-- An operator makes keys in any network.
CREATE INDEX api_keys_by_creator ON api_keys (created_by) WHERE created_by IS NOT NULL;
CREATE INDEX api_keys_by_roller ON api_keys (rolled_by) WHERE rolled_by IS NOT NULL;

-- Plans: rates, quotas and module limits of the networks that are on them. The hub adds `default` when it starts.
CREATE TABLE plans (
    name          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    -- JSON as on the wire; absent fields are unlimited.
    limits        TEXT             NOT NULL,
    -- JSON by extension point.
    module_limits TEXT             NOT NULL,
    created_at    BIGINT           NOT NULL,
    updated_at    BIGINT           NOT NULL
);

-- Deletions of networks: pending ones, and what is left of networks that are gone.
CREATE TABLE network_deletions (
    network_id    UUID   NOT NULL PRIMARY KEY,
    name          TEXT   NOT NULL,
    delete_at     BIGINT NOT NULL,
    -- Null until all of it is deleted.
    deleted_at    BIGINT,
    -- True from the first deleted row: it can no longer be cancelled.
    begun         BOOLEAN NOT NULL
);
CREATE INDEX network_deletions_by_end ON network_deletions (deleted_at) WHERE deleted_at IS NOT NULL;

-- Moves of networks from this hub or to it. Such a network is suspended besides.
CREATE TABLE network_moves (
    network_id UUID NOT NULL PRIMARY KEY,
    -- Of the command that moves it.
    move_id    TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('LEAVING', 'LEFT', 'ARRIVING')),
    -- Address of the hub to which it moves.
    url        TEXT NOT NULL,
    -- False for a network that was suspended before.
    resumes    BOOLEAN NOT NULL,
    since      BIGINT NOT NULL
);

-- Nodes that have no request of a leaving network under way, and nothing of it in memory alone.
CREATE TABLE network_move_nodes (
    network_id UUID NOT NULL,
    node       TEXT NOT NULL,
    move_id    TEXT NOT NULL,
    PRIMARY KEY (network_id, node)
);

-- Networks that are being imported: their rows are there, the network itself is not yet.
CREATE TABLE network_imports (
    network_id UUID NOT NULL PRIMARY KEY,
    -- Of the process that imports it.
    token      TEXT NOT NULL
);


-- Jobs -----------------------------------------------------------------------------------------------------------------

-- Work that waits, is under way, or was given up. The hub's own is of the operator's network.
CREATE TABLE jobs (
    network_id UUID    NOT NULL,
    kind       TEXT    NOT NULL,
    -- Names the work in its kind, so that it is queued once.
    job_key    TEXT    NOT NULL,
    -- JSON.
    payload    TEXT    NOT NULL,
    created_at BIGINT  NOT NULL,
    -- Time of the next attempt, or end of the lease; null: given up.
    due_at     BIGINT,
    attempts   BIGINT  NOT NULL,
    -- Times that a node was killed while it ran the job.
    kills      BIGINT  NOT NULL,
    last_error TEXT,
    -- Node that has leased it, and the lease; null: none has.
    node       TEXT,
    lease_id   UUID,
    -- Queued once more since the lease began.
    again      BOOLEAN NOT NULL,
    PRIMARY KEY (network_id, kind, job_key)
);
CREATE INDEX jobs_due ON jobs (kind, network_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX jobs_dead ON jobs (kind, created_at) WHERE due_at IS NULL;


-- Servers, their players and their agents ------------------------------------------------------------------------------

-- Servers as they registered, with the state of their last heartbeat.
CREATE TABLE servers (
    network_id       UUID             NOT NULL,
    server_id        TEXT COLLATE "C" NOT NULL,
    server_type      TEXT             NOT NULL,
    game_type        TEXT,
    role             TEXT             NOT NULL CHECK (role IN ('GAME', 'PROXY')),
    display_name     TEXT,
    -- Id and display name in lower case, for searching.
    search_text      TEXT             NOT NULL,
    max_players      BIGINT           NOT NULL,
    host             TEXT             NOT NULL,
    port             BIGINT           NOT NULL,
    region           TEXT             NOT NULL,
    country          TEXT,
    plugin_version   TEXT,
    plugin_build     BIGINT,
    plugin_commit    TEXT,
    platform_name    TEXT,
    platform_version TEXT,
    plugins          TEXT             NOT NULL,
    first_seen       BIGINT           NOT NULL,
    -- The last heartbeat while present.
    last_seen        BIGINT           NOT NULL,
    started_at       BIGINT           NOT NULL,
    -- Neither unregistered nor found silent.
    present          BOOLEAN          NOT NULL,
    game_state       TEXT,
    players_to_start BIGINT           NOT NULL,
    worlds           TEXT             NOT NULL,
    PRIMARY KEY (network_id, server_id)
);
CREATE INDEX servers_by_type ON servers (network_id, server_type, server_id);
CREATE INDEX servers_present ON servers (network_id, last_seen) WHERE present;

-- Players online, each on one server.
CREATE TABLE server_players (
    network_id        UUID   NOT NULL,
    player_id         UUID   NOT NULL,
    server_id         TEXT   NOT NULL,
    player_name       TEXT,
    world_id          TEXT,
    previous_world_id TEXT,
    joined_at         BIGINT NOT NULL,
    PRIMARY KEY (network_id, player_id)
);

-- Slots reserved for players on their way, written with several nodes alone: they outlive the network's owner. Times are
-- the database's.
CREATE TABLE slot_reservations (
    network_id     UUID    NOT NULL,
    reservation_id UUID    NOT NULL,
    server_id      TEXT    NOT NULL,
    player_id      UUID,
    world_id       TEXT,
    -- The id was handed out, and no transfer has used it yet.
    promised       BOOLEAN NOT NULL,
    expires_at     BIGINT  NOT NULL,
    PRIMARY KEY (network_id, reservation_id)
);

-- Tickets of waiting lines, and those that ended in the last minutes. The network's owner has them in memory.
CREATE TABLE waiting_tickets (
    network_id  UUID    NOT NULL,
    ticket_id   UUID    NOT NULL,
    -- The leader of the party.
    player_uuid UUID    NOT NULL,
    -- JSON of the ticket.
    ticket      TEXT    NOT NULL,
    PRIMARY KEY (network_id, ticket_id)
);

-- Waiting lines that are not as a new one is.
CREATE TABLE waiting_line_settings (
    network_id   UUID    NOT NULL,
    line         TEXT    NOT NULL,
    paused       BOOLEAN NOT NULL,
    paused_until BIGINT ,
    max_waiting  BIGINT ,
    PRIMARY KEY (network_id, line)
);

-- Commands that wait for a server's node agent.
CREATE TABLE agent_commands (
    network_id UUID   NOT NULL,
    server_id  TEXT   NOT NULL,
    command_id TEXT   NOT NULL,
    -- JSON that the agent gets.
    command    TEXT   NOT NULL,
    -- Dropped from then on.
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (network_id, server_id, command_id)
);

-- Node agents that were connected when their network moved to another node.
CREATE TABLE server_agents (
    network_id UUID   NOT NULL,
    server_id  TEXT   NOT NULL,
    -- Parameters of the last poll, as JSON.
    report     TEXT   NOT NULL,
    seen_at    BIGINT NOT NULL,
    PRIMARY KEY (network_id, server_id)
);

-- Last line number of each server's log.
CREATE TABLE server_logs (
    network_id UUID   NOT NULL,
    server_id  TEXT   NOT NULL,
    last_seq   BIGINT NOT NULL,
    PRIMARY KEY (network_id, server_id)
);

-- Console lines from node agents, the newest of each server.
CREATE TABLE server_log_lines (
    network_id UUID   NOT NULL,
    server_id  TEXT   NOT NULL,
    -- Counts from 1 per server, without gaps.
    seq        BIGINT NOT NULL,
    at         BIGINT NOT NULL,
    -- stdout or stderr.
    stream     TEXT   NOT NULL CHECK (stream IN ('stdout', 'stderr')),
    text       TEXT   NOT NULL,
    PRIMARY KEY (network_id, server_id, seq)
);

-- Servers whose machine a provisioner makes or made.
CREATE TABLE provisioned_servers (
    network_id     UUID             NOT NULL,
    server_id      TEXT COLLATE "C" NOT NULL,
    server_type    TEXT,
    display_name   TEXT,
    -- Id and display name in lower case, for searching.
    search_text    TEXT             NOT NULL,
    provider       TEXT,
    -- PROVISIONING or AWAITING_AUTH; `servers` tells that it registered.
    phase          TEXT             NOT NULL CHECK (phase IN ('PROVISIONING', 'AWAITING_AUTH')),
    desired_state  TEXT             NOT NULL CHECK (desired_state IN ('RUNNING', 'STOPPED')),
    region         TEXT,
    server_vm_type TEXT,
    ipv4           TEXT,
    verify_url     TEXT,
    user_code      TEXT,
    created_at     BIGINT           NOT NULL,
    updated_at     BIGINT           NOT NULL,
    PRIMARY KEY (network_id, server_id)
);

-- Bundles that provisioned machines of a server type fetch at boot.
CREATE TABLE provisioning_bundles (
    network_id  UUID             NOT NULL,
    server_type TEXT COLLATE "C" NOT NULL,
    -- Part of the blob's key.
    file_id     TEXT             NOT NULL,
    sha256      TEXT             NOT NULL,
    size_bytes  BIGINT           NOT NULL,
    updated_at  BIGINT           NOT NULL,
    PRIMARY KEY (network_id, server_type)
);


-- Transfers ------------------------------------------------------------------------------------------------------------

-- Transfers of players, deleted after a day.
CREATE TABLE transfers (
    network_id    UUID   NOT NULL,
    id            UUID   NOT NULL,
    player_uuid   UUID   NOT NULL,
    -- Null where the player was not online.
    from_server   TEXT,
    to_server     TEXT   NOT NULL,
    to_world      TEXT,
    -- Null while it is under way.
    result        TEXT,
    error_message TEXT,
    created_at    BIGINT NOT NULL,
    expires_at    BIGINT NOT NULL,
    ended_at      BIGINT,
    PRIMARY KEY (network_id, id)
);
CREATE INDEX transfers_of_player ON transfers (network_id, player_uuid, ended_at);
-- Time-outs are recorded by network; old rows of all are deleted together.
CREATE INDEX transfers_due ON transfers (network_id, expires_at) WHERE ended_at IS NULL;
CREATE INDEX transfers_by_age ON transfers (created_at);


-- Worlds ---------------------------------------------------------------------------------------------------------------

-- Worlds that were ever opened. `world_no` is the id of the first lease.
CREATE TABLE worlds (
    network_id  UUID   NOT NULL,
    world_no    BIGINT NOT NULL,
    game_id     TEXT   NOT NULL,
    owner_scope TEXT   NOT NULL,
    owner_id    TEXT   NOT NULL,
    world_key   TEXT   NOT NULL,
    -- Of the newest lease.
    fence       BIGINT NOT NULL,
    -- The newest snapshot, with the fence of its lease and its number within that.
    blob_key    TEXT,
    blob_fence  BIGINT NOT NULL,
    blob_seq    BIGINT NOT NULL,
    -- Node that keeps it in a store of its own; null: the hub handed its key out.
    blob_node   TEXT,
    PRIMARY KEY (network_id, world_no)
);
CREATE UNIQUE INDEX worlds_by_name ON worlds (network_id, game_id, owner_scope, owner_id, world_key);

-- Last lease id of each network.
CREATE TABLE world_counters (
    network_id UUID   NOT NULL PRIMARY KEY,
    last_id    BIGINT NOT NULL
);

-- Leases of worlds, each on one node.
CREATE TABLE world_leases (
    network_id     UUID   NOT NULL,
    id             BIGINT NOT NULL,
    world_no       BIGINT NOT NULL,
    fence          BIGINT NOT NULL,
    -- LOADING, READY, DRAINING, UNLOADED or LOST.
    state          TEXT   NOT NULL CHECK (state IN ('LOADING', 'READY', 'DRAINING', 'UNLOADED', 'LOST')),
    -- Null while it waits for the lease before it to end.
    node_server_id TEXT,
    prefer_node    TEXT,
    persistence    TEXT   NOT NULL,
    world_gen      TEXT,
    seed           TEXT,
    -- URL at which the opener reaches the hub.
    hub_url        TEXT   NOT NULL,
    players        BIGINT NOT NULL,
    -- Null while players are in it, or it is not up.
    idle_since     BIGINT,
    -- Snapshot uploads begun under it.
    uploads        BIGINT NOT NULL,
    -- The snapshot it was unloaded with.
    blob_key       TEXT,
    opened_at      BIGINT NOT NULL,
    expires_at     BIGINT NOT NULL,
    ended_at       BIGINT,
    PRIMARY KEY (network_id, id)
);
-- A world is booting or up at most once.
CREATE UNIQUE INDEX world_leases_live ON world_leases (network_id, world_no) WHERE state IN ('LOADING', 'READY');
CREATE INDEX world_leases_of_world ON world_leases (network_id, world_no, state);
CREATE INDEX world_leases_of_node ON world_leases (network_id, node_server_id, state);
CREATE INDEX world_leases_per_node ON world_leases (network_id, node_server_id, expires_at)
    WHERE state IN ('LOADING', 'READY', 'DRAINING');
-- Networks with due work are found by leaps.
CREATE INDEX world_leases_due ON world_leases (network_id, expires_at) WHERE state IN ('LOADING', 'READY', 'DRAINING');
CREATE INDEX world_leases_idle ON world_leases (network_id, idle_since) WHERE state = 'READY' AND idle_since IS NOT NULL;
CREATE INDEX world_leases_waiting ON world_leases (network_id, opened_at) WHERE state = 'LOADING' AND node_server_id IS NULL;
CREATE INDEX world_leases_ended ON world_leases (ended_at) WHERE ended_at IS NOT NULL;

-- Snapshots, and uploads that may yet become one.
CREATE TABLE world_blobs (
    network_id UUID   NOT NULL,
    blob_key   TEXT   NOT NULL,
    world_no   BIGINT NOT NULL,
    lease_id   BIGINT NOT NULL,
    fence      BIGINT NOT NULL,
    seq        BIGINT NOT NULL,
    -- Null until the upload is confirmed.
    size_bytes BIGINT,
    -- Key in the hub's blob store; null in a node's own store.
    file       TEXT,
    minted_at  BIGINT NOT NULL,
    PRIMARY KEY (network_id, blob_key)
);
CREATE INDEX world_blobs_of_world ON world_blobs (network_id, world_no, fence, seq);


-- Players --------------------------------------------------------------------------------------------------------------

-- Players who were ever seen.
CREATE TABLE players (
    network_id      UUID   NOT NULL,
    player_uuid     UUID   NOT NULL,
    -- Null until it is known.
    username        TEXT,
    -- In lower case: names compare without case.
    username_folded TEXT,
    game_type       TEXT,
    region          TEXT   NOT NULL,
    country         TEXT,
    first_seen      BIGINT NOT NULL,
    last_seen       BIGINT NOT NULL,
    PRIMARY KEY (network_id, player_uuid)
);
CREATE INDEX players_by_last_seen ON players (network_id, last_seen DESC, player_uuid);
CREATE INDEX players_by_region ON players (network_id, region, last_seen DESC, player_uuid);
CREATE INDEX players_by_username ON players (network_id, username_folded);
-- Finds names by any three characters in a row.
CREATE INDEX player_search ON players USING gin (network_id, username_folded gin_trgm_ops);

-- Players' data, one JSON text per game mode and namespace.
CREATE TABLE player_data (
    network_id  UUID   NOT NULL,
    player_uuid UUID   NOT NULL,
    game_mode   TEXT   NOT NULL,
    namespace   TEXT   NOT NULL,
    data        TEXT   NOT NULL,
    version     BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    PRIMARY KEY (network_id, player_uuid, game_mode, namespace)
);

-- The newest session of each player: the right of one server to write the player's data.
CREATE TABLE player_sessions (
    network_id   UUID    NOT NULL,
    player_uuid  UUID    NOT NULL,
    fence        BIGINT  NOT NULL,
    server_id    TEXT    NOT NULL,
    state        TEXT    NOT NULL,
    opened_at    BIGINT  NOT NULL,
    ended_at     BIGINT ,
    -- The last save, for its repetition: hash of its content, number, and the versions it wrote as JSON.
    saved_digest BYTEA  ,
    saved_number BIGINT ,
    saved_answer TEXT,
    PRIMARY KEY (network_id, player_uuid)
);
CREATE INDEX player_sessions_open ON player_sessions (network_id, state) WHERE state = 'OPEN';

-- Last fence of each network.
CREATE TABLE player_session_counters (
    network_id UUID    NOT NULL PRIMARY KEY,
    last_fence BIGINT  NOT NULL
);

-- Contents of players' data at the ends of sessions, the newest ones of each namespace.
CREATE TABLE player_data_snapshots (
    network_id  UUID    NOT NULL,
    player_uuid UUID    NOT NULL,
    game_mode   TEXT    NOT NULL,
    namespace   TEXT    NOT NULL,
    -- Fence of the session that ended.
    fence       BIGINT  NOT NULL,
    server_id   TEXT    NOT NULL,
    at          BIGINT  NOT NULL,
    version     BIGINT  NOT NULL,
    data        TEXT    NOT NULL,
    PRIMARY KEY (network_id, player_uuid, game_mode, namespace, fence)
);

-- Names that players were seen with.
CREATE TABLE player_names (
    network_id  UUID   NOT NULL,
    player_uuid UUID   NOT NULL,
    name_folded TEXT   NOT NULL,
    last_seen   BIGINT NOT NULL,
    PRIMARY KEY (network_id, player_uuid, name_folded)
);
CREATE INDEX player_names_by_name ON player_names (network_id, name_folded, player_uuid, last_seen);

-- Addresses that players were seen with.
CREATE TABLE player_addresses (
    network_id  UUID   NOT NULL,
    player_uuid UUID   NOT NULL,
    ip_address  TEXT   NOT NULL,
    first_seen  BIGINT NOT NULL,
    last_seen   BIGINT NOT NULL,
    PRIMARY KEY (network_id, player_uuid, ip_address)
);
CREATE INDEX player_addresses_by_address ON player_addresses (network_id, ip_address, player_uuid, last_seen);

-- Players whose data was, or is being, erased; erased again after a restore.
CREATE TABLE forgotten_players (
    network_id    UUID   NOT NULL,
    player_uuid   UUID   NOT NULL,
    -- Time of the last request.
    forgotten_at  BIGINT NOT NULL,
    finished_at   BIGINT,
    PRIMARY KEY (network_id, player_uuid)
);
CREATE INDEX forgotten_players_of_network ON forgotten_players (network_id, forgotten_at DESC, player_uuid);
-- Players whom other nodes drop from memory are looked for in all networks together.
CREATE INDEX forgotten_players_by_time ON forgotten_players (forgotten_at, network_id, player_uuid);


-- Play time ------------------------------------------------------------------------------------------------------------

-- Stays of players on servers, of the last 30 days. Times are milliseconds.
CREATE TABLE player_visits (
    network_id  UUID    NOT NULL,
    player_uuid UUID    NOT NULL,
    from_at     BIGINT  NOT NULL,
    server_id   TEXT    NOT NULL,
    server_type TEXT    NOT NULL,
    -- Null while it runs.
    to_at       BIGINT,
    -- Time up to which the sums below have it.
    counted_to  BIGINT  NOT NULL,
    -- Players online once this one had joined.
    online      BIGINT  NOT NULL,
    -- True once the sums have its begin.
    noted       BOOLEAN NOT NULL,
    -- True if it began or ended since the sums were brought up to date.
    pending     BOOLEAN NOT NULL,
    PRIMARY KEY (network_id, player_uuid, from_at)
);
CREATE INDEX player_visits_pending ON player_visits (network_id, pending, player_uuid, from_at) WHERE pending = true;
CREATE INDEX player_visits_running ON player_visits (network_id, counted_to) WHERE to_at IS NULL;
CREATE INDEX player_visits_ended ON player_visits (network_id, to_at) WHERE to_at IS NOT NULL;

-- Visits of players, where stays that follow each other within a minute are one.
CREATE TABLE play_time (
    network_id  UUID    NOT NULL,
    player_uuid UUID    NOT NULL,
    first_at    BIGINT  NOT NULL,
    last_at     BIGINT  NOT NULL,
    visits      BIGINT  NOT NULL,
    PRIMARY KEY (network_id, player_uuid)
);

-- Milliseconds of players on servers of a type.
CREATE TABLE play_time_by_type (
    network_id  UUID    NOT NULL,
    player_uuid UUID    NOT NULL,
    server_type TEXT    NOT NULL,
    ms          BIGINT  NOT NULL,
    PRIMARY KEY (network_id, player_uuid, server_type)
);

-- Milliseconds of players on days, which are numbered from 1970-01-01, UTC; the newest 30 of each player.
CREATE TABLE play_time_days (
    network_id  UUID    NOT NULL,
    player_uuid UUID    NOT NULL,
    day         BIGINT  NOT NULL,
    ms          BIGINT  NOT NULL,
    PRIMARY KEY (network_id, player_uuid, day)
);

-- Players of a day, all together: it names none, and outlives them.
CREATE TABLE daily_players (
    network_id      UUID    NOT NULL,
    day             BIGINT  NOT NULL,
    players         BIGINT  NOT NULL,
    new_players     BIGINT  NOT NULL,
    peak_online     BIGINT  NOT NULL,
    online_at_start BIGINT  NOT NULL,
    ms              BIGINT  NOT NULL,
    -- Of its new players, those seen 1, 7 and 30 days later.
    returned_1      BIGINT  NOT NULL,
    returned_7      BIGINT  NOT NULL,
    returned_30     BIGINT  NOT NULL,
    PRIMARY KEY (network_id, day)
);

-- Rows that are locked while a network's sums are brought up to date.
CREATE TABLE play_time_passes (
    network_id UUID    NOT NULL PRIMARY KEY,
    passed_at  BIGINT  NOT NULL
);


-- Economy --------------------------------------------------------------------------------------------------------------

-- Currencies and their bounds. All amounts are ten-thousandths of the currency's unit.
CREATE TABLE currencies (
    network_id       UUID             NOT NULL,
    name             TEXT COLLATE "C" NOT NULL,
    -- Null: none.
    minimum          BIGINT,
    maximum          BIGINT,
    starting_balance BIGINT,
    -- Balance without transactions: the starting balance, or the nearest to 0 inside the bounds.
    begins_at        BIGINT           NOT NULL,
    PRIMARY KEY (network_id, name)
);
CREATE INDEX currencies_given ON currencies (network_id, name, begins_at) WHERE begins_at <> 0;

-- Balances, one row per owner and currency.
CREATE TABLE balances (
    network_id UUID             NOT NULL,
    owner_type TEXT COLLATE "C" NOT NULL,
    owner_key  TEXT COLLATE "C" NOT NULL,
    currency   TEXT COLLATE "C" NOT NULL,
    balance    BIGINT           NOT NULL,
    -- Amount before the last change.
    previous   BIGINT           NOT NULL,
    -- Time at which it got its present amount: of equal balances the older one ranks higher.
    reached    BIGINT           NOT NULL,
    -- Its last entry in the ledger.
    last_entry BIGINT           NOT NULL,
    PRIMARY KEY (network_id, owner_type, owner_key, currency)
);
CREATE INDEX balances_by_rank ON balances (network_id, currency, owner_type, balance DESC, reached, owner_key);

-- Entries of the ledger, one for each change of a balance.
CREATE TABLE currency_ledger (
    network_id     UUID             NOT NULL,
    owner_type     TEXT COLLATE "C" NOT NULL,
    owner_key      TEXT COLLATE "C" NOT NULL,
    currency       TEXT COLLATE "C" NOT NULL,
    -- Rises with every entry of a balance.
    id             BIGINT           NOT NULL,
    -- Change that was requested; bounds may have cut it.
    asked          BIGINT           NOT NULL,
    balance_before BIGINT           NOT NULL,
    balance        BIGINT           NOT NULL,
    reason         TEXT,
    key_id         TEXT             NOT NULL,
    at             BIGINT           NOT NULL,
    -- Of several changes that were made together; null: the change was made alone.
    transaction_id UUID,
    -- Change that the network's modules made of it; null: they left it.
    amended        BIGINT,
    PRIMARY KEY (network_id, owner_type, owner_key, currency, id)
);
CREATE INDEX currency_ledger_by_owner ON currency_ledger (network_id, owner_type, owner_key, id DESC, currency);


-- Statistics -----------------------------------------------------------------------------------------------------------

-- Statistics of owners, by game mode, period and name.
CREATE TABLE statistics (
    network_id   UUID             NOT NULL,
    owner_type   TEXT COLLATE "C" NOT NULL,
    owner_key    TEXT COLLATE "C" NOT NULL,
    game_mode    TEXT COLLATE "C" NOT NULL,
    -- DAILY, WEEKLY, MONTHLY or LIFETIME.
    period       TEXT COLLATE "C" NOT NULL,
    -- First day, as YYYY-MM-DD.
    period_start TEXT COLLATE "C" NOT NULL,
    name         TEXT COLLATE "C" NOT NULL,
    -- The check stops sums that would leave the range of numbers: no single amount is larger than this.
    value        DOUBLE PRECISION NOT NULL CHECK (value BETWEEN -1e300 AND 1e300),
    updated_at   BIGINT           NOT NULL,
    -- Time at which it got its present value: of equal values the older one ranks higher.
    reached      BIGINT           NOT NULL,
    PRIMARY KEY (network_id, owner_type, owner_key, game_mode, period, period_start, name)
);
CREATE INDEX statistics_by_rank
    ON statistics (network_id, owner_type, game_mode, name, period, period_start, value DESC, reached, owner_key);


-- Punishments ----------------------------------------------------------------------------------------------------------

-- Punishments of players and addresses.
CREATE TABLE punishments (
    network_id    UUID    NOT NULL,
    id            BIGINT  NOT NULL,
    player_uuid   UUID,
    player_name   TEXT,
    -- In lower case: names compare without case.
    name_folded   TEXT,
    kind          TEXT    NOT NULL CHECK (kind IN ('BAN', 'MUTE', 'WARN', 'KICK')),
    reason        TEXT,
    duration_ms   BIGINT,
    expires_at    BIGINT,
    ip_based      BOOLEAN NOT NULL,
    ip_address    TEXT,
    issuer_uuid   UUID,
    issuer_name   TEXT,
    issued_at     BIGINT  NOT NULL,
    -- OPEN, EXPIRED, REVOKED or DONE.
    state         TEXT    NOT NULL CHECK (state IN ('OPEN', 'EXPIRED', 'REVOKED', 'DONE')),
    revoked_at    BIGINT,
    revoker_uuid  UUID,
    revoker_name  TEXT,
    revoke_reason TEXT,
    -- The issuer's name in lower case.
    issuer_folded TEXT,
    -- Of a ban or mute, to appeal with; sealed by the secrets key, with its fingerprint by that key.
    appeal_code   TEXT,
    appeal_mac    BYTEA,
    -- JSON list of URLs.
    evidence      TEXT    NOT NULL DEFAULT '[]',
    -- JSON list of changes by staff, oldest first.
    edits         TEXT    NOT NULL DEFAULT '[]',
    -- JSON: module call, chat line or report that led to it.
    origin        TEXT,
    PRIMARY KEY (network_id, id)
);
-- Index-only lookups by player, name and address.
CREATE INDEX punishments_by_player ON punishments (network_id, player_uuid, ip_based, issued_at);
CREATE INDEX punishments_by_name ON punishments (network_id, name_folded, player_uuid, ip_based, issued_at);
CREATE INDEX punishments_by_address ON punishments (network_id, ip_address);
-- Lists of staff, by time and by issuer.
CREATE INDEX punishments_by_time ON punishments (network_id, issued_at, id);
CREATE INDEX punishments_by_issuer ON punishments (network_id, issuer_uuid, issued_at, id);
CREATE INDEX punishments_by_issuer_name ON punishments (network_id, issuer_folded, issued_at, id);
-- The code tells the network.
CREATE UNIQUE INDEX punishments_by_appeal_mac ON punishments (appeal_mac) WHERE appeal_mac IS NOT NULL;
-- The first expiry of all networks, then those of each.
CREATE INDEX punishments_due ON punishments (expires_at) WHERE state = 'OPEN' AND expires_at IS NOT NULL;
CREATE INDEX punishments_due_of_network ON punishments (network_id, expires_at)
    WHERE state = 'OPEN' AND expires_at IS NOT NULL;

-- Last punishment id of each network.
CREATE TABLE punishment_counters (
    network_id UUID   NOT NULL PRIMARY KEY,
    last_id    BIGINT NOT NULL
);


-- Deliveries -----------------------------------------------------------------------------------------------------------

-- What is owed to players, until 400 days after it was settled.
CREATE TABLE deliveries (
    network_id    UUID    NOT NULL,
    -- Counts from 1 in its network, in the order of creation.
    delivery_id   BIGINT  NOT NULL,
    -- Null while nobody was seen with the name.
    player_uuid   UUID,
    player_name   TEXT,
    -- In lower case: names compare without case.
    name_folded   TEXT,
    kind          TEXT    NOT NULL,
    payload       TEXT    NOT NULL,
    server_type   TEXT,
    server_id     TEXT,
    state         TEXT    NOT NULL
        CHECK (state IN ('PENDING', 'CLAIMED', 'DELIVERED', 'HELD', 'FAILED', 'EXPIRED', 'CANCELLED')),
    attempts      BIGINT  NOT NULL,
    on_lost       TEXT    NOT NULL CHECK (on_lost IN ('RETRY', 'HOLD')),
    reference     TEXT,
    reason        TEXT,
    -- Of the last claim, until it is lost.
    claim_sha256  BYTEA,
    -- Call that ended the last claim: COMPLETED, FAILED or RETURNED.
    claim_end     TEXT,
    claimed_by    TEXT,
    claimed_until BIGINT,
    created_at    BIGINT  NOT NULL,
    not_before    BIGINT,
    expires_at    BIGINT,
    settled_at    BIGINT,
    -- Time at which the hub acts on it by itself.
    due_at        BIGINT,
    PRIMARY KEY (network_id, delivery_id)
);
CREATE INDEX deliveries_open ON deliveries (network_id, player_uuid, kind, delivery_id)
    WHERE state IN ('PENDING', 'CLAIMED', 'HELD');
CREATE INDEX deliveries_of_names ON deliveries (network_id, name_folded)
    WHERE player_uuid IS NULL AND state IN ('PENDING', 'CLAIMED', 'HELD');
CREATE INDEX deliveries_by_player ON deliveries (network_id, player_uuid, delivery_id);
CREATE INDEX deliveries_by_state ON deliveries (network_id, state, delivery_id);
-- The first of all networks, then those of each.
CREATE INDEX deliveries_due ON deliveries (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX deliveries_due_of_network ON deliveries (network_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX deliveries_settled ON deliveries (settled_at) WHERE settled_at IS NOT NULL;

-- Last delivery id of each network.
CREATE TABLE delivery_counters (
    network_id UUID    NOT NULL PRIMARY KEY,
    last_id    BIGINT  NOT NULL
);

-- References that callers gave to deliveries, kept forever.
CREATE TABLE delivery_references (
    network_id       UUID    NOT NULL,
    reference_sha256 TEXT    NOT NULL,
    delivery_id      BIGINT  NOT NULL,
    -- Of the values sent with the reference; null once the player was erased.
    values_sha256    TEXT,
    player_uuid      UUID,
    name_folded      TEXT,
    created_at       BIGINT  NOT NULL,
    -- Of the delivery, once it is deleted.
    state            TEXT,
    attempts         BIGINT  NOT NULL,
    settled_at       BIGINT,
    PRIMARY KEY (network_id, reference_sha256)
);
CREATE INDEX delivery_references_by_delivery ON delivery_references (network_id, delivery_id);


-- Staff ----------------------------------------------------------------------------------------------------------------

-- Notes of staff about players.
CREATE TABLE staff_notes (
    network_id  UUID NOT NULL,
    player_uuid UUID NOT NULL,
    note_id     TEXT COLLATE "C" NOT NULL,
    text        TEXT NOT NULL,
    pinned      BOOLEAN NOT NULL,
    at          BIGINT NOT NULL,
    -- JSON: the author.
    actor       TEXT NOT NULL,
    PRIMARY KEY (network_id, player_uuid, note_id)
);
CREATE INDEX staff_notes_by_time ON staff_notes (network_id, player_uuid, pinned, at, note_id);

-- Chat lines, as long as the network keeps them.
CREATE TABLE chat_lines (
    network_id  UUID NOT NULL,
    -- Rises with time: microseconds since the epoch.
    chat_id     BIGINT NOT NULL,
    at          BIGINT NOT NULL,
    player_uuid UUID NOT NULL,
    server_id   TEXT COLLATE "C" NOT NULL,
    -- Text and original in lower case, for searching.
    search_text TEXT NOT NULL,
    -- JSON: the line as on the wire.
    line        TEXT NOT NULL,
    PRIMARY KEY (network_id, chat_id)
);
CREATE INDEX chat_lines_by_player ON chat_lines (network_id, player_uuid, chat_id);
CREATE INDEX chat_lines_by_server ON chat_lines (network_id, server_id, chat_id);

-- What players report about others.
CREATE TABLE reports (
    network_id    UUID NOT NULL,
    report_id     BIGINT NOT NULL,
    -- Null for an erased player.
    reporter_uuid UUID,
    player_uuid   UUID NOT NULL,
    reason        TEXT NOT NULL,
    server_id     TEXT,
    state         TEXT NOT NULL CHECK (state IN ('OPEN', 'TAKEN', 'CLOSED')),
    resolution    TEXT,
    -- JSON: one of the staff.
    taken_by      TEXT,
    at            BIGINT NOT NULL,
    closed_at     BIGINT,
    -- JSON: what the player said before, newest first.
    chat          TEXT,
    PRIMARY KEY (network_id, report_id)
);
CREATE INDEX reports_by_state ON reports (network_id, state, report_id);
CREATE INDEX reports_by_reporter ON reports (network_id, reporter_uuid, state);
CREATE INDEX reports_with_chat ON reports (network_id, closed_at) WHERE chat IS NOT NULL;

-- Last report id of each network.
CREATE TABLE report_counters (
    network_id UUID NOT NULL PRIMARY KEY,
    last_id    BIGINT NOT NULL
);

-- Appeals of punished players.
CREATE TABLE appeals (
    network_id    UUID NOT NULL,
    appeal_id     TEXT COLLATE "C" NOT NULL,
    punishment_id BIGINT NOT NULL,
    player_uuid   UUID,
    -- The player's name in lower case.
    name_folded   TEXT,
    text          TEXT NOT NULL,
    contact       TEXT,
    state         TEXT NOT NULL CHECK (state IN ('OPEN', 'ACCEPTED', 'REJECTED')),
    decision      TEXT CHECK (decision IN ('ACCEPT', 'REDUCE', 'REJECT')),
    answer        TEXT,
    at            BIGINT NOT NULL,
    -- JSON: one of the staff.
    decided_by    TEXT,
    decided_at    BIGINT,
    PRIMARY KEY (network_id, appeal_id)
);
CREATE INDEX appeals_by_punishment ON appeals (network_id, punishment_id, at, appeal_id);
CREATE INDEX appeals_by_state ON appeals (network_id, state, at, appeal_id);
CREATE INDEX appeals_by_time ON appeals (network_id, at, appeal_id);


-- Permissions ----------------------------------------------------------------------------------------------------------

-- Groups of permissions, each read and replaced as a whole.
CREATE TABLE permission_groups (
    network_id        UUID             NOT NULL,
    group_id          TEXT COLLATE "C" NOT NULL,
    display_name      TEXT,
    priority          BIGINT           NOT NULL,
    chat_prefix       TEXT,
    chat_prefix_color TEXT,
    chat_name_color   TEXT,
    -- JSON list.
    nodes             TEXT             NOT NULL,
    -- Revision of the network's permissions at the last change, so that a change from an older one is noticed.
    revision          BIGINT  NOT NULL,
    PRIMARY KEY (network_id, group_id)
);

-- Players' own permission nodes.
CREATE TABLE permission_nodes (
    network_id  UUID             NOT NULL,
    player_uuid UUID             NOT NULL,
    node        TEXT COLLATE "C" NOT NULL,
    -- Server, then world; empty: everywhere.
    context     TEXT COLLATE "C" NOT NULL,
    world       TEXT COLLATE "C" NOT NULL,
    value       BOOLEAN          NOT NULL,
    expires_at  BIGINT,
    PRIMARY KEY (network_id, player_uuid, node, context, world)
);

-- Number of permission changes of each network.
CREATE TABLE permission_revisions (
    network_id     UUID   NOT NULL,
    last_revision  BIGINT NOT NULL,
    -- Of the last change of a group.
    group_revision BIGINT NOT NULL,
    PRIMARY KEY (network_id)
);

-- Last change of each player's own nodes.
CREATE TABLE player_permission_revisions (
    network_id  UUID   NOT NULL,
    player_uuid UUID   NOT NULL,
    revision    BIGINT NOT NULL,
    PRIMARY KEY (network_id, player_uuid)
);


-- Localization ---------------------------------------------------------------------------------------------------------

-- Catalogs, one per network that has messages or locales. Their row serializes changes.
CREATE TABLE localization_catalogs (
    network_id  UUID   NOT NULL PRIMARY KEY,
    version     BIGINT NOT NULL,
    default_key TEXT   NOT NULL
);

-- Locales of networks.
CREATE TABLE localization_locales (
    network_id   UUID             NOT NULL,
    -- Locale in lower case and with _, for comparing.
    locale_key   TEXT COLLATE "C" NOT NULL,
    locale       TEXT             NOT NULL,
    display_name TEXT,
    enabled      BOOLEAN          NOT NULL,
    PRIMARY KEY (network_id, locale_key)
);

-- Messages: the plugin's default, and the owner's override, which counts. At least one is there.
CREATE TABLE localization_messages (
    network_id    UUID             NOT NULL,
    namespace     TEXT COLLATE "C" NOT NULL,
    locale_key    TEXT COLLATE "C" NOT NULL,
    message_key   TEXT COLLATE "C" NOT NULL,
    default_text  TEXT COLLATE "C",
    override_text TEXT COLLATE "C",
    PRIMARY KEY (network_id, namespace, locale_key, message_key)
);

-- Players' languages.
CREATE TABLE player_languages (
    network_id  UUID NOT NULL,
    player_uuid UUID NOT NULL,
    username    TEXT,
    -- Null: unset.
    locale      TEXT,
    source      TEXT CHECK (source IN ('PLAYER', 'AUTO')),
    PRIMARY KEY (network_id, player_uuid)
);


-- Config documents and collections -------------------------------------------------------------------------------------

-- Config documents by group and namespace.
CREATE TABLE config_documents (
    network_id UUID NOT NULL,
    doc_group  TEXT NOT NULL,
    namespace  TEXT NOT NULL,
    -- JSON as it was sent but for whitespace.
    doc        TEXT NOT NULL,
    PRIMARY KEY (network_id, doc_group, namespace)
);

-- Collections of documents.
CREATE TABLE collections (
    network_id UUID             NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    key_field  TEXT,
    -- JSON list of fields and types, the newest last.
    indexes    TEXT             NOT NULL,
    PRIMARY KEY (network_id, name)
);

-- Documents of collections.
CREATE TABLE collection_documents (
    network_id UUID             NOT NULL,
    collection TEXT COLLATE "C" NOT NULL,
    id         TEXT COLLATE "C" NOT NULL,
    -- JSON as it was sent but for whitespace.
    doc        TEXT             NOT NULL,
    PRIMARY KEY (network_id, collection, id)
);

-- Entries of the collections' indexes.
CREATE TABLE collection_entries (
    network_id UUID             NOT NULL,
    collection TEXT COLLATE "C" NOT NULL,
    id         TEXT COLLATE "C" NOT NULL,
    field      TEXT COLLATE "C" NOT NULL,
    -- Bytes that compare as the field's values do.
    value      BYTEA            NOT NULL,
    PRIMARY KEY (network_id, collection, id, field)
);
CREATE INDEX collection_entries_by_value ON collection_entries (network_id, collection, field, value, id);

-- Indexes of collections that are being built.
CREATE TABLE collection_index_builds (
    network_id UUID             NOT NULL,
    collection TEXT COLLATE "C" NOT NULL,
    -- JSON list.
    fields     TEXT             NOT NULL,
    -- Documents up to this one are in them.
    after_id   TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (network_id, collection)
);


-- Modules --------------------------------------------------------------------------------------------------------------

-- Versions of modules. Their bytes are in `module_code`, so that lists do not read them.
CREATE TABLE modules (
    network_id    UUID   NOT NULL,
    name          TEXT   NOT NULL,
    version       BIGINT NOT NULL,
    sha256        TEXT   NOT NULL,
    component_id  TEXT,
    size_bytes    BIGINT NOT NULL,
    points        TEXT   NOT NULL,
    world_version TEXT,
    -- JSON of what it handles and needs; null for a module without a manifest.
    manifest      TEXT,
    state         TEXT   NOT NULL CHECK (state IN ('COMPILING', 'READY', 'REJECTED')),
    reason        TEXT,
    created_at    BIGINT NOT NULL,
    -- Key or person that uploaded it.
    created_by    TEXT,
    PRIMARY KEY (network_id, name, version)
);
-- The same bytes again are the same version.
CREATE UNIQUE INDEX modules_by_sha256 ON modules (network_id, name, sha256);

-- Last version number of each module. It outlives the versions, so that no number is used twice.
CREATE TABLE module_names (
    network_id   UUID   NOT NULL,
    name         TEXT   NOT NULL,
    last_version BIGINT NOT NULL,
    PRIMARY KEY (network_id, name)
);

-- Bytes of versions; empty where they are in the blob store.
CREATE TABLE module_code (
    network_id UUID   NOT NULL,
    name       TEXT   NOT NULL,
    version    BIGINT NOT NULL,
    -- Uploaded file.
    upload     BYTEA  NOT NULL,
    -- Component that a core module was wrapped into; null: the upload is a component.
    component  BYTEA,
    PRIMARY KEY (network_id, name, version)
);

-- Chains of modules at the extension points.
CREATE TABLE extension_points (
    network_id UUID   NOT NULL,
    point      TEXT   NOT NULL,
    revision   BIGINT NOT NULL,
    -- JSON lists of links, now and before the last change.
    chain      TEXT   NOT NULL,
    previous   TEXT   NOT NULL,
    -- True after a restore of a backup, until the chain is activated again.
    paused     BOOLEAN NOT NULL DEFAULT FALSE,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (network_id, point)
);

-- Chains of the extension points by their revisions, the newest of each point.
CREATE TABLE extension_point_revisions (
    network_id UUID    NOT NULL,
    point      TEXT    NOT NULL,
    revision   BIGINT  NOT NULL,
    -- JSON list of links, and its size.
    chain      TEXT    NOT NULL,
    size_bytes BIGINT  NOT NULL,
    -- JSON of the key or person that changed it.
    actor      TEXT    NOT NULL,
    created_at BIGINT  NOT NULL,
    PRIMARY KEY (network_id, point, revision)
);

-- Key-value stores of modules.
CREATE TABLE module_store (
    network_id UUID   NOT NULL,
    module     TEXT   NOT NULL,
    -- Keys and values are bytes, since a module may put U+0000 into either.
    key        BYTEA  NOT NULL,
    -- Null where `number` has the value.
    value      BYTEA,
    -- A whole number, which one statement can add to.
    number     BIGINT,
    expires_at BIGINT,
    size       BIGINT NOT NULL,
    PRIMARY KEY (network_id, module, key)
);
CREATE INDEX module_store_by_expiry ON module_store (network_id, module, expires_at);

-- Size of each module's store.
CREATE TABLE module_store_usage (
    network_id UUID   NOT NULL,
    module     TEXT   NOT NULL,
    bytes      BIGINT NOT NULL,
    PRIMARY KEY (network_id, module)
);

-- State of modules, changed together with the effects of their calls.
CREATE TABLE module_state (
    network_id UUID NOT NULL,
    module     TEXT COLLATE "C" NOT NULL,
    -- Keys and values are bytes, since a module may put U+0000 into either.
    key        BYTEA NOT NULL,
    value      BYTEA NOT NULL,
    expires_at BIGINT,
    PRIMARY KEY (network_id, module, key)
);
CREATE INDEX module_state_by_expiry ON module_state (network_id, module, expires_at) WHERE expires_at IS NOT NULL;

-- Size of each module's state. Its row is locked by each call that uses the state.
CREATE TABLE module_state_usage (
    network_id UUID NOT NULL,
    module     TEXT COLLATE "C" NOT NULL,
    bytes      BIGINT NOT NULL,
    PRIMARY KEY (network_id, module)
);

-- Answers of endpoints, by the keys of their requests.
CREATE TABLE endpoint_answers (
    network_id     UUID NOT NULL,
    module         TEXT COLLATE "C" NOT NULL,
    endpoint       TEXT COLLATE "C" NOT NULL,
    -- SHA-256 of the key: its text may name a player.
    request_sha256 BYTEA NOT NULL,
    -- SHA-256 of the request; empty: the key alone decides.
    fingerprint    BYTEA NOT NULL,
    status         BIGINT NOT NULL,
    -- JSON: pairs of name and value.
    headers        TEXT NOT NULL,
    body           BYTEA NOT NULL,
    expires_at     BIGINT NOT NULL,
    PRIMARY KEY (network_id, module, endpoint, request_sha256)
);
-- Old rows of all networks are deleted together.
CREATE INDEX endpoint_answers_by_expiry ON endpoint_answers (expires_at);

-- Links of modules before their last activation.
CREATE TABLE module_activations (
    network_id UUID NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    -- JSON: the module's links by extension point.
    previous   TEXT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (network_id, name)
);

-- Secrets with which signatures of requests to endpoints are checked.
CREATE TABLE module_secrets (
    network_id     UUID NOT NULL,
    name           TEXT COLLATE "C" NOT NULL,
    -- Sealed.
    value          TEXT NOT NULL,
    -- Sealed JSON: the values before, each with the time until which it is good.
    previous       TEXT,
    previous_until BIGINT,
    set_at         BIGINT NOT NULL,
    last_used_at   BIGINT,
    PRIMARY KEY (network_id, name)
);

-- Modules at the extension point `events`, and those that were taken out less than a day ago.
CREATE TABLE handlers (
    network_id   UUID NOT NULL,
    module       TEXT COLLATE "C" NOT NULL,
    -- PLAYER, SERVER or NETWORK.
    event_order  TEXT NOT NULL,
    -- JSON: names of its events.
    events       TEXT NOT NULL,
    -- TRUE: events that it emits are handed to it, too.
    handles_own  BOOLEAN NOT NULL,
    -- Events up to this one are handled before any later one, because they have another order.
    barrier      BIGINT NOT NULL DEFAULT 0,
    -- End of a module that was taken out; null: it is in the chain.
    kept_until   BIGINT,
    delivered    BIGINT NOT NULL DEFAULT 0,
    retried      BIGINT NOT NULL DEFAULT 0,
    skipped      BIGINT NOT NULL DEFAULT 0,
    too_deep     BIGINT NOT NULL DEFAULT 0,
    conflicts    BIGINT NOT NULL DEFAULT 0,
    dropped_dead_letters BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (network_id, module)
);
CREATE INDEX handlers_by_end ON handlers (kept_until) WHERE kept_until IS NOT NULL;

-- Last number of a network's events for handlers.
CREATE TABLE handler_positions (
    network_id UUID NOT NULL PRIMARY KEY,
    last_seq   BIGINT NOT NULL
);

-- Events that wait for handlers, each once.
CREATE TABLE handler_events (
    network_id  UUID NOT NULL,
    seq         BIGINT NOT NULL,
    name        TEXT NOT NULL,
    data        TEXT NOT NULL,
    at          BIGINT NOT NULL,
    player_uuid UUID,
    player_name TEXT,
    server_id   TEXT,
    -- Number of calls of modules that led to it.
    depth       BIGINT NOT NULL,
    -- Id of the first event, tick or request that led to it.
    root_id     TEXT NOT NULL,
    -- JSON: the module's call that caused it.
    cause       TEXT,
    PRIMARY KEY (network_id, seq)
);

-- Events that wait for each handler. The row is the cursor: it is deleted with the effects of the call.
CREATE TABLE handler_queue (
    network_id UUID NOT NULL,
    module     TEXT COLLATE "C" NOT NULL,
    seq        BIGINT NOT NULL,
    -- Events with one key are handled one after the other.
    event_key  TEXT COLLATE "C" NOT NULL,
    -- Number of failed attempts.
    attempts   BIGINT NOT NULL DEFAULT 0,
    due_at     BIGINT NOT NULL,
    queued_at  BIGINT NOT NULL,
    PRIMARY KEY (network_id, module, seq)
);

-- Calls by one first event whose cause is a module's call, to end cascades.
CREATE TABLE handler_cascades (
    network_id UUID NOT NULL,
    root_id    TEXT COLLATE "C" NOT NULL,
    effects    BIGINT NOT NULL,
    events     BIGINT NOT NULL,
    began_at   BIGINT NOT NULL,
    PRIMARY KEY (network_id, root_id)
);
CREATE INDEX handler_cascades_by_age ON handler_cascades (began_at);

-- Events that a handler did not handle.
CREATE TABLE handler_dead_letters (
    network_id  UUID NOT NULL,
    module      TEXT COLLATE "C" NOT NULL,
    id          BIGINT NOT NULL,
    version     BIGINT NOT NULL,
    -- EVENT, TICK, TIMER or OVERFLOW.
    kind        TEXT NOT NULL CHECK (kind IN ('EVENT', 'TICK', 'TIMER', 'OVERFLOW')),
    event_key   TEXT NOT NULL,
    first_at    BIGINT NOT NULL,
    at          BIGINT NOT NULL,
    attempts    BIGINT NOT NULL,
    code        TEXT NOT NULL,
    message     TEXT NOT NULL,
    -- Index and code of the refused effect.
    effect      BIGINT,
    reason      TEXT,
    call_id     TEXT NOT NULL,
    seq         BIGINT NOT NULL,
    name        TEXT,
    data        TEXT,
    event_at    BIGINT,
    player_uuid UUID,
    player_name TEXT,
    server_id   TEXT,
    depth       BIGINT NOT NULL,
    root_id     TEXT NOT NULL,
    cause       TEXT,
    -- Events of an OVERFLOW: the last one, and their number.
    last_id     TEXT,
    first_id    TEXT,
    lost        BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (network_id, module, id)
);
CREATE INDEX handler_dead_letters_by_age ON handler_dead_letters (at);

-- Schedules of the modules at the extension point `schedules`.
CREATE TABLE module_schedules (
    network_id UUID NOT NULL,
    module     TEXT COLLATE "C" NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    cron       TEXT NOT NULL,
    -- SKIP, ONCE or ALL.
    catch_up   TEXT NOT NULL,
    -- First tick that has neither begun nor been missed; null: there is none.
    next_at    BIGINT,
    -- Time at which there is something to do: `next_at`, or the next attempt at the tick under way.
    due_at     BIGINT,
    -- Ticks that were due before are missed.
    free_at    BIGINT NOT NULL,
    -- Number of ticks that were missed since the last one that ran.
    missed     BIGINT NOT NULL DEFAULT 0,
    -- Tick under way, as a number and as JSON; it is committed with the effects of its call.
    run_seq    BIGINT,
    run        TEXT,
    -- JSON: the last tick.
    last_run   TEXT,
    PRIMARY KEY (network_id, module, name)
);
CREATE INDEX module_schedules_due ON module_schedules (network_id, due_at) WHERE due_at IS NOT NULL;

-- Timers that modules have set. The row is deleted with the effects of its call.
CREATE TABLE module_timers (
    network_id  UUID NOT NULL,
    module      TEXT COLLATE "C" NOT NULL,
    timer       TEXT COLLATE "C" NOT NULL,
    -- Tells it apart from an earlier one of the same key.
    seq         BIGINT NOT NULL,
    fires_at    BIGINT NOT NULL,
    payload     TEXT NOT NULL,
    -- Player of a key `player:<uuid>`.
    player_uuid UUID,
    set_at      BIGINT NOT NULL,
    -- Number of failed attempts.
    attempts    BIGINT NOT NULL DEFAULT 0,
    -- Time of the next attempt; null: its module is not at the extension point.
    due_at      BIGINT,
    PRIMARY KEY (network_id, module, timer)
);
CREATE INDEX module_timers_due ON module_timers (network_id, due_at) WHERE due_at IS NOT NULL;


-- Events and webhooks --------------------------------------------------------------------------------------------------

-- Events of committed changes that are not published yet.
CREATE TABLE outbox (
    network_id UUID   NOT NULL,
    -- Rises with each event. Of two changes of one row, the later one's event has the higher number.
    id         BIGINT GENERATED ALWAYS AS IDENTITY,
    name       TEXT   NOT NULL,
    -- The only server whose stream gets it; null: all of the network's.
    target     TEXT,
    data       TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    -- A copy of an earlier event for another server, which subscribers do not get.
    is_copy    BOOLEAN NOT NULL DEFAULT FALSE,
    -- JSON: the module's call that caused it; null: a request or the hub.
    cause      TEXT,
    PRIMARY KEY (network_id, id)
);

-- Events on request: names that some stream of the network asked for. Others are not published.
CREATE TABLE event_listeners (
    network_id UUID             NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    -- A stream that ended before may still be resumed.
    until      BIGINT           NOT NULL,
    PRIMARY KEY (network_id, name)
);

-- Servers whose stream, at any node, requests the event that asks for a player's session.
CREATE TABLE session_listeners (
    network_id UUID    NOT NULL,
    server_id  TEXT    NOT NULL,
    until      BIGINT  NOT NULL,
    PRIMARY KEY (network_id, server_id)
);
CREATE INDEX session_listeners_by_end ON session_listeners (until);

-- Subscriptions of webhooks and modules to events.
CREATE TABLE event_subscriptions (
    network_id UUID             NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    -- A webhook's id, or `module:` and a name.
    subscriber TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (network_id, name, subscriber)
);

-- True if a stream of the network asks for an event, or a subscriber does. Volatile, so that within a statement it sees
-- what was committed since the statement began.
CREATE FUNCTION is_wanted(of_network UUID, event_name TEXT, at_time BIGINT)
RETURNS BOOLEAN LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN EXISTS (SELECT until FROM event_listeners
                   WHERE network_id = of_network AND name = event_name AND until > at_time)
        OR EXISTS (SELECT subscriber FROM event_subscriptions WHERE network_id = of_network AND name = event_name);
END
$$;

-- Webhooks of networks, with their queue's state.
CREATE TABLE webhooks (
    network_id      UUID             NOT NULL,
    webhook_id      TEXT COLLATE "C" NOT NULL,
    -- STANDARD or DISCORD.
    kind            TEXT             NOT NULL CHECK (kind IN ('STANDARD', 'DISCORD')),
    name            TEXT,
    url             TEXT             NOT NULL,
    -- JSON: names of events, and message templates by event.
    events          TEXT             NOT NULL,
    templates       TEXT             NOT NULL,
    secret          TEXT             NOT NULL,
    previous_secret TEXT,
    previous_until  BIGINT,
    -- ENABLED or DISABLED.
    state           TEXT             NOT NULL CHECK (state IN ('ENABLED', 'DISABLED')),
    disabled_reason TEXT CHECK (disabled_reason IN ('REQUESTED', 'FAILING', 'GONE', 'CREATOR_LEFT')),
    created_at      BIGINT           NOT NULL,
    -- Key or person that created it.
    created_by      TEXT,
    -- Key or person that chose its URL.
    url_by          TEXT,
    updated_at      BIGINT           NOT NULL,
    -- Of the newest delivery.
    last_seq        BIGINT           NOT NULL,
    -- Deliveries in the queue, their bytes, and those dropped since it was full.
    waiting         BIGINT           NOT NULL,
    waiting_bytes   BIGINT           NOT NULL,
    dropped         BIGINT           NOT NULL,
    -- Failed attempts since the last success, and the time of the first.
    failures        BIGINT           NOT NULL,
    failing_since   BIGINT,
    last_success_at BIGINT,
    last_failure_at BIGINT,
    -- Consecutive pauses of all its deliveries since the last success.
    pauses          BIGINT           NOT NULL,
    -- Until then one node is at it, or it backs off.
    next_attempt_at BIGINT           NOT NULL,
    -- Equal to next_attempt_at if only failed subjects back off: other deliveries are sent at once.
    held_until      BIGINT,
    PRIMARY KEY (network_id, webhook_id)
);
CREATE INDEX webhooks_due ON webhooks (network_id, next_attempt_at) WHERE state = 'ENABLED' AND waiting > 0;

-- Deliveries to webhooks: those that wait, and the latest that have arrived or failed.
CREATE TABLE webhook_deliveries (
    network_id   UUID             NOT NULL,
    webhook_id   TEXT COLLATE "C" NOT NULL,
    -- Order in which they are sent.
    seq          BIGINT           NOT NULL,
    -- Hash of its event's subject: deliveries of one are sent one after the other.
    subject      BIGINT           NOT NULL,
    -- The same for each attempt, and for a resend.
    message_id   TEXT             NOT NULL,
    event        TEXT             NOT NULL,
    data         TEXT             NOT NULL,
    event_at     BIGINT           NOT NULL,
    queued_at    BIGINT           NOT NULL,
    -- WAITING, DELIVERED or FAILED.
    state        TEXT             NOT NULL CHECK (state IN ('WAITING', 'DELIVERED', 'FAILED')),
    attempts     BIGINT           NOT NULL,
    -- Its subject backs off until then.
    held_until   BIGINT,
    -- The last attempt and its result.
    attempted_at BIGINT,
    status       BIGINT,
    error        TEXT,
    duration_ms  BIGINT,
    finished_at  BIGINT,
    PRIMARY KEY (network_id, webhook_id, seq)
);
CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (network_id, webhook_id, seq) WHERE state = 'WAITING';
CREATE INDEX webhook_deliveries_held ON webhook_deliveries (network_id, webhook_id, subject, held_until)
    WHERE state = 'WAITING' AND held_until IS NOT NULL;
CREATE INDEX webhook_deliveries_finished ON webhook_deliveries (finished_at) WHERE finished_at IS NOT NULL;


-- People ---------------------------------------------------------------------------------------------------------------

-- Accounts of people. They are the hub's: one may be a member of many networks.
CREATE TABLE persons (
    person_id      TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    -- In lower case: an address is one person's.
    email_folded   TEXT COLLATE "C" NOT NULL UNIQUE,
    email          TEXT             NOT NULL,
    name           TEXT             NOT NULL,
    -- PHC string of argon2id; null: no sign-in by password.
    password_hash  TEXT,
    is_operator    BOOLEAN          NOT NULL,
    -- Second factor, in effect once its first code was checked.
    -- Sealed by a key that is not in the database.
    totp_secret    BYTEA,
    totp_confirmed BOOLEAN          NOT NULL,
    -- Its last step that was used.
    totp_last_step BIGINT           NOT NULL,
    created_at     BIGINT           NOT NULL
);

-- Sessions of people.
CREATE TABLE person_sessions (
    session_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    person_id  TEXT COLLATE "C" NOT NULL,
    -- Of the session's token, which is not stored.
    sha256     BYTEA            NOT NULL,
    created_at BIGINT           NOT NULL,
    expires_at BIGINT           NOT NULL,
    address    TEXT
);
CREATE INDEX person_sessions_by_person ON person_sessions (person_id, created_at);
CREATE INDEX person_sessions_by_end ON person_sessions (expires_at);

-- People whom an OpenID provider has identified and who still need a code of the second factor.
CREATE TABLE pending_sign_ins (
    -- Of the browser's token, which is not stored.
    sha256            BYTEA            NOT NULL PRIMARY KEY,
    subject           TEXT             NOT NULL,
    email             TEXT             NOT NULL,
    name              TEXT             NOT NULL,
    -- Of the invitation's token, if the sign-in accepts one.
    invitation_sha256 BYTEA,
    expires_at        BIGINT           NOT NULL
);
CREATE INDEX pending_sign_ins_by_end ON pending_sign_ins (expires_at);

-- Devices that wait for a person to confirm their codes.
CREATE TABLE device_sign_ins (
    -- Of the device's secret, which is not stored.
    sha256      BYTEA   NOT NULL PRIMARY KEY,
    -- Of the code that a person types, which is not stored.
    user_sha256 BYTEA   NOT NULL UNIQUE,
    client      TEXT    NOT NULL,
    address     TEXT    NOT NULL,
    expires_at  BIGINT  NOT NULL,
    -- CONFIRMED or REFUSED; null until a person has decided, as the next two are.
    verdict     TEXT,
    person_id   TEXT,
    session_id  TEXT
);
CREATE INDEX device_sign_ins_by_end ON device_sign_ins (expires_at);

-- Recovery codes that stand in for the second factor, once each.
CREATE TABLE person_recovery_codes (
    person_id TEXT COLLATE "C" NOT NULL,
    sha256    BYTEA            NOT NULL,
    PRIMARY KEY (person_id, sha256)
);

-- Subjects of people at OpenID providers, from the first sign-in on. A person has one at each provider.
CREATE TABLE person_openid_subjects (
    issuer    TEXT COLLATE "C" NOT NULL,
    subject   TEXT COLLATE "C" NOT NULL,
    person_id TEXT COLLATE "C" NOT NULL,
    linked_at BIGINT           NOT NULL,
    PRIMARY KEY (issuer, subject)
);
CREATE UNIQUE INDEX person_openid_subjects_by_person ON person_openid_subjects (person_id, issuer);

-- Failed sign-ins by the hash of the address that was given, whether or not it is a person's.
CREATE TABLE sign_in_failures (
    email_sha256 BYTEA  NOT NULL PRIMARY KEY,
    failures     BIGINT NOT NULL,
    last_at      BIGINT NOT NULL
);
CREATE INDEX sign_in_failures_by_age ON sign_in_failures (last_at);

-- Members of networks and their roles.
CREATE TABLE network_members (
    network_id UUID             NOT NULL,
    person_id  TEXT COLLATE "C" NOT NULL,
    role       TEXT COLLATE "C" NOT NULL,
    joined_at  BIGINT           NOT NULL,
    -- Key or person that granted the role.
    created_by TEXT,
    PRIMARY KEY (network_id, person_id)
);
CREATE INDEX network_members_by_person ON network_members (person_id, network_id);
-- Members and invitations of a role.
CREATE INDEX network_members_by_role ON network_members (network_id, role);

-- Roles of networks' own, beside the given ones.
CREATE TABLE network_roles (
    network_id UUID NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    -- Separated by spaces.
    scopes     TEXT NOT NULL,
    -- Key or person that set it last.
    created_by TEXT,
    PRIMARY KEY (network_id, name)
);

-- Mails with a link: invitations to a network, and password resets (of the operator's network).
CREATE TABLE person_links (
    network_id   UUID             NOT NULL,
    link_id      TEXT COLLATE "C" NOT NULL,
    kind         TEXT             NOT NULL CHECK (kind IN ('INVITATION', 'RESET')),
    email_folded TEXT COLLATE "C" NOT NULL,
    email        TEXT             NOT NULL,
    -- Of an invitation; null: to be an operator.
    role         TEXT,
    created_at   BIGINT           NOT NULL,
    -- Key or person that created it.
    created_by   TEXT,
    expires_at   BIGINT           NOT NULL,
    -- Of the token; null until a mail with it is sent.
    sha256       BYTEA,
    PRIMARY KEY (network_id, link_id)
);
CREATE INDEX person_links_by_token ON person_links (sha256) WHERE sha256 IS NOT NULL;
CREATE INDEX person_links_by_email ON person_links (network_id, email_folded, created_at);
CREATE INDEX person_links_by_age ON person_links (network_id, created_at, link_id);
CREATE INDEX person_links_by_end ON person_links (expires_at);

-- Addresses that wait for the launch. The list is the hub's own: its rows are of the operator's network.
CREATE TABLE waitlist (
    network_id   UUID             NOT NULL,
    -- In lower case: an address is on the list once.
    email_folded TEXT COLLATE "C" NOT NULL,
    -- Spelling of the first entry; mail goes there.
    email        TEXT             NOT NULL,
    source       TEXT,
    joined_at    BIGINT           NOT NULL,
    confirmed_at BIGINT,
    PRIMARY KEY (network_id, email_folded)
);
CREATE INDEX waitlist_by_age ON waitlist (network_id, joined_at, email_folded);

-- Links in the waitlist's mails.
CREATE TABLE waitlist_links (
    network_id   UUID             NOT NULL,
    -- Of the token, which is not stored.
    sha256       BYTEA            NOT NULL,
    email_folded TEXT COLLATE "C" NOT NULL,
    made_at      BIGINT           NOT NULL,
    -- Time at which the mail with it was handed over.
    sent_at      BIGINT,
    used_at      BIGINT,
    PRIMARY KEY (network_id, sha256)
);
CREATE INDEX waitlist_links_by_email ON waitlist_links (network_id, email_folded, sent_at);
CREATE INDEX waitlist_links_by_age ON waitlist_links (network_id, made_at);


-- Files ----------------------------------------------------------------------------------------------------------------

-- Archives that agents install. Their bytes are in the blob store.
CREATE TABLE artifacts (
    network_id  UUID             NOT NULL,
    artifact_id TEXT             NOT NULL,
    name        TEXT COLLATE "C" NOT NULL,
    version     TEXT COLLATE "C" NOT NULL,
    sha256      TEXT             NOT NULL,
    size_bytes  BIGINT           NOT NULL,
    created_at  BIGINT           NOT NULL,
    PRIMARY KEY (network_id, artifact_id)
);
-- A version never changes.
CREATE UNIQUE INDEX artifacts_by_version ON artifacts (network_id, name, version);
CREATE INDEX artifacts_by_age ON artifacts (network_id, created_at, artifact_id);

-- Blobs that no row refers to: not recorded yet, or not needed any more.
CREATE TABLE unreferenced_blobs (
    network_id UUID   NOT NULL,
    blob_key   TEXT   NOT NULL,
    -- 0 from when its deletion begins.
    delete_at  BIGINT NOT NULL,
    PRIMARY KEY (network_id, blob_key)
);
CREATE INDEX unreferenced_blobs_due ON unreferenced_blobs (delete_at);


-- Imports from other plugins -------------------------------------------------------------------------------------------

-- Imports of other plugins' files.
CREATE TABLE imports (
    network_id  UUID    NOT NULL,
    import_id   TEXT    NOT NULL,
    -- LUCKPERMS, LITEBANS, BALANCES and so on.
    kind        TEXT    NOT NULL,
    dry_run     BOOLEAN NOT NULL,
    -- JSON: options for reading the file.
    options     TEXT    NOT NULL,
    sha256      TEXT    NOT NULL,
    file_size   BIGINT  NOT NULL,
    -- Of the file in the blob store; 0 once it is gone.
    size_bytes  BIGINT  NOT NULL,
    -- QUEUED, RUNNING, DONE, FAILED or CANCELLED.
    state       TEXT    NOT NULL CHECK (state IN ('QUEUED', 'RUNNING', 'DONE', 'FAILED', 'CANCELLED')),
    -- Records that are done, and all of them; null until that is known.
    done        BIGINT  NOT NULL,
    total       BIGINT,
    -- JSON: results by category, and notes for the owner.
    counts      TEXT    NOT NULL,
    notes       TEXT    NOT NULL,
    more_notes  BIGINT  NOT NULL,
    error       TEXT,
    error_line  BIGINT,
    key_id      TEXT    NOT NULL,
    created_at  BIGINT  NOT NULL,
    started_at  BIGINT,
    finished_at BIGINT,
    PRIMARY KEY (network_id, import_id)
);
-- One at a time in each network.
CREATE UNIQUE INDEX imports_running ON imports (network_id) WHERE state IN ('QUEUED', 'RUNNING');
CREATE INDEX imports_by_time ON imports (network_id, created_at DESC, import_id DESC);

-- Sources of imported punishments and balances, so that they are not imported twice.
CREATE TABLE import_sources (
    network_id UUID   NOT NULL,
    -- The other plugin's table, or the currency.
    source     TEXT   NOT NULL,
    source_key TEXT   NOT NULL,
    -- Id of the punishment, or the balance in ten-thousandths.
    value      BIGINT NOT NULL,
    PRIMARY KEY (network_id, source, source_key)
);


-- Usage ----------------------------------------------------------------------------------------------------------------

-- Usage of networks by hour. It outlives its network, so that the last hours can be billed.
CREATE TABLE usage_hours (
    network_id         UUID   NOT NULL,
    -- Begin of the hour.
    hour               BIGINT NOT NULL,
    requests           BIGINT NOT NULL DEFAULT 0,
    events             BIGINT NOT NULL DEFAULT 0,
    module_calls       BIGINT NOT NULL DEFAULT 0,
    module_micros      BIGINT NOT NULL DEFAULT 0,
    fuel               BIGINT NOT NULL DEFAULT 0,
    documents          BIGINT NOT NULL DEFAULT 0,
    storage_bytes      BIGINT NOT NULL DEFAULT 0,
    module_store_bytes BIGINT NOT NULL DEFAULT 0,
    file_bytes         BIGINT NOT NULL DEFAULT 0,
    peak_players       BIGINT NOT NULL DEFAULT 0,
    peak_servers       BIGINT NOT NULL DEFAULT 0,
    peak_streams       BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (network_id, hour)
    -- A row is updated each second, in place.
) WITH (fillfactor = 50);
CREATE INDEX usage_hours_by_hour ON usage_hours (hour, network_id);

-- Processes that add to the hours.
CREATE TABLE usage_nodes (
    node     TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    -- Of the last batch that was added.
    sequence BIGINT           NOT NULL,
    seen_at  BIGINT           NOT NULL
);

-- Open streams of each process.
CREATE TABLE usage_streams (
    network_id UUID             NOT NULL,
    node       TEXT COLLATE "C" NOT NULL,
    streams    BIGINT           NOT NULL,
    seen_at    BIGINT           NOT NULL,
    PRIMARY KEY (network_id, node)
);

-- Progress of the work on the hours.
CREATE TABLE usage_progress (
    -- 'close': hours before `hour` do not change any more. 'report': those up to `hour` and `last_network` are reported.
    work          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    hour          BIGINT           NOT NULL,
    last_network  UUID             NOT NULL,
    -- The process that is at it.
    claimed_by    TEXT             NOT NULL,
    claimed_until BIGINT           NOT NULL,
    -- Names this hub in its reports, from the first one on.
    source        TEXT
);
INSERT INTO usage_progress (work, hour, last_network, claimed_by, claimed_until)
VALUES ('close', 0, '00000000-0000-0000-0000-000000000000', '', 0),
       ('report', 0, '00000000-0000-0000-0000-000000000000', '', 0);


-- Audit log and repeated requests --------------------------------------------------------------------------------------

-- Entries of the audit log: changes to a network, written with each change and never changed.
CREATE TABLE audit_log (
    network_id   UUID             NOT NULL,
    -- Rises with time: microseconds since the epoch in fifteen hexadecimal digits, then six random characters.
    id           TEXT COLLATE "C" NOT NULL,
    at           BIGINT           NOT NULL,
    actor_type   TEXT             NOT NULL,
    actor_id     TEXT COLLATE "C" NOT NULL,
    actor_name   TEXT             NOT NULL,
    action       TEXT COLLATE "C" NOT NULL,
    target       TEXT             NOT NULL,
    -- JSON without secrets; null: there was, or is, nothing.
    value_before TEXT,
    value_after  TEXT,
    request_id   TEXT,
    address      TEXT,
    PRIMARY KEY (network_id, id)
);
CREATE INDEX audit_log_by_actor ON audit_log (network_id, actor_id, id);
CREATE INDEX audit_log_by_action ON audit_log (network_id, action, id);

-- Responses to requests with an Idempotency-Key.
CREATE TABLE idempotency_keys (
    network_id      UUID   NOT NULL,
    idempotency_key TEXT   NOT NULL,
    -- Of the caller: other rights do not use up a key for another request.
    rights          TEXT   NOT NULL,
    -- SHA-256 of the request's path, query and body.
    fingerprint     BYTEA  NOT NULL,
    created_at      BIGINT NOT NULL,
    status          BIGINT NOT NULL,
    content_type    TEXT,
    -- Of an error, whose message is the body.
    error_code      TEXT,
    body            BYTEA  NOT NULL,
    PRIMARY KEY (network_id, idempotency_key, rights)
);
-- Old rows of all networks are deleted together.
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);


-- The hub itself -------------------------------------------------------------------------------------------------------

-- The hub itself.
CREATE TABLE hub_identity (
    one           BIGINT  NOT NULL CHECK (one = 1),
    -- Random; the bus and the blob store have it, too.
    cluster_id    TEXT    NOT NULL,
    -- True once the blob store has it.
    has_blob_mark BOOLEAN NOT NULL,
    -- The node that serves this database alone, and the end of its lease by the database's clock.
    sole_node     TEXT,
    sole_until    BIGINT  NOT NULL,
    PRIMARY KEY (one)
);

-- Nodes without the key of the hub's secrets, and that key for each of them, which only that node can read.
CREATE TABLE key_requests (
    request  TEXT   NOT NULL,
    asked_at BIGINT NOT NULL,
    answer   TEXT,
    PRIMARY KEY (request)
);

-- How often the database went back: an older copy took its place, and what it lacks had been told.
CREATE TABLE database_epoch (
    one      BIGINT NOT NULL CHECK (one = 1),
    -- Higher than those of all copies that were in use before.
    epoch    BIGINT NOT NULL,
    -- The least number that no earlier epoch has given out, for what is numbered.
    floor    BIGINT NOT NULL,
    -- The server, its timeline and this table: other ones mean that this is a copy. Empty until the first connection.
    lineage  TEXT   NOT NULL,
    PRIMARY KEY (one)
);
INSERT INTO database_epoch (one, epoch, floor, lineage) VALUES (1, 0, 0, '');

-- A number of each data folder, which its node raises every second (SQLite: after writes) and remembers: in an older copy it is lower.
CREATE TABLE database_positions (
    node     TEXT   NOT NULL,
    position BIGINT NOT NULL,
    PRIMARY KEY (node)
);

-- Proven times of day, each at an uptime of a machine, in milliseconds. One row for each start of a machine.
CREATE TABLE clock_anchors (
    boot   TEXT   NOT NULL,
    uptime BIGINT NOT NULL,
    at     BIGINT NOT NULL,
    PRIMARY KEY (boot)
);

-- The operator's word that a machine's clock is right.
CREATE TABLE clock_confirmation (
    one BIGINT NOT NULL CHECK (one = 1),
    at  BIGINT NOT NULL,
    PRIMARY KEY (one)
);

-- Nodes of the hub. Times are the database's.
CREATE TABLE hub_nodes (
    node           TEXT    NOT NULL,
    url            TEXT    NOT NULL,
    seen_at        BIGINT  NOT NULL,
    -- Nodes without the bus, or with a wrong clock, should own no shards.
    reaches_bus    BOOLEAN NOT NULL,
    is_clock_right BOOLEAN NOT NULL,
    -- JSON list of the nodes that it reaches.
    reached        TEXT    NOT NULL,
    -- JSON of the options that have to be those of all nodes.
    options        TEXT    NOT NULL,
    -- Erasures of players until then, by the hub's time, are done in its memory.
    forgot_until   BIGINT,
    PRIMARY KEY (node)
);

-- Leases of nodes on shards. A network belongs to the node with the lease on its shard.
CREATE TABLE shard_leases (
    shard      INTEGER NOT NULL,
    node       TEXT    NOT NULL,
    fence      BIGINT  NOT NULL,
    expires_at BIGINT  NOT NULL,
    -- Time at which the shard last moved to where its requests arrive.
    followed_at BIGINT NOT NULL,
    PRIMARY KEY (shard)
);

-- Secrets of the hub, the same for all nodes, sealed by a key that is not in the database.
CREATE TABLE hub_secrets (
    purpose TEXT NOT NULL PRIMARY KEY,
    secret  TEXT NOT NULL
);

-- Backups that are being made: while there is one, no blob is deleted. One whose beat stands still was killed.
CREATE TABLE backup_holds (
    hold_id TEXT   NOT NULL PRIMARY KEY,
    beat    BIGINT NOT NULL
);

-- Backups that were, or are being, restored into this database. It is not served before they are complete.
CREATE TABLE restores (
    backup_id   TEXT   NOT NULL PRIMARY KEY,
    -- Parts of the file that are here.
    members     BIGINT NOT NULL,
    -- Null until all was compared with what the file says.
    finished_at BIGINT
);


-- Counts of what networks store ----------------------------------------------------------------------------------------

-- Stored rows and bytes of each network: the sum over its slots. The triggers below count, each session in one of 64
-- slots, so that writers of one network rarely wait for each other. Pages stay half empty, so that counts are updated in
-- place.
CREATE TABLE network_usage (
    network_id    UUID   NOT NULL,
    slot          BIGINT NOT NULL,
    documents     BIGINT NOT NULL,
    storage_bytes BIGINT NOT NULL,
    file_bytes    BIGINT NOT NULL,
    PRIMARY KEY (network_id, slot)
) WITH (fillfactor = 40);

CREATE FUNCTION add_network_usage(of_network UUID, more_documents BIGINT, more_storage BIGINT, more_files BIGINT)
RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    UPDATE network_usage SET documents = documents + more_documents, storage_bytes = storage_bytes + more_storage,
        file_bytes = file_bytes + more_files
    WHERE network_id = of_network AND slot = pg_backend_pid() % 64;
    IF NOT FOUND THEN
        INSERT INTO network_usage AS old (network_id, slot, documents, storage_bytes, file_bytes)
        VALUES (of_network, pg_backend_pid() % 64, more_documents, more_storage, more_files)
        ON CONFLICT (network_id, slot) DO UPDATE SET documents = old.documents + excluded.documents,
            storage_bytes = old.storage_bytes + excluded.storage_bytes, file_bytes = old.file_bytes + excluded.file_bytes;
    END IF;
END $$;

CREATE FUNCTION count_player_data() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM add_network_usage(NEW.network_id, 0,
            64 + octet_length(NEW.game_mode) + octet_length(NEW.namespace) + octet_length(NEW.data), 0);
    ELSIF TG_OP = 'UPDATE' THEN
        PERFORM add_network_usage(NEW.network_id, 0, octet_length(NEW.data) - octet_length(OLD.data), 0);
    ELSE
        PERFORM add_network_usage(OLD.network_id, 0,
            -(64 + octet_length(OLD.game_mode) + octet_length(OLD.namespace) + octet_length(OLD.data)), 0);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER count_player_data_moved AFTER INSERT OR DELETE ON player_data
    FOR EACH ROW EXECUTE FUNCTION count_player_data();
CREATE TRIGGER count_player_data_changed AFTER UPDATE OF data ON player_data FOR EACH ROW
    WHEN (octet_length(NEW.data) <> octet_length(OLD.data)) EXECUTE FUNCTION count_player_data();

CREATE TRIGGER count_data_snapshots_moved AFTER INSERT OR DELETE ON player_data_snapshots
    FOR EACH ROW EXECUTE FUNCTION count_player_data();
CREATE TRIGGER count_data_snapshots_changed AFTER UPDATE OF data ON player_data_snapshots FOR EACH ROW
    WHEN (octet_length(NEW.data) <> octet_length(OLD.data)) EXECUTE FUNCTION count_player_data();

CREATE FUNCTION count_documents() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM add_network_usage(NEW.network_id, 1,
            64 + octet_length(NEW.collection) + octet_length(NEW.id) + octet_length(NEW.doc), 0);
    ELSIF TG_OP = 'UPDATE' THEN
        PERFORM add_network_usage(NEW.network_id, 0, octet_length(NEW.doc) - octet_length(OLD.doc), 0);
    ELSE
        PERFORM add_network_usage(OLD.network_id, -1,
            -(64 + octet_length(OLD.collection) + octet_length(OLD.id) + octet_length(OLD.doc)), 0);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER count_documents_moved AFTER INSERT OR DELETE ON collection_documents
    FOR EACH ROW EXECUTE FUNCTION count_documents();
CREATE TRIGGER count_documents_changed AFTER UPDATE OF doc ON collection_documents FOR EACH ROW
    WHEN (octet_length(NEW.doc) <> octet_length(OLD.doc)) EXECUTE FUNCTION count_documents();

CREATE FUNCTION count_config() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM add_network_usage(NEW.network_id, 0,
            64 + octet_length(NEW.doc_group) + octet_length(NEW.namespace) + octet_length(NEW.doc), 0);
    ELSIF TG_OP = 'UPDATE' THEN
        PERFORM add_network_usage(NEW.network_id, 0, octet_length(NEW.doc) - octet_length(OLD.doc), 0);
    ELSE
        PERFORM add_network_usage(OLD.network_id, 0,
            -(64 + octet_length(OLD.doc_group) + octet_length(OLD.namespace) + octet_length(OLD.doc)), 0);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER count_config_moved AFTER INSERT OR DELETE ON config_documents
    FOR EACH ROW EXECUTE FUNCTION count_config();
CREATE TRIGGER count_config_changed AFTER UPDATE OF doc ON config_documents FOR EACH ROW
    WHEN (octet_length(NEW.doc) <> octet_length(OLD.doc)) EXECUTE FUNCTION count_config();

-- Catalogs are written thousands of messages at a time: counted by statement.
CREATE FUNCTION count_messages() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    row_group RECORD;
BEGIN
    IF TG_OP = 'DELETE' THEN
        FOR row_group IN
            SELECT network_id, CAST(SUM(64 + octet_length(namespace) + octet_length(locale_key) + octet_length(message_key)
                + COALESCE(octet_length(default_text), 0) + COALESCE(octet_length(override_text), 0)) AS BIGINT) AS bytes
            FROM old_rows GROUP BY network_id
        LOOP
            PERFORM add_network_usage(row_group.network_id, 0, -row_group.bytes, 0);
        END LOOP;
    ELSIF TG_OP = 'INSERT' THEN
        FOR row_group IN
            SELECT network_id, CAST(SUM(64 + octet_length(namespace) + octet_length(locale_key) + octet_length(message_key)
                + COALESCE(octet_length(default_text), 0) + COALESCE(octet_length(override_text), 0)) AS BIGINT) AS bytes
            FROM new_rows GROUP BY network_id
        LOOP
            PERFORM add_network_usage(row_group.network_id, 0, row_group.bytes, 0);
        END LOOP;
    ELSE
        FOR row_group IN
            SELECT network_id, CAST(SUM(bytes) AS BIGINT) AS bytes FROM (
                SELECT network_id, COALESCE(octet_length(default_text), 0) + COALESCE(octet_length(override_text), 0) AS bytes
                FROM new_rows
                UNION ALL
                SELECT network_id, -COALESCE(octet_length(default_text), 0) - COALESCE(octet_length(override_text), 0)
                FROM old_rows) AS changes
            GROUP BY network_id
        LOOP
            PERFORM add_network_usage(row_group.network_id, 0, row_group.bytes, 0);
        END LOOP;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER count_messages_added AFTER INSERT ON localization_messages
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_messages();
CREATE TRIGGER count_messages_changed AFTER UPDATE ON localization_messages
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_messages();
CREATE TRIGGER count_messages_deleted AFTER DELETE ON localization_messages
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION count_messages();

CREATE FUNCTION count_files() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM add_network_usage(NEW.network_id, 0, 0, COALESCE(NEW.size_bytes, 0));
    ELSIF TG_OP = 'UPDATE' THEN
        PERFORM add_network_usage(NEW.network_id, 0, 0, COALESCE(NEW.size_bytes, 0) - COALESCE(OLD.size_bytes, 0));
    ELSE
        PERFORM add_network_usage(OLD.network_id, 0, 0, -COALESCE(OLD.size_bytes, 0));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER count_artifacts AFTER INSERT OR DELETE OR UPDATE OF size_bytes ON artifacts
    FOR EACH ROW EXECUTE FUNCTION count_files();
CREATE TRIGGER count_bundles AFTER INSERT OR DELETE OR UPDATE OF size_bytes ON provisioning_bundles
    FOR EACH ROW EXECUTE FUNCTION count_files();
CREATE TRIGGER count_snapshots AFTER INSERT OR DELETE OR UPDATE OF size_bytes ON world_blobs
    FOR EACH ROW EXECUTE FUNCTION count_files();
CREATE TRIGGER count_modules AFTER INSERT OR DELETE OR UPDATE OF size_bytes ON modules
    FOR EACH ROW EXECUTE FUNCTION count_files();
CREATE TRIGGER count_imports AFTER INSERT OR DELETE OR UPDATE OF size_bytes ON imports
    FOR EACH ROW EXECUTE FUNCTION count_files();
