-- One row per network once anything is stored; its changes take turns by it.
CREATE TABLE localization_catalogs (
    network_id  BLOB    NOT NULL PRIMARY KEY,
    version     INTEGER NOT NULL,
    default_key TEXT    NOT NULL
) WITHOUT ROWID;

-- locale_key: what locales are compared by, in lower case and with _.
CREATE TABLE localization_locales (
    network_id   BLOB    NOT NULL,
    locale_key   TEXT    NOT NULL,
    locale       TEXT    NOT NULL,
    display_name TEXT,
    enabled      BOOLEAN NOT NULL,
    PRIMARY KEY (network_id, locale_key)
) WITHOUT ROWID;

-- At least one of the two texts is there; the override counts.
CREATE TABLE localization_messages (
    network_id    BLOB NOT NULL,
    namespace     TEXT NOT NULL,
    locale_key    TEXT NOT NULL,
    message_key   TEXT NOT NULL,
    default_text  TEXT,
    override_text TEXT,
    PRIMARY KEY (network_id, namespace, locale_key, message_key)
) WITHOUT ROWID;

CREATE TABLE player_languages (
    network_id  BLOB NOT NULL,
    player_uuid BLOB NOT NULL,
    username    TEXT,
    -- Null: unset.
    locale      TEXT,
    source      TEXT,
    PRIMARY KEY (network_id, player_uuid)
) WITHOUT ROWID;
