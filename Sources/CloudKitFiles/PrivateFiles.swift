package import Foundation
import Synchronization

/// The files that the process was given by a service, or made for one, in a folder that nobody else
/// can read.
///
/// A file whose place was handed out stays for as long as there is room: when the files take more
/// than the limit, those go first that were used least recently, but none within an hour of its last
/// use. The folder goes when the process ends; what a process left that was killed goes with the
/// next start of one that needs files.
package final class PrivateFiles: Sendable {
    /// The files of this process.
    package static let shared = PrivateFiles()

    /// The bytes that files may take before some go: two gigabytes.
    package static let defaultLimit: Int64 = 2_000_000_000

    /// How long a file stays after its last use, whatever the others take.
    package static let grace: Duration = .seconds(3600)

    private struct Entry {
        let size: Int64
        var lastUse: Duration
        /// Whether somebody may know its place.
        var isHandedOut = false
        /// Whether an object stands for it.
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

    /// Makes a folder's object; the folder itself comes with the first file.
    ///
    /// - Parameters:
    ///   - parent: Where the folder is made; the folder for temporary files unless given.
    ///   - limit: The bytes that files may take before some go.
    ///   - now: The time since some moment, which never goes backwards.
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

    /// The folder, made when it is not there.
    ///
    /// - Throws: When it cannot be made.
    package func folder() throws -> URL {
        try state.withLock { state in
            if let folder = state.folder, folder.isThere { return folder.url }
            let folder = try ProcessFolder(in: parent)
            state.folder = folder
            if self === Self.shared { Self.removeAtExit() }
            return folder.url
        }
    }

    /// A place for a new file.
    ///
    /// - Throws: When the folder cannot be made.
    package func newPlace() throws -> URL {
        try folder().appendingPathComponent(UUID().uuidString, isDirectory: false)
    }

    // MARK: Files

    /// Takes a file that was written to a new place, for an object that stands for it.
    package func take(_ file: URL) {
        let facts = try? FileManager.default.attributesOfItem(atPath: file.path)
        try? FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        let size = (facts?[.size] as? NSNumber)?.int64Value ?? 0
        let now = now()
        let gone = state.withLock { state -> [String] in
            state.entries[file.path] = Entry(size: size, lastUse: now)
            state.total += size
            return makeRoom(&state, now)
        }
        for path in gone { try? FileManager.default.removeItem(atPath: path) }
    }

    /// Makes a second place of another's file, which stays when the first goes, and hands it out.
    ///
    /// - Throws: When there is no room for a copy, or no such file.
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

    /// Notes that a file's place is handed out now; nothing for files that are not from here.
    ///
    /// - Returns: Whether the file is still there, as far as that is known here.
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

    /// Notes that no object stands for a file any more: it goes, unless its place was handed out.
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
        // A file that the app has moved away is simply not there any more.
        if isUnknown { try? FileManager.default.removeItem(at: file) }
    }

    /// The files that go so that the others are within the limit.
    private func makeRoom(_ state: inout State, _ now: Duration) -> [String] {
        guard state.total > limit else { return [] }
        // Those first for which no object stands, then those that were used least recently.
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

    /// Registered once, however often the folder is made.
    private static let exitHandler: Void = {
        #if !os(Windows)
        atexit {
            _ = PrivateFiles.shared.state.withLockIfAvailable { $0.folder?.remove() }
        }
        #endif
    }()
}
