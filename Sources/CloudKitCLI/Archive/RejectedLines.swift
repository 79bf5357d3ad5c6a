import Foundation

/// The lines that an import refused, as a file that can be imported after they are corrected.
struct RejectedLines {
    private let path: String
    private let handle: FileHandle

    /// Creates the file, replacing one with the same name unless the import that wrote it continues.
    ///
    /// - Throws: `CommandFailure` when it cannot be written.
    init(path: String, header: LineReader.Line, isContinued: Bool) throws {
        self.path = path
        if isContinued, let handle = FileHandle(forWritingAtPath: path) {
            self.handle = handle
            _ = try handle.seekToEnd()
            return
        }
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let handle = FileHandle(forWritingAtPath: path)
        else { throw CommandFailure(unusable: "\(path) cannot be written") }
        self.handle = handle
        try add(header)
    }

    /// Adds a line, unchanged from the export.
    func add(_ line: LineReader.Line) throws {
        try write(line.data + Data("\n".utf8))
    }

    /// Ends the file.
    func finish() throws {
        let end = ArchiveLine(end: ArchiveLine.Summary())
        try write(Data((try OutputOptions.line(end) + "\n").utf8))
        try handle.close()
    }

    private func write(_ data: Data) throws {
        do {
            try handle.write(contentsOf: data)
        } catch {
            throw CommandFailure(
                unusable: "\(path) cannot be written: \(CommandFailure.reason(error))"
            )
        }
    }
}
