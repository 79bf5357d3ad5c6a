#if Macros
import SwiftSyntax

/// The coding keys that a declaration has, or those that the macro adds.
struct DeclaredKeys {
    /// Raw values by case, of keys that the declaration has itself.
    private let rawValues: [String: String]?

    /// Whether the strings of the keys are known: not when the enumeration makes them itself.
    let areKnown: Bool

    init(_ declaration: some DeclGroupSyntax, _ problems: inout Problems) {
        let named = declaration.memberBlock.members
            .compactMap { $0.decl.asProtocol((any NamedDeclSyntax).self) }
            .first { $0.name.text == "CodingKeys" }
        guard let named else {
            (rawValues, areKnown) = (nil, true)
            return
        }
        guard let keys = Syntax(named).as(EnumDeclSyntax.self) else {
            problems.add(.keysElsewhere, at: named.name)
            (rawValues, areKnown) = ([:], false)
            return
        }
        var rawValues: [String: String] = [:]
        var areKnown = true
        for member in keys.memberBlock.members {
            for element in member.decl.as(EnumCaseDeclSyntax.self)?.elements ?? [] {
                let name = element.name.text.unquoted
                rawValues[name] = element.rawValue?.value.literalText ?? name
            }
            if let variable = member.decl.as(VariableDeclSyntax.self),
                variable.bindings.contains(where: {
                    $0.pattern.trimmedDescription == "stringValue"
                })
            {
                areKnown = false
            }
        }
        self.rawValues = rawValues
        self.areKnown = areKnown
    }

    /// The key of a property; nil when it has none.
    func key(of property: String) -> String? {
        rawValues.map { $0[property] } ?? property
    }
}
#endif
