import CloudKitWebClient
import CloudKitWire
import Foundation

extension DatabaseRequests {
    /// Saves and deletes records; every item has an entry in the answer.
    ///
    /// - Throws: When nothing could be tried. What fails later is an item's own error.
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
                where error.isAboutMissingZone || zone.isPartlyAnswered
                || !results.saveResults.isEmpty || !results.deleteResults.isEmpty
            {
                zone.fail(error)
            }
            if zone.hasLeftShare { connection.sharingNews.post() }
            results.saveResults.merge(zone.saveResults) { $1 }
            results.deleteResults.merge(zone.deleteResults) { $1 }
        }
        return results
    }
}

extension DatabaseRequests.Context {
    /// Asks something, where nothing was asked yet: answers tell whose server it is.
    fileprivate func learnExtensions() async {
        guard client.url != WebClient.appleURL else { return }
        _ = try? await client.caller()
    }
}

extension RecordModification {
    /// Whether there is something that only this package's own server takes.
    fileprivate var wantsExtensions: Bool {
        if atomically, saving.count + deleting.count > Limits.operationsPerRequest { return true }
        return saving.contains { record in
            [record.plain, record.encrypted].contains { store in
                store.allKeys.contains { store[$0]?.hasFinerDate ?? false }
            }
        }
    }
}

/// Ends an operation as a whole when its cancellation kept items from being transferred.
func throwIfCancelled(among errors: [(any Error)?]) throws(CKError) {
    for case let error as CKError in errors where error.code == .operationCancelled { throw error }
}
