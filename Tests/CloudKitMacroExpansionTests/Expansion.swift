#if Macros
import CloudKitMacroExpansion
import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros

/// The expansion of a source's macros, and its diagnostics.
struct Expansion {
    let text: String
    let diagnostics: [Diagnostic]

    var messages: [String] { diagnostics.map(\.message) }

    init(_ source: String) {
        let file = Parser.parse(source: source)
        let context = BasicMacroExpansionContext(
            sourceFiles: [file: .init(moduleName: "Test", fullFilePath: "Test.swift")]
        )
        let expanded = file.expand(
            macros: [
                "CloudKitRecord": RecordExpansion.self,
                "CloudKitField": FieldExpansion.self,
            ],
            contextGenerator: { syntax in
                BasicMacroExpansionContext(
                    sharingWith: context,
                    lexicalContext: syntax.allMacroLexicalContexts()
                )
            },
            indentationWidth: .spaces(4)
        )
        text = expanded.description
        diagnostics = context.diagnostics
    }

    /// Returns the source after applying the first diagnostic's first fix.
    func fixed() -> String? {
        diagnostics.first?.fixIts.first?.changes.lazy.compactMap { change -> String? in
            guard case .replace(_, let new) = change else { return nil }
            return new.description
        }.first
    }
}
#endif
