-- People who sign in. They are the hub's: one may be a member of many networks.
CREATE TABLE persons (
    person_id       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    -- In lower case: an address is one person's.
    email_folded    TEXT COLLATE "C" NOT NULL UNIQUE,
    email           TEXT             NOT NULL,
    name            TEXT             NOT NULL,
    -- A PHC string of argon2id; null: no password signs this person in.
    password_hash   TEXT,
    is_operator     BOOLEAN          NOT NULL,
    -- The second factor, in effect once its first code was checked; and its last step that was used.
    totp_secret     BYTEA,
    totp_confirmed  BOOLEAN          NOT NULL,
    totp_last_step  BIGINT           NOT NULL,
    created_at      BIGINT           NOT NULL
);

-- Who is signed in. Only a hash is kept of a session's token.
CREATE TABLE person_sessions (
    session_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    person_id  TEXT COLLATE "C" NOT NULL,
    sha256     BYTEA            NOT NULL,
    created_at BIGINT           NOT NULL,
    expires_at BIGINT           NOT NULL,
    address    TEXT
);
CREATE INDEX person_sessions_by_person ON person_sessions (person_id, created_at);
CREATE INDEX person_sessions_by_end ON person_sessions (expires_at);

-- Codes that stand in for the second factor, once each.
CREATE TABLE person_recovery_codes (
    person_id TEXT COLLATE "C" NOT NULL,
    sha256    BYTEA            NOT NULL,
    PRIMARY KEY (person_id, sha256)
);

-- Wrong passwords and codes, by the hash of the address that was given, whether or not it is a person's.
CREATE TABLE sign_in_failures (
    email_sha256 BYTEA            NOT NULL PRIMARY KEY,
    failures     BIGINT           NOT NULL,
    last_at      BIGINT           NOT NULL
);
CREATE INDEX sign_in_failures_by_age ON sign_in_failures (last_at);

-- Who is a member of which network, and as what.
CREATE TABLE network_members (
    network_id UUID             NOT NULL,
    person_id  TEXT COLLATE "C" NOT NULL,
    role       TEXT             NOT NULL,
    joined_at  BIGINT           NOT NULL,
    PRIMARY KEY (network_id, person_id)
);
CREATE INDEX network_members_by_person ON network_members (person_id, network_id);

-- Mails with a link: invitations, of their network, and resets of a lost password, of the operator's network.
CREATE TABLE person_links (
    network_id   UUID             NOT NULL,
    link_id      TEXT COLLATE "C" NOT NULL,
    kind         TEXT             NOT NULL,
    email_folded TEXT COLLATE "C" NOT NULL,
    email        TEXT             NOT NULL,
    -- Of an invitation; null: to be an operator.
    role         TEXT,
    created_at   BIGINT           NOT NULL,
    expires_at   BIGINT           NOT NULL,
    -- Of the token; null until a mail with it is sent.
    sha256       BYTEA,
    -- When the mail is to be sent, or tried again; null: it was.
    due_at       BIGINT,
    attempts     BIGINT           NOT NULL,
    PRIMARY KEY (network_id, link_id)
);
CREATE INDEX person_links_by_token ON person_links (sha256) WHERE sha256 IS NOT NULL;
CREATE INDEX person_links_by_email ON person_links (network_id, email_folded, created_at);
CREATE INDEX person_links_by_age ON person_links (network_id, created_at, link_id);
CREATE INDEX person_links_due ON person_links (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX person_links_by_end ON person_links (expires_at);
