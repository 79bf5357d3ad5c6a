#if Macros
import SwiftSyntax
import SwiftSyntaxMacros

/// `@CloudKitField`: a mark that `@CloudKitRecord` reads; it adds nothing itself.
struct CloudKitFieldMacro: PeerMacro {
    static func expansion(
        of node: AttributeSyntax,
        providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        var problems = Problems()
        let variable = declaration.as(VariableDeclSyntax.self)
        if variable?.isStored != true {
            problems.add(.notStored, at: node)
        } else if !context.lexicalContext.isEmpty, !isInRecord(context) {
            problems.add(.outsideRecord, at: node)
        }
        problems.diagnose(in: context)
        return []
    }

    /// Returns whether the type around the property is a record.
    private static func isInRecord(_ context: some MacroExpansionContext) -> Bool {
        let attributes = context.lexicalContext.first?.asProtocol((any WithAttributesSyntax).self)
        return attributes?.attributes.named("CloudKitRecord").isEmpty == false
    }
}
#endif
