#if Macros
import SwiftSyntax

extension String {
    /// The identifier without backticks.
    var unquoted: String {
        count > 2 && hasPrefix("`") && hasSuffix("`") ? String(dropFirst().dropLast()) : self
    }
}

extension ExprSyntax {
    /// The text of a string literal without interpolation, as written.
    var literalText: String? {
        guard let literal = self.as(StringLiteralExprSyntax.self) else { return nil }
        let segments = literal.segments.compactMap { $0.as(StringSegmentSyntax.self)?.content.text }
        return segments.count == literal.segments.count ? segments.joined() : nil
    }
}

extension AttributeListSyntax {
    /// Returns the attributes with a name, with or without the module in front of it.
    func named(_ name: String) -> [AttributeSyntax] {
        compactMap { $0.as(AttributeSyntax.self) }.filter { $0.baseName == name }
    }

    /// The attributes that are property wrappers, as far as the name shows it: capitalised, and
    /// neither one of ours nor of the language's.
    var wrappers: [AttributeSyntax] {
        compactMap { $0.as(AttributeSyntax.self) }.filter { attribute in
            let name = attribute.baseName
            return name.first?.isUppercase == true && name != "CloudKitField"
                && name != "MainActor" && !name.hasSuffix("Actor")
        }
    }
}

extension AttributeSyntax {
    /// `true` for the one wrapper that a mapping can access.
    var isCloudKitValue: Bool { baseName == "CloudKitValue" }

    /// The name without its module and without generic arguments.
    fileprivate var baseName: String {
        if let member = attributeName.as(MemberTypeSyntax.self) { return member.name.text }
        return attributeName.as(IdentifierTypeSyntax.self)?.name.text ?? ""
    }
}

extension DeclModifierListSyntax {
    /// The access of a member generated for a declaration with these modifiers, followed by a space;
    /// empty if none is stated.
    var keyAccess: String {
        let stated = first { modifier in
            modifier.detail == nil
                && ["public", "open", "package", "private", "fileprivate"].contains(
                    modifier.name.text
                )
        }
        return switch stated?.name.text {
        case "private", "fileprivate": "fileprivate "
        case "package": "package "
        case nil: ""
        default: "public "
        }
    }
}

extension VariableDeclSyntax {
    /// `true` when each value of the type stores the property and a coder sets it.
    var isStored: Bool {
        let other: Set = ["static", "class", "lazy"]
        return !modifiers.contains { other.contains($0.name.text) }
            && bindings.contains(where: \.isStored)
    }
}

extension PatternBindingSyntax {
    /// `true` when it has no accessors except observers.
    var isStored: Bool {
        switch accessorBlock?.accessors {
        case nil: true
        case .getter: false
        case .accessors(let accessors):
            accessors.allSatisfy {
                ["willSet", "didSet"].contains($0.accessorSpecifier.text)
            }
        }
    }
}

extension IfConfigDeclSyntax {
    /// `true` when a property is stored under one of the conditions.
    var hasStoredProperty: Bool {
        clauses.contains { clause in
            guard case .decls(let members) = clause.elements else { return false }
            return members.contains { member in
                member.decl.as(VariableDeclSyntax.self)?.isStored == true
                    || member.decl.as(IfConfigDeclSyntax.self)?.hasStoredProperty == true
            }
        }
    }
}
#endif
