import CloudKit
import Foundation

/// The encoding of one graph: the models that were met, and their records in order.
final class GraphEncoding {
    /// A model that was met, and the location where it was met first.
    struct Entry {
        let value: any Encodable
        let record: CKRecord
        let location: CodingLocation
    }

    let zoneID: CKRecordZone.ID

    /// The folder to which files of assets are written.
    let assets: AssetFolder

    /// The encoder of other APIs' values into records; nil for models.
    let dialect: (any GraphDialect)?

    let userInfo: [CodingUserInfoKey: any Sendable]
    let known: [CKRecord.ID: CKRecord]
    private let knownIDs: [CKRecord.ID]
    var entries: [CKRecord.ID: Entry] = [:]
    var children: [Child] = []
    private var depth = 0

    /// The lists of owners, with their present and former children.
    var lists = OwnedLists()

    /// Known records that no list of this graph contains any longer.
    var released: [CKRecord.ID: CKRecord] = [:]

    /// References in known records to owners in another graph that no longer have them.
    var former: Set<GraphRelease> = []

    /// The references that were cleared in known records.
    var releases: Set<GraphRelease> = []

    /// The models that were met again under a name.
    var repetitions = Repetitions()

    /// The children's own values in the fields that refer to their owners.
    var ownFields = ChildFields()

    /// The records, targets before sources.
    private(set) var records: [CKRecord] = []

    /// `true` for each record that is new to the server.
    private var isNew: [Bool] = []

    init(
        zoneID: CKRecordZone.ID,
        userInfo: [CodingUserInfoKey: any Sendable],
        known: some Sequence<CKRecord>,
        assets: AssetFolder,
        dialect: (any GraphDialect)? = nil
    ) {
        self.dialect = dialect
        self.zoneID = zoneID
        self.assets = assets
        self.userInfo = userInfo
        let known = Array(known)
        self.known = Dictionary(
            known.map { ($0.recordID, $0) },
            uniquingKeysWith: { _, later in later }
        )
        var seen: Set<CKRecord.ID> = []
        knownIDs = known.map(\.recordID).filter { seen.insert($0).inserted }
    }

    // MARK: Results

    /// The records that a save must send.
    var changed: [CKRecord] {
        let released = released.sorted { $0.key.recordName < $1.key.recordName }.map(\.value)
        return released
            + zip(records, isNew).compactMap { record, isNew in
                isNew || !record.changedKeys().isEmpty
                    || !record.encryptedValues.changedKeys().isEmpty
                    || known[record.recordID]?.parent != record.parent ? record : nil
            }
    }

    /// Known records that were not met; records that refer to others come before these.
    var orphans: [CKRecord.ID] { knownIDs.reversed().filter { entries[$0] == nil } }

    // MARK: Models

    /// Encodes the root and everything it leads to.
    func encodeRoot(_ root: GraphNode) throws -> CKRecord.ID {
        let rootID = try encode(root, at: .root)
        // Children may have children: the list grows while it is processed.
        var next = 0
        while next < children.count {
            try encode(children[next])
            next += 1
        }
        setPositions()
        try compareRepetitions()
        releaseFormerChildren()
        return rootID
    }

    /// Encodes a node, unless it was met before.
    func encode(
        _ node: GraphNode,
        at location: CodingLocation,
        owners: FieldOwners? = nil
    ) throws -> CKRecord.ID {
        let recordID = try Self.identity(of: node, in: zoneID, at: location)
        try checkClass(of: node, recordID, location)
        if let entry = entries[recordID] {
            try check(node, is: entry, location)
            return recordID
        }
        // A node that refers to something new while it is compared is not the same.
        if repetitions.isComparing { return recordID }
        depth += 1
        defer { depth -= 1 }
        if depth > CodingLocation.deepest {
            throw CloudKitGraphError(
                .tooDeep,
                "models are nested more than \(CodingLocation.deepest) deep; "
                    + GraphRemedy.chain(isOtherAPI: dialect != nil),
                type: node.recordType,
                id: recordID,
                path: location.path
            )
        }
        let (record, baseline) = try record(for: node, recordID, location)
        let isNew = baseline == .none || baseline == .values && record.recordChangeTag == nil
        entries[recordID] = Entry(value: node.value, record: record, location: location)
        let encoding = RecordEncoding(
            record: record,
            baseline: baseline,
            forms: .native,
            userInfo: userInfo,
            options: node.fields,
            graph: self,
            location: location,
            owners: owners ?? (TypeTraits.of(type(of: node.value)).isClass ? FieldOwners() : nil)
        )
        try encode(node, encoding)
        records.append(record)
        self.isNew.append(isNew)
        return recordID
    }

    func encode(_ node: GraphNode, _ encoding: RecordEncoding) throws {
        func failure(
            _ message: String,
            _ path: [any CodingKey],
            _ underlying: (any Error)?
        ) -> CloudKitGraphError {
            CloudKitGraphError(
                .notEncodable,
                message,
                type: node.recordType,
                id: encoding.record.recordID,
                path: path,
                underlying: underlying
            )
        }
        do {
            try encoding.encode(node.value, TypeTraits.of(type(of: node.value)))
            try encoding.finish()
        } catch let error as CloudKitGraphError {
            throw error
        } catch EncodingError.invalidValue(_, let context) {
            let cause = context.underlyingError.map { ": " + CodingProblem.text(of: $0) } ?? ""
            throw failure(
                context.debugDescription + cause,
                context.codingPath,
                context.underlyingError
            )
        } catch {
            // The error's own text has the remedy, and its path the field.
            var path = encoding.codingPath
            if case CloudKitRecordEncodingError.dataFieldTooLarge(let key, _) = error {
                path.append(PathKey(key))
            }
            throw failure(
                GraphRemedy.text(of: error, isOtherAPI: dialect != nil),
                path,
                error
            )
        }
    }

    /// Returns the identity of a node's record.
    static func identity(
        of node: GraphNode,
        in zoneID: CKRecordZone.ID,
        at location: CodingLocation
    ) throws -> CKRecord.ID {
        if let problem = FieldName.problem(recordType: node.recordType)
            ?? FieldName.problem(recordName: node.recordName)
        {
            throw CloudKitGraphError(
                .invalidName,
                problem,
                type: node.recordType,
                id: nil,
                path: location.path
            )
        }
        return CKRecord.ID(recordName: node.recordName, zoneID: zoneID)
    }

    /// Returns the record that a node is encoded into: a copy of the known one, or a new one.
    private func record(
        for node: GraphNode,
        _ recordID: CKRecord.ID,
        _ location: CodingLocation
    ) throws -> (CKRecord, RecordEncoding.Baseline) {
        let represented =
            TypeTraits.of(type(of: node.value)).isRepresentable
            ? node.value as? any CloudKitRecordRepresentable : nil
        let archived = try represented?.cloudKitSystemFields.map {
            try SystemFieldsArchive.record(from: $0)
        }
        guard let old = known[recordID] ?? archived else {
            return (CKRecord(recordType: node.recordType, recordID: recordID), .none)
        }
        guard old.recordType == node.recordType, old.recordID == recordID else {
            throw CloudKitGraphError(
                .unexpectedType,
                "the known record is \(old.recordID.recordName) of type \(old.recordType)",
                type: node.recordType,
                id: recordID,
                path: location.path
            )
        }
        if known[recordID] == nil { return (old, .systemFields) }
        guard let copy = old.copy() as? CKRecord else { return (old, .values) }
        return (copy, .values)
    }
}
