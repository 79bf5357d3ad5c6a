#if Macros
import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// The problems of one declaration, collected so that one build shows them all.
struct Problems {
    /// A change that solves a problem.
    enum Remedy {
        /// Puts `@CloudKitValue` before a property.
        case wrap(VariableDeclSyntax)
    }

    private var diagnostics: [Diagnostic] = []

    var isEmpty: Bool { diagnostics.isEmpty }

    mutating func add(
        _ problem: RecordProblem,
        at node: some SyntaxProtocol,
        fixedBy remedy: Remedy? = nil
    ) {
        diagnostics.append(
            Diagnostic(
                node: node,
                message: problem,
                fixIts: remedy.map { [$0.fixIt] } ?? []
            )
        )
    }

    func diagnose(in context: some MacroExpansionContext) {
        for diagnostic in diagnostics { context.diagnose(diagnostic) }
    }
}

extension Problems.Remedy {
    private struct Message: FixItMessage {
        let message: String
        var fixItID: MessageID { MessageID(domain: "CloudKitMacros", id: "wrap") }
    }

    fileprivate var fixIt: FixIt {
        switch self {
        case .wrap(let variable):
            var wrapped = variable
            let indentation = variable.leadingTrivia
            wrapped.leadingTrivia = []
            let wrapper: AttributeSyntax = "@CloudKitValue "
            var list = wrapped.attributes
            list.insert(.attribute(wrapper), at: list.startIndex)
            wrapped.attributes = list
            wrapped.leadingTrivia = indentation
            return FixIt(
                message: Message(message: "wrap it in @CloudKitValue"),
                changes: [.replace(oldNode: Syntax(variable), newNode: Syntax(wrapped))]
            )
        }
    }
}
#endif
