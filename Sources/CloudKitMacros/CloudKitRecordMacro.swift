#if Macros
import SwiftSyntax
import SwiftSyntaxMacros

/// `@CloudKitRecord`: coding keys and a class's initializer within the declaration, everything else
/// in an extension.
struct CloudKitRecordMacro {}

extension CloudKitRecordMacro: MemberMacro {
    static func expansion(
        of node: AttributeSyntax,
        providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        // The member macro reports the errors; the extension is left out silently. Of an enumeration it is the
        // extension that reports them: the compiler requests no members that nobody uses.
        var problems = Problems()
        let record = RecordDeclaration(declaration, node, context, &problems)
        if !declaration.is(EnumDeclSyntax.self) { problems.diagnose(in: context) }
        guard let record, problems.isEmpty else { return [] }
        let code = MappingCode(record)
        return [code.codingKeys, record.kind.isClass ? code.initializer : nil].compactMap(\.self)
    }
}

extension CloudKitRecordMacro: ExtensionMacro {
    static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        var problems = Problems()
        let record = RecordDeclaration(declaration, node, context, &problems)
        if declaration.is(EnumDeclSyntax.self) { problems.diagnose(in: context) }
        guard let record, problems.isEmpty else { return [] }
        let isStated = record.inherited.contains { $0.hasSuffix("CloudKitMappedModel") }
        guard !record.kind.isClass || isStated || !protocols.isEmpty else {
            problems.add(.inheritedMapping(record.name), at: node)
            problems.diagnose(in: context)
            return []
        }
        let code = MappingCode(record)
        return [try code.extension(of: type.trimmedDescription, isConforming: !isStated)]
    }
}
#endif
