#if Macros
import SwiftSyntax

/// The contents of a `@CloudKitField` attribute.
struct FieldAttribute {
    /// The member of `CloudKitField` with which an expression begins.
    enum Head: String {
        case encrypted, asset, json, recordName, ignored, named, reference, children
        /// `.asset(above:)`
        case assetAbove
    }

    /// The attribute.
    let node: AttributeSyntax

    /// The name of the field, if the attribute contains it literally.
    let name: String?

    /// The member with which the expression begins; nil for a name alone, and for other expressions.
    let head: Head?

    /// The property's entry in the table `fields`.
    let entry: String

    /// `true` when the attribute specifies more than the name.
    let isSpecial: Bool

    /// Reads the attribute of a property; nil when there is none.
    init?(_ variable: VariableDeclSyntax, _ problems: inout Problems) {
        let attributes = variable.attributes.named("CloudKitField")
        guard let node = attributes.first else { return nil }
        self.node = node
        for other in attributes.dropFirst() { problems.add(.twoFields, at: other) }
        var arguments =
            node.arguments?.as(LabeledExprListSyntax.self).map { $0.map(\.expression) }
            ?? []
        var name: String?
        if let first = arguments.first, first.is(StringLiteralExprSyntax.self) {
            name = first.literalText
            if name == nil { problems.add(.notLiteral("field name"), at: first) }
            arguments.removeFirst()
        }
        let field = arguments.first.flatMap { $0.is(NilLiteralExprSyntax.self) ? nil : $0 }
        let chain = field.map(Self.chain) ?? []
        head = chain.first.flatMap { link in
            link.name == "asset" && link.hasArguments ? .assetAbove : Head(rawValue: link.name)
        }
        let renamed = chain.last { $0.name == "named" }
        self.name = name ?? renamed?.text
        let quoted = name.map { "\"\($0)\"" }
        let code = field?.trimmedDescription
        entry =
            switch (code, quoted) {
            case (let code?, let quoted?) where code.hasPrefix("."): "\(code).named(\(quoted))"
            case (let code?, let quoted?):
                "(\(code) as CloudKitCodable.CloudKitField).named(\(quoted))"
            case (let code?, nil): code
            case (nil, let quoted?): ".named(\(quoted))"
            case (nil, nil): ".named(\"\")"
            }
        let isNameAlone =
            field == nil || chain.allSatisfy { $0.name == "named" && $0.text != nil }
        isSpecial = !isNameAlone || chain.isEmpty && field != nil
    }

    private typealias Link = (name: String, hasArguments: Bool, text: String?)

    /// Returns the members of `.encrypted.named("n")`, from the first; empty for other expressions.
    private static func chain(_ expression: ExprSyntax) -> [Link] {
        var links: [Link] = []
        var rest = expression
        var arguments: LabeledExprListSyntax?
        while true {
            if let call = rest.as(FunctionCallExprSyntax.self) {
                arguments = call.arguments
                rest = call.calledExpression
            } else if let member = rest.as(MemberAccessExprSyntax.self) {
                let text = arguments?.first?.expression.literalText
                links.insert((member.declName.baseName.text, arguments != nil, text), at: 0)
                arguments = nil
                guard let base = member.base else { return links }
                if base.trimmedDescription.hasSuffix("CloudKitField") { return links }
                rest = base
            } else {
                return []
            }
        }
    }
}
#endif
