import CloudKitWire
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CloudService {
    /// Starts a fault plan from its beginning; `nil` ends the current plan.
    public func setFaults(_ plan: FaultPlan?) {
        faults.withLock { $0 = plan.map(FaultScript.init) }
    }

    /// Adds the rules of a plan to the current one, whose rules keep their counts; the plan's seed
    /// counts when it is the first.
    package func addFaults(_ plan: FaultPlan) {
        faults.withLock { script in
            if script == nil {
                script = FaultScript(plan)
            } else {
                script?.add(plan.rules)
            }
        }
    }

    /// Removes a rule of the current plan; the others keep their counts.
    ///
    /// - Returns: `false` when there is no such rule.
    package func removeFault(at index: Int) -> Bool {
        faults.withLock { script in
            guard let rules = script?.plan.rules, rules.indices.contains(index) else {
                return false
            }
            script?.remove(at: index)
            if rules.count == 1 { script = nil }
            return true
        }
    }

    /// The current fault plan, if there is one.
    public var faultPlan: FaultPlan? { faults.withLock { $0?.plan } }

    /// The number of matching requests and of faults for each rule of the plan, in the order of the
    /// rules.
    public var faultCounts: [FaultCount] {
        faults.withLock { script in
            script?.counts.map { FaultCount(fitting: $0.fitting, taken: $0.taken) } ?? []
        }
    }

    /// Decides the faults of a call.
    func decideFaults(_ call: Call, _ endpoint: Endpoint) -> FaultDecision {
        guard faults.withLock({ $0 != nil }) else { return FaultDecision() }
        return decideFaults(FaultSubject(call, endpoint), now: call.now)
    }

    /// Decides the faults of a request that carries an asset's bytes.
    func decideFaults(asset operation: String) -> FaultDecision {
        decideFaults(FaultSubject(operation: operation), now: clock.milliseconds)
    }

    /// Decides the faults of a request that waits on a queue of notifications.
    func decideFaults(queue: Data) async throws -> FaultDecision {
        guard faults.withLock({ $0 != nil }) else { return FaultDecision() }
        let now = clock.milliseconds
        let names = try await storage.read { reader in
            try PushTokenDirectory().token(queue, now: now, reader)?.registrations
                .compactMap { try reader.user(RowID(rawValue: $0.user)) }
                .flatMap { [$0.recordName, $0.fullName] } ?? []
        }
        let subject = FaultSubject(operation: "push/wait", userNames: Set(names), items: [])
        return decideFaults(subject, now: now)
    }

    private func decideFaults(_ subject: FaultSubject, now: Int64) -> FaultDecision {
        faults.withLock { $0?.decide(subject, now: now) } ?? FaultDecision()
    }

    /// Applies the decided changes to the storage before the call is carried out.
    ///
    /// - Throws: The error with which the call is refused.
    func prepare(_ faults: FaultDecision, _ call: Call, _ endpoint: Endpoint) async throws {
        if let error = faults.error { throw error }
        if faults.expiresChangeTokens {
            let incarnation = randomness.identifier()
            try await storage.write { writer in
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
        callers.removeAll()
        try await storage.write { writer in
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
        try await storage.write { writer in
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

extension FaultSubject {
    /// Creates the subject of a call, with the items that its body names.
    init(_ call: Call, _ endpoint: Endpoint) {
        operation = endpoint.rawValue
        if let user = call.caller.user {
            userNames = [user.recordName, user.fullName]
        }
        // If the body cannot be decoded, the endpoint refuses it.
        let body = try? call.message(Body.self)
        items = body?.items ?? []
    }

    /// The parts of all request bodies that name their items.
    private struct Body: Decodable {
        struct Zone: Decodable {
            var zoneID: ZoneName?
        }

        struct ZoneName: Decodable {
            var zoneName: String?
        }

        struct Record: Decodable {
            var recordType: String?
            var zoneID: ZoneName?
        }

        struct Query: Decodable {
            var query: Record?
            var zoneID: ZoneName?
        }

        struct Change: Decodable {
            var record: Record?
            var zone: Zone?
        }

        var zoneID: ZoneName?
        var operations: [Change]?
        var records: [Record]?
        var tokens: [Record]?
        var zones: [Zone]?
        var query: Record?
        var batch: [Query]?
        var sourceZoneID: ZoneName?

        var items: [Item] {
            let zone = (zoneID ?? sourceZoneID)?.zoneName ?? WireZoneID.defaultZoneName
            func item(_ record: Record?, _ own: ZoneName? = nil) -> Item {
                Item(
                    recordType: record?.recordType,
                    zone: record?.zoneID?.zoneName ?? own?.zoneName ?? zone
                )
            }
            if let operations { return operations.map { item($0.record, $0.zone?.zoneID) } }
            if let records = records ?? tokens { return records.map { item($0) } }
            if let zones { return zones.map { item(nil, $0.zoneID) } }
            if let batch { return batch.map { item($0.query, $0.zoneID) } }
            return [item(query)]
        }
    }
}
