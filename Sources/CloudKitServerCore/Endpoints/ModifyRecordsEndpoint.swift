import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The endpoint that changes records: `records/modify`.
struct ModifyRecordsEndpoint: Sendable {
    let context: ServiceContext

    /// Handles `records/modify`: changes records, with one commit for each zone.
    func modify(_ call: Call) async throws -> Data {
        let (request, batches) = try checked(call)
        let links = try await context.links(for: call)
        let outcomes = try await outcomes(of: batches, of: request, call, links)
        return try response(outcomes, to: request, call, links)
    }

    /// Returns the operations that would succeed now, by their places in the request.
    ///
    /// Nothing is changed: each commit is undone at its end. The faults of the call are not those of
    /// the request, which depend on the result.
    func successes(of call: Call) async -> Set<Int> {
        var call = call
        call.work = context.ownWork()
        do {
            let (request, batches) = try checked(call)
            let links = try await context.links(for: call)
            let outcomes = try await outcomes(of: batches, of: request, call, links, isTrial: true)
            return Set(outcomes.indices.filter { !outcomes[$0].0.isFailure })
        } catch {
            // A request that is refused as a whole has no operations that succeed.
            return []
        }
    }

    /// Returns the request and its batches, if the request as a whole is right.
    private func checked(_ call: Call) throws -> (ModifyRecordsRequest, [RecordBatch]) {
        let request = try call.message(
            ModifyRecordsRequest.self,
            common: ModifyRecordsRequest.init(common:)
        )
        let isOurs = call.request.header(WireExtensions.header) != nil
        if !isOurs { try checkExactDates(in: request) }
        let isOneUnit = isOurs && request.atomic == true
        try call.checkCount(
            request.operations.count,
            "operations",
            limit: isOneUnit
                ? WireExtensions.operationsPerRequest : Limits.operationsPerRequest
        )
        for keys in [request.desiredKeys] + request.operations.map(\.desiredKeys) {
            try call.work.check(keys?.count, RequestBudget.namesLimit, "desiredKeys")
        }
        try call.work.check(name: request.zoneID?.zoneName)
        for record in request.operations.map(\.record) {
            try call.work.check(name: record.recordName)
            try call.work.check(name: record.recordType)
            try call.work.check(name: record.parent?.recordName)
            try call.work.check(name: record.shareParts?.forRecord?.recordName)
            try call.work.check(name: record.zoneID?.zoneName)
        }
        return (request, try batches(of: request, call))
    }

    /// Applies the batches; returns the outcomes in the order of the request.
    private func outcomes(
        of batches: [RecordBatch],
        of request: ModifyRecordsRequest,
        _ call: Call,
        _ links: AssetLinks,
        isTrial: Bool = false
    ) async throws -> [(RecordOutcome, ZoneView?)] {
        var outcomes = [(RecordOutcome, ZoneView?)?](
            repeating: nil,
            count: request.operations.count
        )
        for batch in batches {
            let (results, zone) = try await apply(
                batch,
                of: request,
                call,
                links,
                isTrial: isTrial
            )
            for (item, result) in zip(batch.items, results) {
                outcomes[item.position] = (result, zone)
            }
        }
        return outcomes.compactMap { $0 }
    }

    /// Refuses dates in the format that only this package's client may send.
    private func checkExactDates(in request: ModifyRecordsRequest) throws(RequestError) {
        for operation in request.operations {
            for (key, field) in operation.record.fields where field.exactDates != nil {
                throw RequestError(
                    .badRequest,
                    reason: "BadRequestException: field '\(key)' has exactDates; a TIMESTAMP is "
                        + "whole milliseconds"
                )
            }
        }
    }

    /// Groups the operations by zone and checks the request as a whole.
    private func batches(
        of request: ModifyRecordsRequest,
        _ call: Call
    ) throws(RequestError) -> [RecordBatch] {
        let requestZone = request.zoneID ?? .defaultZone
        var batches: [RecordBatch] = []
        for (position, operation) in request.operations.enumerated() {
            let zone = operation.record.zoneID ?? requestZone
            if zone.isDefault, request.atomic == true {
                throw RequestError(
                    .badRequest,
                    reason: "atomic operations not supported in default zone"
                )
            }
            let name = operation.record.recordName ?? context.randomness.uuid()
            let item = RecordBatch.Item(position: position, name: name, operation: operation)
            if let index = batches.firstIndex(where: { $0.zone.isSameZone(as: zone) }) {
                batches[index].items.append(item)
            } else {
                let isAtomic = request.atomic ?? !zone.isDefault
                batches.append(RecordBatch(zone: zone, items: [item], isAtomic: isAtomic))
            }
        }
        for batch in batches { try call.checkUnique(batch.items.map(\.name), "record") }
        return batches
    }

    /// Applies the operations of one zone in one commit.
    private func apply(
        _ batch: RecordBatch,
        of request: ModifyRecordsRequest,
        _ call: Call,
        _ links: AssetLinks,
        isTrial: Bool
    ) async throws -> ([RecordOutcome], ZoneView?) {
        var batch = batch
        batch.prepared = prepared(batch, call)
        do {
            let (outcomes, zone, news) = try await context.write(call, call.scope(of: batch.zone)) {
                [batch] needs in
                batch.addNeeds(call, context.configuration, to: &needs)
            } _: { [batch] writer in
                var zone = try ZoneDirectory(call: call, reader: writer).zone(batch.zone)
                try batch.prepare(in: zone, call, writer)
                let environment = try writer.environment(call.environment.id) ?? call.environment
                let rules = SchemaRules(
                    schema: try context.schemas.schema(of: environment, writer),
                    environment: environment,
                    configuration: context.configuration
                )
                var commit = try RecordCommit(
                    call: call,
                    writer: writer,
                    zone: zone,
                    batch: batch,
                    rules: rules,
                    links: links
                )
                let outcomes = try commit.run()
                if isTrial { throw EndOfTrial(outcomes: outcomes) }
                for case .saved(let record) in outcomes { try call.work.reserve(record) }
                try commit.finish(context.schemas, context.randomness)
                let news = try commit.notify(context.randomness)
                zone.zone.headSequence = commit.sequence
                return (outcomes, zone, news)
            }
            context.pushes.announce(news)
            return (outcomes, zone)
        } catch let trial as EndOfTrial {
            return (trial.outcomes, nil)
        } catch let failure as AtomicBatchFailed {
            return (failure.outcomes, nil)
        } catch let error as RequestError
            where error.serverErrorCode == .zoneNotFound
            && !batch.zone.isSameZone(as: request.zoneID ?? .defaultZone)
        {
            var failure = RecordFailure(.zoneNotFound, error.reason ?? "Zone does not exist")
            failure.deletionReason = error.deletionReason
            return (batch.items.map { .failed(name: $0.name, failure) }, nil)
        }
    }

    /// Prepares the new records of a batch if the schema is known without reading it.
    private func prepared(_ batch: RecordBatch, _ call: Call) -> PreparedRecords? {
        context.schemas.known(call.environment.schemaVersion).map { schema in
            let rules = SchemaRules(
                schema: schema,
                environment: call.environment,
                configuration: context.configuration
            )
            return PreparedRecords(batch, call, rules)
        }
    }

    private func response(
        _ outcomes: [(RecordOutcome, ZoneView?)],
        to request: ModifyRecordsRequest,
        _ call: Call,
        _ links: AssetLinks
    ) throws -> Data {
        var writer = JSONWriter(capacity: 4096)
        writer.openObject()
        writer.key(RecordsResponse.CodingKeys.records)
        writer.openArray()
        for ((outcome, zone), operation) in zip(outcomes, request.operations) {
            if case .failed(let name, let failure) = outcome {
                writer.itemError(failure.item(name))
                continue
            }
            guard let zone else { continue }
            let records = RecordResponseWriter(
                zone: zone,
                namesZone: !zone.isDefault,
                numbersAsStrings: request.numbersAsStrings ?? false,
                namesTypeOfTombstones: call.parameters.isTrue("tombstoneTypes"),
                links: links,
                work: call.work,
                caller: call.caller.user?.recordName
            )
            let keys = operation.desiredKeys ?? request.desiredKeys
            switch outcome {
            case .saved(let record): try records.write(record, desiredKeys: keys, to: &writer)
            case .savedUnseen(var record):
                record.parent = nil
                record.share = nil
                let sent = operation.record.fields.keys.filter { keys?.contains($0) ?? true }
                try records.write(record, desiredKeys: sent, to: &writer)
            case .deleted(let name, let type):
                records.writeTombstone(name, type: type, to: &writer)
            case .failed: break
            }
        }
        writer.closeArray()
        let zones = Set(outcomes.compactMap { $0.1?.zone.id })
        if zones.count == 1, let zone = outcomes.lazy.compactMap({ $0.1 }).first {
            RecordResponseWriter.writeSyncToken(of: [zone], call, links.seal, to: &writer)
        }
        writer.closeObject()
        return writer.data
    }
}

/// An error that is thrown from a commit that is only tried, so that the storage undoes it.
private struct EndOfTrial: Error {
    let outcomes: [RecordOutcome]
}

extension WireZoneID {
    /// Returns whether two zone IDs of one request denote the same zone.
    func isSameZone(as other: WireZoneID) -> Bool {
        zoneName == other.zoneName && explicitOwner == other.explicitOwner
    }

    /// The owner, unless it is an alias of the caller.
    var explicitOwner: String? {
        ownerRecordName.flatMap { Self.currentUserNames.contains($0) ? nil : $0 }
    }
}
