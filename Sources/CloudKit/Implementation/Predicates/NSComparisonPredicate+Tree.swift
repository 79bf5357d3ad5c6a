#if canImport(ObjectiveC)
import Foundation

// With Objective-C a predicate exposes its parts.
extension NSComparisonPredicate {
    /// Returns the comparison's contents.
    func tree() throws(PredicateError) -> PredicateTree {
        let known: [NSComparisonPredicate.Operator: PredicateComparison.Operator] = [
            .equalTo: .equals, .notEqualTo: .notEquals, .lessThan: .lessThan,
            .lessThanOrEqualTo: .lessThanOrEquals, .greaterThan: .greaterThan,
            .greaterThanOrEqualTo: .greaterThanOrEquals, .between: .between,
            .beginsWith: .beginsWith, .endsWith: .endsWith, .contains: .contains, .in: .in,
            .like: .like, .matches: .matches,
        ]
        guard let comparison = known[predicateOperatorType] else {
            throw PredicateError("CloudKit has no such operator: \(predicateFormat)", at: nil)
        }
        let modifier: PredicateComparison.Modifier =
            switch comparisonPredicateModifier {
            case .any: .any
            case .all: .all
            default: .direct
            }
        var letters: Set<Character> = []
        if options.contains(.caseInsensitive) { letters.insert("c") }
        if options.contains(.diacriticInsensitive) { letters.insert("d") }
        return .comparison(
            PredicateComparison(
                modifier: modifier,
                left: try leftExpression.tree(),
                operator: comparison,
                options: letters,
                right: try rightExpression.tree(),
                position: 1
            )
        )
    }
}

extension NSExpression {
    fileprivate func tree() throws(PredicateError) -> PredicateExpression {
        switch expressionType {
        case .constantValue: return .value(PredicateValue(argument: constantValue), position: 1)
        case .evaluatedObject: return .object(position: 1)
        case .variable: return .variable(variable, position: 1)
        case .keyPath: return .key(keyPath, position: 1)
        case .function:
            return .function(function, try Self.trees(arguments ?? []), position: 1)
        case .aggregate:
            return .list(try Self.trees(collection as? [NSExpression] ?? []), position: 1)
        default:
            throw PredicateError("CloudKit has no such expression: \(self)", at: nil)
        }
    }

    private static func trees(
        _ expressions: [NSExpression]
    ) throws(PredicateError) -> [PredicateExpression] {
        var trees: [PredicateExpression] = []
        for expression in expressions { trees.append(try expression.tree()) }
        return trees
    }
}
#endif
