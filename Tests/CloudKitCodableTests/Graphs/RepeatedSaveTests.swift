import CloudKit
import CloudKitCodable
import CoreLocation
import Foundation
import Synchronization
import Testing

@Suite("Graphs that are saved again where requests are not atomic")
struct RepeatedSaveTests {
    private struct Stop: CloudKitModel {
        var id: String
        var date: Date
        var dates: [Date]
        @CloudKitValue var place: CLLocation
        @CloudKitValue var places: [CLLocation]

        var recordName: String { id }
    }

    private struct Trip: CloudKitModel {
        var stops: [Stop]

        var recordName: String { "trip" }
    }

    /// A destination that already has some of the records, in whole milliseconds, and accepts the
    /// others.
    private final class HalfDestination: CloudKitRecordDestination {
        private let stored: Set<String>
        private let log = Mutex<[Int]>([])

        init(stored: Set<String>) {
            self.stored = stored
        }

        /// The number of records in each request, in order.
        var requests: [Int] { log.withLock { $0 } }

        func modify(
            saving records: [CKRecord],
            deleting recordIDs: [CKRecord.ID],
            savePolicy: CKModifyRecordsOperation.RecordSavePolicy
        ) async throws -> (
            saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
            deleteResults: [CKRecord.ID: Result<Void, any Error>]
        ) {
            log.withLock { $0.append(records.count) }
            var results: [CKRecord.ID: Result<CKRecord, any Error>] = [:]
            for record in records {
                guard stored.contains(record.recordID.recordName) else {
                    results[record.recordID] = .success(record)
                    continue
                }
                let error = CKError(
                    .serverRecordChanged,
                    userInfo: [CKRecordChangedErrorServerRecordKey: try Self.cut(record)]
                )
                results[record.recordID] = .failure(error)
            }
            return (results, [:])
        }

        /// Returns a record as the service stores it.
        private static func cut(_ record: CKRecord) throws -> CKRecord {
            let copy = try #require(record.copy() as? CKRecord)
            copy["date"] = (record["date"] as Date?).map(cut)
            copy["dates"] = (record["dates"] as [Date]?).map { $0.map(cut) }
            copy["place"] = (record["place"] as CLLocation?).map(cut)
            copy["places"] = (record["places"] as [CLLocation]?).map { $0.map(cut) }
            return copy
        }

        private static func cut(_ date: Date) -> Date {
            Date(timeIntervalSince1970: (date.timeIntervalSince1970 * 1000).rounded(.down) / 1000)
        }

        private static func cut(_ location: CLLocation) -> CLLocation {
            RepeatedSaveTests.place(at: cut(location.timestamp))
        }
    }

    private static func place(at date: Date) -> CLLocation {
        CLLocation(
            coordinate: CLLocationCoordinate2D(latitude: 48.2, longitude: 16.3),
            altitude: 200,
            horizontalAccuracy: 5,
            verticalAccuracy: 6,
            course: 7,
            speed: 8,
            timestamp: date
        )
    }

    @Test("What the server has, in whole milliseconds, and what it took are not sent again")
    func half() async throws {
        // Nine tenths of a millisecond, which the service cuts off.
        let date = Date(timeIntervalSince1970: 1_700_000_000.0009)
        let place = Self.place(at: date)
        let stops = ["a", "b"].map {
            Stop(id: $0, date: date, dates: [date], place: place, places: [place])
        }
        let destination = HalfDestination(stored: ["a"])
        let progress = Progress(totalUnitCount: 0)
        let graph = try await destination.save(
            Trip(stops: stops),
            in: CKRecordZone.default().zoneID,
            progress: progress
        )
        #expect(destination.requests == [3])
        #expect(graph.records.count == 3)
        #expect(progress.completedUnitCount == 3 && progress.totalUnitCount == 3)
    }
}
