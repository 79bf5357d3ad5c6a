import Foundation

/// The lines of a file, read as they are asked for.
struct LineReader {
    /// One line.
    struct Line {
        /// The line's number, from 1.
        let number: Int
        /// The bytes without the line's end.
        let data: Data

        /// Whether there is nothing on the line.
        var isBlank: Bool {
            data.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }
        }
    }

    /// A line that is longer is no record: the service takes 1 MB without assets.
    private static let longest = 16 * 1024 * 1024

    private let path: String
    private let handle: FileHandle
    private var buffer = Data()
    private var number = 0
    private var isAtEnd = false
    /// Bytes of the lines that were read.
    private(set) var position = 0

    /// Opens a file, or standard input for `-`.
    ///
    /// - Throws: `CommandFailure` when the file cannot be read.
    init(path: String) throws {
        self.path = path
        if path == "-" {
            handle = .standardInput
        } else if let file = FileHandle(forReadingAtPath: path) {
            handle = file
        } else {
            throw CommandFailure(unusable: "\(path): there is no file that can be read")
        }
    }

    /// The next line; nil at the end.
    ///
    /// - Throws: `CommandFailure` when the file cannot be read further.
    mutating func next() throws -> Line? {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = Data(buffer[..<end])
                buffer = Data(buffer[buffer.index(after: end)...])
                return take(line, with: 1)
            }
            if isAtEnd {
                guard !buffer.isEmpty else { return nil }
                defer { buffer = Data() }
                return take(buffer, with: 0)
            }
            guard buffer.count <= Self.longest else {
                throw CommandFailure(
                    unusable: "\(path):\(number + 1): the line is longer than \(Self.longest) bytes"
                )
            }
            try fill()
        }
    }

    private mutating func take(_ data: Data, with end: Int) -> Line {
        number += 1
        position += data.count + end
        return Line(number: number, data: data)
    }

    private mutating func fill() throws {
        do {
            let more = try handle.read(upToCount: 256 * 1024) ?? Data()
            isAtEnd = more.isEmpty
            buffer += more
        } catch {
            throw CommandFailure(unusable: "\(path): \(error)")
        }
    }
}
