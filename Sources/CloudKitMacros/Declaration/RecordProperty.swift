#if Macros
import SwiftSyntax

/// A stored property that has a coding key.
struct RecordProperty {
    /// The name, without backticks.
    let name: String

    /// The name as code contains it.
    let code: String

    /// The type of the stored value, or of its wrapper.
    let type: String

    /// The name of the field, if it is known; nil if it is determined at run time.
    let field: String?

    /// The property's `@CloudKitField` attribute.
    let attribute: FieldAttribute?

    /// `true` when a property wrapper holds the value.
    let isWrapped: Bool

    /// The access of its key: its own, or fileprivate if only the type sees it.
    let access: String

    /// `true` when a plain value is written directly to the field.
    let isPlain: Bool

    /// `true` when the property keeps its default value if a record lacks the field: not for
    /// optionals, for which a missing field is nil.
    let hasDefault: Bool

    /// The node of the property's declaration.
    let node: Syntax

    /// Reads a property; nil for one without a coding key.
    init?(
        _ variable: VariableDeclSyntax,
        _ binding: PatternBindingSyntax,
        _ attribute: FieldAttribute?,
        _ keys: DeclaredKeys,
        hasTable: Bool,
        _ problems: inout Problems
    ) {
        node = Syntax(binding.pattern)
        guard let identifier = binding.pattern.as(IdentifierPatternSyntax.self) else {
            problems.add(.tuplePattern, at: binding.pattern)
            return nil
        }
        code = identifier.identifier.text
        name = code.unquoted
        self.attribute = attribute
        let wrappers = variable.attributes.wrappers
        isWrapped = !wrappers.isEmpty
        access = variable.modifiers.keyAccess
        if attribute?.head == .ignored {
            Self.checkIgnored(variable, binding, name, &problems)
            return nil
        }
        guard let key = keys.key(of: name) else { return nil }
        let hasKnownKey = keys.areKnown && !FieldNameRules.readFromRecord.contains(key)
        let isSpecial = attribute?.isSpecial ?? false
        isPlain = hasKnownKey && !isSpecial && !hasTable
        field = attribute?.name ?? (keys.areKnown ? key : nil)

        let type = PropertyType(binding, in: variable)
        hasDefault = binding.initializer != nil && !type.isOptional
        let shown = type.code ?? ""
        self.type = isWrapped ? "CloudKitCodable.CloudKitValue<\(shown)>" : shown
        if variable.bindingSpecifier.tokenKind == .keyword(.let), binding.initializer != nil {
            problems.add(.constantWithValue(name), at: binding)
        }
        if name == "fields" { problems.add(.propertyFields, at: binding.pattern) }
        type.check(name, wrappers: wrappers, attribute, at: variable, &problems)
        checkName(hasTable: hasTable, &problems)
    }

    /// `true` when the property is the record's name.
    var isRecordName: Bool { attribute?.head == .recordName }

    /// The names of the fields that store the value, as far as they are known.
    var fieldNames: [String] {
        guard let field else { return [] }
        switch attribute?.head {
        case .recordName, .children, .ignored: return []
        case .assetAbove: return [field, field + "_asset"]
        default: return [field]
        }
    }

    private func checkName(hasTable: Bool, _ problems: inout Problems) {
        // A hand-written table may give the field another name.
        guard !hasTable, let field else { return }
        switch attribute?.head {
        case .recordName, .children: return
        default: break
        }
        if let problem = FieldNameRules.problem(field) {
            problems.add(.invalidField(field, problem), at: node)
        }
    }

    private static func checkIgnored(
        _ variable: VariableDeclSyntax,
        _ binding: PatternBindingSyntax,
        _ name: String,
        _ problems: inout Problems
    ) {
        let isVariable = variable.bindingSpecifier.tokenKind == .keyword(.var)
        let isNil = isVariable && PropertyType(binding, in: variable).isOptional
        if binding.initializer == nil, !isNil {
            problems.add(.ignoredWithoutValue(name), at: binding)
        }
    }
}
#endif
