import CloudKitWebClient
import CloudKitWire
import Foundation

extension DatabaseRequests {
    /// Saves and deletes records; the result has an entry for every record.
    ///
    /// - Throws: An error before anything is sent. Later errors belong to the items.
    func modify(
        _ modification: RecordModification
    ) async throws(CKError) -> RecordModification.Results {
        try modification.validate()
        try modification.validateShares(in: scope)
        var results: RecordModification.Results = ([:], [:])
        guard !modification.saving.isEmpty || !modification.deleting.isEmpty else {
            return results
        }
        let context = try await context()
        if context.client.credentials.serverHasExtensions == nil, modification.wantsExtensions {
            await context.learnExtensions()
        }
        for (zoneID, part) in modification.byZone {
            var zone = ZoneModification(part, zoneID: zoneID, context: context)
            do {
                try await zone.run()
            } catch let error
                where error.isAboutMissingZone || zone.isPartlyDone
                || !results.saveResults.isEmpty || !results.deleteResults.isEmpty
            {
                zone.fail(error)
            }
            if zone.hasLeftShare { connection.sharingChanges.post() }
            results.saveResults.merge(zone.saveResults) { $1 }
            results.deleteResults.merge(zone.deleteResults) { $1 }
        }
        return results
    }
}

extension DatabaseRequests.Context {
    /// Sends a request if there was none yet, because responses show which extensions the server
    /// has.
    fileprivate func learnExtensions() async {
        guard client.url != WebClient.appleURL else { return }
        // If it fails, so does the request that follows, with its error.
        _ = try? await client.caller()
    }
}

extension RecordModification {
    /// `true` when the modification needs extensions of this package's server.
    fileprivate var wantsExtensions: Bool {
        if atomically, saving.count + deleting.count > Limits.operationsPerRequest { return true }
        return saving.contains { record in
            [record.plain, record.encrypted].contains { store in
                store.allKeys.contains { store[$0]?.hasFinerDate ?? false }
            }
        }
    }
}

/// Throws the operation's cancellation if it kept items from being transferred.
func throwIfCancelled(among errors: [(any Error)?]) throws(CKError) {
    for case let error as CKError in errors where error.code == .operationCancelled { throw error }
}
