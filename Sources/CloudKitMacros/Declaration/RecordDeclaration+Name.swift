#if Macros
import SwiftSyntax

// The property that holds the record's name.
extension RecordDeclaration {
    /// Protocols that do not determine a name.
    private static let silent: Set = [
        "Codable", "Encodable", "Decodable", "Equatable", "Hashable", "Comparable", "Sendable",
        "CustomStringConvertible", "CustomDebugStringConvertible", "CaseIterable", "Copyable",
        "CloudKitModel", "CloudKitMappedModel",
    ]

    /// Reports when nothing in the declaration determines the record's name, as far as it shows.
    func checkRecordName(
        _ declaration: some DeclGroupSyntax,
        _ node: AttributeSyntax,
        _ problems: inout Problems
    ) {
        if declared.contains("recordName") || properties.contains(where: \.isRecordName) { return }
        let names = inherited.map { $0.split(separator: ".").last.map(String.init) ?? $0 }
        // Other protocols, and superclasses, may provide a name.
        if names.contains(where: { !Self.silent.contains($0) && $0 != "Identifiable" }) { return }
        guard let identifier = Self.identifier(in: declaration) else {
            problems.add(.noRecordName(name), at: node)
            return
        }
        guard let type = identifier.type else { return }
        if !["String", "UUID"].contains(type) {
            problems.add(.identifierType(name, type), at: identifier.node)
        } else if !names.contains("Identifiable") {
            problems.add(.notIdentifiable(name), at: identifier.node)
        }
    }

    /// Returns the property `id`, and its type if the declaration shows it; nil when there is none.
    private static func identifier(
        in declaration: some DeclGroupSyntax
    ) -> (node: Syntax, type: String?)? {
        for member in declaration.memberBlock.members {
            guard let variable = member.decl.as(VariableDeclSyntax.self) else { continue }
            for binding in variable.bindings where binding.pattern.trimmedDescription == "id" {
                let type = PropertyType(binding, in: variable).code
                let plain = type.map { $0.split(separator: ".").last.map(String.init) ?? $0 }
                return (Syntax(binding.pattern), plain)
            }
        }
        return nil
    }
}

extension DeclSyntax {
    /// `true` for a member that `Codable` requires.
    var isCoding: Bool {
        if let initializer = self.as(InitializerDeclSyntax.self) {
            return initializer.signature.parameterClause.parameters.map(\.firstName.text) == [
                "from"
            ]
        }
        guard let function = self.as(FunctionDeclSyntax.self), function.name.text == "encode" else {
            return false
        }
        return function.signature.parameterClause.parameters.map(\.firstName.text) == ["to"]
    }
}
#endif
