package import Foundation
import Synchronization

/// The files that the process received from a service, or created for one, in a folder that only
/// its user can read.
///
/// A file whose URL was handed out stays while there is room: beyond the limit, the least recently used
/// files are deleted first, but none within an hour of its last use. The folder is deleted when the process
/// ends; leftovers of a killed process are deleted by the next process that needs files.
package final class PrivateFiles: Sendable {
    /// The files of this process.
    package static let shared = PrivateFiles()

    /// The default number of bytes that files may take before some are deleted: two gigabytes.
    package static let defaultLimit: Int64 = 2_000_000_000

    /// The time that a file stays after its last use, whatever the others take.
    package static let grace: Duration = .seconds(3600)

    private static let names = ProcessFolder.Names(
        prefix: "CloudKit-files-",
        unlockedPrefix: "CloudKit-new-"
    )

    private struct Entry {
        let size: Int64
        var lastUse: Duration
        /// `true` when a caller may know its URL.
        var isHandedOut = false
        /// `true` while an object represents the file.
        var isHeld = true
    }

    private struct State {
        var folder: ProcessFolder?
        var entries: [String: Entry] = [:]
        var total: Int64 = 0
        var evicted: Set<String> = []
    }

    private let parent: URL
    private let limit: Int64
    private let now: @Sendable () -> Duration
    private let state = Mutex(State())

    /// Creates the object of a folder; the folder itself is created with the first file.
    ///
    /// - Parameters:
    ///   - parent: The parent folder, which is created with the first file; the folder for temporary
    ///     files by default.
    ///   - limit: The number of bytes that files may take before some are deleted.
    ///   - now: A closure that returns the time since some moment, which never goes backwards.
    package init(
        in parent: URL = FileManager.default.temporaryDirectory,
        limit: Int64 = PrivateFiles.defaultLimit,
        now: (@Sendable () -> Duration)? = nil
    ) {
        self.parent = parent
        self.limit = limit
        let start = ContinuousClock.now
        self.now = now ?? { start.duration(to: .now) }
    }

    deinit { state.withLock { $0.folder?.remove() } }

    /// Returns the folder, which is created if it does not exist.
    ///
    /// - Throws: An error if it cannot be created.
    package func folder() throws -> URL {
        try state.withLock { state in
            if let folder = state.folder, folder.isThere { return folder.url }
            try FileManager.default.createDirectory(
                at: parent,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            let folder = try ProcessFolder(in: parent, named: Self.names)
            state.folder = folder
            if self === Self.shared { Self.removeAtExit() }
            return folder.url
        }
    }

    /// Removes the folder with its files; the next file creates another.
    package func remove() {
        state.withLock { exchange(&$0, with: State()) }.folder?.remove()
    }

    /// Removes the folders under a parent folder whose processes have ended, and all else there but
    /// one item.
    ///
    /// - Throws: An error if the parent folder cannot be read.
    package static func clean(_ parent: URL, except kept: String) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: parent.path)
        where name != kept && !names.contain(name) {
            // What stays is tried again at the next start.
            try? FileManager.default.removeItem(at: parent.appendingPathComponent(name))
        }
        ProcessFolder.removeDead(in: parent, named: names)
    }

    /// Returns a URL for a new file.
    ///
    /// - Throws: An error if the folder cannot be created.
    package func newPlace() throws -> URL {
        try folder().appendingPathComponent(UUID().uuidString, isDirectory: false)
    }

    // MARK: Files

    /// Adds a file that was written to a new URL, represented by an object.
    package func take(_ file: URL) {
        // The file's owner has it, whether or not its size is known.
        let facts = try? FileManager.default.attributesOfItem(atPath: file.path)
        try? FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        let size = (facts?[.size] as? NSNumber)?.int64Value ?? 0
        let now = now()
        let gone = state.withLock { state -> [String] in
            state.entries[file.path] = Entry(size: size, lastUse: now)
            state.total += size
            return makeRoom(&state, now)
        }
        // A file that stays is removed with its folder.
        for path in gone { try? FileManager.default.removeItem(atPath: path) }
    }

    /// Creates a second link to a file, which stays when the first is deleted, and hands out its URL.
    ///
    /// - Throws: An error if there is no room for a copy, or no such file.
    package func link(to file: URL) throws -> URL {
        let place = try folder()
            .appendingPathComponent(UUID().uuidString, isDirectory: false)
            .appendingPathExtension(file.pathExtension)
        do {
            try FileManager.default.linkItem(at: file, to: place)
        } catch {
            // Another file system, or one without links.
            try FileManager.default.copyItem(at: file, to: place)
        }
        take(place)
        use(place)
        release(place)
        return place
    }

    /// Marks a file's URL as handed out; has no effect on files of other folders.
    ///
    /// - Returns: Whether the file still exists, as far as known here.
    @discardableResult
    package func use(_ file: URL) -> Bool {
        let now = now()
        return state.withLock { state in
            if state.evicted.contains(file.path) { return false }
            state.entries[file.path]?.lastUse = now
            state.entries[file.path]?.isHandedOut = true
            return true
        }
    }

    /// Marks a file as no longer represented by an object; it is deleted unless its URL was handed out.
    package func release(_ file: URL) {
        let isUnknown = state.withLock { state in
            state.evicted.remove(file.path)
            guard let entry = state.entries[file.path] else { return false }
            if entry.isHandedOut {
                state.entries[file.path]?.isHeld = false
                return false
            }
            state.entries[file.path] = nil
            state.total -= entry.size
            return true
        }
        // A file that the app has moved away simply no longer exists.
        if isUnknown { try? FileManager.default.removeItem(at: file) }
    }

    /// Returns the files to delete so that the others stay within the limit.
    private func makeRoom(_ state: inout State, _ now: Duration) -> [String] {
        guard state.total > limit else { return [] }
        // Files without an object first, then the least recently used ones.
        let old = state.entries.filter { now - $0.value.lastUse > Self.grace }
            .sorted {
                ($0.value.isHeld ? 1 : 0, $0.value.lastUse) < (
                    $1.value.isHeld ? 1 : 0, $1.value.lastUse
                )
            }
        var gone: [String] = []
        for (path, entry) in old {
            guard state.total > limit else { break }
            state.entries[path] = nil
            state.total -= entry.size
            if entry.isHeld { state.evicted.insert(path) }
            gone.append(path)
        }
        return gone
    }

    // MARK: The end

    private static func removeAtExit() {
        _ = exitHandler
    }

    /// Registered once, however often the folder is created.
    private static let exitHandler: Void = {
        #if !os(Windows)
        atexit {
            _ = PrivateFiles.shared.state.withLockIfAvailable { $0.folder?.remove() }
        }
        #endif
    }()
}
