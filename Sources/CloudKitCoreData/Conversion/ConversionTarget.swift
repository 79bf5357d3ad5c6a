import Foundation

/// The file of a new database, which is no file of the store, and has no log of another database beside it.
struct ConversionTarget {
    /// The endings of the names of the files that SQLite keeps beside a database.
    private static let companions = ["-wal", "-shm", "-journal"]

    let url: URL
    /// A file beside it, in which the database is written.
    let part: URL
    private let replacesFile: Bool

    /// Creates a target by checking its place.
    ///
    /// - Throws: ``CoreDataStoreError`` for a place that cannot be that of the database.
    init(
        _ url: URL,
        of store: CoreDataStore,
        replacesFile: Bool
    ) throws(CoreDataStoreError) {
        self.url = url
        self.replacesFile = replacesFile
        part = url.deletingLastPathComponent()
            .appendingPathComponent(".\(url.lastPathComponent).\(UUID().uuidString)")
        try check(store)
        try checkFile()
    }

    // MARK: Checks

    /// Refuses the files of the store, and their folder: the store must stay as it is.
    private func check(_ store: CoreDataStore) throws(CoreDataStoreError) {
        let source = store.url.resolvingSymlinksInPath()
        let own = Self.files(of: source).map(FilePlace.init)
        let support = FileIdentity(store.files.folder.deletingLastPathComponent())
        let target = FilePlace(url)
        let isNamed = own.contains(where: target.isSamePlace)
        let isInside = support.map(target.folders.contains) ?? false
        // The logs beside the database are removed before it takes its place.
        let conflict = Self.files(of: url).first { file in
            own.contains(where: FilePlace(file).isSameFile)
        }
        guard let file = conflict ?? (isNamed || isInside ? url : nil) else { return }
        throw CoreDataStoreError(
            .conflictingFile,
            file.path,
            "this is a file of the store \(source.lastPathComponent), which must stay as it is; give the database "
                + "another name or folder"
        )
    }

    private func checkFile() throws(CoreDataStoreError) {
        if let type = Self.type(of: url) {
            guard replacesFile else {
                throw CoreDataStoreError(.unwritable, url.path, "there is a file already")
            }
            guard type == .typeRegular || type == .typeSymbolicLink else {
                throw CoreDataStoreError(
                    .unwritable,
                    url.path,
                    "this is a folder or a device, not a file; give the database another name"
                )
            }
        }
        guard !replacesFile, let log = companions.first else { return }
        throw CoreDataStoreError(
            .conflictingFile,
            log.path,
            "this log of another database is in the way, because SQLite would apply it to the new one; move it away, "
                + "or allow its removal, in the command with --force"
        )
    }

    /// The files that SQLite would take for those of the database.
    private var companions: [URL] {
        Self.files(of: url).dropFirst().filter { Self.type(of: $0) != nil }
    }

    // MARK: Files

    /// Moves the written file to its place, after what was there.
    func install() throws {
        for file in companions { try FileManager.default.removeItem(at: file) }
        if Self.type(of: url) != nil { try FileManager.default.removeItem(at: url) }
        try FileManager.default.moveItem(at: part, to: url)
    }

    /// Removes what is left of the written file; after a success there is nothing.
    func removePart() {
        for file in Self.files(of: part) {
            // Most of them were never made.
            try? FileManager.default.removeItem(at: file)
        }
    }

    /// Returns a database's file, and those that SQLite keeps beside it.
    private static func files(of url: URL) -> [URL] {
        ([""] + companions).map { URL(fileURLWithPath: url.path + $0) }
    }

    /// Returns the type of a file or link; nil when there is none.
    private static func type(of url: URL) -> FileAttributeType? {
        // Without a file there are no attributes.
        let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
        return attributes?[.type] as? FileAttributeType
    }
}

/// The identity of a file or folder, which is the same for all its names.
private struct FileIdentity: Hashable {
    private let device: UInt64
    private let number: UInt64

    /// Creates the identity of the file to which a path leads; nil when there is none.
    init?(_ url: URL) {
        let path = url.resolvingSymlinksInPath().path
        guard
            // Without a file there are no attributes.
            let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let device = attributes[.systemNumber] as? NSNumber,
            let number = attributes[.systemFileNumber] as? NSNumber
        else { return nil }
        self.device = device.uint64Value
        self.number = number.uint64Value
    }
}

/// The place of a file that may not be there.
private struct FilePlace {
    private let file: FileIdentity?
    /// The name, without upper and lower case, which some file systems do not tell apart.
    private let name: String
    /// The folder, and the folders in which it is.
    let folders: [FileIdentity]

    init(_ url: URL) {
        let url = url.resolvingSymlinksInPath()
        file = FileIdentity(url)
        name = url.lastPathComponent.lowercased()
        var folder = url.deletingLastPathComponent()
        var folders = [FileIdentity(folder)]
        while folder.pathComponents.count > 1 {
            folder.deleteLastPathComponent()
            folders.append(FileIdentity(folder))
        }
        self.folders = folders.compactMap(\.self)
    }

    func isSameFile(_ other: FilePlace) -> Bool { file != nil && file == other.file }

    /// Returns whether a file with this name would be the other, which is not there either.
    func isSamePlace(_ other: FilePlace) -> Bool {
        file == nil && other.file == nil && name == other.name
            && folders.first == other.folders.first
    }
}
