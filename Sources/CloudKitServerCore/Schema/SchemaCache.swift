import CloudKitWire
import Synchronization

/// Decoded schemas by version, so that requests share one copy.
///
/// A version is a random number that denotes one content forever; therefore a version written by a
/// transaction that was later rolled back does no harm here.
final class SchemaCache: Sendable {
    private static let capacity = 64
    private let schemas = Mutex<[Int64: Schema]>([:])

    /// Returns the schema of an environment.
    func schema(
        of environment: StoredEnvironment,
        _ reader: any StorageReader
    ) throws -> Schema {
        if let schema = known(environment.schemaVersion) { return schema }
        let schema = try Schema(reader.schema(environment.id))
        insert(schema, version: environment.schemaVersion)
        return schema
    }

    /// Returns the schema of a version; nil if no request has read it.
    func known(_ version: Int64) -> Schema? { schemas.withLock { $0[version] } }

    /// Returns the current schema of an environment, regardless of the version of the row that was read.
    func current(
        _ environment: StoredEnvironment,
        _ reader: any StorageReader
    ) throws -> Schema {
        try schema(of: reader.environment(environment.id) ?? environment, reader)
    }

    /// Adds a schema under its version.
    func insert(_ schema: Schema, version: Int64) {
        guard version != 0 else { return }
        schemas.withLock {
            if $0.count >= Self.capacity { $0.removeAll() }
            $0[version] = schema
        }
    }
}
