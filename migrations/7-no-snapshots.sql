-- GET and PUT /_sandbox/state and forks do what named snapshots did.
DROP TABLE sandbox_snapshot;
