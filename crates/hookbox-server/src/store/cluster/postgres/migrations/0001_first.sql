-- Ids are UUIDs: their digits are those that stand behind the prefix of a shown id.
-- Times are milliseconds since 1970 in UTC: to_timestamp(created_at / 1000.0) shows one.

CREATE SCHEMA IF NOT EXISTS hookbox;

CREATE TABLE hookbox.migration (
    version integer NOT NULL PRIMARY KEY,
    name text NOT NULL,
    at bigint NOT NULL
);

CREATE TABLE hookbox.application (
    id uuid NOT NULL PRIMARY KEY,
    uid text COLLATE "C",
    name text NOT NULL,
    throttle_rate integer,
    metadata text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    deleted_at bigint,
    -- Counts the changes to the application and its endpoints, so that a node knows when its memory is old.
    revision bigint NOT NULL DEFAULT 1
);

CREATE UNIQUE INDEX application_uid ON hookbox.application (uid) WHERE uid IS NOT NULL AND deleted_at IS NULL;

CREATE TABLE hookbox.source (
    id uuid NOT NULL PRIMARY KEY,
    name text COLLATE "C" NOT NULL,
    application_id uuid NOT NULL REFERENCES hookbox.application (id),
    provider text NOT NULL,
    secrets bytea NOT NULL, -- sealed
    rules text NOT NULL,
    from_file boolean NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    deleted_at bigint
);

CREATE UNIQUE INDEX source_name ON hookbox.source (name) WHERE deleted_at IS NULL;

CREATE TABLE hookbox.endpoint (
    id uuid NOT NULL PRIMARY KEY,
    application_id uuid NOT NULL REFERENCES hookbox.application (id),
    uid text COLLATE "C",
    url text NOT NULL,
    description text NOT NULL,
    throttle_rate integer,
    event_types text,
    channels text,
    source_id uuid REFERENCES hookbox.source (id),
    trusted boolean NOT NULL,
    disabled text,
    metadata text NOT NULL,
    headers bytea NOT NULL, -- sealed
    secrets bytea NOT NULL, -- sealed
    retry_schedule text,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    deleted_at bigint,
    CHECK (trusted = (source_id IS NOT NULL))
);

CREATE INDEX endpoint_application ON hookbox.endpoint (application_id, id);
CREATE INDEX endpoint_source ON hookbox.endpoint (source_id) WHERE source_id IS NOT NULL;
CREATE UNIQUE INDEX endpoint_uid ON hookbox.endpoint (application_id, uid) WHERE uid IS NOT NULL AND deleted_at IS NULL;

CREATE TABLE hookbox.event_type (
    name text COLLATE "C" NOT NULL PRIMARY KEY,
    description text NOT NULL,
    archived boolean NOT NULL,
    deprecated boolean NOT NULL,
    schemas text,
    feature_flags text NOT NULL,
    group_name text,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);

-- By the day of the message's id, so that retention drops whole days.
CREATE TABLE hookbox.message (
    id uuid NOT NULL,
    application_id uuid NOT NULL,
    event_id text COLLATE "C",
    event_type text NOT NULL,
    channels text,
    content_type text NOT NULL,
    payload bytea NOT NULL,
    source_id uuid,
    source_event_id bytea, -- the provider's name for it, as in its receipt
    headers bytea,
    quarantined boolean NOT NULL,
    created_at bigint NOT NULL,
    PRIMARY KEY (application_id, id)
) PARTITION BY RANGE (id);

CREATE TABLE hookbox.message_other PARTITION OF hookbox.message DEFAULT;

-- The names that senders gave to messages: unique over all days. The key digests the application and the name.
CREATE TABLE hookbox.event_id (
    key bytea NOT NULL PRIMARY KEY CHECK (length(key) = 32),
    message_id uuid NOT NULL,
    at bigint NOT NULL
);

CREATE INDEX event_id_at ON hookbox.event_id USING brin (at);

-- One row for each event that a source has seen; more under one key only when the bytes differ. The key digests
-- the source and the event's name, and is unique over all days.
CREATE TABLE hookbox.receipt (
    key bytea NOT NULL CHECK (length(key) = 32),
    variant integer NOT NULL, -- 0 is the first; others have other bytes
    digest bytea NOT NULL CHECK (length(digest) = 32),
    source_id uuid NOT NULL,
    event_id bytea NOT NULL,
    message_id uuid NOT NULL,
    received_at bigint NOT NULL,
    seen integer NOT NULL,
    PRIMARY KEY (key, variant)
) WITH (fillfactor = 90);

CREATE INDEX receipt_received_at ON hookbox.receipt USING brin (received_at);

-- The queue: what is not settled. A lease changes no indexed column, so it moves the row within its page; what
-- is settled leaves for the table of its name.
CREATE TABLE hookbox.delivery (
    message_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    application_id uuid NOT NULL,
    state text NOT NULL CHECK (state IN ('scheduled', 'leased', 'held')),
    due_at bigint CHECK ((due_at IS NULL) = (state = 'held')),
    lease_until bigint CHECK ((lease_until IS NOT NULL) = (state = 'leased')),
    fence bigint NOT NULL,
    failures integer NOT NULL,
    manual boolean NOT NULL,
    bytes integer NOT NULL, -- of the payload
    PRIMARY KEY (message_id, endpoint_id)
) WITH (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_insert_scale_factor = 0.05,
    autovacuum_analyze_scale_factor = 0.05,
    autovacuum_vacuum_cost_delay = 0
);

-- First tries before retries: a claim reads each from its own end. A number, since the planner turns the opposite of
-- failures > 0 into failures <= 0, and does not find it.
CREATE INDEX delivery_due ON hookbox.delivery (endpoint_id, least(failures, 1), due_at) WHERE due_at IS NOT NULL;
CREATE INDEX delivery_held ON hookbox.delivery (endpoint_id) WHERE due_at IS NULL;

-- What became of deliveries. By the day of the message's id.
CREATE TABLE hookbox.settled (
    message_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    application_id uuid NOT NULL,
    state text NOT NULL CHECK (state IN ('delivered', 'dead', 'cancelled')),
    fence bigint NOT NULL,
    failures integer NOT NULL,
    cause text CHECK ((cause IS NOT NULL) = (state = 'dead')),
    PRIMARY KEY (message_id, endpoint_id)
) PARTITION BY RANGE (message_id);

CREATE TABLE hookbox.settled_other PARTITION OF hookbox.settled DEFAULT;

CREATE INDEX settled_dead ON hookbox.settled (application_id, message_id, endpoint_id) WHERE state = 'dead';

-- History, append only. Nothing infers a state from it. By the day of the message's id.
CREATE TABLE hookbox.attempt (
    message_id uuid NOT NULL,
    id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    url text NOT NULL,
    at bigint NOT NULL,
    duration_ms bigint NOT NULL,
    status integer,
    response bytea NOT NULL,
    error text,
    succeeded boolean NOT NULL,
    manual boolean NOT NULL,
    late boolean NOT NULL,
    PRIMARY KEY (message_id, id)
) PARTITION BY RANGE (message_id);

CREATE TABLE hookbox.attempt_other PARTITION OF hookbox.attempt DEFAULT;

CREATE INDEX attempt_endpoint ON hookbox.attempt (endpoint_id, id);

CREATE TABLE hookbox.idempotency (
    key bytea NOT NULL PRIMARY KEY CHECK (length(key) = 32),
    request bytea NOT NULL CHECK (length(request) = 32),
    status integer NOT NULL,
    body bytea NOT NULL, -- sealed: an answer may hold a secret
    at bigint NOT NULL
);

CREATE INDEX idempotency_at ON hookbox.idempotency USING brin (at);

CREATE TABLE hookbox.token (
    id uuid NOT NULL PRIMARY KEY,
    name text NOT NULL,
    digest bytea NOT NULL UNIQUE CHECK (length(digest) = 32),
    created_at bigint NOT NULL
);

-- Counts the changes to sources and tokens, so that a node knows when its memory is old.
CREATE TABLE hookbox.door (revision bigint NOT NULL);
INSERT INTO hookbox.door (revision) VALUES (1);

-- Who does upkeep, and until when.
CREATE TABLE hookbox.upkeep (
    job text COLLATE "C" NOT NULL PRIMARY KEY,
    node text NOT NULL,
    until bigint NOT NULL,
    done_at bigint
);

-- A known text sealed with the operator's key, to notice another key at the start.
CREATE TABLE hookbox.key_check (sealed bytea NOT NULL);
