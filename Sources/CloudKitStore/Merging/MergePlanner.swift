/// A planner that decides a merge: from the base, this device's version and the server's, it
/// derives the row, the changes to send and the journal entries.
///
/// It depends on nothing else, so that tests can try every combination. A side that is nil has no
/// row: it was deleted, or never created.
package struct MergePlanner {
    package var rule: (_ field: String) -> MergeRule
    package var deletion: DeletionRule
    /// The fields with unsent edits on this device; others follow the server even if they differ,
    /// such as a column's default.
    package var edited: Set<String>
    /// A closure that returns whether no value of a field means NULL rather than the column's default.
    package var saysNull: (_ field: String) -> Bool

    package init(
        edited: Set<String>,
        deletion: DeletionRule = .editWins,
        saysNull: @escaping (_ field: String) -> Bool = { _ in false },
        rule: @escaping (_ field: String) -> MergeRule
    ) {
        self.edited = edited
        self.deletion = deletion
        self.saysNull = saysNull
        self.rule = rule
    }

    package func plan(
        base: [String: StoreValue]?,
        local: MergeVersion?,
        remote: MergeVersion?
    ) -> MergePlan {
        switch (local, remote) {
        case (nil, nil): return MergePlan(row: nil, sending: .nothing)
        case (nil, let remote?): return deletedHere(base, remote)
        case (let local?, nil): return deletedThere(base, local)
        case (let local?, let remote?): return merge(base ?? [:], local, remote)
        }
    }

    // MARK: Deletions

    private func deletedHere(_ base: [String: StoreValue]?, _ remote: MergeVersion) -> MergePlan {
        // Without a base, no deletion here was of this record.
        guard let base else { return MergePlan(row: remote.fields, sending: .nothing) }
        let edits = remote.fields.filter { $0.value != base[$0.key] ?? .null }
            // Fields that the record no longer has were cleared, which is an edit, too.
            .merging(base.filter { remote.fields[$0.key] == nil && !$0.value.isNull }) { edit, _ in
                edit
            }
        let isEdited = !edits.isEmpty || !remote.overwritten.isEmpty
        guard isEdited, deletion == .editWins else {
            let lost =
                isEdited
                ? [overruled(remote.fields, .remote)] : []
            return MergePlan(row: nil, sending: .deletion, overruled: lost)
        }
        return MergePlan(
            row: remote.fields,
            sending: .nothing,
            overruled: [overruled([:], .local)]
        )
    }

    private func deletedThere(_ base: [String: StoreValue]?, _ local: MergeVersion) -> MergePlan {
        // Without a base, the deletion was of another record.
        guard let base else {
            return MergePlan(row: local.fields, sending: .save(Self.values(local)))
        }
        let isEdited = edited.contains { local.hasEdited($0, since: base[$0] ?? .null) }
        guard isEdited else { return MergePlan(row: nil, sending: .nothing) }
        switch deletion {
        case .editWins:
            return MergePlan(
                row: local.fields,
                sending: .save(Self.values(local)),
                overruled: [overruled([:], .remote)]
            )
        case .deletionWins:
            return MergePlan(
                row: nil,
                sending: .nothing,
                overruled: [overruled(local.fields, .local)]
            )
        }
    }

    private func overruled(
        _ fields: [String: StoreValue],
        _ side: MergePlan.Overruled.Side
    ) -> MergePlan.Overruled {
        MergePlan.Overruled(fields: fields, side: side, rule: deletion.rawValue)
    }

    private static func values(_ version: MergeVersion) -> Set<String> {
        Set(version.fields.filter { !$0.value.isNull }.keys)
    }

    // MARK: Fields

    private func merge(
        _ base: [String: StoreValue],
        _ local: MergeVersion,
        _ remote: MergeVersion
    ) -> MergePlan {
        var plan = MergePlan(row: [:], sending: .nothing)
        var row: [String: StoreValue] = [:]
        var sent: Set<String> = []
        let fields = Set(base.keys).union(local.fields.keys).union(remote.fields.keys)
        for field in fields.sorted() {
            let (before, theirs) = (base[field] ?? .null, remote.value(field))
            let value: StoreValue
            if !edited.contains(field) {
                // Missing on both sides: neither side set it, and a default may stay.
                value =
                    before == theirs && remote.fields[field] == nil
                    ? local.value(field) : theirs
            } else {
                let resolution = resolve(field, before, local, remote)
                value = resolution.value
                plan.overruled += resolution.overruled
                // A record without the field would be read as the column's default.
                let isUnsaid = value.isNull && remote.fields[field] == nil && saysNull(field)
                // The server has the value, but not the time of the edit.
                let isUntold =
                    local.overwritten.contains(field) && !remote.hasEdited(field, since: before)
                if value != theirs || isUnsaid || isUntold { sent.insert(field) }
            }
            if local.fields[field] != nil || remote.fields[field] != nil || !value.isNull {
                row[field] = value
            }
        }
        plan.row = row
        plan.sending = sent.isEmpty ? .nothing : .save(sent)
        return plan
    }

    private func resolve(
        _ field: String,
        _ base: StoreValue,
        _ local: MergeVersion,
        _ remote: MergeVersion
    ) -> (value: StoreValue, overruled: [MergePlan.Overruled]) {
        let (ours, theirs) = (local.value(field), remote.value(field))
        guard remote.hasEdited(field, since: base) else { return (ours, []) }
        guard local.hasEdited(field, since: base) else { return (theirs, []) }
        let rule = Self.rule(rule(field), field, base, local, remote)
        if ours == theirs {
            // Equal values of a counter are two steps, not one.
            guard ours != base, case .counter = rule else { return (ours, []) }
        }
        let conflict = FieldConflict(
            field: field,
            base: base.isUnknown ? .null : base,
            local: ours,
            localTime: local.times[field] ?? Self.never,
            remote: theirs,
            remoteTime: remote.times[field] ?? Self.never
        )
        let value = rule.value(of: conflict)
        var lost: [MergePlan.Overruled] = []
        let combines = rule.combines(conflict)
        if value != ours, !combines {
            lost.append(.init(fields: [field: ours], side: .local, rule: rule.name))
        }
        if value != theirs, !combines {
            lost.append(.init(fields: [field: theirs], side: .remote, rule: rule.name))
        }
        return (value, lost)
    }

    /// Returns the rule that decides, given what is known of both edits.
    private static func rule(
        _ rule: MergeRule,
        _ field: String,
        _ base: StoreValue,
        _ local: MergeVersion,
        _ remote: MergeVersion
    ) -> MergeRule {
        let (isOurs, areTheirs) = (
            local.unedited.contains(field), remote.unedited.contains(field)
        )
        // A value that nobody edited gives way to one that somebody did, whatever the rule.
        if isOurs != areTheirs { return .laterEdit }
        if isOurs { return rule.withoutEdits }
        return base.isUnknown ? rule.withoutBase : rule
    }

    private static let never = EditTime(microseconds: 0, device: "")
}
