-- Who else takes events of a network out of the outbox: nobody else's are kept for them.
CREATE TABLE event_subscriptions (
    network_id UUID NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    -- A webhook's id.
    subscriber TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (network_id, name, subscriber)
);

-- Where events of a network are sent.
CREATE TABLE webhooks (
    network_id      UUID    NOT NULL,
    webhook_id      TEXT COLLATE "C" NOT NULL,
    -- STANDARD or DISCORD.
    kind            TEXT    NOT NULL,
    name            TEXT,
    url             TEXT    NOT NULL,
    -- JSON: the names of its events, and its messages by event.
    events          TEXT    NOT NULL,
    templates       TEXT    NOT NULL,
    secret          TEXT    NOT NULL,
    previous_secret TEXT,
    previous_until  BIGINT,
    -- ENABLED or DISABLED, and why.
    state           TEXT    NOT NULL,
    disabled_reason TEXT,
    created_at      BIGINT  NOT NULL,
    updated_at      BIGINT  NOT NULL,
    -- Of the newest delivery.
    last_seq        BIGINT  NOT NULL,
    -- Deliveries that wait, their bytes, and how many were dropped because there were too many.
    waiting         BIGINT  NOT NULL,
    waiting_bytes   BIGINT  NOT NULL,
    dropped         BIGINT  NOT NULL,
    -- Failed attempts since the last success, and when the first of them was.
    failures        BIGINT  NOT NULL,
    failing_since   BIGINT,
    last_success_at BIGINT,
    last_failure_at BIGINT,
    -- Until then one node is at it, or nobody tries.
    next_attempt_at BIGINT  NOT NULL,
    PRIMARY KEY (network_id, webhook_id)
);
CREATE INDEX webhooks_due ON webhooks (network_id, next_attempt_at) WHERE state = 'ENABLED' AND waiting > 0;

-- Events on their way to a webhook, and the latest that have arrived or failed.
CREATE TABLE webhook_deliveries (
    network_id      UUID    NOT NULL,
    webhook_id      TEXT COLLATE "C" NOT NULL,
    -- The order in which they are sent.
    seq             BIGINT  NOT NULL,
    -- The same for each attempt, and when it is sent again.
    message_id      TEXT    NOT NULL,
    event           TEXT    NOT NULL,
    data            TEXT    NOT NULL,
    event_at        BIGINT  NOT NULL,
    queued_at       BIGINT  NOT NULL,
    -- WAITING, DELIVERED or FAILED.
    state           TEXT    NOT NULL,
    attempts        BIGINT  NOT NULL,
    -- Of the last attempt.
    attempted_at    BIGINT,
    status          BIGINT,
    error           TEXT,
    duration_ms     BIGINT,
    finished_at     BIGINT,
    PRIMARY KEY (network_id, webhook_id, seq)
);
CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (network_id, webhook_id, seq) WHERE state = 'WAITING';
CREATE INDEX webhook_deliveries_finished ON webhook_deliveries (finished_at) WHERE finished_at IS NOT NULL;
