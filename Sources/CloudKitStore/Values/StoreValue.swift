public import Foundation

/// A field's value, as the store compares and merges it.
///
/// Two values are equal if and only if their bytes are: dates have whole milliseconds, as in the
/// service, and an asset is its length and digest.
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
    /// A reference to the record with a name.
    case reference(String)
    /// A location on Earth, in degrees.
    case location(latitude: Double, longitude: Double)
    /// A list.
    case list([StoreValue])
    /// An asset, identified by its digest.
    case asset(AssetDigest)
    /// A value that the column stores in an unusual form, such as the date `2012-09-18` without a
    /// time, or a word where numbers are expected: the value that other clients of CloudKit read,
    /// and its written form.
    indirect case written(StoreValue, as: String)

    /// A Boolean value that indicates whether there is no value.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The value as other clients of CloudKit read it; null if the field's type cannot represent it.
    public var plain: StoreValue {
        if case .written(let value, _) = self { value } else { self }
    }

    /// Returns whether two values are the same, byte for byte.
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
    /// `true` when the text contains the character NUL.
    var hasNUL: Bool {
        let found = utf8.withContiguousStorageIfAvailable { bytes in
            bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false
        }
        return found ?? utf8.contains(0)
    }

    /// Returns whether two texts are the same, byte for byte; `==` also accepts canonically
    /// equivalent strings.
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
    /// Returns whether the buffers have the same length and bytes.
    func elementsMatch(_ other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard let one = baseAddress, let two = other.baseAddress else { return true }
        return memcmp(one, two, count) == 0
    }
}

/// The identity of an asset's content: its length and a digest of its bytes.
public struct AssetDigest: Hashable, Sendable {
    /// The number of bytes.
    public var count: Int64
    /// The digest.
    public var digest: UInt64

    /// Creates a digest from known parts.
    public init(count: Int64, digest: UInt64) {
        self.count = count
        self.digest = digest
    }

    /// Creates the digest of bytes: FNV-1a with 64 bits.
    ///
    /// It distinguishes versions of one value; it does not protect against deliberate collisions.
    public init(_ bytes: Data) {
        var digest: UInt64 = 0xcbf2_9ce4_8422_2325
        bytes.withUnsafeBytes { buffer in
            for byte in buffer { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
        self.init(count: Int64(bytes.count), digest: digest)
    }
}
