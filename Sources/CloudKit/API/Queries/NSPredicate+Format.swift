public import Foundation

#if !canImport(ObjectiveC)
// Foundation declares these members unavailable on this platform; those of another module take
// precedence.
extension NSPredicate {
    /// Creates a predicate from a format and the values of its placeholders.
    ///
    /// ```swift
    /// NSPredicate(format: "name BEGINSWITH %@ AND age >= %d", "A", 18)
    /// NSPredicate(format: "%K == %@", "owner", CKRecord.Reference(record: owner, action: .none))
    /// ```
    ///
    /// - Important: A format that cannot be parsed ends the process on Apple platforms. Here the
    ///   predicate matches nothing, and a query with it fails with `CKError.invalidArguments`,
    ///   whose message names the position.
    public convenience init(format predicateFormat: String, _ args: any CVarArg...) {
        self.init(format: predicateFormat, values: args)
    }

    /// Creates a predicate from a format and the values of its placeholders.
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
    /// Creates a predicate from its parsed tree.
    convenience init(tree: PredicateTree) {
        let parsed = ParsedPredicate(tree: tree)
        self.init(block: { parsed.evaluate($0, $1) })
    }
}
