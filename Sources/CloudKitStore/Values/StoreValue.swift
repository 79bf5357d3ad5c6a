public import Foundation

/// A field's value, as the store compares and merges it.
///
/// Two values are equal exactly when their fields are: dates have whole milliseconds, as the service
/// keeps them, and an asset is its length and digest.
public enum StoreValue: Hashable, Sendable {
    /// No value.
    case null
    /// A whole number.
    case integer(Int64)
    /// A floating-point number.
    case real(Double)
    /// Text.
    case text(String)
    /// Bytes.
    case bytes(Data)
    /// A date, as milliseconds since 1970.
    case date(milliseconds: Int64)
    /// A reference to the record of a name.
    case reference(String)
    /// A place on earth, in degrees.
    case location(latitude: Double, longitude: Double)
    /// A list.
    case list([StoreValue])
    /// The asset with a digest.
    case asset(AssetDigest)

    /// Whether there is no value.
    public var isNull: Bool { self == .null }
}
