import CloudKitServerCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The part of a download that a request asks for (RFC 9110, 14.2).
enum ByteRange: Hashable {
    /// All bytes: the request names no range, or one that may be ignored.
    case whole
    case part(Range<Int>)
    /// None of the bytes exist.
    case unsatisfiable

    /// Reads the value of `Range`; several ranges, and units other than bytes, are ignored.
    init(_ field: String?, of size: Int) {
        self = .whole
        guard let field, field.hasPrefix("bytes=") else { return }
        let ends = field.dropFirst("bytes=".count)
            .split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2,
            ends.allSatisfy({ $0.allSatisfy { $0.isASCII && $0.isNumber } })
        else { return }
        // A number that does not fit is beyond every file.
        let (first, last) = (Self.number(ends[0]), Self.number(ends[1]))
        switch (first, last) {
        case (let first?, let last):
            if let last, last < first { return }
            self =
                first < size
                ? .part(first..<(min(last ?? .max, size - 1) + 1)) : .unsatisfiable
        case (nil, let count?):
            self = count > 0 && size > 0 ? .part(max(0, size - count)..<size) : .unsatisfiable
        case (nil, nil): return
        }
    }

    private static func number(_ text: Substring) -> Int? {
        text.isEmpty ? nil : Int(text) ?? .max
    }
}

extension AssetContents {
    /// Returns whether the value of `If-None-Match` names these bytes, which its client then has.
    func isKnown(to field: String?) -> Bool {
        guard let field, let entityTag else { return false }
        let tags = field.split(separator: ",").map { $0.drop { $0 == " " || $0 == "\t" } }
        // The comparison is weak: what stands before a weak tag does not count.
        return tags.contains { tag in
            let tag = tag.hasPrefix("W/") ? tag.dropFirst(2) : tag
            return tag == entityTag[...] || tag == "*"
        }
    }
}

/// The bytes of a part of an asset.
///
/// The whole asset is read, because only all of its bytes match its checksum: the end of the part
/// is sent when that is known.
struct AssetPart<Pieces: AsyncSequence & Sendable>: AsyncSequence, Sendable
where Pieces.Element == Data {
    typealias Element = Data

    let pieces: Pieces
    let range: Range<Int>

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var pieces: Pieces.AsyncIterator
        fileprivate let range: Range<Int>
        private var offset = 0
        private var end: Data?

        fileprivate init(_ pieces: Pieces.AsyncIterator, _ range: Range<Int>) {
            self.pieces = pieces
            self.range = range
        }

        @concurrent
        mutating func next() async throws -> Data? {
            while let piece = try await pieces.next() {
                let place = offset..<(offset + piece.count)
                offset = place.upperBound
                let wanted = place.clamped(to: range)
                guard !wanted.isEmpty else { continue }
                let part = piece.dropFirst(wanted.lowerBound - place.lowerBound)
                    .prefix(wanted.count)
                guard wanted.upperBound == range.upperBound else { return part }
                end = part
            }
            defer { end = nil }
            return end
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(pieces.makeAsyncIterator(), range)
    }
}
