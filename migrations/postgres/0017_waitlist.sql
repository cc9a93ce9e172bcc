-- Who wants to be told of the launch. The list is the hub's own: its rows are of the operator's network.
CREATE TABLE waitlist (
    network_id   UUID             NOT NULL,
    -- In lower case: an address is on the list once.
    email_folded TEXT COLLATE "C" NOT NULL,
    -- As it was first written; mail goes there.
    email        TEXT             NOT NULL,
    source       TEXT,
    joined_at    BIGINT           NOT NULL,
    confirmed_at BIGINT,
    -- When a mail is to be sent, or tried again; null: none is.
    due_at       BIGINT,
    -- How often the mail that is due was tried.
    attempts     BIGINT           NOT NULL,
    PRIMARY KEY (network_id, email_folded)
);
CREATE INDEX waitlist_by_age ON waitlist (network_id, joined_at, email_folded);
CREATE INDEX waitlist_due ON waitlist (network_id, due_at) WHERE due_at IS NOT NULL;

-- The links in those mails. Only a hash is kept of what stands in one.
CREATE TABLE waitlist_links (
    network_id   UUID             NOT NULL,
    sha256       BYTEA            NOT NULL,
    email_folded TEXT COLLATE "C" NOT NULL,
    made_at      BIGINT           NOT NULL,
    -- When the mail with it was handed over.
    sent_at      BIGINT,
    used_at      BIGINT,
    PRIMARY KEY (network_id, sha256)
);
CREATE INDEX waitlist_links_by_email ON waitlist_links (network_id, email_folded, sent_at);
CREATE INDEX waitlist_links_by_age ON waitlist_links (network_id, made_at);
