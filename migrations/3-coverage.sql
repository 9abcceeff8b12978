-- The answers that each client has got, and the forks that count for their origins too (docs/control-plane.md).

CREATE TABLE sandbox_coverage (
  client_id TEXT NOT NULL,
  operation TEXT NOT NULL,
  fact TEXT NOT NULL,
  answers BIGINT NOT NULL,
  PRIMARY KEY (client_id, operation, fact)
);

CREATE TABLE sandbox_fork (
  client_id TEXT PRIMARY KEY,
  origin TEXT NOT NULL
);

CREATE INDEX sandbox_fork_origin ON sandbox_fork (origin);
