-- What networks may use, by the name that `networks.plan` has. The hub adds the plan `default` when it starts.
CREATE TABLE plans (
    name          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    -- JSON as on the wire; what is absent is not limited.
    limits        TEXT             NOT NULL,
    -- JSON by extension point.
    module_limits TEXT             NOT NULL,
    created_at    BIGINT           NOT NULL,
    updated_at    BIGINT           NOT NULL
);

-- Networks that are to be deleted, and what is left of those that were.
CREATE TABLE network_deletions (
    network_id  UUID   NOT NULL PRIMARY KEY,
    name        TEXT   NOT NULL,
    delete_at   BIGINT NOT NULL,
    -- Null until all of it is gone.
    deleted_at  BIGINT,
    -- When to look for rows again: at first `delete_at`, then after the longest request has ended; null once that is done.
    due_at      BIGINT,
    -- Until then one node is at it.
    claimed_until BIGINT NOT NULL
);

CREATE INDEX network_deletions_due ON network_deletions (due_at) WHERE due_at IS NOT NULL;

-- What a network stores: the sum over its slots. Triggers count; the slot -1 holds what was there before them. Sessions
-- count in different slots, so that writers of one network rarely wait for each other. Pages stay half empty, so that a
-- count is updated in place.
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
        PERFORM add_network_usage(NEW.network_id, 0, (octet_length(NEW.data)) - (octet_length(OLD.data)), 0);
    ELSE
        PERFORM add_network_usage(OLD.network_id, 0,
            -(64 + octet_length(OLD.game_mode) + octet_length(OLD.namespace) + octet_length(OLD.data)), 0);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER count_player_data_moved AFTER INSERT OR DELETE ON player_data FOR EACH ROW EXECUTE FUNCTION count_player_data();
CREATE TRIGGER count_player_data_changed AFTER UPDATE OF data ON player_data FOR EACH ROW
    WHEN (octet_length(NEW.data) <> octet_length(OLD.data)) EXECUTE FUNCTION count_player_data();

CREATE FUNCTION count_documents() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM add_network_usage(NEW.network_id, 1,
            64 + octet_length(NEW.collection) + octet_length(NEW.id) + octet_length(NEW.doc), 0);
    ELSIF TG_OP = 'UPDATE' THEN
        PERFORM add_network_usage(NEW.network_id, 0, (octet_length(NEW.doc)) - (octet_length(OLD.doc)), 0);
    ELSE
        PERFORM add_network_usage(OLD.network_id, -1,
            -(64 + octet_length(OLD.collection) + octet_length(OLD.id) + octet_length(OLD.doc)), 0);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER count_documents_moved AFTER INSERT OR DELETE ON collection_documents FOR EACH ROW EXECUTE FUNCTION count_documents();
CREATE TRIGGER count_documents_changed AFTER UPDATE OF doc ON collection_documents FOR EACH ROW
    WHEN (octet_length(NEW.doc) <> octet_length(OLD.doc)) EXECUTE FUNCTION count_documents();

CREATE FUNCTION count_config() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM add_network_usage(NEW.network_id, 0,
            64 + octet_length(NEW.doc_group) + octet_length(NEW.namespace) + octet_length(NEW.doc), 0);
    ELSIF TG_OP = 'UPDATE' THEN
        PERFORM add_network_usage(NEW.network_id, 0, (octet_length(NEW.doc)) - (octet_length(OLD.doc)), 0);
    ELSE
        PERFORM add_network_usage(OLD.network_id, 0,
            -(64 + octet_length(OLD.doc_group) + octet_length(OLD.namespace) + octet_length(OLD.doc)), 0);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER count_config_moved AFTER INSERT OR DELETE ON config_documents FOR EACH ROW EXECUTE FUNCTION count_config();
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
CREATE TRIGGER count_artifacts AFTER INSERT OR DELETE OR UPDATE OF size_bytes ON artifacts FOR EACH ROW EXECUTE FUNCTION count_files();
CREATE TRIGGER count_bundles AFTER INSERT OR DELETE OR UPDATE OF size_bytes ON provisioning_bundles FOR EACH ROW EXECUTE FUNCTION count_files();
CREATE TRIGGER count_snapshots AFTER INSERT OR DELETE OR UPDATE OF size_bytes ON world_blobs FOR EACH ROW EXECUTE FUNCTION count_files();
CREATE TRIGGER count_modules AFTER INSERT OR DELETE OR UPDATE OF size_bytes ON modules FOR EACH ROW EXECUTE FUNCTION count_files();
