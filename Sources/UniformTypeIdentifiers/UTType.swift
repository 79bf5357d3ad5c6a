/// A type of data with an identifier: the types that asset values name, and their conformances.
public struct UTType: Hashable, Sendable, CustomStringConvertible {
    /// The identifier, `public.json` for example.
    public let identifier: String

    /// The parent that the app declared for its own type.
    private var declaredParent: String?

    /// Creates the type with an identifier; nil for an unknown one.
    public init?(_ identifier: String) {
        guard Self.known[identifier] != nil else { return nil }
        self.identifier = identifier
    }

    private init(known identifier: String) {
        self.identifier = identifier
    }

    /// Creates a type that the app declares, as a subtype of another.
    ///
    /// - Important: On Apple platforms the app's `Info.plist` declares the type. Here nothing does:
    ///   the type has its parent, and no file extension.
    public init(exportedAs identifier: String, conformingTo parentType: UTType? = nil) {
        self.identifier = identifier
        declaredParent = Self.known[identifier] == nil ? parentType?.identifier : nil
    }

    /// Creates a type that another app declares, as a subtype of another.
    public init(importedAs identifier: String, conformingTo parentType: UTType? = nil) {
        self.init(exportedAs: identifier, conformingTo: parentType)
    }

    /// Creates the type of files with an extension; nil for an unknown extension.
    public init?(filenameExtension: String) {
        let name = filenameExtension.lowercased()
        let found = Self.known.filter { $0.value.extensions.contains(name) }.keys.sorted()
        guard let identifier = found.first else { return nil }
        self.identifier = identifier
    }

    /// Any data.
    public static let data = UTType(known: "public.data")
    /// Text.
    public static let text = UTType(known: "public.text")
    /// Text without formatting.
    public static let plainText = UTType(known: "public.plain-text")
    /// JSON.
    public static let json = UTType(known: "public.json")
    /// XML.
    public static let xml = UTType(known: "public.xml")
    /// A property list, XML or binary.
    public static let propertyList = UTType(known: "com.apple.property-list")
    /// A property list as XML.
    public static let xmlPropertyList = UTType(known: "com.apple.xml-property-list")
    /// A binary property list.
    public static let binaryPropertyList = UTType(known: "com.apple.binary-property-list")
    /// An image.
    public static let image = UTType(known: "public.image")
    /// A PNG image.
    public static let png = UTType(known: "public.png")
    /// A JPEG image.
    public static let jpeg = UTType(known: "public.jpeg")

    private static let known: [String: (extensions: [String], parents: [String])] = [
        "public.data": ([], []),
        "public.text": ([], ["public.data"]),
        "public.plain-text": (["txt"], ["public.text"]),
        "public.json": (["json"], ["public.text"]),
        "public.xml": (["xml"], ["public.text"]),
        "com.apple.property-list": (["plist"], ["public.data"]),
        "com.apple.xml-property-list": (
            ["plist"], ["com.apple.property-list", "public.xml"]
        ),
        "com.apple.binary-property-list": (["plist"], ["com.apple.property-list"]),
        "public.image": ([], ["public.data"]),
        "public.png": (["png"], ["public.image"]),
        "public.jpeg": (["jpeg", "jpg"], ["public.image"]),
    ]

    /// The preferred extension of files of this type; nil for abstract types.
    public var preferredFilenameExtension: String? { Self.known[identifier]?.extensions.first }

    /// A Boolean value that indicates whether the type was generated for an unknown file; always
    /// `false`.
    public var isDynamic: Bool { false }

    /// Returns whether this type equals another or is a subtype of it.
    public func conforms(to type: UTType) -> Bool {
        if self == type { return true }
        let parents = Self.known[identifier]?.parents ?? declaredParent.map { [$0] } ?? []
        return parents.contains { UTType(known: $0).conforms(to: type) }
    }

    /// Returns whether both types have the same identifier.
    public static func == (left: UTType, right: UTType) -> Bool {
        left.identifier == right.identifier
    }

    /// Hashes the identifier.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(identifier)
    }

    /// The identifier.
    public var description: String { identifier }
}
