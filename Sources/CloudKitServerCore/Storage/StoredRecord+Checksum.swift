#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension StoredRecord {
    /// A checksum that detects accidental changes of the row's bytes, but not deliberate ones.
    ///
    /// It does not cover the row's own numbers, which a restored snapshot may change.
    package var checksum: Int64 {
        var sum = RowChecksum()
        sum.add(name)
        sum.add(type)
        sum.add(sequence)
        sum.add(created.milliseconds)
        sum.add(created.user)
        sum.add(modified.milliseconds)
        sum.add(modified.user)
        sum.add((isDeleted ? 1 : 0) + (hasAssets ? 2 : 0))
        sum.add(parent ?? "\u{0}")
        sum.add(share ?? "\u{0}")
        sum.add(extra ?? Data([0]))
        sum.add(fields)
        return sum.value
    }
}

extension StoredRecord {
    /// Marks the record as damaged if its row does not match a checksum.
    ///
    /// Such a row may say wrongly that it is a tombstone, and clients that believed it would delete the record.
    package mutating func check(against checksum: Int64?) {
        guard let checksum, checksum != self.checksum else { return }
        isDamaged = true
        isDeleted = false
    }
}

/// Sums up bytes, eight at a time.
private struct RowChecksum {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

    var value: Int64 { Int64(bitPattern: state) }

    mutating func add(_ number: Int64) { mix(UInt64(bitPattern: number)) }

    mutating func add(_ text: String) {
        var text = text
        text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
    }

    mutating func add(_ data: Data) { data.withUnsafeBytes { add($0) } }

    private mutating func add(_ bytes: UnsafeRawBufferPointer) {
        mix(UInt64(bytes.count))
        var place = 0
        while place + 8 <= bytes.count {
            mix(bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self).littleEndian)
            place += 8
        }
        var rest: UInt64 = 0
        while place < bytes.count {
            rest = rest << 8 | UInt64(bytes[place])
            place += 1
        }
        mix(rest)
    }

    /// Mixes in a word, reversibly, so that two states that differ once differ forever.
    private mutating func mix(_ word: UInt64) {
        state = (state ^ word) &* 0x0000_0100_0000_01B3
        state ^= state >> 29
    }
}
