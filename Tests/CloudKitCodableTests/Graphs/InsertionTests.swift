import CloudKit
import CloudKitCodable
import Support
import Synchronization
import Testing

@Suite("Insertions into lists of children")
struct InsertionTests {
    let zoneID = CKRecordZone.ID(zoneName: "Albums")

    /// A destination that saves into a database and counts the records.
    private final class Counter: CloudKitRecordDestination {
        private let database: CKDatabase
        private let counts = Mutex<[Int]>([])

        init(_ database: CKDatabase) {
            self.database = database
        }

        /// The number of records of each request, in order.
        var sent: [Int] { counts.withLock { $0 } }

        func modify(
            saving records: [CKRecord],
            deleting recordIDs: [CKRecord.ID],
            savePolicy: CKModifyRecordsOperation.RecordSavePolicy
        ) async throws -> (
            saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
            deleteResults: [CKRecord.ID: Result<Void, any Error>]
        ) {
            counts.withLock { $0.append(records.count) }
            return try await database.modify(
                saving: records,
                deleting: recordIDs,
                savePolicy: savePolicy
            )
        }
    }

    private var album: Album {
        Album(id: "album", title: "Summer", photos: (0..<50).map { Photo(id: "photo\($0)") })
    }

    @Test(
        "Four hundred insertions keep their places, and send few others",
        arguments: ["in the middle", "anywhere"]
    )
    func one(place: String) async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await cloud.database(of: user)
            let laptop = try await cloud.database(of: user)
            try await phone.save(CKRecordZone(zoneID: zoneID))
            var graph = try await phone.save(album, in: zoneID)
            let counter = Counter(phone)
            var chance = SeededRandom(seed: 1)
            for round in 0..<400 {
                let count = graph.root.photos.count
                let index =
                    place == "anywhere" ? Int.random(in: 0...count, using: &chance) : count / 2
                graph.root.photos.insert(Photo(id: "new\(round)"), at: index)
                try await counter.save(&graph)
                guard round % 40 == 39 else { continue }
                #expect(try await laptop.graph(Album.self, for: graph.rootID).root == graph.root)
            }
            #expect(counter.sent.count == 400)
            // In one place the room is used up now and then, and neighbors move to make room.
            let (total, most) = place == "anywhere" ? (400, 1) : (1_200, 200)
            #expect(counter.sent.reduce(0, +) <= total)
            #expect(counter.sent.allSatisfy { $0 <= most })
        }
    }

    /// One device with its graph of the album.
    private struct Device {
        let database: CKDatabase
        var graph: CloudKitGraph<Album>

        /// Inserts a photo, and again after loading when the other device interfered.
        ///
        /// - Returns: The number of records that were sent.
        mutating func insert(_ name: String, _ chance: inout SeededRandom) async throws -> Int {
            while true {
                let counter = Counter(database)
                let index = Int.random(in: 20...30, using: &chance)
                graph.root.photos.insert(Photo(id: name), at: index)
                do {
                    try await counter.save(&graph)
                    return counter.sent.reduce(0, +)
                } catch let error as CKError
                    where error.code == .serverRecordChanged || error.code == .partialFailure
                {
                    graph = try await database.graph(Album.self, for: graph.rootID)
                }
            }
        }

        func load() async throws -> CloudKitGraph<Album> {
            try await database.graph(Album.self, for: graph.rootID)
        }
    }

    @Test("Two devices that insert at once lose nothing, and each finds its own order again")
    func two() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let database = try await cloud.database(of: user)
            try await database.save(CKRecordZone(zoneID: zoneID))
            let saved = try await database.save(album, in: zoneID)
            var phone = Device(database: database, graph: saved)
            var laptop = Device(database: try await cloud.database(of: user), graph: saved)
            var chance = SeededRandom(seed: 2)
            var compared = 0
            var total = 0
            for round in 0..<60 {
                phone.graph = try await phone.load()
                laptop.graph = try await laptop.load()
                let ofPhone = try await phone.insert("phone\(round)", &chance)
                let ofLaptop = try await laptop.insert("laptop\(round)", &chance)
                total += ofPhone + ofLaptop
                let loaded = try await phone.load().root.photos
                #expect(loaded.count == 50 + 2 * (round + 1))
                #expect(Set(loaded.map(\.id)).count == loaded.count)
                #expect(try await laptop.load().root.photos == loaded)
                // A device that moved nothing leaves the order of the other unchanged.
                if ofLaptop == 1 { #expect(Self.isOrdered(phone.graph.root.photos, in: loaded)) }
                if ofPhone == 1 { #expect(Self.isOrdered(laptop.graph.root.photos, in: loaded)) }
                compared += (ofLaptop == 1 ? 1 : 0) + (ofPhone == 1 ? 1 : 0)
            }
            #expect(compared > 100)
            #expect(total < 200)
        }
    }

    /// Returns whether elements are in a list in their order, with others in between.
    private static func isOrdered(_ elements: [Photo], in list: [Photo]) -> Bool {
        var rest = elements[...]
        for element in list where element == rest.first { rest = rest.dropFirst() }
        return rest.isEmpty
    }
}
