import CloudKit

// Records do not store classes: decoding creates an instance of the class that the property declares.
extension GraphEncoding {
    /// Checks that no instance of a subclass is in a property that would be decoded as the
    /// superclass.
    ///
    /// A subclass without stored properties of its own loses nothing, if both classes have the same
    /// record type.
    func checkClass(
        of node: GraphNode,
        _ recordID: CKRecord.ID,
        _ location: CodingLocation
    ) throws {
        let type = type(of: node.value)
        guard type != node.readType, type is AnyClass else { return }
        let traits = TypeTraits.of(type)
        let isShared = traits.model?.recordType == node.recordType
        if isShared, !Self.addsProperties(node.value, to: node.readType) { return }
        let remedy =
            location.path.isEmpty
            ? "save it by a variable of type \(traits.name)"
            : "give the place the type \(traits.name), or that of an enumeration of both"
        throw CloudKitGraphError(
            .unexpectedType,
            """
            the value is a \(traits.name), and would come back as its superclass \(node.readType), \
            without the subclass's properties; \(remedy)
            """,
            type: node.recordType,
            id: recordID,
            path: location.path
        )
    }

    /// Returns whether classes between an instance's own and a superclass have stored properties.
    private static func addsProperties(_ value: any Encodable, to superclass: Any.Type) -> Bool {
        var mirror: Mirror? = Mirror(reflecting: value)
        while let level = mirror, level.subjectType != superclass {
            if !level.children.isEmpty { return true }
            mirror = level.superclassMirror
        }
        return false
    }
}
