public import BenchmarkHarness
import CloudKit

extension Area {
    /// The CloudKit module: fields, and records over HTTP on the loopback interface.
    ///
    /// The servers run in the same process, for the subject and for the floor alike.
    public static let apple = Area(name: "apple") {
        let small = try await NoteServer.start()
        try await NoteServer.save(10_000, prefix: "note", in: small.database())
        let fetch = try await FetchWork.records(10_000, from: small)
        let large = try await NoteServer.start()
        for part in 0..<10 {
            try await NoteServer.save(10_000, prefix: "note-\(part)", in: large.database())
        }
        let fresh = try await NoteServer.start()
        return [
            .time("fields", .atMost(2), subject: FieldWork.record, floor: FieldWork.dictionary),
            .time("fetch-10000", .atMost(1.2), subject: fetch.subject, floor: fetch.floor),
            .peakMemory(
                "memory-fetch-100000",
                .atMost(1.3),
                subject: FetchWork.dropping(100_000, from: large),
                floor: FetchWork.dropping(10_000, from: small)
            ),
            .rate(
                "save-10000",
                .atLeast(0.5),
                subject: SaveWork.overHTTP(10_000, to: fresh),
                floor: try await SaveWork.inProcess(10_000, to: fresh)
            ),
        ]
    }
}
