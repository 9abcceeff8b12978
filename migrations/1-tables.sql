-- The tables of SQLite and of Postgres. A released migration never changes: a change of the tables is another file.

CREATE TABLE sandbox_setting (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL,
  checksum TEXT NOT NULL
);

CREATE TABLE sandbox_tenant (
  client_id TEXT PRIMARY KEY,
  version BIGINT NOT NULL,
  life BIGINT NOT NULL,
  instant BIGINT NOT NULL,
  removed INTEGER NOT NULL,
  content TEXT NOT NULL,
  checksum TEXT NOT NULL
);

CREATE TABLE sandbox_record (
  client_id TEXT NOT NULL,
  number BIGINT NOT NULL,
  version BIGINT NOT NULL,
  kind TEXT NOT NULL,
  region TEXT,
  reference TEXT NOT NULL,
  content TEXT NOT NULL,
  checksum TEXT NOT NULL,
  PRIMARY KEY (client_id, number)
);

CREATE INDEX sandbox_record_version ON sandbox_record (client_id, version, number);

CREATE TABLE sandbox_event (
  client_id TEXT NOT NULL,
  number BIGINT NOT NULL,
  version BIGINT NOT NULL,
  kind TEXT NOT NULL,
  region TEXT,
  reference TEXT NOT NULL,
  content TEXT NOT NULL,
  checksum TEXT NOT NULL,
  PRIMARY KEY (client_id, number)
);

CREATE INDEX sandbox_event_version ON sandbox_event (client_id, version, number);
