/// The edits of a record's previous version that its current version lacks: the record was deleted, and
/// a device that had not seen them created it again, because an edit of its own survived the deletion.
package struct LostEdits {
    /// The fields to send again, with their values and the times of their edits.
    package private(set) var restored: [String: (value: StoreValue, time: EditTime)] = [:]
    /// The values that lost to others.
    package private(set) var overruled: [MergePlan.Overruled] = []

    /// Creates the lost edits; nil when the current version includes the previous one, or is of
    /// another row with the same key.
    ///
    /// - Parameters:
    ///   - previous: The fields of the previous version, with its stamp.
    ///   - current: The fields of the current version, with its stamp.
    ///   - stamps: The stamps of both.
    ///   - modified: The time at which the server received the current version, after which no
    ///     edit was made, whatever a device's clock reports.
    ///   - isCompared: A closure that returns whether a field is compared.
    ///   - rule: A closure that returns a field's rule.
    package init?(
        of previous: [String: StoreValue],
        in current: [String: StoreValue],
        _ stamps: (previous: RecordStamp, current: RecordStamp),
        modified: Int64?,
        isCompared: (_ field: String) -> Bool,
        rule: (_ field: String) -> MergeRule
    ) {
        guard !stamps.current.contains(versionsOf: stamps.previous),
            stamps.current.hasAncestor(of: stamps.previous)
        else { return nil }
        let times = stamps.current.times
        for (field, edited) in stamps.previous.times.sorted(by: { $0.key < $1.key })
        where isCompared(field) {
            let (ours, theirs) = (previous[field] ?? .null, current[field] ?? .null)
            guard !ours.isUnknown, ours != theirs else { continue }
            let time = edited.noLater(than: modified)
            let theirTime = (times[field] ?? Self.never).noLater(than: modified)
            // The other device knew this edit and made a later one.
            let isReplaced =
                time < theirTime && stamps.current.includes(edited, of: stamps.previous)
            // This edit is later, and its device knew theirs, or theirs has no time.
            let replaces =
                theirTime < time
                && times[field].map { stamps.previous.includes($0, of: stamps.current) } ?? true
            if isReplaced { continue }
            if replaces {
                restored[field] = (ours, time)
                continue
            }
            // Neither device knew the other's edit: a conflict without a base, which the field's
            // rule decides.
            let rule = rule(field).withoutBase
            let conflict = FieldConflict(
                field: field,
                base: .null,
                local: ours,
                localTime: time,
                remote: theirs,
                remoteTime: theirTime
            )
            let value = rule.value(of: conflict)
            // As late as the later one, so that it does not lose against either again.
            if value != theirs { restored[field] = (value, max(time, theirTime)) }
            if value != ours {
                overruled.append(.init(fields: [field: ours], side: .local, rule: rule.name))
            }
            if value != theirs {
                overruled.append(.init(fields: [field: theirs], side: .remote, rule: rule.name))
            }
        }
    }

    private static let never = EditTime(microseconds: 0, device: "")
}

extension RecordStamp {
    /// Returns whether the stamp's record was made from an earlier version of another one, and not
    /// from nothing: they share an edit, or a version that the other has replaced.
    func hasAncestor(of other: RecordStamp) -> Bool {
        if hasVersion(notAfter: other) { return true }
        let times = other.times
        return self.times.contains { times[$0.key] == $0.value }
    }

    /// Returns whether the stamp's record includes an edit that is in another record.
    ///
    /// Versions and times are of the device's clock, which may be off by less than it takes to be adjusted.
    fileprivate func includes(_ edit: EditTime, of other: RecordStamp) -> Bool {
        guard let known = version(of: edit.device) else { return false }
        return known >= edit.microseconds || known >= other.version(of: edit.device) ?? .max
    }
}

extension EditTime {
    fileprivate func noLater(than time: Int64?) -> EditTime {
        EditTime(microseconds: min(microseconds, time ?? microseconds), device: device)
    }
}
