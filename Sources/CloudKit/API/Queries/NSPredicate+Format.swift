public import Foundation

#if !canImport(ObjectiveC)
// Foundation declares these unavailable on this platform; declarations of another module win.
extension NSPredicate {
    /// Makes a predicate from a format and the values of its placeholders.
    ///
    /// ```swift
    /// NSPredicate(format: "name BEGINSWITH %@ AND age >= %d", "A", 18)
    /// NSPredicate(format: "%K == %@", "owner", CKRecord.Reference(record: owner, action: .none))
    /// ```
    ///
    /// - Important: A format that cannot be read ends the process on Apple platforms. Here such a
    ///   predicate holds for nothing, and a query with it fails with `CKError.invalidArguments`,
    ///   which names the place.
    public convenience init(format predicateFormat: String, _ args: any CVarArg...) {
        self.init(format: predicateFormat, values: args)
    }

    /// Makes a predicate from a format and the values of its placeholders.
    public convenience init(format predicateFormat: String, argumentArray arguments: [Any]?) {
        self.init(format: predicateFormat, values: arguments ?? [])
    }

    private convenience init(format: String, values: [Any?]) {
        let parsed = ParsedPredicate(format, arguments: values)
        self.init(block: { parsed.evaluate($0, $1) })
    }
}
#endif

extension NSPredicate {
    /// Makes a predicate from what it says.
    convenience init(tree: PredicateTree) {
        let parsed = ParsedPredicate(tree: tree)
        self.init(block: { parsed.evaluate($0, $1) })
    }
}
