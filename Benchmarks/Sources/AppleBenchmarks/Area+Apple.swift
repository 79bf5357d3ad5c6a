public import BenchmarkHarness
import CloudKit

extension Area {
    /// The CloudKit module: fields, and records over HTTP on the loopback interface.
    ///
    /// The servers run in the same process, for the subject and for the floor alike.
    public static let apple = Area(name: "apple") {
        let small = Prepared { try await NoteServer.holding(10_000) }
        let large = Prepared { try await NoteServer.holding(100_000) }
        let fresh = Prepared { try await NoteServer.start() }
        return [
            .time("fields", .atMost(2), subject: FieldWork.record, floor: FieldWork.dictionary),
            .time("fetch-10000", .atMost(1.2)) {
                try await FetchWork.records(10_000, from: small.value)
            },
            .peakMemory("memory-fetch-100000", .atMost(1.3)) {
                (
                    FetchWork.dropping(100_000, from: try await large.value),
                    FetchWork.dropping(10_000, from: try await small.value)
                )
            },
            .rate("save-10000", .atLeast(0.5)) {
                (
                    SaveWork.overHTTP(10_000, to: try await fresh.value),
                    try await SaveWork.inProcess(10_000, to: fresh.value)
                )
            },
        ]
    }
}
