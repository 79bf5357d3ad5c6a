import CloudKitWire

/// The references of a record that affect the deletion of their targets.
///
/// `RecordCommit.check` below refuses a save whose parent, or whose target of a `VALIDATE` reference, is missing.
struct References: Hashable {
    /// A reference.
    struct Item: Hashable {
        var target: String
        var kind: StoredReference.Kind
        /// The zone that the reference names; nil for the record's own.
        var zone: WireZoneID?
    }

    /// The references, in the order of the fields.
    private(set) var items: [Item] = []

    init(fields: RecordFields, parent: String?) {
        var seen: Set<Item> = []
        for reference in fields.references {
            let kind: StoredReference.Kind
            switch reference.action ?? .none {
            case .none: continue
            case .deleteSelf: kind = .deleteSelf
            case .validate: kind = .validate
            }
            let item = Item(target: reference.recordName, kind: kind, zone: reference.zoneID)
            if seen.insert(item).inserted { items.append(item) }
        }
        if let parent { items.append(Item(target: parent, kind: .parent)) }
    }

    /// Returns the references as rows; empty if they cannot affect any deletion.
    func stored(from source: StoredRecord, in database: StoredDatabase) -> [StoredReference] {
        guard let circle = Self.circle(of: source.created.user, in: database) else { return [] }
        return items.map {
            StoredReference(source: source.id, target: $0.target, kind: $0.kind, circle: circle)
        }
    }

    /// Returns the circle of creators within which a reference with an action, or a parent, has an
    /// effect.
    ///
    /// It is the single rule for which records are deleted with another one, which prevent a
    /// deletion, and which count toward a target's limit. In a database with an owner the circle
    /// includes all creators. In the public database, where anyone can refer to anything, it
    /// includes the records of one creator only: another user's reference neither prevents a
    /// deletion nor is deleted with the target, and does not count toward its limit. Records that
    /// were created without a user have no creator, and belong to no circle.
    ///
    /// - Returns: A creator, empty for all; nil for none.
    static func circle(of creator: String, in database: StoredDatabase) -> String? {
        guard database.owner == nil else { return "" }
        return creator.isEmpty || creator == ZoneDirectory.publicOwner ? nil : creator
    }
}

extension RecordCommit {
    /// Checks the references of a record that is about to be saved.
    func check(
        _ references: References,
        of name: String,
        before: RecordFields?,
        _ existing: StoredRecord?
    ) throws {
        let old = before.map { References(fields: $0, parent: existing?.parent) }
        for item in references.items { try checkZone(item, name) }
        let fresh = references.items.filter { old?.items.contains($0) != true }
        try checkTies(fresh, of: name)
        let creator = existing?.created.user ?? stamp.user
        for item in references.items {
            let isOld = !fresh.contains(item)
            if !isOld { try checkCount(item, name, creator) }
            // In the public database a target may have been deleted since it was referred to.
            if isOld, zone.database.owner == nil { continue }
            // The target of a `DELETE_SELF` reference need not exist.
            if item.kind != .deleteSelf { try checkTarget(item, name) }
        }
    }

    /// Refuses a participant's new references to the participant's own zones, which for every other
    /// reader would lead to a zone of that reader.
    ///
    /// A reference without an action may name a zone together with its owner.
    func checkHomes(of fields: RecordFields, before: RecordFields?, _ name: String) throws {
        guard zone.access != .everything else { return }
        let known = Set(before?.references ?? [])
        for reference in fields.references where !known.contains(reference) {
            guard let home = reference.zoneID else { continue }
            let owner = home.explicitOwner
            let isNamed = owner != nil && !home.isDefault
            let isHere = home.zoneName == zone.id.zoneName && owner ?? ownerName == ownerName
            guard !isHere, !isNamed || reference.action ?? .none != .none else { continue }
            throw RecordFailure(
                .badRequest,
                "Record '\(name)' refers to '\(reference.recordName)' in zone '\(home.zoneName)' of "
                    + "'\(owner ?? "the caller")'; in a shared zone, refer to its own records: give "
                    + "the reference the zone '\(zone.id.zoneName)' of '\(ownerName ?? "")'"
            )
        }
    }

    private var ownerName: String? { zone.id.ownerRecordName }

    private func checkZone(_ item: References.Item, _ name: String) throws {
        guard let zone = item.zone, zone.zoneName != self.zone.id.zoneName else { return }
        throw RecordFailure(
            .badRequest,
            "Record '\(name)' refers to '\(item.target)' in zone '\(zone.zoneName)'; a reference "
                + "with an action cannot leave its zone '\(self.zone.id.zoneName)'"
        )
    }

    private func checkCount(_ item: References.Item, _ name: String, _ creator: String) throws {
        guard item.kind != .parent,
            let circle = References.circle(of: creator, in: zone.database)
        else { return }
        let zone = zone.zone.id
        let count = try [StoredReference.Kind.deleteSelf, .validate].reduce(0) {
            $0 + (try writer.referenceCount(zone, to: item.target, $1, in: circle))
        }
        guard count < Limits.owningReferencesPerTarget else {
            throw RecordFailure(
                .badRequest,
                "Record '\(name)' would be one of more than \(Limits.owningReferencesPerTarget) "
                    + "that refer to '\(item.target)' with an action; spread them over more "
                    + "targets, or use references without an action",
                nativeCode: .limitExceeded
            )
        }
    }

    private func checkTarget(_ item: References.Item, _ name: String) throws {
        if item.target == name { return }
        // If the save of the target fails, so does the whole batch.
        if batch.isAtomic, batch.saves(item.target) { return }
        if try isSeen(item.target) { return }
        if item.kind == .parent, let failure = failure(below: item.target, name) { throw failure }
        let what = item.kind == .parent ? "parent" : "validating reference's target"
        throw RecordFailure(
            .validatingReferenceError,
            "The \(what) '\(item.target)' of record '\(name)' does not exist"
        )
    }

    /// Returns the failure of a record whose parent is missing because the batch failed to create
    /// it; nil if the batch did not try.
    func failure(below parent: String, _ name: String) -> RecordFailure? {
        guard let cause = failures[parent] else { return nil }
        let needs = "Record '\(name)' lies below '\(parent)'"
        // In an atomic batch, only the parent caused the failure.
        if batch.isAtomic { return RecordFailure(.atomicError, needs + ", which was not saved") }
        return cause.passedOn(needs, otherwise: .validatingReferenceError)
    }
}
