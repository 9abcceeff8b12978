-- Another number after each reset of a client. A reader of its log sees by it that the numbers of requests start again.
ALTER TABLE sandbox_request_count ADD COLUMN life BIGSERIAL NOT NULL;
