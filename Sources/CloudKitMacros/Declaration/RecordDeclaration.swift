#if Macros
import SwiftSyntax
import SwiftSyntaxMacros

/// The contents of a declaration with `@CloudKitRecord`.
struct RecordDeclaration {
    enum Kind {
        case structure
        case finalClass
        case openClass

        var isClass: Bool { self != .structure }
    }

    let kind: Kind
    let name: String

    /// The record type, if the mapping states it; nil if the type or the protocol does.
    let recordType: String?

    /// `public ` or `package ` if the members need it; otherwise empty.
    let access: String

    /// The types that the declaration inherits from or conforms to.
    let inherited: [String]

    /// The properties that have a coding key, in order.
    let properties: [RecordProperty]

    /// The declaration's own members among the names that the mapping would add.
    let declared: Set<String>

    /// `true` when the declaration has an `init(from:)` or `encode(to:)` that coders must use.
    let isCodedByHand: Bool

    /// Reads a declaration; nil when the macro cannot be attached to it.
    init?(
        _ declaration: some DeclGroupSyntax,
        _ node: AttributeSyntax,
        _ context: some MacroExpansionContext,
        _ problems: inout Problems
    ) {
        guard let named = declaration.asProtocol((any NamedDeclSyntax).self),
            declaration.is(StructDeclSyntax.self) || declaration.is(ClassDeclSyntax.self)
        else {
            problems.add(.notStructOrClass, at: node)
            return nil
        }
        let modifiers = declaration.modifiers.map(\.name.text)
        name = named.name.text.unquoted
        kind =
            if declaration.is(StructDeclSyntax.self) {
                .structure
            } else {
                modifiers.contains("final") ? .finalClass : .openClass
            }
        access =
            modifiers.contains("package")
            ? "package "
            : modifiers.contains { $0 == "public" || $0 == "open" } ? "public " : ""
        inherited =
            declaration.inheritanceClause?.inheritedTypes.map(\.type.trimmedDescription) ?? []
        declared = Self.names(in: declaration)
        isCodedByHand = declaration.memberBlock.members.contains { $0.decl.isCoding }
        recordType = Self.recordType(node, name, kind, declared, &problems)
        let keys = DeclaredKeys(declaration, &problems)
        properties = Self.properties(declaration, keys, declared, &problems)
        checkGenerics(declaration, node, context, &problems)
        if kind == .openClass { checkCodable(declaration, &problems) }
        checkNames(&problems)
        checkRecordName(declaration, node, &problems)
    }

    // MARK: Reading

    /// Returns the names of members that a mapping would add.
    private static func names(in declaration: some DeclGroupSyntax) -> Set<String> {
        let added: Set = ["CodingKeys", "Fields", "fields", "recordName", "recordType"]
        let ofTheType: Set = ["fields", "recordType"]
        var names: Set<String> = []
        for member in declaration.memberBlock.members {
            if let variable = member.decl.as(VariableDeclSyntax.self) {
                let isOfTheType = variable.modifiers.contains {
                    ["static", "class"].contains($0.name.text)
                }
                for binding in variable.bindings
                where isOfTheType == ofTheType.contains(binding.pattern.trimmedDescription) {
                    names.insert(binding.pattern.trimmedDescription.unquoted)
                }
            } else if let named = member.decl.asProtocol((any NamedDeclSyntax).self) {
                names.insert(named.name.text.unquoted)
            }
        }
        return names.intersection(added)
    }

    /// Returns the record type from the macro's argument or the type's name.
    private static func recordType(
        _ node: AttributeSyntax,
        _ name: String,
        _ kind: Kind,
        _ declared: Set<String>,
        _ problems: inout Problems
    ) -> String? {
        let argument = node.arguments?.as(LabeledExprListSyntax.self)?.first?.expression
        if let argument, !argument.is(NilLiteralExprSyntax.self) {
            guard let text = argument.literalText else {
                problems.add(.notLiteral("record type"), at: argument)
                return nil
            }
            if !FieldNameRules.isIdentifier(text) {
                problems.add(.invalidRecordType(text), at: argument)
            }
            if declared.contains("recordType") { problems.add(.twoRecordTypes, at: argument) }
            return text
        }
        // Subclasses of a class have their own record types, which the protocol derives.
        if declared.contains("recordType") || kind == .openClass { return nil }
        if !FieldNameRules.isIdentifier(name) { problems.add(.invalidRecordType(name), at: node) }
        return name
    }

    private static func properties(
        _ declaration: some DeclGroupSyntax,
        _ keys: DeclaredKeys,
        _ declared: Set<String>,
        _ problems: inout Problems
    ) -> [RecordProperty] {
        var properties: [RecordProperty] = []
        for member in declaration.memberBlock.members {
            if let branches = member.decl.as(IfConfigDeclSyntax.self), branches.hasStoredProperty {
                problems.add(.conditionalProperty, at: branches)
            }
            guard let variable = member.decl.as(VariableDeclSyntax.self), variable.isStored else {
                continue
            }
            let field = FieldAttribute(variable, &problems)
            if let field, declared.contains("fields") { problems.add(.twoTables, at: field.node) }
            for binding in variable.bindings where binding.isStored {
                let property = RecordProperty(
                    variable,
                    binding,
                    field,
                    keys,
                    hasTable: declared.contains("fields"),
                    &problems
                )
                if let property { properties.append(property) }
            }
        }
        return properties
    }

    // MARK: Checks

    private func checkGenerics(
        _ declaration: some DeclGroupSyntax,
        _ node: AttributeSyntax,
        _ context: some MacroExpansionContext,
        _ problems: inout Problems
    ) {
        func clause(_ syntax: Syntax) -> GenericParameterClauseSyntax? {
            syntax.asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause
        }
        if let own = clause(Syntax(declaration)) {
            problems.add(.generic(name), at: own)
        } else if context.lexicalContext.contains(where: { clause($0) != nil }) {
            // Declarations around this one have no place in the file for the compiler.
            problems.add(.generic(name), at: node)
        }
    }

    /// Checks `Codable`: only the declaration of a class can have the initializer that its subclasses
    /// need.
    private func checkCodable(
        _ declaration: some DeclGroupSyntax,
        _ problems: inout Problems
    ) {
        let codable: Set = [
            "Codable", "CloudKitModel", "CloudKitMappedModel", "CustomCloudKitCodable", "Decodable",
        ]
        let names = inherited.map { $0.split(separator: ".").last.map(String.init) ?? $0 }
        if codable.isDisjoint(with: names), let named = declaration.as(ClassDeclSyntax.self) {
            problems.add(.classWithoutCodable(name), at: named.name)
        }
    }

    /// Checks names: two properties can neither share a field nor both be the record's name.
    private func checkNames(_ problems: inout Problems) {
        var owners: [String: String] = [:]
        for property in properties {
            for field in property.fieldNames {
                if let owner = owners[field] {
                    problems.add(.sharedField(field, owner, property.name), at: property.node)
                }
                owners[field] = property.name
            }
        }
        for property in properties.filter(\.isRecordName).dropFirst() {
            problems.add(.twoRecordNames, at: property.node)
        }
    }
}
#endif
