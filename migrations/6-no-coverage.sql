-- The coverage is kept in memory, of one server.
DROP TABLE sandbox_coverage;
DROP TABLE sandbox_fork;
