public import Foundation

/// A field's value, as the store compares and merges it.
///
/// Two values are equal exactly when their bytes are: dates have whole milliseconds, as the service
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
    /// A value that the column holds otherwise than it usually does, such as the date `2012-09-18`
    /// without a time, or a word where numbers are expected: what other clients of CloudKit read,
    /// and how it is written.
    indirect case written(StoreValue, as: String)

    /// Whether there is no value.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The value as other clients of CloudKit read it; no value where the field's type has none for
    /// it.
    public var plain: StoreValue {
        if case .written(let value, _) = self { value } else { self }
    }

    /// Whether both are the same, byte for byte.
    public static func == (one: StoreValue, other: StoreValue) -> Bool {
        switch (one, other) {
        case (.null, .null): true
        case (.integer(let one), .integer(let other)): one == other
        case (.real(let one), .real(let other)): one.bitPattern == other.bitPattern
        case (.text(let one), .text(let other)): one.hasSameBytes(as: other)
        case (.bytes(let one), .bytes(let other)): one == other
        case (.date(let one), .date(let other)): one == other
        case (.reference(let one), .reference(let other)): one.hasSameBytes(as: other)
        case (.location(let oneLatitude, let one), .location(let otherLatitude, let other)):
            oneLatitude.bitPattern == otherLatitude.bitPattern
                && one.bitPattern == other.bitPattern
        case (.list(let one), .list(let other)): one == other
        case (.asset(let one), .asset(let other)): one == other
        case (.written(let one, let form), .written(let other, let otherForm)):
            one == other && form.hasSameBytes(as: otherForm)
        default: false
        }
    }
}

extension String {
    /// Whether the character NUL is in the text.
    var hasNUL: Bool {
        let found = utf8.withContiguousStorageIfAvailable { bytes in
            bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false
        }
        return found ?? utf8.contains(0)
    }

    /// Whether two texts are the same, byte for byte; strings are equal that look alike.
    func hasSameBytes(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let isSame = utf8.withContiguousStorageIfAvailable { one in
            other.utf8.withContiguousStorageIfAvailable { other in
                one.isEmpty
                    || UnsafeRawBufferPointer(one).elementsMatch(UnsafeRawBufferPointer(other))
            }
        }
        return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}

extension UnsafeRawBufferPointer {
    /// Whether as many bytes are the same.
    func elementsMatch(_ other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard let one = baseAddress, let two = other.baseAddress else { return true }
        return memcmp(one, two, count) == 0
    }
}
