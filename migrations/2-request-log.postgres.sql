-- The request log that several servers share. With SQLite there is one server, which keeps it in memory.

CREATE TABLE sandbox_request_count (
  client_id TEXT PRIMARY KEY,
  last BIGINT NOT NULL,
  cleared BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE sandbox_request (
  id BIGSERIAL PRIMARY KEY,
  client_id TEXT NOT NULL,
  seq BIGINT NOT NULL,
  bytes INTEGER NOT NULL,
  content TEXT NOT NULL,
  UNIQUE (client_id, seq)
);
