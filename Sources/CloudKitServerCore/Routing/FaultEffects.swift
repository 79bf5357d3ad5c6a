import CloudKitWire

/// The changes to the storage that the faults of a call demand.
struct FaultEffects: Sendable {
    let context: ServiceContext

    /// Decides the faults of a call.
    func decide(_ call: Call, _ endpoint: Endpoint) async -> FaultDecision {
        guard context.faults.isActive else { return FaultDecision() }
        var subject = FaultSubject(call, endpoint)
        if context.faults.comparesTags(of: subject) {
            let successes = await ModifyRecordsEndpoint(context: context).successes(of: call)
            for place in subject.items.indices where !successes.contains(place) {
                subject.items[place].comparesTag = false
            }
        }
        return context.faults.decide(subject, now: call.now)
    }

    /// Applies the decided changes before the call is carried out.
    ///
    /// - Throws: The error with which the call is refused.
    func prepare(_ faults: FaultDecision, _ call: Call, _ endpoint: Endpoint) async throws {
        if let error = faults.error { throw error }
        if faults.expiresChangeTokens {
            let incarnation = context.randomness.identifier()
            try await context.storage.write { writer in
                try writer.setIncarnation(call.environment.id, incarnation)
            }
        }
        if faults.expiresWebToken, let token = call.caller.webToken {
            try await expire(token, call)
            throw RequestError(
                .authenticationRequired,
                reason: "Authentication failed: ckWebAuthToken is unknown, expired or of another "
                    + "API token"
            )
        }
        if !faults.staleItems.isEmpty, endpoint == .recordsModify {
            try await touch(faults.staleItems, of: call.message(ModifyRecordsRequest.self), call)
        }
    }

    /// Ends the session of a token.
    private func expire(_ token: WebToken, _ call: Call) async throws {
        try await context.changeCallers(.credential(token.hash)) { writer in
            guard var row = try writer.credential(.webToken, hash: token.hash) else { return }
            row.expires = call.now - 1
            try writer.putCredential(row)
        }
    }

    /// Assigns records new tags, as if another device had saved them unchanged.
    private func touch(
        _ items: Set<Int>,
        of request: ModifyRecordsRequest,
        _ call: Call
    ) async throws {
        let zones = request.operations.map { $0.record.zoneID ?? request.zoneID ?? .defaultZone }
        let scope = WriteScope.several(Set(zones.map { call.scope(of: $0) }))
        try await context.storage.write(scope, needing: StorageNeeds.none) { writer in
            for (place, operation) in request.operations.enumerated() where items.contains(place) {
                let record = operation.record
                let directory = ZoneDirectory(call: call, reader: writer)
                guard let name = record.recordName,
                    // The save itself reports a zone that is not there.
                    let view = try? directory.zone(record.zoneID ?? request.zoneID ?? .defaultZone),
                    var row = try writer.record(view.zone.id, name: name), !row.isDeleted
                else { continue }
                var zone = view.zone
                zone.headSequence += 1
                row.sequence = zone.headSequence
                try writer.updateRecord(row)
                if !view.isDefault {
                    zone.changeSequence = view.database.headSequence + 1
                    try writer.setHeadSequence(view.database.id, zone.changeSequence)
                }
                try writer.updateZone(zone)
            }
        }
    }
}
