-- Named snapshots: state documents of clients. Those of a client go with its row in sandbox_tenant. The row 0 of a snapshot has
-- its summary, the rows from 1 on have the document in pieces: a long text at once would hold up all requests.

CREATE TABLE sandbox_snapshot (
  client_id TEXT NOT NULL,
  name TEXT NOT NULL,
  number BIGINT NOT NULL,
  content TEXT NOT NULL,
  checksum TEXT NOT NULL,
  PRIMARY KEY (client_id, name, number)
);
