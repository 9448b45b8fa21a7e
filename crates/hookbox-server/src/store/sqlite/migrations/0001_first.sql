-- Ids are 16 bytes: hex(id) shows the digits that stand behind the prefix of a shown id.
-- Times are milliseconds since 1970 in UTC.

CREATE TABLE application (
    id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    uid TEXT,
    name TEXT NOT NULL,
    throttle_rate INTEGER,
    metadata TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX application_uid ON application (uid) WHERE uid IS NOT NULL AND deleted_at IS NULL;

CREATE TABLE source (
    id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    name TEXT NOT NULL,
    application_id BLOB NOT NULL REFERENCES application (id),
    provider TEXT NOT NULL,
    secrets BLOB NOT NULL, -- sealed
    rules TEXT NOT NULL,
    from_file INTEGER NOT NULL CHECK (from_file IN (0, 1)),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX source_name ON source (name) WHERE deleted_at IS NULL;

CREATE TABLE endpoint (
    id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    application_id BLOB NOT NULL REFERENCES application (id),
    uid TEXT,
    url TEXT NOT NULL,
    description TEXT NOT NULL,
    throttle_rate INTEGER,
    event_types TEXT,
    channels TEXT,
    source_id BLOB REFERENCES source (id),
    trusted INTEGER NOT NULL CHECK (trusted IN (0, 1)),
    disabled TEXT,
    metadata TEXT NOT NULL,
    headers BLOB NOT NULL, -- sealed
    secrets BLOB NOT NULL, -- sealed
    retry_schedule TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    CHECK (trusted = (source_id IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX endpoint_application ON endpoint (application_id, id);
CREATE UNIQUE INDEX endpoint_uid ON endpoint (application_id, uid) WHERE uid IS NOT NULL AND deleted_at IS NULL;

CREATE TABLE event_type (
    name TEXT NOT NULL PRIMARY KEY,
    description TEXT NOT NULL,
    archived INTEGER NOT NULL CHECK (archived IN (0, 1)),
    deprecated INTEGER NOT NULL CHECK (deprecated IN (0, 1)),
    schemas TEXT,
    feature_flags TEXT NOT NULL,
    group_name TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE message (
    id BLOB NOT NULL CHECK (length(id) = 16),
    application_id BLOB NOT NULL,
    event_id TEXT,
    event_type TEXT NOT NULL,
    channels TEXT,
    content_type TEXT NOT NULL,
    payload BLOB NOT NULL,
    source_id BLOB,
    source_event_id BLOB, -- the provider's name for it, as in its receipt
    headers BLOB,
    quarantined INTEGER NOT NULL CHECK (quarantined IN (0, 1)),
    created_at INTEGER NOT NULL,
    UNIQUE (application_id, id)
) STRICT;

CREATE UNIQUE INDEX message_event_id ON message (application_id, event_id) WHERE event_id IS NOT NULL;

-- One row for each event that a source has seen; more under one event_id only when the bytes differ.
CREATE TABLE receipt (
    source_id BLOB NOT NULL,
    event_id BLOB NOT NULL, -- a provider may put anything into it
    digest BLOB NOT NULL CHECK (length(digest) = 32),
    message_id BLOB NOT NULL,
    received_at INTEGER NOT NULL,
    seen INTEGER NOT NULL,
    PRIMARY KEY (source_id, event_id, digest)
) STRICT, WITHOUT ROWID;

CREATE INDEX receipt_received_at ON receipt (received_at);

-- The queue. due_at is when something moves the row next: the next try, or the end of a lease.
CREATE TABLE delivery (
    message_id BLOB NOT NULL,
    endpoint_id BLOB NOT NULL,
    application_id BLOB NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('scheduled', 'leased', 'held', 'delivered', 'dead', 'cancelled')),
    due_at INTEGER CHECK ((due_at IS NOT NULL) = (state IN ('scheduled', 'leased'))),
    fence INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    manual INTEGER NOT NULL CHECK (manual IN (0, 1)),
    cause TEXT CHECK ((cause IS NOT NULL) = (state = 'dead')),
    PRIMARY KEY (message_id, endpoint_id)
) STRICT, WITHOUT ROWID;

-- First tries and retries are queues of their own. The state, so that the queue is counted without reading the table.
CREATE INDEX delivery_due ON delivery (endpoint_id, (failures > 0), due_at, state) WHERE due_at IS NOT NULL;
CREATE INDEX delivery_held ON delivery (endpoint_id) WHERE state = 'held';
CREATE INDEX delivery_dead ON delivery (application_id, message_id, endpoint_id) WHERE state = 'dead';

-- History, append only. Nothing infers a state from it.
CREATE TABLE attempt (
    message_id BLOB NOT NULL,
    id BLOB NOT NULL CHECK (length(id) = 16),
    endpoint_id BLOB NOT NULL,
    url TEXT NOT NULL,
    at INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    status INTEGER,
    response BLOB NOT NULL,
    error TEXT,
    succeeded INTEGER NOT NULL CHECK (succeeded IN (0, 1)),
    manual INTEGER NOT NULL CHECK (manual IN (0, 1)),
    late INTEGER NOT NULL CHECK (late IN (0, 1)),
    PRIMARY KEY (message_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX attempt_endpoint ON attempt (endpoint_id, id);

CREATE TABLE idempotency (
    key BLOB NOT NULL PRIMARY KEY CHECK (length(key) = 32),
    request BLOB NOT NULL CHECK (length(request) = 32),
    status INTEGER NOT NULL,
    body BLOB NOT NULL, -- sealed: an answer may hold a secret
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_at ON idempotency (at);

CREATE TABLE token (
    id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    name TEXT NOT NULL,
    digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A known text sealed with the operator's key, to notice another key at the start.
CREATE TABLE key_check (sealed BLOB NOT NULL) STRICT;
