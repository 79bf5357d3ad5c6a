import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// The purpose and the keys of the endpoints are known from CloudKit JS only; the rest is our
// interpretation, listed in docs/internals/unknown-facts.md.

/// The endpoints of copies between zones: `records/copy/…`.
struct CopiesEndpoint: Sendable {
    let context: ServiceContext

    /// Handles `records/copy/start`: begins to copy records into another zone.
    ///
    /// Copies keep their names; no record of the target zone is replaced.
    func start(_ call: Call) async throws -> Data {
        let request = try call.message(StartCopyRequest.self)
        try call.checkIsNotPublic()
        let user = try call.user()
        let selection = try request.selection()
        try call.work.check(names: request.names)
        let directory = CopyDirectory(environment: call.environment.id, user: user.id)
        let id = context.randomness.uuid().lowercased()
        try await context.write(call, call.ownScope) { writer in
            let zones = ZoneDirectory(call: call, reader: writer)
            let (source, sourceDatabase) = try zones.anyZone(request.sourceZoneID)
            let (target, targetDatabase) = try zones.anyZone(request.targetZoneID)
            guard source.zone.id != target.zone.id else {
                throw RequestError(
                    .badRequest,
                    reason: "sourceZoneID and targetZoneID are the same zone"
                )
            }
            try Self.checkPlace(below: request.targetRootName, in: target, call, writer)
            var order = CopyOrder()
            let sight = source.sight(call, schema: nil)
            try selection.forEach(in: source, sight, writer) { record in
                try Self.checkIsFree(record.name, in: target, call, writer)
                try order.add(record)
                try Self.checkSize(order.count)
            }
            let job = CopyJob(
                id: id,
                source: CopyJob.Place(source, sourceDatabase),
                target: CopyJob.Place(target, targetDatabase),
                root: request.targetRootName,
                total: order.count,
                changed: call.now
            )
            try directory.add(job, names: order.sorted, writer)
        }
        // The copy exists now; its status reports the error of a batch.
        try? await CopyRunner(context: context).advance(id, directory, call)
        return try WireJSON.encode(["jobID": id])
    }

    /// Handles `records/copy/status`: returns the progress of a copy; each call advances it.
    func status(_ call: Call) async throws -> Data {
        let request = try call.message(CopyStatusRequest.self)
        try call.checkIsNotPublic()
        let directory = CopyDirectory(environment: call.environment.id, user: try call.user().id)
        try await CopyRunner(context: context).advance(request.jobID, directory, call)
        guard let job = try await context.read(call, { try directory.job(request.jobID, $0) })
        else {
            throw RequestError(.notFound, reason: "No copy job '\(request.jobID)' of this user")
        }
        return try WireJSON.encode(
            CopyStatusResponse(
                jobID: job.id,
                itemsProcessed: job.done,
                itemsTotalEstimate: job.total,
                status: job.status.rawValue,
                reason: job.reason,
                serverErrorCode: job.code?.rawValue
            )
        )
    }

    /// Refuses an invalid target before revealing anything about its records.
    private static func checkPlace(
        below root: String?,
        in target: ZoneView,
        _ call: Call,
        _ reader: any StorageReader
    ) throws {
        if let root {
            guard let row = try reader.record(target.zone.id, name: root), !row.isDeleted,
                try target.sight(call, schema: nil).shows(row, reader)
            else { throw RequestError(.notFound, reason: "Record not found: '\(root)'") }
        }
        let placement = RecordPlacement(
            access: target.access,
            zone: target.zone.id,
            reader: reader
        )
        guard try placement.refusal(of: "", from: nil, below: root) != nil else { return }
        throw RequestError(
            .accessDenied,
            reason: "CREATE operation not permitted: name a targetRootName in zone "
                + "'\(target.id.zoneName)' below which the caller may write"
        )
    }

    private static func checkIsFree(
        _ name: String,
        in target: ZoneView,
        _ call: Call,
        _ reader: any StorageReader
    ) throws {
        guard let row = try reader.record(target.zone.id, name: name), !row.isDeleted else {
            return
        }
        guard try target.sight(call, schema: nil).shows(row, reader) else {
            throw RequestError(
                .accessDenied,
                reason: "CREATE operation not permitted on '\(name)' in zone "
                    + "'\(target.id.zoneName)'; nothing was copied"
            )
        }
        throw RequestError(
            .conflict,
            reason: "record to insert already exists: '\(name)' in zone '\(target.id.zoneName)'; "
                + "nothing was copied"
        )
    }

    private static func checkSize(_ count: Int) throws {
        guard count > CopyJob.recordLimit else { return }
        throw RequestError(
            .badRequest,
            reason: "The request copies more than \(CopyJob.recordLimit) records; name fewer with "
                + "includeRecords"
        )
    }
}

extension ZoneDirectory {
    /// Returns the zone with an ID: the caller's own in the private database, another user's in the
    /// shared one, regardless of the database in the path.
    func anyZone(_ id: WireZoneID) throws -> (ZoneView, DatabaseScope) {
        var call = call
        if id.ownerRecordName != nil {
            call.path.database = isOwnedByCaller(id) ? .private : .shared
        }
        let zone = try ZoneDirectory(call: call, reader: reader).zone(id)
        return (zone, call.path.database)
    }
}

extension CopyJob.Place {
    fileprivate init(_ zone: ZoneView, _ database: DatabaseScope) {
        self.init(
            zone: zone.id,
            database: database,
            row: zone.zone.id.rawValue,
            incarnation: zone.zone.incarnation &+ zone.database.incarnation
        )
    }
}

/// The body of `records/copy/start`.
private struct StartCopyRequest: Decodable {
    let sourceZoneID: WireZoneID
    let targetZoneID: WireZoneID
    let sourceShareName: String?
    let targetRootName: String?
    let includeRecords: [RecordSelection.Name]?
    let excludeRecords: [RecordSelection.Name]?

    var names: [String?] {
        let records = (includeRecords ?? []) + (excludeRecords ?? [])
        return [sourceShareName, targetRootName] + records.map(\.recordName)
    }

    func selection() throws(RequestError) -> RecordSelection {
        guard sourceShareName == nil || targetRootName == nil else {
            throw RequestError(
                .badRequest,
                reason: "The request has sourceShareName and targetRootName; send one of them"
            )
        }
        guard includeRecords != nil || excludeRecords != nil else {
            throw RequestError(
                .badRequest,
                reason: "The request has neither includeRecords nor excludeRecords; an empty "
                    + "excludeRecords stands for all"
            )
        }
        return try RecordSelection(
            include: includeRecords,
            exclude: excludeRecords,
            share: sourceShareName
        )
    }
}

/// The body of `records/copy/status`.
private struct CopyStatusRequest: Decodable {
    let jobID: String
}

/// The response of `records/copy/status`.
private struct CopyStatusResponse: Encodable {
    let jobID: String
    let itemsProcessed: Int
    let itemsTotalEstimate: Int
    let status: String
    let reason: String?
    let serverErrorCode: String?
}
