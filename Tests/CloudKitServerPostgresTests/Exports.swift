// The tests use the server as if it were their own.
@_exported import PostgresFixtures
