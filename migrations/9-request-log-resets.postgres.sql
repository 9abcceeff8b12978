-- Logged requests have the number of resets of their client: those from before a reset are of no later log.

ALTER TABLE sandbox_request_count ADD COLUMN resets BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sandbox_request_count DROP COLUMN life;

ALTER TABLE sandbox_request ADD COLUMN resets BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sandbox_request DROP CONSTRAINT sandbox_request_client_id_seq_key;
ALTER TABLE sandbox_request ADD UNIQUE (client_id, resets, seq);
