#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The header of a file in a tar archive, in the POSIX format (`ustar`).
struct TarEntry: Hashable {
    /// The size of a header, and the unit to which a file's bytes are padded.
    static let block = 512
    /// The largest size that fits into octal digits; larger sizes are binary, as in GNU tar.
    private static let octalLimit: Int64 = 0o77_777_777_777

    var name: String
    var size: Int64

    init(name: String, size: Int64) {
        self.name = name
        self.size = size
    }

    /// The number of bytes between a file's own and the next header.
    var padding: Int { Int((Int64(Self.block) - size % Int64(Self.block)) % Int64(Self.block)) }

    /// Returns the header's bytes.
    ///
    /// - Parameter seconds: The file's modification time, since 1970-01-01 UTC.
    /// - Returns: 512 bytes.
    func header(seconds: Int64) -> Data {
        var bytes = [UInt8](repeating: 0, count: Self.block)
        func put(_ text: String, at place: Int) {
            bytes.replaceSubrange(place..<(place + text.utf8.count), with: text.utf8)
        }
        func octal(_ number: Int64, _ digits: Int) -> String {
            let text = String(number, radix: 8)
            return String(repeating: "0", count: max(0, digits - text.count)) + text
        }
        put(name, at: 0)
        put(octal(0o600, 7), at: 100)
        put(octal(0, 7), at: 108)
        put(octal(0, 7), at: 116)
        if size <= Self.octalLimit {
            put(octal(size, 11), at: 124)
        } else {
            bytes[124] = 0x80
            for place in 0..<8 {
                bytes[128 + place] = UInt8(truncatingIfNeeded: size >> Int64(8 * (7 - place)))
            }
        }
        put(octal(seconds, 11), at: 136)
        put("        ", at: 148)
        put("0", at: 156)
        put("ustar", at: 257)
        put("00", at: 263)
        put(octal(Self.sum(bytes), 6), at: 148)
        bytes[154] = 0
        return Data(bytes)
    }

    /// Reads a header; returns nil for the empty block at the end of an archive.
    ///
    /// - Throws: `BackupError` if it is not the header of a plain file.
    init?(header: Data) throws {
        var bytes = [UInt8](header)
        guard bytes.count == Self.block else { throw BackupError("the archive is cut short") }
        guard bytes.contains(where: { $0 != 0 }) else { return nil }
        let stated = Self.octal(bytes[148..<156])
        bytes.replaceSubrange(148..<156, with: Array(repeating: UInt8(ascii: " "), count: 8))
        guard stated == Self.sum(bytes), bytes[156] == UInt8(ascii: "0"),
            String(decoding: bytes[257..<262], as: UTF8.self) == "ustar"
        else { throw BackupError("it is no archive of cloudkit backup, or a damaged one") }
        name = String(decoding: bytes[0..<100].prefix { $0 != 0 }, as: UTF8.self)
        if bytes[124] == 0x80 {
            size = bytes[128..<136].reduce(0) { $0 << 8 | Int64($1) }
        } else {
            guard let octal = Self.octal(bytes[124..<136]) else {
                throw BackupError("the size of \(name) cannot be read")
            }
            size = octal
        }
        guard size >= 0 else { throw BackupError("the size of \(name) cannot be read") }
    }

    private static func sum(_ bytes: [UInt8]) -> Int64 { bytes.reduce(0) { $0 + Int64($1) } }

    private static func octal(_ bytes: ArraySlice<UInt8>) -> Int64? {
        let digits = bytes.prefix { $0 != 0 && $0 != UInt8(ascii: " ") }
        return Int64(String(decoding: digits, as: UTF8.self), radix: 8)
    }
}
