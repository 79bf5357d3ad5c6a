import CloudKit
import Foundation

/// Fetches the records of a graph as its values request them.
///
/// Known properties of the types show early which records will be requested; these are fetched level
/// by level. Then the values are decoded; the other records that they request are fetched, and so on
/// until none is missing.
struct GraphLoader {
    /// A record that was followed as a type.
    private struct Visit: Hashable {
        let recordID: CKRecord.ID
        let type: ObjectIdentifier?
    }

    /// The maximum number of identities in one request.
    static let largestFetch = 400

    let source: any CloudKitRecordSource
    let progress: Progress?

    private var visited: Set<Visit> = []

    init(source: any CloudKitRecordSource, progress: Progress?) {
        self.source = source
        self.progress = progress
    }

    /// Loads the value of a root.
    ///
    /// - Returns: The value, and the records of everything in it, the root's first.
    mutating func load<Root: CloudKitModel>(
        _ type: Root.Type,
        _ rootID: CKRecord.ID,
        missing: MissingRecords
    ) async throws -> (root: Root, records: [CKRecord]) {
        let graph = GraphDecoding(
            records: GraphRecords([], isLoading: true),
            missing: missing,
            userInfo: [:]
        )
        var needs = GraphNeeds()
        needs.add(rootID, [type])
        while true {
            try await fetch(needs, into: &graph.records)
            let result = try graph.attempt(type, rootID)
            if let root = result.value { return (root, graph.decoded) }
            needs = result.needs
        }
    }

    /// Loads the records that a record in memory leads to, whatever their types, and the record
    /// itself.
    mutating func load(from root: CKRecord) async throws -> [CKRecord] {
        var records = GraphRecords([root], isLoading: true)
        var level = references(in: root)
        while !level.isEmpty {
            try await fetch(level, into: &records)
            level = level.compactMap { records.byID[$0] }.flatMap { references(in: $0) }
        }
        return records.order.compactMap { records.byID[$0] }
    }

    /// Returns the records that a record refers to and that were not followed before.
    private mutating func references(in record: CKRecord) -> [CKRecord.ID] {
        visited.insert(Visit(recordID: record.recordID, type: nil))
        return record.allKeys().flatMap { record.references($0) }.map(\.recordID)
            .filter { visited.insert(Visit(recordID: $0, type: nil)).inserted }
    }

    // MARK: Levels

    /// Fetches the needed records, and those that their types are known to need, level by level.
    private mutating func fetch(
        _ needs: GraphNeeds,
        into records: inout GraphRecords
    ) async throws {
        var needs = needs
        // Nothing can be decoded beyond this depth; the decoder reports the error.
        for level in 0...CodingLocation.deepest where !needs.isEmpty {
            try await fetch(needs.records.map(\.recordID), into: &records)
            var targets = needs.records
            for (query, type, owners) in needs.children {
                do {
                    let found = try await fetch(query, of: owners, into: &records)
                    targets += found.map { ($0, [type]) }
                } catch let error as CKError where level > 0 && error.isRefusal {
                    // Nothing has requested it yet; a value that does receives the error.
                }
            }
            needs = GraphNeeds()
            for (recordID, types) in targets { follow(recordID, types, in: records, &needs) }
        }
    }

    private mutating func fetch(
        _ recordIDs: [CKRecord.ID],
        into records: inout GraphRecords
    ) async throws {
        let missing = recordIDs.filter { records.canFetch($0) }
        announce(missing.count)
        for start in stride(from: 0, to: missing.count, by: Self.largestFetch) {
            try checkCancellation()
            let chunk = missing[start..<min(start + Self.largestFetch, missing.count)]
            let results = try await source.records(withIDs: Array(chunk))
            for recordID in chunk {
                do {
                    if let record = try results[recordID]?.get() {
                        records.add(record)
                        continue
                    }
                } catch let error as CKError where error.code == .unknownItem {
                    // The decoder decides how to handle a missing record.
                }
                records.addAbsent(recordID)
            }
            progress?.completedUnitCount += Int64(chunk.count)
        }
    }

    /// Fetches the records that refer to owners.
    private mutating func fetch(
        _ query: GraphNeeds.Children,
        of owners: [CKRecord.ID],
        into records: inout GraphRecords
    ) async throws -> [CKRecord.ID] {
        try checkCancellation()
        var found: [CKRecord] = []
        do {
            found = try await source.records(
                ofType: query.recordType,
                referringTo: owners,
                via: query.field
            )
        } catch let error as CKError where error.code == .unknownItem {
            // No record of the type was ever saved.
        }
        announce(found.count)
        progress?.completedUnitCount += Int64(found.count)
        for record in found { records.add(record) }
        records.noteLoaded(query, for: owners)
        return found.map(\.recordID)
    }

    /// Adds the records that a record is known to lead to, for those of the types that match it.
    private mutating func follow(
        _ recordID: CKRecord.ID,
        _ types: [any CloudKitModel.Type],
        in records: GraphRecords,
        _ needs: inout GraphNeeds
    ) {
        guard let record = records.byID[recordID],
            let type = types.first(where: { $0.recordType == record.recordType }),
            visited.insert(Visit(recordID: recordID, type: ObjectIdentifier(type))).inserted
        else { return }
        for relation in TypeTraits.of(type).memory.relations(of: type) {
            if relation.isChildren {
                for child in relation.types {
                    let query = GraphNeeds.Children(
                        recordType: child.recordType,
                        field: relation.field
                    )
                    if records.canFetch(query, of: recordID) {
                        needs.add(childrenOf: recordID, child, via: relation.field)
                    }
                }
            } else {
                for reference in record.references(relation.field) {
                    needs.add(reference.recordID, relation.types)
                }
            }
        }
    }

    // MARK: Progress

    private func announce(_ count: Int) {
        progress?.totalUnitCount += Int64(count)
    }

    private func checkCancellation() throws {
        try Task.checkCancellation()
        if progress?.isCancelled == true { throw CancellationError() }
    }
}

extension CKError {
    /// `true` when the service refused to run a query.
    fileprivate var isRefusal: Bool {
        code == .invalidArguments || code == .serverRejectedRequest
    }
}

extension CKRecord {
    /// Returns the references in a field: one, a list of them, or none.
    func references(_ name: String) -> [CKRecord.Reference] {
        switch object(forKey: name) {
        case let reference as CKRecord.Reference: [reference]
        case let list as [Any]: list.compactMap { $0 as? CKRecord.Reference }
        default: []
        }
    }
}
