public import BenchmarkHarness
import CloudKitCoreData
import Foundation
import GRDB

extension Area {
    /// Converts a mirrored store, compared to GRDB's own inserts of the same rows.
    ///
    /// A conversion copies the store, checks it, names each row by its record, and stores the states
    /// of the records.
    public static let coreData = Area(name: "coredata") {
        let full = Prepared { try StoreFile(rows: rowCount) }
        let small = Prepared { try StoreFile(rows: rowCount / 10) }
        return [
            .rate("convert-100000", .atLeast(0.5)) { (convert(try await full.value), inserts) },
            .peakMemory("memory-convert-100000", .atMost(1.3)) {
                (convert(try await full.value), convert(try await small.value))
            },
            .peakMemory("memory-rows-100000", .atMost(1.3)) {
                (read(try await full.value), read(try await small.value))
            },
        ]
    }

    private static let inserts = Work("GRDB", units: Double(rowCount)) {
        let folder = try Folder()
        try PlainRow.insert(rowCount, into: folder.file("plain.sqlite"))
    }

    private static let rowCount = 100_000

    private static func convert(_ store: StoreFile) -> Work {
        Work("\(store.rows) rows", units: Double(store.rows)) {
            let folder = try Folder()
            let report = try store.open().convert(to: folder.file("app.sqlite"))
            guard report.rows["Note"] == store.rows else { throw Unequal() }
        }
    }

    private static func read(_ store: StoreFile) -> Work {
        Work("\(store.rows) rows", units: Double(store.rows)) {
            var count = 0
            for row in try store.open().rows(of: "Note") where try !row.get().values.isEmpty {
                count += 1
            }
            guard count == store.rows else { throw Unequal() }
        }
    }
}

/// An error that indicates that the converted rows differ from the store's.
struct Unequal: Error {}

/// A folder that is deleted with its last user.
final class Folder: Sendable {
    private let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory
            .appending(path: "cloudkit-bench-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func file(_ name: String) -> URL { url.appending(path: name) }
}
