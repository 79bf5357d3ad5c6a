import Foundation

/// The result of evaluating a predicate created from a format with a `PredicateProbe`.
struct ParsedPredicate: Sendable {
    let format: String
    let tree: Result<PredicateTree, PredicateError>
    /// The number of nesting levels of the format.
    let levels: Int

    init(_ format: String, arguments: [Any?]) {
        self.format = format
        let parsed = Result { () throws(PredicateError) in
            try PredicateParser.parse(format, arguments: arguments)
        }
        tree = parsed.map { $0.tree }
        // The error stays in `tree`, for whoever sends or evaluates the predicate.
        levels = (try? parsed.get().levels) ?? 0
    }

    init(tree: PredicateTree) {
        format = ""
        levels = 0
        self.tree = .success(tree)
    }

    /// Returns the tree to a probe, and to any other object whether the predicate matches it.
    ///
    /// A format that cannot be parsed matches nothing.
    func evaluate(_ object: Any?, _ bindings: [String: Any]?) -> Bool {
        if let probe = object as? PredicateProbe {
            probe.parsed = self
            return true
        }
        // What cannot be parsed holds for nothing; sending it throws the reason.
        guard let tree = try? tree.get() else { return false }
        return PredicateEvaluation(object: object, bindings: bindings ?? [:]).holds(tree)
    }
}

/// An object whose evaluation reveals a predicate's contents, because Foundation stores only a
/// closure.
final class PredicateProbe: NSObject {
    var parsed: ParsedPredicate?
}

extension NSPredicate {
    /// Returns the predicate's contents.
    ///
    /// - Throws: `PredicateError` when the format cannot be parsed, or when there is none because
    ///   the predicate was created from a closure.
    func tree(depth: Int = 0) throws(PredicateError) -> PredicateTree {
        if let compound = self as? NSCompoundPredicate {
            guard depth < PredicateTree.depthLimit else { throw .tooDeep(at: nil) }
            return try compound.compoundTree(depth: depth + 1)
        }
        for truth in [true, false] where isEqual(NSPredicate(value: truth)) {
            return .truth(truth)
        }
        #if canImport(ObjectiveC)
        if let comparison = self as? NSComparisonPredicate { return try comparison.tree() }
        #endif
        let probe = PredicateProbe()
        _ = evaluate(with: probe)
        guard let parsed = probe.parsed else {
            throw PredicateError(
                "A predicate created from a closure cannot be sent; write it as a format",
                at: nil
            )
        }
        guard depth + parsed.levels <= PredicateTree.depthLimit else { throw .tooDeep(at: nil) }
        return try parsed.tree.get()
    }

    /// The format that the predicate was created from, for messages.
    var givenFormat: String? {
        guard !(self is NSCompoundPredicate) else { return nil }
        #if canImport(ObjectiveC)
        if self is NSComparisonPredicate { return predicateFormat }
        #endif
        let probe = PredicateProbe()
        _ = evaluate(with: probe)
        return probe.parsed?.format
    }
}

extension NSCompoundPredicate {
    fileprivate func compoundTree(depth: Int) throws(PredicateError) -> PredicateTree {
        var parts: [PredicateTree] = []
        // The array has no stated element type with Objective-C.
        let all: [Any] = subpredicates
        for case let part as NSPredicate in all { parts.append(try part.tree(depth: depth)) }
        switch compoundPredicateType {
        case .and: return .and(parts)
        case .or: return .or(parts, position: 1)
        case .not:
            guard let part = parts.first else { return .truth(false) }
            return .not(part, position: 1)
        @unknown default:
            throw PredicateError("A compound of this kind is not supported", at: nil)
        }
    }
}
