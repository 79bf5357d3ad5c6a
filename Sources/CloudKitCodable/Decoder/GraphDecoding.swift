import CloudKit
import Foundation

/// The decoding of one graph: the records, and the values that were decoded from them.
///
/// While a graph is being loaded, only the fetched records are here. When a value requests another
/// record, the request is noted, the value is abandoned, and its siblings are tried, so that one pass
/// finds as many requests as possible. Complete values are kept; the next pass decodes the others
/// again.
final class GraphDecoding {
    let missing: MissingRecords

    /// `true` when references in fields are followed whatever the type of the property.
    let followsReferences: Bool

    /// The available records.
    var records: GraphRecords

    private let userInfo: [CodingUserInfoKey: any Sendable]
    private var nodes: [CKRecord.ID: Node] = [:]
    private var depth = 0

    /// The records that were requested in this pass.
    private var needs = GraphNeeds()

    /// The number of unmet requests: a value during whose decoding it rises is abandoned.
    private var unmet = 0

    /// The number of the pass.
    private var pass = 0

    /// A record and the value that was decoded from it.
    private final class Node {
        let record: CKRecord
        var value: Any?
        var isInProgress = false
        /// The last pass in which the value lacked a record.
        var lackingPass = -1

        init(_ record: CKRecord) { self.record = record }
    }

    init(
        records: GraphRecords,
        missing: MissingRecords,
        userInfo: [CodingUserInfoKey: any Sendable],
        followsReferences: Bool = false
    ) {
        self.followsReferences = followsReferences
        self.records = records
        self.missing = missing
        self.userInfo = userInfo
    }

    // MARK: Loading

    /// Decodes the root from the available records.
    ///
    /// - Returns: The value; nil when other records are needed first.
    func attempt<Root: Decodable>(
        _ type: Root.Type,
        _ rootID: CKRecord.ID
    ) throws -> (value: Root?, needs: GraphNeeds) {
        needs = GraphNeeds()
        pass += 1
        let before = unmet
        do {
            let value = try root(type, rootID)
            return (unmet == before ? value : nil, needs)
        } catch  where unmet != before {
            return (nil, needs)
        }
    }

    /// The records that have values, in the order in which they were added.
    var decoded: [CKRecord] {
        records.order.compactMap { nodes[$0]?.value == nil ? nil : records.byID[$0] }
    }

    /// Returns the signal that ends a decoding for lack of a record.
    private func lack() -> GraphNeeds.Signal {
        unmet += 1
        return GraphNeeds.Signal()
    }

    private func node(_ recordID: CKRecord.ID) -> Node? {
        if let node = nodes[recordID] { return node }
        guard let record = records.byID[recordID] else { return nil }
        let node = Node(record)
        nodes[recordID] = node
        return node
    }

    /// Returns the identities of the records of a type, in the order of their names.
    func recordIDs(ofType type: CKRecord.RecordType) -> [CKRecord.ID] {
        records.byID.values.filter { $0.recordType == type }.map(\.recordID)
            .sorted { $0.recordName < $1.recordName }
    }

    /// Returns the root's value.
    func root<Root: Decodable>(_ type: Root.Type, _ rootID: CKRecord.ID) throws -> Root {
        guard let root = try value(type, for: rootID, at: .root) else {
            throw missing(type, rootID, .root)
        }
        return root
    }

    /// Returns the model of a record; nil when the record is missing.
    func model<Model: CloudKitModel>(
        _ type: Model.Type,
        for recordID: CKRecord.ID,
        at location: CodingLocation
    ) throws -> Model? {
        try value(type, type, for: recordID, at: location)
    }

    /// Returns the value of a record, whether its type is a model or not; nil when the record is
    /// missing.
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
        guard let node = node(recordID) else {
            guard records.canFetch(recordID) else { return nil }
            needs.add(recordID, model.map { [$0] } ?? [])
            throw lack()
        }
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
        // The records that it lacks are already noted.
        if node.lackingPass == pass { throw lack() }
        guard !node.isInProgress else {
            throw error(
                .cycle,
                "the value contains itself; "
                    + GraphRemedy.chain(isOtherAPI: followsReferences),
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
        if depth > CodingLocation.deepest {
            throw error(
                .tooDeep,
                "models are nested more than \(CodingLocation.deepest) deep; "
                    + GraphRemedy.chain(isOtherAPI: followsReferences),
                type,
                recordID,
                location
            )
        }
        let before = unmet
        do {
            let value = try decode(type, node.record, model, location)
            if unmet == before {
                node.value = value
                return value
            }
        } catch  where unmet != before {
            // The value's own code may have turned the signal into any error: it lacked a record.
        }
        node.lackingPass = pass
        throw lack()
    }

    private func decode<Model: Decodable>(
        _ type: Model.Type,
        _ record: CKRecord,
        _ model: (any CloudKitModel.Type)?,
        _ location: CodingLocation
    ) throws -> Model {
        let decoding = RecordDecoding(
            record: record,
            forms: .native,
            userInfo: userInfo,
            options: model?.fields.byKey ?? [:],
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
                CodingProblem.text(of: underlying),
                type: record.recordType,
                id: record.recordID,
                path: location.path + (decoding.key(of: underlying).map { [$0] } ?? []),
                underlying: underlying
            )
        }
    }

    // MARK: Children

    /// Returns an owner's children of a type, in their order.
    ///
    /// - Throws: The signal that they are not loaded yet.
    func children(
        of owner: CKRecord.ID,
        _ type: any CloudKitModel.Type,
        via field: String
    ) throws -> [CKRecord.ID] {
        let query = GraphNeeds.Children(recordType: type.recordType, field: field)
        if records.canFetch(query, of: owner) {
            needs.add(childrenOf: owner, type, via: field)
            throw lack()
        }
        return records.children(of: owner, via: field)
            .filter { $0.recordType == query.recordType }.map(\.recordID)
    }

    /// Returns whether an owner has children, as far as their types are known.
    func hasChildren(
        of owner: CKRecord.ID,
        _ types: [any CloudKitModel.Type],
        via field: String
    ) -> Bool {
        guard records.isLoading else { return !records.children(of: owner, via: field).isEmpty }
        // Only a read names their type; reporting that there are none would hide them.
        var hasAny = types.isEmpty
        for type in types {
            let query = GraphNeeds.Children(recordType: type.recordType, field: field)
            if records.canFetch(query, of: owner) {
                needs.add(childrenOf: owner, type, via: field)
                unmet += 1
                hasAny = true
            } else if records.children(of: owner, via: field).contains(where: {
                $0.recordType == query.recordType
            }) {
                hasAny = true
            }
        }
        return hasAny
    }

    // MARK: Errors

    /// Returns the error for a missing record.
    func missing(
        _ type: any Decodable.Type,
        _ recordID: CKRecord.ID,
        _ location: CodingLocation
    ) -> CloudKitGraphError {
        error(
            .missingRecord,
            "the record is not there; "
                + GraphRemedy.missing(
                    isRoot: location.path.isEmpty,
                    isOtherAPI: followsReferences
                ),
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
                ?? records.byID[recordID]?.recordType,
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
