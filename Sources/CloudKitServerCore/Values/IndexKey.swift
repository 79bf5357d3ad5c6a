import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Keys of the index table: bytes that sort as the values do.
///
/// A missing value has the empty key and sorts first; every other key starts with 1.
enum IndexKey {
    /// The maximum length of a key in bytes; values that share a key are distinguished by their
    /// full values.
    static let byteLimit = 512

    /// The key of a record that has no value in the field.
    static let missing = Data()
    /// The first key of a value.
    static let first = Data([1])
    /// The end of all keys of values.
    static let end = Data([2])

    /// Returns the key of one value or list element; nil for values without an order.
    ///
    /// References must be in their normalized form: see `ReferenceHome`.
    static func of(_ value: WireValue) -> Data? {
        switch value {
        case .string(let text): bytes(text.utf8)
        case .int64(let number), .timestamp(let number): self.number(UInt64(bitPattern: number))
        case .double(let number): double(number)
        case .bytes(let data): bytes(data)
        case .reference(let reference): bytes(reference.keyBytes)
        case .location(let location): double(location.latitude)
        case .asset, .list: nil
        }
    }

    /// Returns the key of one value with all of its bytes, which sorts correctly among the
    /// shortened keys.
    static func whole(_ value: WireValue) -> Data? {
        switch value {
        case .string(let text) where text.utf8.count > byteLimit: Data([1]) + Data(text.utf8)
        case .bytes(let data) where data.count > byteLimit: Data([1]) + data
        case .reference(let reference) where reference.keyBytes.count > byteLimit:
            Data([1]) + Data(reference.keyBytes)
        default: of(value)
        }
    }

    /// Returns whether a key in the index may be shorter than its value.
    static func isShortened(_ key: Data) -> Bool { key.count > byteLimit }

    /// Returns a key as the index stores it.
    static func shortened(_ key: Data) -> Data { key.prefix(1 + byteLimit) }

    /// Returns the key of text.
    static func text(_ text: String) -> Data { bytes(text.utf8) }

    /// Returns the first key after all keys with a prefix; nil if there is none.
    static func successor(ofPrefix key: Data) -> Data? {
        var bytes = Array(key)
        while let last = bytes.popLast() {
            if last < 0xFF {
                bytes.append(last + 1)
                return Data(bytes)
            }
        }
        return nil
    }

    /// Returns the first key after a key.
    static func successor(of key: Data) -> Data { key + [0] }

    private static func bytes(_ bytes: some Collection<UInt8>) -> Data {
        bytes.withContiguousStorageIfAvailable { key(UnsafeRawBufferPointer($0)) }
            ?? Array(bytes).withUnsafeBytes(key)
    }

    /// Returns the key of bytes, in one step: a short key needs no memory of its own.
    private static func key(_ bytes: UnsafeRawBufferPointer) -> Data {
        let count = min(bytes.count, byteLimit)
        var key = Data(count: 1 + count)
        key.withUnsafeMutableBytes { place in
            place[0] = 1
            UnsafeMutableRawBufferPointer(rebasing: place[1...]).copyBytes(
                from: bytes.prefix(count)
            )
        }
        return key
    }

    private static func eight(_ ordered: UInt64) -> Data {
        withUnsafeBytes(of: ordered, key)
    }

    private static func number(_ pattern: UInt64) -> Data {
        let ordered = (pattern ^ 1 << 63).bigEndian
        return eight(ordered)
    }

    private static func double(_ number: Double) -> Data {
        // Negative zero equals zero.
        let pattern = (number == 0 ? 0 : number).bitPattern
        let ordered = (pattern >> 63 == 0 ? pattern | 1 << 63 : ~pattern).bigEndian
        return eight(ordered)
    }
}

extension WireReference {
    /// The bytes by which a reference is sorted: the name, then the zone and its owner if they
    /// differ from the record's own.
    fileprivate var keyBytes: [UInt8] {
        var bytes = Array(recordName.utf8)
        guard let zoneID else { return bytes }
        bytes.append(0)
        bytes += zoneID.zoneName.utf8
        guard let owner = zoneID.ownerRecordName else { return bytes }
        bytes.append(0)
        return bytes + owner.utf8
    }
}
