import Foundation

/// The check of a write-ahead log, of which SQLite uses only what precedes the first damage, without an error.
///
/// The log is a header and frames, each of which is a header and a page. Their checksums go on from frame to frame.
/// Frames of earlier logs may follow, with other salts than the header.
struct WriteAheadLog {
    private static let headerSize = 32
    private static let frameHeaderSize = 24
    private static let pageSizes = 512...65_536

    private let bytes: UnsafeRawBufferPointer

    /// Returns a sentence for a database whose log is damaged; nil for another one.
    static func note(on file: URL) -> String? {
        let log = URL(fileURLWithPath: file.path + "-wal")
        // A log that cannot be read is an error when the database is opened.
        guard let data = try? Data(contentsOf: log, options: .mappedIfSafe),
            let damage = data.withUnsafeBytes({ WriteAheadLog(bytes: $0).damage })
        else { return nil }
        let name = file.lastPathComponent
        return
            "\(log.lastPathComponent) is damaged (\(damage)), so that committed changes may be missing; close the app "
            + "and take \(name) again with all files beside it, or make a whole copy of it there: sqlite3 \(name) "
            + "\"VACUUM INTO 'copy.sqlite'\""
    }

    /// The damage; nil for a log that is whole.
    private var damage: String? {
        guard !bytes.isEmpty else { return nil }
        guard bytes.count >= Self.headerSize else { return "it ends in its header" }
        let pageSize = Int(number(8))
        guard [0x377F_0682, 0x377F_0683].contains(number(0)), Self.pageSizes.contains(pageSize),
            pageSize.nonzeroBitCount == 1
        else { return "its header is none of a log" }
        var sum = Checksum(isBigEndian: number(0) & 1 == 1)
        sum.add(bytes, 0..<24)
        guard isSum(sum, at: 24) else { return "the checksum of its header is wrong" }
        let size = Self.frameHeaderSize + pageSize
        let frames = (bytes.count - Self.headerSize) / size
        let valid = validFrames(frames, size, sum)
        // Frames of earlier logs may be cut: SQLite shortens a log to the size that the app allows.
        let rest = bytes.count - Self.headerSize - frames * size
        let isCut = rest > 0 && isOwn(Self.headerSize + frames * size, orNone: valid == frames)
        guard isCut || (valid..<frames).contains(where: { isOwn(Self.headerSize + $0 * size) })
        else { return nil }
        return valid == frames
            ? "it ends after \(rest) of \(size) bytes of frame \(frames + 1)"
            : "frame \(valid + 1) of \(frames) does not go on from those before it"
    }

    /// Returns the number of frames that go on from the header, and from each other.
    private func validFrames(_ frames: Int, _ size: Int, _ sum: Checksum) -> Int {
        var sum = sum
        for frame in 0..<frames {
            let place = Self.headerSize + frame * size
            sum.add(bytes, place..<place + 8)
            sum.add(bytes, place + Self.frameHeaderSize..<place + size)
            guard isOwn(place), isSum(sum, at: place + 16) else { return frame }
        }
        return frames
    }

    /// Returns whether the frame at a place has the salts of the header, or a value if it ends before them.
    private func isOwn(_ place: Int, orNone other: Bool = false) -> Bool {
        guard place + 16 <= bytes.count else { return other }
        return number(place + 8) == number(16) && number(place + 12) == number(20)
    }

    private func isSum(_ sum: Checksum, at place: Int) -> Bool {
        number(place) == sum.first && number(place + 4) == sum.second
    }

    private func number(_ place: Int) -> UInt32 {
        UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))
    }

    /// The checksum of a log, whose numbers are in the byte order that the header names.
    private struct Checksum {
        let isBigEndian: Bool
        private(set) var first: UInt32 = 0
        private(set) var second: UInt32 = 0

        init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

        /// Adds bytes, eight at a time.
        mutating func add(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
            for place in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
                first &+= number(bytes, place) &+ second
                second &+= number(bytes, place + 4) &+ first
            }
        }

        private func number(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> UInt32 {
            let number = bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)
            return isBigEndian ? UInt32(bigEndian: number) : UInt32(littleEndian: number)
        }
    }
}
