import CloudKitWebClient

/// Changes to records of one zone, sent in as many requests as necessary.
struct RecordChanges {
    let client: WebClient
    let database: DatabaseScope
    let zoneID: WireZoneID

    /// Sends changes and prints each result, including those before a failed request.
    ///
    /// - Throws: `WebClientError`, or `CommandFailure` when a change was refused.
    func send(
        _ operations: [RecordOperation],
        _ output: OutputOptions,
        _ table: ([WireRecord]) -> Table
    ) async throws {
        var results: [ItemResult<WireRecord>] = []
        let progress =
            operations.count > Limits.operationsPerRequest ? ProgressLine("sending") : nil
        do {
            try await client.modify(operations, zoneID: zoneID, atomic: false, in: database) {
                results += $0
                progress?.update(Double(results.count) / Double(operations.count))
            }
        } catch {
            if !results.isEmpty {
                // The error below is the one to report.
                try? output.write(results, table)
                Console.say("\(results.count) of \(operations.count) were sent")
            }
            throw error
        }
        try output.write(results, table)
    }
}
