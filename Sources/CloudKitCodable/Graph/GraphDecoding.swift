import CloudKit
import Foundation

/// The decoding of one graph: the records, and the values that were made of them.
final class GraphDecoding {
    let missing: MissingRecords

    /// Whether a reference in a field is followed whatever the type of the property.
    let followsReferences: Bool

    private let userInfo: [CodingUserInfoKey: any Sendable]
    private let records: [CKRecord.ID: CKRecord]
    private var values: [CKRecord.ID: Any] = [:]
    private var inProgress: Set<CKRecord.ID> = []

    /// For each field that refers to an owner: the children of each owner, in their order.
    private var childrenByField: [String: [CKRecord.ID: [CKRecord]]] = [:]

    init(
        records: some Sequence<CKRecord>,
        missing: MissingRecords,
        userInfo: [CodingUserInfoKey: any Sendable],
        followsReferences: Bool = false
    ) {
        self.followsReferences = followsReferences
        self.records = Dictionary(
            records.map { ($0.recordID, $0) },
            uniquingKeysWith: { _, later in later }
        )
        self.missing = missing
        self.userInfo = userInfo
    }

    /// The identities of the records of a type, in the order of their names.
    func recordIDs(ofType type: CKRecord.RecordType) -> [CKRecord.ID] {
        records.values.filter { $0.recordType == type }.map(\.recordID)
            .sorted { $0.recordName < $1.recordName }
    }

    /// The root's value.
    func root<Root: Decodable>(_ type: Root.Type, _ rootID: CKRecord.ID) throws -> Root {
        guard let root = try value(type, for: rootID, at: .root) else {
            throw missing(type, rootID, .root)
        }
        return root
    }

    /// The value of a record; nil when the record is not there.
    func value<Model: Decodable>(
        _ type: Model.Type,
        for recordID: CKRecord.ID,
        at location: CodingLocation
    ) throws -> Model? {
        if let value = values[recordID] {
            if let value = value as? Model { return value }
            throw error(
                .unexpectedType,
                "it was read as another type before",
                type,
                recordID,
                location
            )
        }
        guard let record = records[recordID] else { return nil }
        if let expected = (type as? any CloudKitModel.Type)?.recordType,
            record.recordType != expected
        {
            throw error(
                .unexpectedType,
                "expected a record of type \(expected), found one of type "
                    + record.recordType,
                type,
                recordID,
                location
            )
        }
        guard inProgress.insert(recordID).inserted else {
            throw error(
                .cycle,
                "the value contains itself; break the circle with a CloudKitReference",
                type,
                recordID,
                location
            )
        }
        defer { inProgress.remove(recordID) }
        if inProgress.count > GraphEncoding.deepest {
            throw error(
                .tooDeep,
                "models are nested more than \(GraphEncoding.deepest) deep",
                type,
                recordID,
                location
            )
        }
        let value = try decode(type, record, location)
        values[recordID] = value
        return value
    }

    private func decode<Model: Decodable>(
        _ type: Model.Type,
        _ record: CKRecord,
        _ location: CodingLocation
    ) throws -> Model {
        let decoding = RecordDecoding(
            record: record,
            forms: .native,
            userInfo: userInfo,
            options: (type as? any CloudKitModel.Type)?.fields.byKey ?? [:],
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
        for record in records.values {
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
            type: (type as? any CloudKitModel.Type)?.recordType ?? records[recordID]?.recordType,
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
