import Foundation

/// The lines of a file, read on request.
struct LineReader {
    /// One line.
    struct Line {
        /// The line's number, from 1.
        let number: Int
        /// The bytes without the line break.
        let data: Data

        /// `true` when the line is blank.
        var isBlank: Bool {
            data.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }
        }
    }

    /// The maximum length of a record's line, because the service accepts 1 MB without assets.
    private static let longest = 16 * 1024 * 1024

    private let path: String
    private let handle: FileHandle
    private var buffer = Data()
    /// The start of the next line in the buffer.
    private var start = 0
    /// The position up to which the buffer was searched for the line's end.
    private var searched = 0
    private var number = 0
    private var isAtEnd = false
    /// The number of bytes in the lines that were read.
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

    /// Returns the last line of a regular file that is not blank, or its last part if it is long; nil
    /// for other kinds of files.
    ///
    /// - Throws: `CommandFailure` when the file cannot be read.
    static func last(path: String) throws -> Data? {
        guard path != "-" else { return nil }
        do {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            guard attributes[.type] as? FileAttributeType == .typeRegular,
                let file = FileHandle(forReadingAtPath: path)
            else { return nil }
            let size = try file.seekToEnd()
            try file.seek(toOffset: size - min(size, 64 * 1024))
            let blanks = Array("\r\n ".utf8)
            return try file.readToEnd()?.split(separator: UInt8(ascii: "\n"))
                .last { !$0.allSatisfy(blanks.contains) } ?? Data()
        } catch {
            throw CommandFailure(
                unusable: "\(path) cannot be read: \(CommandFailure.reason(error))"
            )
        }
    }

    /// Returns the next line; nil at the end.
    ///
    /// - Throws: `CommandFailure` when the file cannot be read further.
    mutating func next() throws -> Line? {
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                return take(upTo: end, skipping: 1)
            }
            searched = buffer.endIndex
            if isAtEnd { return start < buffer.endIndex ? take(upTo: buffer.endIndex) : nil }
            guard buffer.count - start <= Self.longest else {
                throw CommandFailure(
                    unusable: "\(path):\(number + 1): the line is longer than \(Self.longest) bytes"
                )
            }
            try fill()
        }
    }

    private mutating func take(upTo end: Int, skipping mark: Int = 0) -> Line {
        let line = Line(number: number + 1, data: Data(buffer[start..<end]))
        number += 1
        position += line.data.count + mark
        start = end + mark
        searched = start
        return line
    }

    private mutating func fill() throws {
        do {
            let more = try handle.read(upToCount: 256 * 1024) ?? Data()
            isAtEnd = more.isEmpty
            buffer = Data(buffer[start...]) + more
            searched -= start
            start = 0
        } catch {
            throw CommandFailure(
                unusable: "\(path) cannot be read: \(CommandFailure.reason(error))"
            )
        }
    }
}
