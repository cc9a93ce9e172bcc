-- Who wants to be told of the launch. The list is the hub's own: its rows are of the operator's network.
CREATE TABLE waitlist (
    network_id   BLOB    NOT NULL,
    -- In lower case: an address is on the list once.
    email_folded TEXT    NOT NULL,
    -- As it was first written; mail goes there.
    email        TEXT    NOT NULL,
    source       TEXT,
    joined_at    INTEGER NOT NULL,
    confirmed_at INTEGER,
    -- When a mail is to be sent, or tried again; null: none is.
    due_at       INTEGER,
    -- How often the mail that is due was tried.
    attempts     INTEGER NOT NULL,
    PRIMARY KEY (network_id, email_folded)
) WITHOUT ROWID;
CREATE INDEX waitlist_by_age ON waitlist (network_id, joined_at, email_folded);
CREATE INDEX waitlist_due ON waitlist (network_id, due_at) WHERE due_at IS NOT NULL;

-- The links in those mails. Only a hash is kept of what stands in one.
CREATE TABLE waitlist_links (
    network_id   BLOB    NOT NULL,
    sha256       BLOB    NOT NULL,
    email_folded TEXT    NOT NULL,
    made_at      INTEGER NOT NULL,
    -- When the mail with it was handed over.
    sent_at      INTEGER,
    used_at      INTEGER,
    PRIMARY KEY (network_id, sha256)
) WITHOUT ROWID;
CREATE INDEX waitlist_links_by_email ON waitlist_links (network_id, email_folded, sent_at);
CREATE INDEX waitlist_links_by_age ON waitlist_links (network_id, made_at);
