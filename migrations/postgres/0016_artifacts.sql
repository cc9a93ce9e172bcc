-- Archives that agents install. Their bytes are files in the data folder, named by the id.
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

-- Secrets of the hub itself, the same for all nodes on this database; they belong to no network.
CREATE TABLE hub_secrets (
    purpose TEXT NOT NULL PRIMARY KEY,
    secret  TEXT NOT NULL
);
