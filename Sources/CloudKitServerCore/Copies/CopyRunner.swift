import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Carries copies on, batch by batch.
struct CopyRunner: Sendable {
    let context: ServiceContext

    /// Advances a copy by some batches.
    func advance(_ id: String, _ directory: CopyDirectory, _ call: Call) async throws {
        guard let job = try await context.storage.read({ try directory.job(id, $0) }) else {
            return
        }
        for _ in 0..<CopyJob.batchesPerRequest {
            guard try await advanceOnce(job, directory, call) == .inProgress else { return }
        }
    }

    /// Completes the copies whose clients no longer request their status.
    func finishAll(of user: StoredUser, in environment: StoredEnvironment) async throws {
        let directory = CopyDirectory(environment: environment.id, user: user.id)
        let call = Call(
            of: user,
            in: environment,
            .recordsCopyStatus,
            now: context.clock.milliseconds,
            context.ownWork()
        )
        let jobs = try await context.storage.read { try directory.all($0) }
        for job in jobs where job.status == .inProgress {
            while try await advanceOnce(job, directory, call) == .inProgress {}
        }
    }

    /// Copies the next batch in one commit, together with the job's progress.
    ///
    /// Returns the job's new state, or nil if there is no job with that name.
    private func advanceOnce(
        _ known: CopyJob,
        _ directory: CopyDirectory,
        _ call: Call
    ) async throws -> CopyJob.Status? {
        let id = known.id
        let links = try await context.links("", now: call.now)
        // Nobody deletes a record of the source before its copy has the same assets.
        let scopes = [known.source, known.target].map { place in
            var call = call
            call.path.database = place.database
            return call.scope(of: place.zone)
        }
        do {
            let (status, news) = try await context.write(call, .several(Set(scopes))) {
                writer -> (CopyJob.Status?, PushNews) in
                guard var job = try directory.job(id, writer) else { return (nil, PushNews()) }
                guard job.status == .inProgress else { return (job.status, PushNews()) }
                var call = call
                // Faults count the operations of requests; a batch is not one of them.
                call.faults = FaultDecision()
                call.trace = nil
                call.path.database = job.target.database
                let source = try Self.zone(job.source, call, writer)
                let target = try Self.zone(job.target, call, writer)
                let names = try directory.names(of: job, writer)
                let copy = CopiedRecord(
                    source: source,
                    target: target,
                    links: links,
                    copied: Set(names),
                    root: job.root
                )
                let batch = try Self.batch(of: job, names, copy, call, writer)
                let environment = try writer.environment(call.environment.id) ?? call.environment
                var commit = try RecordCommit(
                    call: call,
                    writer: writer,
                    zone: target,
                    batch: batch,
                    rules: SchemaRules(
                        schema: try context.schemas.schema(of: environment, writer),
                        environment: environment,
                        configuration: context.configuration
                    ),
                    links: links
                )
                _ = try commit.run()
                try commit.finish(context.schemas, context.randomness)
                let news = try commit.notify(context.randomness)
                job.done = batch.items.last.map { $0.position + 1 } ?? job.total
                job.changed = call.now
                if job.done >= job.total { job.status = .completed }
                try directory.save(job, writer)
                return (job.status, news)
            }
            context.pushes.announce(news)
            return status
        } catch let failure as AtomicBatchFailed {
            let cause = failure.cause
            return try await end(id, directory, cause.code, cause.reason, call.now)
        } catch let error as RequestError {
            let reason = error.reason ?? ""
            return try await end(id, directory, error.serverErrorCode, reason, call.now)
        }
    }

    /// Ends a job with an error; the copies of earlier batches stay.
    private func end(
        _ id: String,
        _ directory: CopyDirectory,
        _ code: ServerErrorCode,
        _ reason: String,
        _ now: Int64
    ) async throws -> CopyJob.Status {
        try await context.storage.write(.user(directory.user), needing: StorageNeeds.none) {
            writer in
            guard var job = try directory.job(id, writer) else { return .failed }
            job.fail(code, reason)
            job.changed = now
            try directory.save(job, writer)
            return job.status
        }
    }

    /// Returns a zone of a job as the user sees it now.
    private static func zone(
        _ place: CopyJob.Place,
        _ call: Call,
        _ reader: any StorageReader
    ) throws -> ZoneView {
        var call = call
        call.path.database = place.database
        let view = try ZoneDirectory(call: call, reader: reader).zone(place.zone)
        guard view.zone.id.rawValue == place.row,
            view.zone.incarnation &+ view.database.incarnation == place.incarnation
        else {
            throw RequestError(
                .zoneNotFound,
                reason: "Zone '\(place.zone.zoneName)' was deleted while records were copied"
            )
        }
        return view
    }

    /// Returns the next records of a job, without those that were deleted meanwhile.
    private static func batch(
        of job: CopyJob,
        _ names: [String],
        _ copy: CopiedRecord,
        _ call: Call,
        _ reader: any StorageReader
    ) throws -> RecordBatch {
        let sight = copy.source.sight(call, schema: nil)
        var batch = RecordBatch(zone: copy.target.id, items: [], isAtomic: true)
        var bytes = 0
        for position in names.indices.dropFirst(job.done) {
            guard batch.items.count < CopyJob.batchSize, bytes < CopyJob.batchBytes else { break }
            guard let record = try reader.record(copy.source.zone.id, name: names[position]),
                !record.isDeleted, record.type != WireRecord.shareType,
                try sight.shows(record, reader)
            else { continue }
            let operation = try copy.operation(record)
            bytes += record.fields.count
            let item = RecordBatch.Item(
                position: position,
                name: record.name,
                operation: operation
            )
            batch.items.append(item)
        }
        return batch
    }
}
