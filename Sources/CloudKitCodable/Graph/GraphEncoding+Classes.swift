import CloudKit

// Records say nothing of classes: what reads one makes an instance of the class that the place
// declares.
extension GraphEncoding {
    /// Checks that an instance of a subclass does not stand where it would come back as one of the
    /// superclass.
    ///
    /// One that adds nothing comes back with all it has, if both have one record type.
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
            without what the subclass adds; \(remedy)
            """,
            type: node.recordType,
            id: recordID,
            path: location.path
        )
    }

    /// Whether classes between an instance's own and a superclass have stored properties.
    private static func addsProperties(_ value: any Encodable, to superclass: Any.Type) -> Bool {
        var mirror: Mirror? = Mirror(reflecting: value)
        while let level = mirror, level.subjectType != superclass {
            if !level.children.isEmpty { return true }
            mirror = level.superclassMirror
        }
        return false
    }
}
