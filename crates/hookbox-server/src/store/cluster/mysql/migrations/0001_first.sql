-- Ids are 16 bytes: hex(id) shows the digits that stand behind the prefix of a shown id.
-- Times are milliseconds since 1970 in UTC.
-- Names that differ in a letter's case or form are different names, so texts compare by their bytes. Each statement
-- may run twice: a change of the schema cannot be taken back here.

CREATE TABLE IF NOT EXISTS migration (
    version INT NOT NULL PRIMARY KEY,
    name VARCHAR(64) NOT NULL,
    at BIGINT NOT NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS application (
    id BINARY(16) NOT NULL PRIMARY KEY,
    uid VARCHAR(256),
    name TEXT NOT NULL,
    throttle_rate INT,
    metadata MEDIUMTEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT,
    -- Counts the changes to the application and its endpoints, so that a node knows when its memory is old.
    revision BIGINT NOT NULL DEFAULT 1,
    -- A deleted one gives its uid back.
    live_uid VARCHAR(256) AS (CASE WHEN deleted_at IS NULL THEN uid END) STORED,
    UNIQUE KEY application_uid (live_uid)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS source (
    id BINARY(16) NOT NULL PRIMARY KEY,
    name VARCHAR(64) NOT NULL,
    application_id BINARY(16) NOT NULL,
    provider VARCHAR(64) NOT NULL,
    secrets MEDIUMBLOB NOT NULL, -- sealed
    rules MEDIUMTEXT NOT NULL,
    from_file TINYINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT,
    live_name VARCHAR(64) AS (CASE WHEN deleted_at IS NULL THEN name END) STORED,
    UNIQUE KEY source_name (live_name),
    KEY source_application (application_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS endpoint (
    id BINARY(16) NOT NULL PRIMARY KEY,
    application_id BINARY(16) NOT NULL,
    uid VARCHAR(256),
    url TEXT NOT NULL,
    description MEDIUMTEXT NOT NULL,
    throttle_rate INT,
    event_types MEDIUMTEXT,
    channels MEDIUMTEXT,
    source_id BINARY(16),
    trusted TINYINT NOT NULL,
    disabled VARCHAR(32),
    metadata MEDIUMTEXT NOT NULL,
    headers MEDIUMBLOB NOT NULL, -- sealed
    secrets MEDIUMBLOB NOT NULL, -- sealed
    retry_schedule TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT,
    live_uid VARCHAR(256) AS (CASE WHEN deleted_at IS NULL THEN uid END) STORED,
    UNIQUE KEY endpoint_uid (application_id, live_uid),
    KEY endpoint_application (application_id, id),
    KEY endpoint_source (source_id),
    CONSTRAINT endpoint_trusted CHECK (trusted = (source_id IS NOT NULL))
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS event_type (
    name VARCHAR(256) NOT NULL PRIMARY KEY,
    description MEDIUMTEXT NOT NULL,
    archived TINYINT NOT NULL,
    deprecated TINYINT NOT NULL,
    `schemas` MEDIUMTEXT,
    feature_flags MEDIUMTEXT NOT NULL,
    group_name VARCHAR(256),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS message (
    id BINARY(16) NOT NULL,
    application_id BINARY(16) NOT NULL,
    event_id VARCHAR(256),
    event_type VARCHAR(1024) NOT NULL,
    channels MEDIUMTEXT,
    content_type TEXT NOT NULL,
    payload LONGBLOB NOT NULL,
    source_id BINARY(16),
    source_event_id VARBINARY(4096), -- the provider's name for it, as in its receipt
    headers MEDIUMBLOB,
    quarantined TINYINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (application_id, id),
    KEY message_id (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- The names that senders gave to messages. The key digests the application and the name.
CREATE TABLE IF NOT EXISTS event_id (
    `key` BINARY(32) NOT NULL PRIMARY KEY,
    message_id BINARY(16) NOT NULL,
    at BIGINT NOT NULL,
    KEY event_id_at (at)
) ENGINE = InnoDB;

-- One row for each event that a source has seen; more under one key only when the bytes differ. The key digests
-- the source and the event's name.
CREATE TABLE IF NOT EXISTS receipt (
    `key` BINARY(32) NOT NULL,
    variant INT NOT NULL, -- 0 is the first; others have other bytes
    digest BINARY(32) NOT NULL,
    source_id BINARY(16) NOT NULL,
    event_id VARBINARY(4096) NOT NULL,
    message_id BINARY(16) NOT NULL,
    received_at BIGINT NOT NULL,
    seen INT NOT NULL,
    PRIMARY KEY (`key`, variant),
    KEY receipt_received_at (received_at)
) ENGINE = InnoDB;

-- The queue: what is not settled. What is settled leaves for the table of its name.
CREATE TABLE IF NOT EXISTS delivery (
    message_id BINARY(16) NOT NULL,
    endpoint_id BINARY(16) NOT NULL,
    application_id BINARY(16) NOT NULL,
    state VARCHAR(16) NOT NULL,
    due_at BIGINT,
    lease_until BIGINT,
    fence BIGINT NOT NULL,
    failures INT NOT NULL,
    manual TINYINT NOT NULL,
    bytes INT NOT NULL, -- of the payload
    -- First tries before retries: a claim reads each from its own end.
    retry TINYINT AS (failures > 0) STORED,
    PRIMARY KEY (message_id, endpoint_id),
    KEY delivery_due (endpoint_id, retry, due_at),
    CONSTRAINT delivery_state CHECK (state IN ('scheduled', 'leased', 'held')),
    CONSTRAINT delivery_held CHECK ((due_at IS NULL) = (state = 'held')),
    CONSTRAINT delivery_leased CHECK ((lease_until IS NOT NULL) = (state = 'leased'))
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- What became of deliveries.
CREATE TABLE IF NOT EXISTS settled (
    message_id BINARY(16) NOT NULL,
    endpoint_id BINARY(16) NOT NULL,
    application_id BINARY(16) NOT NULL,
    state VARCHAR(16) NOT NULL,
    fence BIGINT NOT NULL,
    failures INT NOT NULL,
    cause VARCHAR(32),
    dead_of BINARY(16) AS (CASE WHEN state = 'dead' THEN application_id END) STORED,
    PRIMARY KEY (message_id, endpoint_id),
    KEY settled_dead (dead_of, message_id, endpoint_id),
    CONSTRAINT settled_state CHECK (state IN ('delivered', 'dead', 'cancelled')),
    CONSTRAINT settled_cause CHECK ((cause IS NOT NULL) = (state = 'dead'))
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- History, append only. Nothing infers a state from it.
CREATE TABLE IF NOT EXISTS attempt (
    message_id BINARY(16) NOT NULL,
    id BINARY(16) NOT NULL,
    endpoint_id BINARY(16) NOT NULL,
    url TEXT NOT NULL,
    at BIGINT NOT NULL,
    duration_ms BIGINT NOT NULL,
    status INT,
    response MEDIUMBLOB NOT NULL,
    error VARCHAR(64),
    succeeded TINYINT NOT NULL,
    manual TINYINT NOT NULL,
    late TINYINT NOT NULL,
    PRIMARY KEY (message_id, id),
    KEY attempt_endpoint (endpoint_id, id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS idempotency (
    `key` BINARY(32) NOT NULL PRIMARY KEY,
    request BINARY(32) NOT NULL,
    status INT NOT NULL,
    body MEDIUMBLOB NOT NULL, -- sealed: an answer may hold a secret
    at BIGINT NOT NULL,
    KEY idempotency_at (at)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS token (
    id BINARY(16) NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    digest BINARY(32) NOT NULL UNIQUE,
    created_at BIGINT NOT NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Counts the changes to sources and tokens, so that a node knows when its memory is old.
CREATE TABLE IF NOT EXISTS door (
    id INT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL
) ENGINE = InnoDB;

INSERT IGNORE INTO door (id, revision) VALUES (1, 1);

-- Who does upkeep, and until when.
CREATE TABLE IF NOT EXISTS upkeep (
    job VARCHAR(64) NOT NULL PRIMARY KEY,
    node VARCHAR(64) NOT NULL,
    until BIGINT NOT NULL,
    done_at BIGINT
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- A known text sealed with the operator's key, to notice another key at the start.
CREATE TABLE IF NOT EXISTS key_check (
    id INT NOT NULL PRIMARY KEY DEFAULT 1,
    sealed BLOB NOT NULL
) ENGINE = InnoDB;
