/// The fields of one side of a record, plain or encrypted, with what changed since the server's
/// version.
struct FieldStore {
    private struct Slot {
        var value: FieldValue?
        var isChanged: Bool
    }

    /// A cleared field keeps a slot without a value until it is saved.
    private var slots: [CKRecord.FieldKey: Slot] = [:]

    /// What changed fields held in the server's version; fields that had no value are absent.
    private var originals: [CKRecord.FieldKey: FieldValue] = [:]

    /// Makes an empty store.
    init() {}

    /// Makes the store of a fetched record: nothing is changed.
    init(serverValues: [CKRecord.FieldKey: FieldValue]) {
        slots = serverValues.mapValues { Slot(value: $0, isChanged: false) }
    }

    /// Takes in a field of a fetched record: it is not changed.
    mutating func setServerValue(_ value: FieldValue, forKey key: CKRecord.FieldKey) {
        if slots.isEmpty { slots.reserveCapacity(12) }
        slots[key] = Slot(value: value, isChanged: false)
    }

    /// The value of a field; setting one marks it changed, even when it stays equal.
    subscript(key: CKRecord.FieldKey) -> FieldValue? {
        get { slots[key]?.value }
        set {
            // Most records have some ten fields: one allocation instead of four.
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

    /// The store as the server's version had it.
    var original: FieldStore {
        var values = originals
        for (key, slot) in slots where !slot.isChanged { values[key] = slot.value }
        return FieldStore(serverValues: values)
    }

    /// Whether a field was set or cleared.
    func isChanged(_ key: CKRecord.FieldKey) -> Bool {
        slots[key]?.isChanged ?? false
    }

    /// Forgets what changed: the server's version is this one now.
    mutating func acknowledge() {
        originals = [:]
        slots = slots.compactMapValues { slot in
            slot.value.map { Slot(value: $0, isChanged: false) }
        }
    }

    /// The same store with other marks: an unarchived record's.
    mutating func markChanged(_ keys: [CKRecord.FieldKey]) {
        for key in keys { slots[key, default: Slot(value: nil, isChanged: true)].isChanged = true }
    }
}
