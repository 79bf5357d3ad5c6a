public import Foundation

/// A file that stores a user's web auth token between the runs of a process.
///
/// Every response of the service carries the next token; without the file, a restarted process would
/// send one that may have expired. Only the file's owner can read it.
public struct WebTokenFile: Sendable {
    /// An error that indicates that a token cannot be stored.
    public struct Unwritable: Error, CustomStringConvertible {
        /// The file, and the system's error.
        public let description: String
    }

    /// The file's location.
    public let url: URL

    /// Creates a description of a file, which need not exist yet.
    public init(_ url: URL) {
        self.url = url
    }

    /// The token in the file; nil when there is none.
    public var token: String? {
        // To the service, a missing and an unreadable file are the same: it requests a sign-in.
        guard let text = try? String(contentsOf: url, encoding: .utf8) else { return nil }
        let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
        return token.isEmpty ? nil : token
    }

    /// Replaces the token; nil removes the file.
    ///
    /// A temporary file is written, synced and moved into place in one step: at any moment, even
    /// after a loss of power, there is the old token or the new one.
    ///
    /// - Throws: `Unwritable` when the file cannot be written; the old one then stays unchanged.
    public func store(_ token: String?) throws {
        // A symbolic link continues to lead to the file.
        let place = url.resolvingSymlinksInPath()
        guard let token else {
            guard unlink(place.path) == 0 else { return try Self.check(errno == ENOENT, place) }
            return try Self.sync(place.deletingLastPathComponent())
        }
        let temporary = place.appendingPathExtension(UUID().uuidString)
        do {
            try Self.write(token, to: temporary)
            // Unlike FileManager's replacement, which on Linux first removes the existing file.
            try Self.check(rename(temporary.path, place.path) == 0, place)
        } catch {
            _ = unlink(temporary.path)
            throw error
        }
        try Self.sync(place.deletingLastPathComponent())
    }

    private static func write(_ token: String, to file: URL) throws {
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        try check(descriptor >= 0, file)
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        // The bytes are checked when they are written; nothing can be done about a failed close.
        defer { try? handle.close() }
        try handle.write(contentsOf: Data(token.utf8))
        try handle.synchronize()
    }

    /// Syncs a folder, so that changes in it last.
    private static func sync(_ folder: URL) throws {
        let descriptor = open(folder.path, O_RDONLY | O_CLOEXEC)
        try check(descriptor >= 0, folder)
        defer { _ = close(descriptor) }
        try check(fsync(descriptor) == 0, folder)
    }

    private static func check(_ isDone: Bool, _ file: URL) throws {
        guard !isDone else { return }
        throw Unwritable(
            description: "The token cannot be kept in \(file.path): "
                + String(cString: strerror(errno))
        )
    }
}

extension WebCredentials {
    /// Creates credentials whose web auth token is stored in a file; the given token is the first
    /// one, until the file has a newer.
    public convenience init(apiToken: String, webAuthToken: String? = nil, file: WebTokenFile) {
        self.init(apiToken: apiToken, webAuthToken: file.token ?? webAuthToken) { token in
            // A token that cannot be stored still works for this run.
            try? file.store(token)
        }
    }
}
