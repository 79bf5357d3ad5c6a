#if Macros
import SwiftSyntax

/// The coding keys of a declaration, or those that the macro adds.
struct DeclaredKeys {
    /// The raw values of the declaration's own keys, by case.
    private let rawValues: [String: String]?

    /// `true` when the keys' strings are known, because the enumeration does not compute them itself.
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

    /// Returns the key of a property; nil when it has none.
    func key(of property: String) -> String? {
        rawValues.map { $0[property] } ?? property
    }
}
#endif
