import CloudKit
import Foundation

/// Fetches the records of a graph, one level of references after the other.
struct GraphLoader {
    /// A record to fetch, with the type that is expected there; nil where that is not known.
    private typealias Target = (recordID: CKRecord.ID, type: (any CloudKitModel.Type)?)

    /// The most identities in one request.
    static let largestFetch = 400

    let source: any CloudKitRecordSource
    let progress: Progress?

    private var records: [CKRecord.ID: CKRecord] = [:]
    private var order: [CKRecord.ID] = []
    private var visited: Set<CKRecord.ID> = []

    init(source: any CloudKitRecordSource, progress: Progress?) {
        self.source = source
        self.progress = progress
    }

    /// The records that a root leads to, the root's first; those that are not there are left out.
    mutating func load(
        _ type: any CloudKitModel.Type,
        _ rootID: CKRecord.ID
    ) async throws -> [CKRecord] {
        visited.insert(rootID)
        return try await load([(rootID, type)])
    }

    /// The records that a record at hand leads to, whatever their types, and the record itself.
    mutating func load(from root: CKRecord) async throws -> [CKRecord] {
        visited.insert(root.recordID)
        add(root)
        return try await load(references(in: root, nil))
    }

    private mutating func load(_ targets: [Target]) async throws -> [CKRecord] {
        var level = targets
        while !level.isEmpty {
            let fetched = try await fetch(level)
            var next = fetched.flatMap { references(in: $0.record, $0.type) }
            next += try await children(of: fetched)
            level = next
        }
        return order.compactMap { records[$0] }
    }

    // MARK: Levels

    private mutating func fetch(
        _ level: [Target]
    ) async throws -> [(record: CKRecord, type: (any CloudKitModel.Type)?)] {
        // Children come with the query that found them.
        let missing = level.filter { records[$0.recordID] == nil }
        announce(missing.count)
        for start in stride(from: 0, to: missing.count, by: Self.largestFetch) {
            try checkCancellation()
            let chunk = missing[start..<min(start + Self.largestFetch, missing.count)]
            let results = try await source.records(withIDs: chunk.map(\.recordID))
            for (recordID, _) in chunk { try take(results[recordID], recordID) }
            progress?.completedUnitCount += Int64(chunk.count)
        }
        return level.compactMap { target in
            records[target.recordID].map { ($0, target.type) }
        }
    }

    private mutating func take(
        _ result: Result<CKRecord, any Error>?,
        _ recordID: CKRecord.ID
    ) throws {
        do {
            if let record = try result?.get() { add(record) }
        } catch let error as CKError where error.code == .unknownItem {
            // What a missing record means is for the decoder to say.
        }
    }

    private mutating func add(_ record: CKRecord) {
        if records.updateValue(record, forKey: record.recordID) == nil {
            order.append(record.recordID)
        }
    }

    /// The records that a record refers to and that nobody asked for yet.
    private mutating func references(
        in record: CKRecord,
        _ type: (any CloudKitModel.Type)?
    ) -> [Target] {
        var fields: [(name: String, type: (any CloudKitModel.Type)?)] = []
        if let type, record.recordType == type.recordType {
            let shape = ModelShape.of(type)
            fields = shape.properties.compactMap { property in
                property.model.map { (property.field, $0) }
            }
            let known = Set(shape.properties.map(\.field))
            if !shape.isComplete {
                fields += record.allKeys().filter { !known.contains($0) }.map { ($0, nil) }
            }
        } else if type == nil {
            fields = record.allKeys().map { ($0, nil) }
        }
        var targets: [Target] = []
        for (name, type) in fields {
            for reference in record.references(name)
            where visited.insert(reference.recordID).inserted {
                targets.append((reference.recordID, type))
            }
        }
        return targets
    }

    /// The records that refer to the records of a level: one query for each type and field.
    private mutating func children(
        of level: [(record: CKRecord, type: (any CloudKitModel.Type)?)]
    ) async throws -> [Target] {
        var queries: [(type: any CloudKitModel.Type, field: String, owners: [CKRecord.ID])] = []
        for (record, type) in level {
            guard let type, record.recordType == type.recordType else { continue }
            for property in ModelShape.of(type).properties {
                guard let child = property.model,
                    case .children(let field, _, _)? = property.options?.relation
                else { continue }
                if let index = queries.firstIndex(where: { $0.type == child && $0.field == field })
                {
                    queries[index].owners.append(record.recordID)
                } else {
                    queries.append((child, field, [record.recordID]))
                }
            }
        }
        var targets: [Target] = []
        for query in queries {
            try checkCancellation()
            let found = try await source.records(
                ofType: query.type.recordType,
                referringTo: query.owners,
                via: query.field
            )
            announce(found.count)
            progress?.completedUnitCount += Int64(found.count)
            for record in found where visited.insert(record.recordID).inserted {
                add(record)
                targets.append((record.recordID, query.type))
            }
        }
        return targets
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

extension ModelShape.Property {
    /// The type of the models in the property; nil when it holds none, or holds them inside.
    var model: (any CloudKitModel.Type)? {
        switch options?.storage {
        case nil, .automatic?: break
        default: return nil
        }
        if let model = type as? any CloudKitModel.Type { return model }
        if let list = type as? any ModelList.Type { return list.modelType }
        if let optional = type as? any OptionalValue.Type {
            let property = ModelShape.Property(
                key: key,
                type: optional.wrappedType,
                isOptional: true,
                options: options
            )
            return property.model
        }
        return nil
    }
}

extension CKRecord {
    /// The references in a field: one, a list of them, or none.
    func references(_ name: String) -> [CKRecord.Reference] {
        switch object(forKey: name) {
        case let reference as CKRecord.Reference: [reference]
        case let list as [Any]: list.compactMap { $0 as? CKRecord.Reference }
        default: []
        }
    }
}
