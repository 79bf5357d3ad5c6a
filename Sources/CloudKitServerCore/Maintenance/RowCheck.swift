import CloudKitWire

/// Checks the rows outside of records: schemas, documents, and those that name each other, such as
/// the zone of a database.
package enum RowCheck {
    /// Returns what is wrong with the rows of a storage; empty for an engine without a check of its own.
    ///
    /// - Throws: `StorageError`.
    package static func findings(_ reader: any StorageReader) throws -> [CheckFinding] {
        guard let rows = reader as? any StorageReader & DerivedRows else { return [] }
        var findings = try rows.rowProblems().map {
            CheckFinding($0.text, isDerived: $0.isDerived)
        }
        for environment in try rows.readableEnvironments()
        where try !hasReadableSchema(environment, reader) {
            var finding = CheckFinding(
                "the schema cannot be read (table environment, row \(environment.id.rawValue)); "
                    + "restore it from a backup"
            )
            finding.container = environment.container
            finding.environment = environment.kind.rawValue
            findings.append(finding)
        }
        try rows.forEachDocument { collection, document in
            guard !DocumentCheck.canBeRead(document, in: collection) else { return }
            findings.append(
                CheckFinding(
                    "table document, row '\(collection)' '\(document.name)': expected a body of its "
                        + "collection, found \(document.body.count) bytes that cannot be read; "
                        + "restore the data from a backup"
                )
            )
        }
        return findings
    }

    private static func hasReadableSchema(
        _ environment: StoredEnvironment,
        _ reader: any StorageReader
    ) throws -> Bool {
        do {
            _ = try Schema(reader.schema(environment.id))
            return true
        } catch let error as StorageError where error.code == .corrupt {
            return false
        }
    }
}
