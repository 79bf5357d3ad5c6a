import CloudKit

/// The children's own values in the fields that refer to their owners: the owner's reference would
/// overwrite a property of that name.
struct ChildFields {
    /// The kinds of children that were checked, and whether they have a reference of their own.
    private var hasReference: [String: Bool] = [:]

    private func kind(_ child: GraphEncoding.Child, _ field: String) -> String {
        "\(child.node.recordType).\(field)"
    }

    /// Returns the object that notes the fields of the first child of a kind; nil for the other
    /// children.
    func owners(for child: GraphEncoding.Child) -> FieldOwners? {
        guard case .children(let field, _, _)? = child.relation,
            hasReference[kind(child, field)] == nil
        else { return nil }
        return FieldOwners()
    }

    /// Checks that a child's own properties leave the field to its owner, or refer to the owner as
    /// well.
    mutating func check(
        _ child: GraphEncoding.Child,
        _ field: String,
        _ record: CKRecord,
        _ owners: FieldOwners?
    ) throws {
        let kind = kind(child, field)
        let own = record.object(forKey: field)
        if let owners {
            let position = field + RecordField.positionSuffix
            if let key = owners.key(of: position) { throw clash(child, field, position, key) }
            if let key = owners.key(of: field), own == nil, !isReference(owners.types[field]) {
                throw clash(child, field, field, key)
            }
            hasReference[kind] = owners.contains(field)
        }
        if let own, !(own is CKRecord.Reference) {
            throw clash(child, field, field, owners?.key(of: field) ?? field)
        }
        if hasReference[kind] == true, let own = own as? CKRecord.Reference,
            own.recordID != child.owner
        {
            throw error(
                child,
                """
                its own property for the field \(field) refers to \(own.recordID.recordName), but \
                it is in a list of \(child.owner.recordName), which refers to it by this field; \
                make both refer to the same record, or leave the property nil
                """
            )
        }
    }

    private func isReference(_ type: Any.Type?) -> Bool {
        guard let type else { return false }
        return [.reference, .nativeField].contains(FieldKind.of(type))
    }

    private func clash(
        _ child: GraphEncoding.Child,
        _ via: String,
        _ field: String,
        _ key: String
    ) -> CloudKitGraphError {
        error(
            child,
            """
            its own property \(key) has the field \(field), which the property \
            \(child.location.text) needs for its .children(via: "\(via)"); give one of them \
            another field
            """
        )
    }

    private func error(_ child: GraphEncoding.Child, _ message: String) -> CloudKitGraphError {
        CloudKitGraphError(
            .notEncodable,
            message,
            type: child.node.recordType,
            id: child.owner,
            path: child.location.path
        )
    }
}
