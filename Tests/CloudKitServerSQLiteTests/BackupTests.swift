import CloudKitServerCore
import CloudKitServerSQLite
import Foundation
import GRDB
import Synchronization
import Testing

@Suite("Backups")
struct BackupTests {
    @Test("Of backups that are made to one new name at once, one is kept, and the others say so")
    func sameName() async throws {
        let folder = try TemporaryFolder()
        try SQLiteStorage(path: folder.path + "/cloud.sqlite").close()
        let archive = folder.path + "/backup.tar"
        let backups = await withTaskGroup(of: Result<Int64, any Error>.self) { group in
            for seconds in 1...3 as ClosedRange<Int64> {
                group.addTask {
                    do {
                        _ = try await Backup(of: folder.path)
                            .write(to: archive, replaces: false, seconds: seconds)
                        return .success(seconds)
                    } catch {
                        return .failure(error)
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let made = backups.compactMap { try? $0.get() }
        #expect(made.count == 1)
        let kept = try Data(contentsOf: URL(fileURLWithPath: archive))
        for case .failure(let error) in backups {
            #expect("\(error)".contains("--force"), "\(error)")
        }
        // With leave to replace it, the next one does.
        _ = try await Backup(of: folder.path).write(to: archive, seconds: 9)
        #expect(try Data(contentsOf: URL(fileURLWithPath: archive)) != kept)
    }

    /// Stores assets of 3,000,000 bytes, as if records held them; returns the names of their files.
    private func fill(_ folder: TemporaryFolder) async throws -> [String] {
        try SQLiteStorage(path: folder.path + "/cloud.sqlite").close()
        let assets = try FileAssetStorage(directory: folder.path + "/assets")
        var names: [String] = []
        for byte in [1, 2, 3] as [UInt8] {
            let bytes = AsyncStream<Data> { stream in
                stream.yield(Data(repeating: byte, count: 3_000_000))
                stream.finish()
            }
            let checksum = try await assets.store(bytes, limit: 3_000_000).checksum
            try await DatabaseQueue(path: folder.path + "/cloud.sqlite").write { database in
                try database.execute(
                    sql: "INSERT INTO asset (checksum, record) VALUES (?, 1)",
                    arguments: [Data(checksum)]
                )
            }
            names.append(checksum.map { String(format: "%02x", $0) }.joined())
        }
        return names.sorted()
    }

    @Test("A file that cannot be read to its end is named, and the backup has all the rest")
    func failingRead() async throws {
        let folder = try TemporaryFolder()
        let names = try await fill(folder)
        let reads = Mutex(0)
        let beforeRead: @Sendable (String) throws -> Void = { path in
            guard path.hasSuffix(names[1]) else { return }
            let count = reads.withLock { count in
                count += 1
                return count
            }
            // The first piece can be read, and the next cannot.
            if count % 2 == 0 { throw StorageError(.inputOutput, "Input/output error") }
        }
        let backup = Backup(of: folder.path, beforeRead: beforeRead)
        let archive = folder.path + "/backup.tar"
        let report = try await backup.write(to: archive, seconds: 1)
        #expect(report.damaged == [names[1]])
        #expect(report.assets == 2)
        #expect(report.isKept)
        let missing = try await Restore(of: archive).run(into: folder.path + "/restored")
        #expect(missing.damagedAssets == [names[1]])
    }

    @Test("A file that becomes shorter while it is read is named, and the backup has all the rest")
    func shrinkingFile() async throws {
        let folder = try TemporaryFolder()
        let names = try await fill(folder)
        let beforeRead: @Sendable (String) throws -> Void = { path in
            guard path.hasSuffix(names[0]) else { return }
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            try file.truncate(atOffset: 1_500_000)
            try file.close()
        }
        let backup = Backup(of: folder.path, beforeRead: beforeRead)
        let archive = folder.path + "/backup.tar"
        let report = try await backup.write(to: archive, seconds: 1)
        #expect(report.damaged == [names[0]])
        #expect(report.isKept)
        let damaged = try await Restore(of: archive).run(into: folder.path + "/restored")
        #expect(damaged.damagedAssets == [names[0]])
    }
}
