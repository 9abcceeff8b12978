-- Named snapshots: state documents of clients. Those of a client go with its row in sandbox_tenant.

CREATE TABLE sandbox_snapshot (
  client_id TEXT NOT NULL,
  name TEXT NOT NULL,
  summary TEXT NOT NULL,
  content TEXT NOT NULL,
  checksum TEXT NOT NULL,
  PRIMARY KEY (client_id, name)
);
