#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The layout of a zip archive: uncompressed files, followed by the directory (APPNOTE.TXT of
/// PKWARE, 4.3).
///
/// The extension for large archives, which some readers do not know, is not used; the limits are
/// checked before anything is written.
struct ZipLayout {
    /// A file of the archive.
    struct File: Hashable, Codable {
        var path: String
        var size: Int64
    }

    /// The maximum size of an archive in bytes.
    static let byteLimit = Int64(UInt32.max)
    /// The maximum number of files in an archive.
    static let fileLimit = Int(UInt16.max)

    private static let localHeaderBytes: Int64 = 30
    private static let directoryHeaderBytes: Int64 = 46
    private static let endBytes: Int64 = 22
    // 1980-01-01, the earliest date of the format: archives of the same files are identical.
    private static let date: UInt16 = 0x0021
    private static let namesAreUTF8: UInt16 = 0x0800

    let files: [File]

    /// The size of the whole archive in bytes.
    var size: Int64 {
        files.reduce(Self.endBytes) { sum, file in
            let name = Int64(file.path.utf8.count)
            return sum + Self.localHeaderBytes + Self.directoryHeaderBytes + 2 * name + file.size
        }
    }

    /// Returns the header that precedes a file's bytes.
    func header(_ file: File, checksum: UInt32) -> Data {
        var bytes = LittleEndianBytes()
        bytes.append(UInt32(0x0403_4B50))
        append(file, checksum, to: &bytes)
        bytes.append(file.path)
        return bytes.data
    }

    /// Returns the directory after the last file; the checksums are in the order of the files.
    func directory(checksums: [UInt32]) -> Data {
        var bytes = LittleEndianBytes()
        var offset: Int64 = 0
        for (file, checksum) in zip(files, checksums) {
            bytes.append(UInt32(0x0201_4B50))
            bytes.append(UInt16(20))
            append(file, checksum, to: &bytes)
            // Comment, disk and attributes.
            bytes.append(UInt16(0))
            bytes.append(UInt16(0))
            bytes.append(UInt16(0))
            bytes.append(UInt32(0))
            bytes.append(UInt32(truncatingIfNeeded: offset))
            bytes.append(file.path)
            offset += Self.localHeaderBytes + Int64(file.path.utf8.count) + file.size
        }
        let count = UInt16(truncatingIfNeeded: files.count)
        let size = bytes.data.count
        bytes.append(UInt32(0x0605_4B50))
        bytes.append(UInt16(0))
        bytes.append(UInt16(0))
        bytes.append(count)
        bytes.append(count)
        bytes.append(UInt32(truncatingIfNeeded: size))
        bytes.append(UInt32(truncatingIfNeeded: offset))
        bytes.append(UInt16(0))
        return bytes.data
    }

    /// Appends the part that both headers of a file share.
    private func append(_ file: File, _ checksum: UInt32, to bytes: inout LittleEndianBytes) {
        bytes.append(UInt16(20))
        bytes.append(Self.namesAreUTF8)
        bytes.append(UInt16(0))
        bytes.append(UInt16(0))
        bytes.append(Self.date)
        bytes.append(checksum)
        bytes.append(UInt32(truncatingIfNeeded: file.size))
        bytes.append(UInt32(truncatingIfNeeded: file.size))
        bytes.append(UInt16(truncatingIfNeeded: file.path.utf8.count))
        bytes.append(UInt16(0))
    }
}

/// Numbers in the encoding of zip archives.
private struct LittleEndianBytes {
    private(set) var data = Data()

    mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { data.append(contentsOf: $0) }
    }

    mutating func append(_ text: String) { data.append(contentsOf: text.utf8) }
}

/// The checksum of files in zip archives: CRC-32 with the polynomial of ISO 3309.
struct CRC32 {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in
            value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1
        }
    }

    private var state: UInt32 = 0xFFFF_FFFF

    /// The checksum of all bytes so far.
    var value: UInt32 { ~state }

    mutating func update(_ bytes: some Sequence<UInt8>) {
        let table = Self.table
        var state = state
        for byte in bytes {
            state = table[Int(UInt8(truncatingIfNeeded: state) ^ byte)] ^ (state >> 8)
        }
        self.state = state
    }
}
