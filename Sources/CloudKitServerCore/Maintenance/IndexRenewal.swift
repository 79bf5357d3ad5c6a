/// The renewal of index keys that an older version wrote, in small commits.
struct IndexRenewal: Sendable {
    let context: ServiceContext

    /// Updates the index keys that are old; it does nothing if all are current, and starts again if
    /// it was interrupted.
    @concurrent
    func run() async throws {
        let old = try await context.storage.read { reader in
            try reader.environments().filter {
                try !IndexForm(environment: $0.id).isCurrent(reader)
            }
        }
        for environment in old {
            let zones = try await context.storage.read { try $0.zones(environment.id).map(\.id) }
            for zone in zones {
                var place: IndexUpdate.Place? = IndexUpdate.Place()
                while let next = place {
                    try Task.checkCancellation()
                    place = try await context.storage.write { writer in
                        try IndexUpdate(environment: environment.id, zone: zone, writer: writer)
                            .step(from: next)
                    }
                }
            }
            try await context.storage.write { writer in
                try IndexUpdate.removeOldEntries(environment.id, writer)
                try IndexForm(environment: environment.id).setCurrent(writer)
            }
        }
    }
}
