/// The plain or the encrypted fields of a record, with the changes since the server's version.
struct FieldStore {
    private struct Slot {
        var value: FieldValue?
        var isChanged: Bool
    }

    /// The fields; a cleared field keeps a slot without a value until it is saved.
    private var slots: [CKRecord.FieldKey: Slot] = [:]

    /// The values of changed fields in the server's version; fields without a value are absent.
    private var originals: [CKRecord.FieldKey: FieldValue] = [:]

    /// Creates an empty store.
    init() {}

    /// Creates the store of a fetched record, without changes.
    init(serverValues: [CKRecord.FieldKey: FieldValue]) {
        slots = serverValues.mapValues { Slot(value: $0, isChanged: false) }
    }

    /// Sets a field of a fetched record without marking it as changed.
    mutating func setServerValue(_ value: FieldValue, forKey key: CKRecord.FieldKey) {
        if slots.isEmpty { slots.reserveCapacity(12) }
        slots[key] = Slot(value: value, isChanged: false)
    }

    /// A field's value; setting one marks it as changed, even if it stays equal.
    subscript(key: CKRecord.FieldKey) -> FieldValue? {
        get { slots[key]?.value }
        set {
            // Most records have about ten fields: one allocation instead of four.
            if slots.isEmpty { slots.reserveCapacity(12) }
            if let slot = slots.updateValue(Slot(value: newValue, isChanged: true), forKey: key),
                !slot.isChanged, let value = slot.value
            {
                originals[key] = value
            }
        }
    }

    /// The keys of the fields that have a value, in alphabetical order.
    var allKeys: [CKRecord.FieldKey] {
        slots.compactMap { $0.value.value == nil ? nil : $0.key }.sorted()
    }

    /// The keys of the fields that were set or cleared, in alphabetical order.
    var changedKeys: [CKRecord.FieldKey] {
        slots.compactMap { $0.value.isChanged ? $0.key : nil }.sorted()
    }

    /// The fields of the server's version.
    var original: FieldStore {
        var values = originals
        for (key, slot) in slots where !slot.isChanged { values[key] = slot.value }
        return FieldStore(serverValues: values)
    }

    /// Returns whether a field was set or cleared.
    func isChanged(_ key: CKRecord.FieldKey) -> Bool {
        slots[key]?.isChanged ?? false
    }

    /// Discards the changes: this is now the server's version.
    mutating func acknowledge() {
        originals = [:]
        slots = slots.compactMapValues { slot in
            slot.value.map { Slot(value: $0, isChanged: false) }
        }
    }

    /// Marks fields of an unarchived record as changed.
    mutating func markChanged(_ keys: [CKRecord.FieldKey]) {
        for key in keys { slots[key, default: Slot(value: nil, isChanged: true)].isChanged = true }
    }
}

/// Access to field values without boxing.
protocol FieldStoring: AnyObject {
    /// A field's value; setting nil clears it.
    subscript(field key: CKRecord.FieldKey) -> FieldValue? { get set }
}
