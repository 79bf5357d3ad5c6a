#if Macros
import SwiftSyntax

/// The type of a property, as far as the declaration shows it.
struct PropertyType {
    /// The annotation; nil when the type follows from the value.
    let annotation: TypeSyntax?
    private let initial: ExprSyntax?

    init(_ binding: PatternBindingSyntax, in variable: VariableDeclSyntax) {
        initial = binding.initializer?.value
        // In `var width, height: Double`, the second annotation is also the first one's type.
        let following = variable.bindings.drop { $0 != binding }
        let annotated = initial == nil ? following.first { $0.typeAnnotation != nil } : binding
        annotation = annotated?.typeAnnotation?.type
    }

    /// The type as code names it; nil when the declaration does not show it.
    var code: String? {
        if let annotation {
            let wrapped = annotation.as(ImplicitlyUnwrappedOptionalTypeSyntax.self)?.wrappedType
            return wrapped.map { "\($0.trimmedDescription)?" } ?? annotation.trimmedDescription
        }
        guard let initial else { return nil }
        if initial.is(IntegerLiteralExprSyntax.self) { return "Int" }
        if initial.is(FloatLiteralExprSyntax.self) { return "Double" }
        if initial.is(BooleanLiteralExprSyntax.self) { return "Bool" }
        if initial.is(StringLiteralExprSyntax.self) { return "String" }
        // An expression that looks like an initializer call is one, or does not compile.
        let called = initial.as(FunctionCallExprSyntax.self)?.calledExpression
        guard let name = called?.as(DeclReferenceExprSyntax.self)?.baseName.text,
            name.first?.isUppercase == true
        else { return nil }
        return name
    }

    /// `true` when nil is a value of the type.
    var isOptional: Bool { annotation.map { Self.wrapped($0) != nil } ?? false }

    /// Reports types that a record cannot hold.
    func check(
        _ name: String,
        wrappers: [AttributeSyntax],
        _ attribute: FieldAttribute?,
        at variable: VariableDeclSyntax,
        _ problems: inout Problems
    ) {
        if let reference = variable.modifiers.first(where: {
            ["weak", "unowned"].contains($0.name.text)
        }) {
            problems.add(.weakProperty(name), at: reference)
        }
        if attribute?.head == .recordName, !isName {
            problems.add(.recordNameType(name), at: annotation.map(Syntax.init) ?? Syntax(variable))
        }
        for wrapper in wrappers where !wrapper.isCloudKitValue {
            problems.add(.otherWrapper(name), at: wrapper)
        }
        if code == nil { problems.add(.missingType(name), at: variable) }
        guard let annotation else { return }
        if let type = Self.unsupported(annotation) {
            problems.add(.unsupportedType(name, type.trimmedDescription), at: type)
        }
        guard let native = Self.native(annotation) else { return }
        if attribute?.head == .encrypted, native != "CLLocation" {
            problems.add(.encryptedObject(name, native), at: annotation)
        }
        // A reference to a model is itself Codable.
        if wrappers.isEmpty, native != "CloudKitReference" {
            problems.add(.unwrappedNative(name, native), at: annotation, fixedBy: .wrap(variable))
        }
    }

    /// `true` when the type can be that of a record's name.
    private var isName: Bool {
        let name = annotation.map(Self.base) ?? code
        return name == "String" || name == "UUID"
    }

    // MARK: Types

    /// Returns the name of a type without its module.
    private static func base(_ type: TypeSyntax) -> String {
        let text = type.trimmedDescription
        for module in ["CloudKit.", "CoreLocation.", "Foundation.", "Swift."]
        where text.hasPrefix(module) {
            return String(text.dropFirst(module.count))
        }
        return text
    }

    /// Returns the wrapped type of an optional; nil for other types.
    private static func wrapped(_ type: TypeSyntax) -> TypeSyntax? {
        if let optional = type.as(OptionalTypeSyntax.self) { return optional.wrappedType }
        if let optional = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
            return optional.wrappedType
        }
        guard let named = type.as(IdentifierTypeSyntax.self), named.name.text == "Optional" else {
            return nil
        }
        return arguments(of: named).first
    }

    private static func arguments(of type: IdentifierTypeSyntax) -> [TypeSyntax] {
        type.genericArgumentClause?.arguments.compactMap { $0.argument.as(TypeSyntax.self) } ?? []
    }

    /// Returns the component types of an optional, a list or a dictionary.
    private static func parts(_ type: TypeSyntax) -> [TypeSyntax] {
        if let wrapped = wrapped(type) { return [wrapped] }
        if let array = type.as(ArrayTypeSyntax.self) { return [array.element] }
        if let dictionary = type.as(DictionaryTypeSyntax.self) {
            return [dictionary.key, dictionary.value]
        }
        if let tuple = type.as(TupleTypeSyntax.self), let only = tuple.elements.first,
            tuple.elements.count == 1
        {
            return [only.type]
        }
        return type.as(IdentifierTypeSyntax.self).map(arguments) ?? []
    }

    /// Returns the part of a type that no coder can store; nil when there is none.
    private static func unsupported(_ type: TypeSyntax) -> TypeSyntax? {
        if type.is(FunctionTypeSyntax.self) || type.is(MetatypeTypeSyntax.self)
            || type.is(SomeOrAnyTypeSyntax.self) || type.is(CompositionTypeSyntax.self)
            || ["Any", "AnyObject"].contains(base(type))
        {
            return type
        }
        if let attributed = type.as(AttributedTypeSyntax.self) {
            return unsupported(attributed.baseType).map { _ in type }
        }
        if let tuple = type.as(TupleTypeSyntax.self), tuple.elements.count != 1 { return type }
        return parts(type).lazy.compactMap(unsupported).first
    }

    /// Returns the type of record object that a property has, directly, optional or in a list.
    private static func native(_ type: TypeSyntax) -> String? {
        let name = base(type)
        if ["CLLocation", "CKAsset", "CKRecord.Reference", "CKReference"].contains(name) {
            return name
        }
        if name.hasPrefix("CloudKitReference<") { return "CloudKitReference" }
        if wrapped(type) != nil || type.is(ArrayTypeSyntax.self) {
            return parts(type).lazy.compactMap(native).first
        }
        guard let named = type.as(IdentifierTypeSyntax.self), named.name.text == "Array" else {
            return nil
        }
        return arguments(of: named).lazy.compactMap(native).first
    }
}
#endif
