/// What the records and assets of a database may take.
struct StorageQuota {
    /// Bytes; nil for any number.
    private let limit: Int64?
    private let database: StoredDatabase

    init(_ configuration: ServiceConfiguration, of database: StoredDatabase) {
        self.database = database
        limit =
            database.owner == nil
            ? configuration.publicQuotaBytes : configuration.userQuotaBytes
    }

    /// Bytes that one zone may grow to, beside what the others take.
    func limit(of zone: StoredZone, _ reader: any StorageReader) throws -> Int64? {
        guard let limit else { return nil }
        let others = try reader.zones(database.id).filter { $0.id != zone.id }
        return limit - others.reduce(0) { $0 + $1.bytes }
    }
}
