#if Macros
import CloudKitMacroExpansion
import SwiftSyntax
import SwiftSyntaxMacros

/// `@CloudKitField`, under the name that the compiler looks up.
struct CloudKitFieldMacro: PeerMacro {
    static func expansion(
        of node: AttributeSyntax,
        providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        try FieldExpansion.expansion(of: node, providingPeersOf: declaration, in: context)
    }
}
#endif
