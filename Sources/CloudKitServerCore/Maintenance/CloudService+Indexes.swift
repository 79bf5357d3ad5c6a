extension CloudService {
    /// Updates the index keys of a database that an older version wrote.
    ///
    /// It works in small commits and may run alongside requests, whose results stay correct but
    /// take longer. It does nothing if all keys are current; if interrupted, it starts again.
    ///
    /// - Throws: `StorageError`, or `CancellationError`.
    @concurrent
    public func updateIndexes() async throws {
        let old = try await storage.read { reader in
            try reader.environments().filter {
                try !IndexForm(environment: $0.id).isCurrent(reader)
            }
        }
        for environment in old {
            let zones = try await storage.read { try $0.zones(environment.id).map(\.id) }
            for zone in zones {
                var place: IndexUpdate.Place? = IndexUpdate.Place()
                while let next = place {
                    try Task.checkCancellation()
                    place = try await storage.write { writer in
                        try IndexUpdate(environment: environment.id, zone: zone, writer: writer)
                            .step(from: next)
                    }
                }
            }
            try await storage.write { writer in
                try IndexUpdate.removeOldEntries(environment.id, writer)
                try IndexForm(environment: environment.id).setCurrent(writer)
            }
        }
    }
}
