import CloudKit
import Foundation

/// The decoding of one graph: the records, and the values that were made of them.
final class GraphDecoding {
    let missing: MissingRecords

    /// Whether a reference in a field is followed whatever the type of the property.
    let followsReferences: Bool

    private let userInfo: [CodingUserInfoKey: any Sendable]
    private let nodes: [CKRecord.ID: Node]
    private var depth = 0

    /// A record, and the value that was made of it.
    private final class Node {
        let record: CKRecord
        var value: Any?
        var isInProgress = false

        init(_ record: CKRecord) { self.record = record }
    }

    /// For each field that refers to an owner: the children of each owner, in their order.
    private var childrenByField: [String: [CKRecord.ID: [CKRecord]]] = [:]

    init(
        records: some Sequence<CKRecord>,
        missing: MissingRecords,
        userInfo: [CodingUserInfoKey: any Sendable],
        followsReferences: Bool = false
    ) {
        self.followsReferences = followsReferences
        nodes = Dictionary(
            records.map { ($0.recordID, Node($0)) },
            uniquingKeysWith: { _, later in later }
        )
        self.missing = missing
        self.userInfo = userInfo
    }

    /// The identities of the records of a type, in the order of their names.
    func recordIDs(ofType type: CKRecord.RecordType) -> [CKRecord.ID] {
        nodes.values.filter { $0.record.recordType == type }.map(\.record.recordID)
            .sorted { $0.recordName < $1.recordName }
    }

    /// The root's value.
    func root<Root: Decodable>(_ type: Root.Type, _ rootID: CKRecord.ID) throws -> Root {
        guard let root = try value(type, for: rootID, at: .root) else {
            throw missing(type, rootID, .root)
        }
        return root
    }

    /// The model of a record; nil when the record is not there.
    func model<Model: CloudKitModel>(
        _ type: Model.Type,
        for recordID: CKRecord.ID,
        at location: CodingLocation
    ) throws -> Model? {
        try value(type, type, for: recordID, at: location)
    }

    /// The value of a record, of a model's type or not; nil when the record is not there.
    func value<Value: Decodable>(
        _ type: Value.Type,
        for recordID: CKRecord.ID,
        at location: CodingLocation
    ) throws -> Value? {
        try value(type, TypeTraits.of(type).model, for: recordID, at: location)
    }

    private func value<Value: Decodable>(
        _ type: Value.Type,
        _ model: (any CloudKitModel.Type)?,
        for recordID: CKRecord.ID,
        at location: CodingLocation
    ) throws -> Value? {
        guard let node = nodes[recordID] else { return nil }
        if let value = node.value {
            if let value = value as? Value { return value }
            throw error(
                .unexpectedType,
                "it was read as another type before",
                type,
                recordID,
                location
            )
        }
        if let expected = model?.recordType, node.record.recordType != expected {
            throw error(
                .unexpectedType,
                "expected a record of type \(expected), found one of type "
                    + node.record.recordType,
                type,
                recordID,
                location
            )
        }
        guard !node.isInProgress else {
            throw error(
                .cycle,
                "the value contains itself; break the circle with a CloudKitReference",
                type,
                recordID,
                location
            )
        }
        node.isInProgress = true
        depth += 1
        defer {
            node.isInProgress = false
            depth -= 1
        }
        if depth > GraphEncoding.deepest {
            throw error(
                .tooDeep,
                "models are nested more than \(GraphEncoding.deepest) deep",
                type,
                recordID,
                location
            )
        }
        let value = try decode(type, node.record, model?.fields.byKey ?? [:], location)
        node.value = value
        return value
    }

    private func decode<Model: Decodable>(
        _ type: Model.Type,
        _ record: CKRecord,
        _ options: [String: CloudKitField],
        _ location: CodingLocation
    ) throws -> Model {
        let decoding = RecordDecoding(
            record: record,
            forms: .native,
            userInfo: userInfo,
            options: options,
            graph: self,
            location: location
        )
        do {
            return try decoding.decode(type)
        } catch let error as CloudKitGraphError {
            throw error
        } catch let underlying as DecodingError {
            var path = underlying.path
            if case .keyNotFound(let key, _) = underlying { path.append(key) }
            throw CloudKitGraphError(
                .notDecodable,
                underlying.message,
                type: record.recordType,
                id: record.recordID,
                path: path,
                underlying: underlying
            )
        } catch let underlying {
            throw CloudKitGraphError(
                .notDecodable,
                "\(underlying)",
                type: record.recordType,
                id: record.recordID,
                path: location.path,
                underlying: underlying
            )
        }
    }

    // MARK: Children

    /// The records that refer to an owner through a field, in the order of their positions.
    func children(of owner: CKRecord.ID, via field: String) -> [CKRecord] {
        if let byOwner = childrenByField[field] { return byOwner[owner] ?? [] }
        var byOwner: [CKRecord.ID: [CKRecord]] = [:]
        for record in nodes.values.map(\.record) {
            if let reference = record.field(field, as: CKRecord.Reference.self) {
                byOwner[reference.recordID, default: []].append(record)
            }
        }
        let position = field + GraphEncoding.positionSuffix
        for (owner, children) in byOwner {
            byOwner[owner] = children.map { ($0.field(position, as: Int.self) ?? .max, $0) }
                .sorted { ($0.0, $0.1.recordID.recordName) < ($1.0, $1.1.recordID.recordName) }
                .map(\.1)
        }
        childrenByField[field] = byOwner
        return byOwner[owner] ?? []
    }

    // MARK: Errors

    /// The error for a record that is not there.
    func missing(
        _ type: any Decodable.Type,
        _ recordID: CKRecord.ID,
        _ location: CodingLocation
    ) -> CloudKitGraphError {
        error(
            .missingRecord,
            "the record is not there; make the property optional and decode with "
                + "MissingRecords.omit where that may happen",
            type,
            recordID,
            location
        )
    }

    private func error(
        _ code: CloudKitGraphError.Code,
        _ message: String,
        _ type: any Decodable.Type,
        _ recordID: CKRecord.ID,
        _ location: CodingLocation
    ) -> CloudKitGraphError {
        CloudKitGraphError(
            code,
            message,
            type: (type as? any CloudKitModel.Type)?.recordType
                ?? nodes[recordID]?.record.recordType,
            id: recordID,
            path: location.path
        )
    }
}

extension DecodingError {
    /// The message.
    var message: String {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context),
            .keyNotFound(_, let context), .dataCorrupted(let context):
            context.debugDescription
        @unknown default: "\(self)"
        }
    }
}
