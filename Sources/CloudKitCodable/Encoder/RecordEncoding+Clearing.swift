import CloudKit

// A field that a value could write and does not write is cleared. Fields that are not the type's, for
// example those of other versions of the app, stay.
extension RecordEncoding {
    /// Clears the fields of the value's type that the value did not write.
    func clearUnwritten() throws {
        noteMissingChildren()
        guard let memory else { return }
        let spaces = memory.keySpaces
        let written = memory.written
        let names: Set<String>
        switch baseline {
        case .none: return
        case .values:
            names = unwrittenKeys { key in
                memory.wasAsked(for: key) || written.contains(key)
                    || spaces.contains { $0.owns(key) }
            }
        case .systemFields:
            let known = memory.asked.map(\.key) + spaces.flatMap(\.all)
            names = written.union(known).subtracting(writtenKeys)
        }
        let foreign = memory.ownerFields
        for key in names.sorted() where !foreign.contains(key) {
            if key == _CKSystemFieldsKeyName || key == _CKIdentifierKeyName { continue }
            let name = options?[key]?.name ?? key
            // A key that cannot be a field was never written.
            if FieldName.problem(name, strict: forms == .native) == nil { try clear(PathKey(key)) }
        }
    }

    /// Remembers the keys that the value wrote: from then on they are the type's own.
    func noteWritten() {
        memory?.note {
            if baseline != .values { return writtenKeys }
            return Set(
                mentioned.compactMap { name in
                    key(of: name, isEncrypted: false) ?? key(of: name, isEncrypted: true)
                }
            )
        }
    }

    /// The keys of the fields that a record without known values was given.
    private var writtenKeys: Set<String> {
        let encrypted = record.encryptedValues.changedKeys()
        return Set(
            record.changedKeys().compactMap { key(of: $0, isEncrypted: false) }
                + encrypted.compactMap { key(of: $0, isEncrypted: true) }
        )
    }

    /// Returns the keys of the fields that the record has and the value did not write.
    private func unwrittenKeys(where isOwn: (String) -> Bool) -> Set<String> {
        let mentioned = mentioned
        var keys: Set<String> = []
        func add(_ names: [String], isEncrypted: Bool) {
            for name in names where !mentioned.contains(name) {
                guard let key = key(of: name, isEncrypted: isEncrypted), isOwn(key),
                    !mentioned.contains(options?[key]?.name ?? key)
                else { continue }
                keys.insert(key)
            }
        }
        add(record.allKeys(), isEncrypted: false)
        add(record.encryptedValues.allKeys(), isEncrypted: true)
        return keys
    }

    /// Returns the key of a field; nil when the type would not write the field.
    private func key(of name: String, isEncrypted: Bool) -> String? {
        guard let options else { return isEncrypted ? nil : name }
        for (key, field) in options {
            let isFile =
                if case .asset(above: 0...) = field.storage {
                    name == (field.name ?? key) + RecordField.assetSuffix
                } else {
                    false
                }
            if isFile { return key }
            if (field.name ?? key) == name {
                return (field.storage == .encrypted) == isEncrypted ? key : nil
            }
        }
        return isEncrypted || options[name] != nil ? nil : name
    }

    /// Notifies the graph of the properties whose models refer to this record and that hold none now.
    private func noteMissingChildren() {
        guard baseline == .values, let graph, let model, let options else { return }
        let noted = children
        for (key, field) in options where !noted.contains(key) {
            guard case .children(let via, _, _)? = field.relation else { continue }
            for type in TypeTraits.of(model).memory.types(of: key, in: model) {
                graph.noteList(of: record.recordID, type.recordType, via: via)
            }
        }
    }
}
