-- All that is read from a record or an event is in its content, and no row has a checksum.

DROP INDEX sandbox_event_version;

ALTER TABLE sandbox_setting DROP COLUMN checksum;
ALTER TABLE sandbox_tenant DROP COLUMN checksum;

ALTER TABLE sandbox_record DROP COLUMN kind;
ALTER TABLE sandbox_record DROP COLUMN region;
ALTER TABLE sandbox_record DROP COLUMN reference;
ALTER TABLE sandbox_record DROP COLUMN checksum;

ALTER TABLE sandbox_event DROP COLUMN version;
ALTER TABLE sandbox_event DROP COLUMN kind;
ALTER TABLE sandbox_event DROP COLUMN region;
ALTER TABLE sandbox_event DROP COLUMN reference;
ALTER TABLE sandbox_event DROP COLUMN checksum;
