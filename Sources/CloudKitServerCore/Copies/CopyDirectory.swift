import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The stored copies of a user: the progress of each and, separately, the names of its records.
struct CopyDirectory {
    let environment: RowID<StoredEnvironment>
    let user: RowID<StoredUser>

    private var jobs: String { "copyJob/\(environment.rawValue)/\(user.rawValue)" }
    private var names: String { "copyNames/\(environment.rawValue)/\(user.rawValue)" }

    func job(_ id: String, _ reader: any StorageReader) throws -> CopyJob? {
        try reader.document(jobs, id).map { try JSONDecoder().decode(CopyJob.self, from: $0) }
    }

    func all(_ reader: any StorageReader) throws -> [CopyJob] {
        try reader.documents(jobs).map { try JSONDecoder().decode(CopyJob.self, from: $0.body) }
    }

    /// Returns the names of a copy's records, each after those that it depends on.
    func names(of job: CopyJob, _ reader: any StorageReader) throws -> [String] {
        let body = try reader.document(names, job.id) ?? Data("[]".utf8)
        return try JSONDecoder().decode([String].self, from: body)
    }

    /// Adds a copy, and removes an old one if there are too many.
    ///
    /// - Throws: `RequestError` with `THROTTLED` when too many are in progress.
    func add(_ job: CopyJob, names: [String], _ writer: any StorageWriter) throws {
        let known = try all(writer).sorted { ($0.changed, $0.id) < ($1.changed, $1.id) }
        if known.count >= CopyJob.countLimit {
            guard let old = known.first(where: { $0.status != .inProgress }) else {
                throw RequestError(
                    .throttled,
                    reason: "\(known.count) copies are in progress; call records/copy/status until "
                        + "one has ended",
                    retryAfter: 10
                )
            }
            try remove(old, writer)
        }
        try save(job, writer)
        let body = try JSONEncoder().encode(names)
        try writer.putDocument(self.names, StoredDocument(name: job.id, body: body))
    }

    func save(_ job: CopyJob, _ writer: any StorageWriter) throws {
        let body = try JSONEncoder().encode(job)
        try writer.putDocument(jobs, StoredDocument(name: job.id, body: body))
        if job.status != .inProgress { try writer.removeDocument(names, job.id) }
    }

    /// Returns whether there is a copy to remove.
    func hasEnded(now: Int64, _ reader: any StorageReader) throws -> Bool {
        try all(reader).contains { $0.hasEnded(now: now) }
    }

    /// Removes the copies that ended long ago.
    func clean(now: Int64, _ writer: any StorageWriter) throws {
        for job in try all(writer) where job.hasEnded(now: now) { try remove(job, writer) }
    }

    private func remove(_ job: CopyJob, _ writer: any StorageWriter) throws {
        try writer.removeDocument(jobs, job.id)
        try writer.removeDocument(names, job.id)
    }
}
