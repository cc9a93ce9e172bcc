-- What networks may use, by the name that `networks.plan` has. The hub adds the plan `default` when it starts.
CREATE TABLE plans (
    name          TEXT   NOT NULL PRIMARY KEY,
    -- JSON as on the wire; what is absent is not limited.
    limits        TEXT   NOT NULL,
    -- JSON by extension point.
    module_limits TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL
) WITHOUT ROWID;

-- Networks that are to be deleted, and what is left of those that were.
CREATE TABLE network_deletions (
    network_id  BLOB   NOT NULL PRIMARY KEY,
    name        TEXT   NOT NULL,
    delete_at   BIGINT NOT NULL,
    -- Null until all of it is gone.
    deleted_at  BIGINT,
    -- When to look for rows again: at first `delete_at`, then after the longest request has ended; null once that is done.
    due_at      BIGINT,
    -- Until then one node is at it.
    claimed_until BIGINT NOT NULL
) WITHOUT ROWID;

CREATE INDEX network_deletions_due ON network_deletions (due_at) WHERE due_at IS NOT NULL;

-- What a network stores: the sum over its slots. Triggers count; the slot -1 holds what was there before them.
CREATE TABLE network_usage (
    network_id    BLOB   NOT NULL,
    slot          BIGINT NOT NULL,
    documents     BIGINT NOT NULL,
    storage_bytes BIGINT NOT NULL,
    file_bytes    BIGINT NOT NULL,
    PRIMARY KEY (network_id, slot)
) WITHOUT ROWID;

CREATE TRIGGER count_player_data_added AFTER INSERT ON player_data BEGIN
    INSERT INTO network_usage (network_id, slot, documents, storage_bytes, file_bytes)
    VALUES (NEW.network_id, 0, 0, 64 + octet_length(NEW.game_mode) + octet_length(NEW.namespace) + octet_length(NEW.data), 0)
    ON CONFLICT (network_id, slot) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;
END;
CREATE TRIGGER count_player_data_changed AFTER UPDATE OF data ON player_data
WHEN octet_length(NEW.data) <> octet_length(OLD.data) BEGIN
    INSERT INTO network_usage (network_id, slot, documents, storage_bytes, file_bytes)
    VALUES (NEW.network_id, 0, 0, octet_length(NEW.data) - octet_length(OLD.data), 0)
    ON CONFLICT (network_id, slot) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;
END;
CREATE TRIGGER count_player_data_deleted AFTER DELETE ON player_data BEGIN
    INSERT INTO network_usage (network_id, slot, documents, storage_bytes, file_bytes)
    VALUES (OLD.network_id, 0, 0, -64 - octet_length(OLD.game_mode) - octet_length(OLD.namespace) - octet_length(OLD.data), 0)
    ON CONFLICT (network_id, slot) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;
END;

CREATE TRIGGER count_documents_added AFTER INSERT ON collection_documents BEGIN
    INSERT INTO network_usage (network_id, slot, documents, storage_bytes, file_bytes)
    VALUES (NEW.network_id, 0, 1, 64 + octet_length(NEW.collection) + octet_length(NEW.id) + octet_length(NEW.doc), 0)
    ON CONFLICT (network_id, slot) DO UPDATE SET
        documents = documents + 1, storage_bytes = storage_bytes + excluded.storage_bytes;
END;
CREATE TRIGGER count_documents_changed AFTER UPDATE OF doc ON collection_documents
WHEN octet_length(NEW.doc) <> octet_length(OLD.doc) BEGIN
    INSERT INTO network_usage (network_id, slot, documents, storage_bytes, file_bytes)
    VALUES (NEW.network_id, 0, 0, octet_length(NEW.doc) - octet_length(OLD.doc), 0)
    ON CONFLICT (network_id, slot) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;
END;
CREATE TRIGGER count_documents_deleted AFTER DELETE ON collection_documents BEGIN
    INSERT INTO network_usage (network_id, slot, documents, storage_bytes, file_bytes)
    VALUES (OLD.network_id, 0, -1, -64 - octet_length(OLD.collection) - octet_length(OLD.id) - octet_length(OLD.doc), 0)
    ON CONFLICT (network_id, slot) DO UPDATE SET
        documents = documents - 1, storage_bytes = storage_bytes + excluded.storage_bytes;
END;

CREATE TRIGGER count_config_added AFTER INSERT ON config_documents BEGIN
    INSERT INTO network_usage (network_id, slot, documents, storage_bytes, file_bytes)
    VALUES (NEW.network_id, 0, 0, 64 + octet_length(NEW.doc_group) + octet_length(NEW.namespace) + octet_length(NEW.doc), 0)
    ON CONFLICT (network_id, slot) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;
END;
CREATE TRIGGER count_config_changed AFTER UPDATE OF doc ON config_documents
WHEN octet_length(NEW.doc) <> octet_length(OLD.doc) BEGIN
    INSERT INTO network_usage (network_id, slot, documents, storage_bytes, file_bytes)
    VALUES (NEW.network_id, 0, 0, octet_length(NEW.doc) - octet_length(OLD.doc), 0)
    ON CONFLICT (network_id, slot) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;
END;
CREATE TRIGGER count_config_deleted AFTER DELETE ON config_documents BEGIN
    INSERT INTO network_usage (network_id, slot, documents, storage_bytes, file_bytes)
    VALUES (OLD.network_id, 0, 0, -64 - octet_length(OLD.doc_group) - octet_length(OLD.namespace) - octet_length(OLD.doc), 0)
    ON CONFLICT (network_id, slot) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;
END;

CREATE TRIGGER count_messages_added AFTER INSERT ON localization_messages BEGIN
    INSERT INTO network_usage (network_id, slot, documents, storage_bytes, file_bytes)
    VALUES (NEW.network_id, 0, 0, 64 + octet_length(NEW.namespace) + octet_length(NEW.locale_key)
        + octet_length(NEW.message_key) + COALESCE(octet_length(NEW.default_text), 0)
        + COALESCE(octet_length(NEW.override_text), 0), 0)
    ON CONFLICT (network_id, slot) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;
END;
CREATE TRIGGER count_messages_changed AFTER UPDATE OF default_text, override_text ON localization_messages BEGIN
    INSERT INTO network_usage (network_id, slot, documents, storage_bytes, file_bytes)
    VALUES (NEW.network_id, 0, 0, COALESCE(octet_length(NEW.default_text), 0) + COALESCE(octet_length(NEW.override_text), 0)
        - COALESCE(octet_length(OLD.default_text), 0) - COALESCE(octet_length(OLD.override_text), 0), 0)
    ON CONFLICT (network_id, slot) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;
END;
CREATE TRIGGER count_messages_deleted AFTER DELETE ON localization_messages BEGIN
    INSERT INTO network_usage (network_id, slot, documents, storage_bytes, file_bytes)
    VALUES (OLD.network_id, 0, 0, -64 - octet_length(OLD.namespace) - octet_length(OLD.locale_key)
        - octet_length(OLD.message_key) - COALESCE(octet_length(OLD.default_text), 0)
        - COALESCE(octet_length(OLD.override_text), 0), 0)
    ON CONFLICT (network_id, slot) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;
END;

CREATE TRIGGER count_artifacts_added AFTER INSERT ON artifacts BEGIN
    INSERT INTO network_usage (network_id, slot, documents, storage_bytes, file_bytes)
    VALUES (NEW.network_id, 0, 0, 0, NEW.size_bytes)
    ON CONFLICT (network_id, slot) DO UPDATE SET file_bytes = file_bytes + excluded.file_bytes;
END;
CREATE TRIGGER count_artifacts_deleted AFTER DELETE ON artifacts BEGIN
    INSERT INTO network_usage (network_id, slot, documents, storage_bytes, file_bytes)
    VALUES (OLD.network_id, 0, 0, 0, -OLD.size_bytes)
    ON CONFLICT (network_id, slot) DO UPDATE SET file_bytes = file_bytes + excluded.file_bytes;
END;

CREATE TRIGGER count_bundles_added AFTER INSERT ON provisioning_bundles BEGIN
    INSERT INTO network_usage (network_id, slot, documents, storage_bytes, file_bytes)
    VALUES (NEW.network_id, 0, 0, 0, NEW.size_bytes)
    ON CONFLICT (network_id, slot) DO UPDATE SET file_bytes = file_bytes + excluded.file_bytes;
END;
CREATE TRIGGER count_bundles_changed AFTER UPDATE OF size_bytes ON provisioning_bundles BEGIN
    INSERT INTO network_usage (network_id, slot, documents, storage_bytes, file_bytes)
    VALUES (NEW.network_id, 0, 0, 0, NEW.size_bytes - OLD.size_bytes)
    ON CONFLICT (network_id, slot) DO UPDATE SET file_bytes = file_bytes + excluded.file_bytes;
END;
CREATE TRIGGER count_bundles_deleted AFTER DELETE ON provisioning_bundles BEGIN
    INSERT INTO network_usage (network_id, slot, documents, storage_bytes, file_bytes)
    VALUES (OLD.network_id, 0, 0, 0, -OLD.size_bytes)
    ON CONFLICT (network_id, slot) DO UPDATE SET file_bytes = file_bytes + excluded.file_bytes;
END;

CREATE TRIGGER count_snapshots_added AFTER INSERT ON world_blobs WHEN NEW.size_bytes IS NOT NULL BEGIN
    INSERT INTO network_usage (network_id, slot, documents, storage_bytes, file_bytes)
    VALUES (NEW.network_id, 0, 0, 0, NEW.size_bytes)
    ON CONFLICT (network_id, slot) DO UPDATE SET file_bytes = file_bytes + excluded.file_bytes;
END;
CREATE TRIGGER count_snapshots_changed AFTER UPDATE OF size_bytes ON world_blobs BEGIN
    INSERT INTO network_usage (network_id, slot, documents, storage_bytes, file_bytes)
    VALUES (NEW.network_id, 0, 0, 0, COALESCE(NEW.size_bytes, 0) - COALESCE(OLD.size_bytes, 0))
    ON CONFLICT (network_id, slot) DO UPDATE SET file_bytes = file_bytes + excluded.file_bytes;
END;
CREATE TRIGGER count_snapshots_deleted AFTER DELETE ON world_blobs WHEN OLD.size_bytes IS NOT NULL BEGIN
    INSERT INTO network_usage (network_id, slot, documents, storage_bytes, file_bytes)
    VALUES (OLD.network_id, 0, 0, 0, -OLD.size_bytes)
    ON CONFLICT (network_id, slot) DO UPDATE SET file_bytes = file_bytes + excluded.file_bytes;
END;

CREATE TRIGGER count_modules_added AFTER INSERT ON modules BEGIN
    INSERT INTO network_usage (network_id, slot, documents, storage_bytes, file_bytes)
    VALUES (NEW.network_id, 0, 0, 0, NEW.size_bytes)
    ON CONFLICT (network_id, slot) DO UPDATE SET file_bytes = file_bytes + excluded.file_bytes;
END;
CREATE TRIGGER count_modules_deleted AFTER DELETE ON modules BEGIN
    INSERT INTO network_usage (network_id, slot, documents, storage_bytes, file_bytes)
    VALUES (OLD.network_id, 0, 0, 0, -OLD.size_bytes)
    ON CONFLICT (network_id, slot) DO UPDATE SET file_bytes = file_bytes + excluded.file_bytes;
END;
