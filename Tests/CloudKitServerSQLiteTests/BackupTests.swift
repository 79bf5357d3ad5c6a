import CloudKitServerCore
import CloudKitServerSQLite
import Foundation
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
}
