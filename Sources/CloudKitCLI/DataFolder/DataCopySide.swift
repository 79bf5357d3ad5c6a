import CloudKitServer
import CloudKitServerCore
import CloudKitServerSQLite
import Foundation

#if PostgreSQL
import CloudKitServerPostgres
#endif

/// The data of a server as one side of a copy.
struct DataCopySide {
    let data: any DataStore
    let assets: any AssetStorage
    /// The location of assets that are not in the place of the data itself.
    let location: String?
    /// The hold on a folder, on which no server starts meanwhile.
    fileprivate let hold: FolderHold?

    /// Returns data to copy, to which nothing is written meanwhile.
    ///
    /// - Parameters:
    ///   - place: The place of the data.
    ///   - isHeld: `true` if the servers of a database may not write before the copy has ended.
    /// - Returns: The data.
    /// - Throws: `CommandFailure`, or an error of a library, when it cannot be used.
    static func source(_ place: ServerData.Place, isHeld: Bool) async throws -> DataCopySide {
        switch place {
        case .folder(let path):
            let folder = DataFolder(path: path)
            try folder.check()
            let hold = try hold(path)
            let assets = try folder.assets()
            return DataCopySide(
                data: try SQLiteData.source(path),
                assets: try assets ?? FileAssetStorage(directory: path + "/assets"),
                location: assets?.location,
                hold: hold
            )
        case .database(let database):
            return try await database.copySource(isHeld: isHeld)
        }
    }

    /// Returns data to fill.
    ///
    /// - Parameters:
    ///   - place: The place of the data, where nothing is yet, or an unfinished copy.
    ///   - options: The location of its assets, or `own` for the place itself; without one, that of the
    ///     source if the target can have it, and otherwise the place itself.
    ///   - source: The data to copy; nil for an archive.
    /// - Returns: The data.
    /// - Throws: `CommandFailure`, or an error of a library, when it cannot be used.
    static func target(
        _ place: ServerData.Place,
        _ options: DataTargetOptions,
        from source: DataCopySide?
    ) async throws -> DataCopySide {
        try options.check(place)
        switch place {
        case .folder(let path):
            let data = try SQLiteData.target(path)
            let hold = try hold(path)
            let assets = try await assets(
                at: options.assets,
                from: source,
                isDatabase: false,
                data
            )
            try CloudServer.noteAssets(assets, of: path)
            return DataCopySide(
                data: data,
                assets: try assets ?? FileAssetStorage(directory: path + "/assets"),
                location: assets?.location,
                hold: hold
            )
        case .database(let database):
            return try await database.copyTarget(options, from: source)
        }
    }

    private static func hold(_ path: String) throws -> FolderHold {
        if let hold = FolderHold(of: path) { return hold }
        throw CommandFailure(
            unusable:
                "A server works on \(path), or a repair; stop it, and run the command again, because "
                + "what it changes would be lost"
        )
    }

    /// Returns the storage of a target's assets; nil for the place itself.
    fileprivate static func assets(
        at location: String?,
        from source: DataCopySide?,
        isDatabase: Bool,
        _ data: any DataStore
    ) async throws -> (any AssetStorage)? {
        guard location != "own" else { return nil }
        guard let location else {
            guard let source, let location = source.location else { return nil }
            // A folder that servers share is not that of another server's data.
            return isDatabase || location.contains("://") ? source.assets : nil
        }
        if let source, location == source.location { return source.assets }
        let assets = try AssetLocation(
            address: location,
            addressing: .ofProcess,
            isShared: isDatabase
        ).storage()
        let isNew = try await DataCopy.onOwnThread {
            try data.read { try $0.copyState() == nil }
        }
        try await AssetLocation.check(assets, isNew: isNew, data.name)
        return assets
    }
}

extension ServerDatabase {
    #if PostgreSQL
    fileprivate func copySource(isHeld: Bool) async throws -> DataCopySide {
        let storages = try await open(makes: false)
        let assets = try await assets(of: storages)
        let location = AssetsNote.location(of: assets)
        let isOwn = location == AssetsNote.location(of: storages.ownAssets)
        return DataCopySide(
            data: try await PostgresData.source(address, isHeld: isHeld),
            assets: assets,
            location: isOwn ? nil : location,
            hold: nil
        )
    }

    fileprivate func copyTarget(
        _ options: DataTargetOptions,
        from source: DataCopySide?
    ) async throws -> DataCopySide {
        let data = try await PostgresData.target(
            address,
            partitions: options.databasePartitions ?? 0
        )
        let storages = try await open(makes: true, Settings(mayBeUnfinished: true))
        let assets = try await DataCopySide.assets(
            at: options.assets,
            from: source,
            isDatabase: true,
            data
        )
        try await AssetsNote(storage: storages.data).note(assets ?? storages.ownAssets)
        return DataCopySide(
            data: data,
            assets: assets ?? storages.ownAssets,
            location: assets?.location,
            hold: nil
        )
    }
    #else
    fileprivate func copySource(isHeld: Bool) async throws -> DataCopySide {
        throw Self.refusal(name)
    }

    fileprivate func copyTarget(
        _ options: DataTargetOptions,
        from source: DataCopySide?
    ) async throws -> DataCopySide { throw Self.refusal(name) }
    #endif
}
