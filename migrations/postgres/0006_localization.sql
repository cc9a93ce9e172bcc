-- One row per network once anything is stored; its changes take turns by it.
CREATE TABLE localization_catalogs (
    network_id  UUID   NOT NULL PRIMARY KEY,
    version     BIGINT NOT NULL,
    default_key TEXT   NOT NULL
);

-- locale_key: what locales are compared by, in lower case and with _.
CREATE TABLE localization_locales (
    network_id   UUID             NOT NULL,
    locale_key   TEXT COLLATE "C" NOT NULL,
    locale       TEXT             NOT NULL,
    display_name TEXT,
    enabled      BOOLEAN          NOT NULL,
    PRIMARY KEY (network_id, locale_key)
);

-- At least one of the two texts is there; the override counts.
CREATE TABLE localization_messages (
    network_id    UUID             NOT NULL,
    namespace     TEXT COLLATE "C" NOT NULL,
    locale_key    TEXT COLLATE "C" NOT NULL,
    message_key   TEXT COLLATE "C" NOT NULL,
    default_text  TEXT COLLATE "C",
    override_text TEXT COLLATE "C",
    PRIMARY KEY (network_id, namespace, locale_key, message_key)
);

CREATE TABLE player_languages (
    network_id  UUID NOT NULL,
    player_uuid UUID NOT NULL,
    username    TEXT,
    -- Null: unset.
    locale      TEXT,
    source      TEXT,
    PRIMARY KEY (network_id, player_uuid)
);
