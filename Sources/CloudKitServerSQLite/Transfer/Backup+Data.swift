import CloudKitFiles
package import CloudKitServerCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// Archives of data that another engine has: they pass through a folder, whose form archives have.
extension Backup {
    /// Writes an archive of data that another engine has, as it is at one moment.
    ///
    /// - Parameters:
    ///   - source: The data, which may be written to meanwhile.
    ///   - assets: The storage of its assets.
    ///   - path: The archive.
    ///   - replaces: A Boolean value that indicates whether an existing archive may be replaced.
    ///   - seconds: The time, since 1970-01-01 UTC.
    ///   - meter: A closure that is called with the progress of the rows.
    /// - Returns: A summary of the archive.
    /// - Throws: `StorageError`, or `BackupError`; no archive is written then, and an existing one stays.
    @concurrent
    package static func write(
        dataOf source: any DataStore,
        assets: any AssetStorage,
        to path: String,
        replaces: Bool,
        seconds: Int64,
        meter: @escaping DataCopy.Meter = { _, _ in }
    ) async throws -> Report {
        let work = try folder(beside: path)
        defer { work.remove() }
        let folder = work.url.path + "/data"
        let backup = Backup(of: folder, assets: assets) {
            // Of an earlier attempt; without one, there is nothing to remove.
            try? FileManager.default.removeItem(atPath: folder)
            let target = try SQLiteData.target(folder)
            do {
                let copy = DataCopy(from: source, to: target, assets: nil, meter: meter)
                let report = try await copy.run()
                guard report.isComplete else { throw BackupError(differences: report) }
            } catch {
                // The error below is the one to report.
                try? target.close()
                throw error
            }
            try target.close()
        }
        return try await backup.write(to: path, replaces: replaces, seconds: seconds)
    }
}

extension Restore {
    /// Restores the archive into empty data of another engine.
    ///
    /// - Parameters:
    ///   - target: The data, which must be empty.
    ///   - assets: The storage of its assets.
    ///   - parent: The folder in which everything is restored before.
    ///   - meter: A closure that is called with the progress of the rows.
    /// - Returns: A summary.
    /// - Throws: `StorageError`, or `BackupError`.
    @concurrent
    package func run(
        into target: any DataStore,
        assets: any AssetStorage,
        in parent: String,
        meter: @escaping DataCopy.Meter = { _, _ in }
    ) async throws -> Report {
        let work: ProcessFolder
        do {
            work = try ProcessFolder(in: URL(fileURLWithPath: parent), named: BackupNames.folders)
        } catch {
            throw BackupError(
                "\(parent) is no folder that this user may write to; name another with TMPDIR"
            )
        }
        defer { work.remove() }
        let folder = work.url.path + "/data"
        let restored = try await run(into: folder)
        let source = try SQLiteData.source(folder)
        // A folder whose database is open is not removed whole; nothing of it is needed any more.
        defer { try? source.close() }
        let copy = DataCopy(
            from: source,
            to: target,
            assets: DataCopy.Assets(
                from: try FileAssetStorage(directory: folder + "/assets"),
                to: assets
            ),
            meter: meter
        )
        let report = try await copy.run()
        guard report.isComplete else { throw BackupError(differences: report) }
        return restored
    }
}

extension BackupError {
    /// Creates the error of a copy that differs from its source.
    fileprivate init(differences report: DataCopy.Report) {
        self.init(
            "The copy differs from the data in \(report.differenceCount) places: "
                + report.differences.joined(separator: "; ")
        )
    }
}
