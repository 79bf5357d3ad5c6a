import BenchmarkHarness
import CloudKit
import CloudKitCodable
import Foundation
import Synchronization

/// A level of a graph with each kind of relation: one model, a list of models, and children.
struct DeepGraph<Next: CloudKitModel & Equatable & Sendable>: CloudKitModel, Equatable, Sendable {
    var id: String
    var one: Next
    var many: [Next]
    var kids: [Next]
    var recordName: String { id }

    enum CodingKeys: CodingKey { case id, one, many, kids }

    static var recordType: String { "Above\(Next.recordType)" }
    static var fields: CloudKitFields { [CodingKeys.kids: .children(via: "owner")] }

    init(_ id: String, _ next: (String) -> Next) {
        self.id = id
        one = next(id + "o")
        many = [next(id + "m")]
        kids = [next(id + "k")]
    }
}

/// The deepest level of a graph.
struct DeepLeaf: CloudKitModel, Equatable, Sendable {
    var id: String
    var recordName: String { id }
}

/// Records in memory, and the requests for them.
final class CountingSource: CloudKitRecordSource {
    private let records: [CKRecord.ID: CKRecord]
    private let children: [CKRecord.ID: [CKRecord]]
    private let count = Mutex(0)

    /// The number of requests.
    var requests: Int { count.withLock { $0 } }

    init(_ records: [CKRecord], via field: String) {
        self.records = Dictionary(records.map { ($0.recordID, $0) }) { $1 }
        children = Dictionary(
            grouping: records.filter { $0[field] as CKRecord.Reference? != nil },
            by: { ($0[field] as CKRecord.Reference?)?.recordID ?? $0.recordID }
        )
    }

    func records(
        withIDs recordIDs: [CKRecord.ID]
    ) async throws -> [CKRecord.ID: Result<CKRecord, any Error>] {
        count.withLock { $0 += 1 }
        return Dictionary(
            uniqueKeysWithValues: recordIDs.map { recordID in
                let record = records[recordID]
                return (recordID, record.map { .success($0) } ?? .failure(CKError(.unknownItem)))
            }
        )
    }

    func records(
        ofType recordType: CKRecord.RecordType,
        referringTo recordIDs: [CKRecord.ID],
        via field: CKRecord.FieldKey
    ) async throws -> [CKRecord] {
        count.withLock { $0 += 1 }
        return recordIDs.flatMap { children[$0] ?? [] }.filter { $0.recordType == recordType }
    }
}

extension Benchmark {
    private typealias Second = DeepGraph<DeepGraph<DeepGraph<DeepGraph<DeepLeaf>>>>

    /// Counts the requests of the first load in a process, for a graph of six levels.
    static func requests(_ zoneID: CKRecordZone.ID) -> Benchmark {
        Benchmark(name: "requests-depth-6", bar: .atMost(12)) { _ in
            let value = DeepGraph<Second>("r") {
                Second($0) {
                    .init($0) { .init($0) { .init($0) { DeepLeaf(id: $0) } } }
                }
            }
            let encoded = try CloudKitGraphEncoder(zoneID: zoneID).encode(value)
            let source = CountingSource(encoded.records, via: "owner")
            let graph = try await source.graph(DeepGraph<Second>.self, for: encoded.rootID)
            guard graph.root == value else { throw Area.Unequal() }
            return Figure(
                Double(source.requests),
                detail: "\(encoded.records.count) records"
            )
        }
    }

    /// Loads a graph of one parent with 4,000 children, compared to one with 400.
    static func load(_ zoneID: CKRecordZone.ID) throws -> Benchmark {
        func work(_ count: Int) throws -> Work {
            let encoded = try CloudKitGraphEncoder(zoneID: zoneID).encode(Parent(children: count))
            let source = CountingSource(encoded.records, via: "owner")
            return Work("\(count)") {
                keep(try await source.graph(Parent.self, for: encoded.rootID))
            }
        }
        return .time(
            "load-4000-children",
            .atMost(12),
            subject: try work(4000),
            floor: try work(400)
        )
    }
}
