/// The type tag of a field value: a scalar type, or a list of one.
public struct FieldType: Hashable, Sendable {
    /// The types that a single value can have.
    public enum Scalar: String, Hashable, Sendable, CaseIterable {
        /// Unicode text.
        case string = "STRING"
        /// A signed 64-bit integer.
        case int64 = "INT64"
        /// A 64-bit floating-point number.
        case double = "DOUBLE"
        /// A date, in whole milliseconds since 1970-01-01 UTC.
        case timestamp = "TIMESTAMP"
        /// Raw bytes, base64 on the wire.
        case bytes = "BYTES"
        /// A reference to a record.
        case reference = "REFERENCE"
        /// A geographic location.
        case location = "LOCATION"
        /// A file stored apart from the record.
        case asset = "ASSETID"
    }

    /// The scalar type, or a list's element type; nil for a list whose element type is not known.
    public var scalar: Scalar?

    /// A Boolean value that indicates whether this is a list type.
    public var isList: Bool

    /// Creates a scalar type.
    public init(_ scalar: Scalar) {
        self.scalar = scalar
        isList = false
    }

    /// Creates a list type; without an element type, the type of a list that never had an element.
    public init(listOf scalar: Scalar?) {
        self.scalar = scalar
        isList = true
    }

    /// Creates a type from a wire tag, including both families of number tags; nil for an unknown
    /// tag.
    ///
    /// `NUMBER_INT64` and `INT64`, `ASSET` and `ASSETID`, `ENCRYPTED_STRING` and `STRING` are
    /// equivalent (observed in responses and in clients of the field).
    public init?(tag: String) {
        // The common case, without splitting the tag.
        if let scalar = Scalar(rawValue: tag) {
            self.init(scalar)
            return
        }
        if tag == "UNKNOWN_LIST" || tag == "EMPTY_LIST" {
            self.init(listOf: nil)
            return
        }
        var name = tag[...]
        let isList = name.hasSuffix("_LIST")
        if isList { name.removeLast("_LIST".count) }
        for prefix in ["ENCRYPTED_", "NUMBER_"] where name.hasPrefix(prefix) {
            name.removeFirst(prefix.count)
        }
        if name == "ASSET" { name = "ASSETID" }
        guard let scalar = Scalar(rawValue: String(name)) else { return nil }
        self = isList ? FieldType(listOf: scalar) : FieldType(scalar)
    }

    /// The tag that responses carry.
    public var tag: String {
        guard isList else { return scalar?.rawValue ?? "UNKNOWN_LIST" }
        return scalar.map { $0.rawValue + "_LIST" } ?? "UNKNOWN_LIST"
    }
}

extension FieldType.Scalar {
    /// Creates the type of an object without a tag from the name of one of its members; nil if the
    /// name marks none.
    init?(markedBy name: String) {
        switch name {
        case WireReference.CodingKeys.recordName.stringValue: self = .reference
        case WireLocation.CodingKeys.latitude.stringValue: self = .location
        case WireAsset.CodingKeys.fileChecksum.stringValue,
            WireAsset.CodingKeys.receipt.stringValue,
            WireAsset.CodingKeys.downloadURL.stringValue:
            self = .asset
        default: return nil
        }
    }
}

extension FieldType: CustomStringConvertible {
    /// The wire tag.
    public var description: String { tag }
}
