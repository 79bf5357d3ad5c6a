import CloudKit
import Foundation

/// The encoding of one graph: which models were met, and their records in order.
final class GraphEncoding {
    /// A model that was met.
    private struct Entry {
        let type: Any.Type
        let value: Any
        let record: CKRecord
        var owner: CKRecord.ID?
    }

    /// A model whose record refers to its owner, which must come first.
    private struct Child {
        let model: any CloudKitModel
        let owner: CKRecord.ID
        let relation: CloudKitField.Relation?
        let position: Int?
        let location: CodingLocation
    }

    let zoneID: CKRecordZone.ID

    /// Where the files of assets are written.
    let assets: AssetFolder

    private let userInfo: [CodingUserInfoKey: any Sendable]
    private let known: [CKRecord.ID: CKRecord]
    private var entries: [CKRecord.ID: Entry] = [:]
    private var children: [Child] = []
    private var depth = 0

    /// The records, targets before sources.
    private(set) var records: [CKRecord] = []

    /// The identities of records that the server does not have, or has otherwise.
    private var isNew: Set<CKRecord.ID> = []

    /// Models within models beyond this depth end with an error instead of the thread's stack.
    static let deepest = 128

    init(
        zoneID: CKRecordZone.ID,
        userInfo: [CodingUserInfoKey: any Sendable],
        known: some Sequence<CKRecord>,
        assets: AssetFolder
    ) {
        self.zoneID = zoneID
        self.assets = assets
        self.userInfo = userInfo
        self.known = Dictionary(
            known.map { ($0.recordID, $0) },
            uniquingKeysWith: { _, later in later }
        )
    }

    // MARK: Results

    /// The records that a save must send.
    var changed: [CKRecord] {
        records.filter { record in
            isNew.contains(record.recordID) || !record.changedKeys().isEmpty
                || !record.encryptedValues.changedKeys().isEmpty
                || known[record.recordID]?.parent != record.parent
        }
    }

    /// Known records that were not met.
    var orphans: [CKRecord.ID] {
        known.keys.filter { entries[$0] == nil }.sorted { $0.recordName < $1.recordName }
    }

    // MARK: Models

    /// Encodes the root, and whatever it leads to.
    func encodeRoot(_ root: some CloudKitModel) throws -> CKRecord.ID {
        let rootID = try encode(root, at: .root)
        // Children may have children: the list grows while it is worked off.
        var next = 0
        while next < children.count {
            try encode(children[next])
            next += 1
        }
        return rootID
    }

    /// Encodes a model, unless it was met before.
    func encode<Model: CloudKitModel>(
        _ model: Model,
        at location: CodingLocation
    ) throws -> CKRecord.ID {
        let recordID = try Self.identity(of: model, in: zoneID, at: location)
        if let entry = entries[recordID] {
            try check(model, is: entry, recordID, location)
            return recordID
        }
        depth += 1
        defer { depth -= 1 }
        if depth > Self.deepest {
            throw CloudKitGraphError(
                .tooDeep,
                "models are nested more than \(Self.deepest) deep; break the chain with a "
                    + "CloudKitReference",
                type: Model.recordType,
                id: recordID,
                path: location.path
            )
        }
        let (record, baseline) = try record(for: model, recordID, location)
        entries[recordID] = Entry(type: Model.self, value: model, record: record)
        let encoding = RecordEncoding(
            record: record,
            baseline: baseline,
            forms: .native,
            userInfo: userInfo,
            options: Model.fields.byKey,
            graph: self,
            location: location
        )
        try encode(model, encoding)
        records.append(record)
        return recordID
    }

    private func encode<Model: CloudKitModel>(
        _ model: Model,
        _ encoding: RecordEncoding
    ) throws {
        do {
            try model.encode(to: encoding)
            try encoding.finish()
        } catch let error as CloudKitGraphError {
            throw error
        } catch EncodingError.invalidValue(_, let context) {
            throw CloudKitGraphError(
                .notEncodable,
                context.debugDescription,
                type: Model.recordType,
                id: encoding.record.recordID,
                path: context.codingPath,
                underlying: context.underlyingError
            )
        } catch {
            throw CloudKitGraphError(
                .notEncodable,
                "\(error)",
                type: Model.recordType,
                id: encoding.record.recordID,
                path: encoding.codingPath,
                underlying: error
            )
        }
    }

    /// The identity of a model's record.
    static func identity<Model: CloudKitModel>(
        of model: Model,
        in zoneID: CKRecordZone.ID,
        at location: CodingLocation
    ) throws -> CKRecord.ID {
        let name = model.recordName
        let problem =
            FieldName.isIdentifier(Model.recordType)
            ? FieldName.problem(recordName: name)
            : "\(Model.recordType) cannot be a record type: state a recordType of letters, digits "
                + "and underscores"
        if let problem {
            throw CloudKitGraphError(
                .invalidName,
                problem,
                type: Model.recordType,
                id: nil,
                path: location.path
            )
        }
        return CKRecord.ID(recordName: name, zoneID: zoneID)
    }

    /// The record that a model goes into: a copy of the known one, or a new one.
    private func record<Model: CloudKitModel>(
        for model: Model,
        _ recordID: CKRecord.ID,
        _ location: CodingLocation
    ) throws -> (CKRecord, RecordEncoding.Baseline) {
        let archived = try (model as? any CloudKitRecordRepresentable)?.cloudKitSystemFields.map {
            try SystemFieldsArchive.record(from: $0)
        }
        guard let old = known[recordID] ?? archived else {
            isNew.insert(recordID)
            return (CKRecord(recordType: Model.recordType, recordID: recordID), .none)
        }
        guard old.recordType == Model.recordType, old.recordID == recordID else {
            throw CloudKitGraphError(
                .unexpectedType,
                "the known record is \(old.recordID.recordName) of type \(old.recordType)",
                type: Model.recordType,
                id: recordID,
                path: location.path
            )
        }
        if known[recordID] == nil { return (old, .systemFields) }
        guard let copy = old.copy() as? CKRecord else { return (old, .values) }
        if copy.recordChangeTag == nil { isNew.insert(recordID) }
        return (copy, .values)
    }

    /// Two paths to one record must lead to the same value.
    private func check<Model: CloudKitModel>(
        _ model: Model,
        is entry: Entry,
        _ recordID: CKRecord.ID,
        _ location: CodingLocation
    ) throws {
        let problem: String? =
            if entry.type != Model.self, !(entry.value is Model) {
                """
                \(entry.type) and \(Model.self) have the same record name; names are unique in a \
                zone, across types
                """
            } else if !Self.isSame(entry.value, model) {
                "two values with this record name differ; they would be one record"
            } else {
                nil
            }
        if let problem {
            throw CloudKitGraphError(
                .identityClash,
                problem,
                type: Model.recordType,
                id: recordID,
                path: location.path
            )
        }
    }

    /// Whether two values are one: the same instance, or equal where that can be asked.
    private static func isSame(_ old: Any, _ new: Any) -> Bool {
        if type(of: new) is AnyClass { return (old as AnyObject) === (new as AnyObject) }
        guard let new = new as? any Equatable else { return true }
        return equals(new, old)
    }

    private static func equals<Value: Equatable>(_ value: Value, _ other: Any) -> Bool {
        (other as? Value).map { $0 == value } ?? false
    }

    // MARK: Children

    /// Notes a model whose record refers to its owner; it is encoded after the owner.
    func addChild(
        _ model: any CloudKitModel,
        owner: CKRecord.ID,
        relation: CloudKitField.Relation?,
        position: Int?,
        at location: CodingLocation
    ) {
        children.append(
            Child(
                model: model,
                owner: owner,
                relation: relation,
                position: position,
                location: location
            )
        )
    }

    private func encode(_ child: Child) throws {
        let recordID = try encode(child.model, at: child.location)
        guard let record = entries[recordID]?.record else { return }
        if case .children(let field, let action, let isHierarchy) = child.relation {
            if let owner = entries[recordID]?.owner, owner != child.owner {
                throw CloudKitGraphError(
                    .identityClash,
                    "the value is in the lists of two owners; a child has one",
                    type: record.recordType,
                    id: recordID,
                    path: child.location.path
                )
            }
            entries[recordID]?.owner = child.owner
            record.set(CKRecord.Reference(recordID: child.owner, action: action), field)
            if let position = child.position { record.set(position, field + Self.positionSuffix) }
            if isHierarchy { record.setParent(child.owner) }
        } else {
            record.setParent(child.owner)
        }
    }

    /// What the name of a child's position has behind that of the reference to its owner.
    static let positionSuffix = "_position"
}

extension CKRecord {
    /// Sets a field, unless it has this value.
    fileprivate func set<Value: CKRecordValueProtocol & Equatable>(_ value: Value, _ name: String) {
        if field(name, as: Value.self) != value { self[name] = value }
    }
}
