import CloudKit
import CloudKitCoreData
import CloudKitStore
import Foundation
import GRDB
import Support
import Synchronization
import Testing

@Suite(
    "One zone with an app that has Core Data: entities and their attributes",
    .timeLimit(.minutes(5))
)
struct CoreDataEntityTests {
    private static let numbers = """
        <entity name="Number">
            <attribute name="short" optional="YES" attributeType="Integer 16"/>
            <attribute name="medium" optional="YES" attributeType="Integer 32"/>
            <attribute name="single" optional="YES" attributeType="Float"/>
        </entity>
        """

    /// Returns the reasons why rows are quarantined, by key.
    private static func reasons(_ device: ModelDevice) async throws -> [String: String] {
        let rows = try await device.store.status.quarantined
        return Dictionary(rows.map { ($0.key ?? "", $0.reason) }) { first, _ in first }
    }

    @Test("A row without a value has its entity's default on all devices, from the start")
    func defaults() async throws {
        try await CoreDataZone.run { zone in
            try await zone.device.run(
                """
                INSERT INTO Media (recordName, entity, title) VALUES ('V1', 'Video', 'Clip');
                INSERT INTO Media (recordName, entity, title) VALUES ('A1', 'Audio', 'Song');
                INSERT INTO Media (recordName, entity, width) VALUES ('V2', 'Video', 320);
                INSERT INTO Post (recordName, mood) VALUES ('P1', NULL);
                """
            )
            let shown =
                "SELECT group_concat(recordName || ifnull(width, '-')) FROM "
                + "(SELECT * FROM Media ORDER BY recordName)"
            #expect(try await zone.device.text(shown) == "A1-,V1640,V2320")
            #expect(try await zone.device.text("SELECT mood FROM Post") == "calm")
            try await zone.device.run("UPDATE Media SET width = NULL WHERE recordName = 'V2'")
            #expect(try await zone.device.text(shown) == "A1-,V1640,V2640")
            try await zone.settle()
            let other = try await ModelDevice(try await zone.cloud.device(of: zone.user))
            try await other.store.sync()
            #expect(try await other.text(shown) == "A1-,V1640,V2640")
            #expect(try await zone.record("V1")["CD_width"] == 640)
            #expect(try await zone.record("A1").allKeys().contains("CD_width") == false)
            #expect(await zone.phone.objects["V2"]?.values["width"] == .int(640))
            #expect(try await zone.device.store.verify().differences == [])
            #expect(try await zone.device.store.status.isSettled)
        }
    }

    @Test("NULL where the app reads the default is a difference, which verify() finds and repairs")
    func missingDefault() async throws {
        try await CoreDataZone.run { zone in
            let record = CKRecord(recordType: "CD_Media", recordID: CoreDataZone.id("V1"))
            record["CD_entityName"] = "Video"
            _ = try await zone.database.modifyRecords(saving: [record], deleting: [])
            try await zone.device.store.sync()
            #expect(try await zone.device.text("SELECT width FROM Media") == "640")
            // As an earlier version of the store left it.
            try await zone.device.run(
                """
                UPDATE grdb_cloudkit_control SET applying = 1;
                UPDATE Media SET width = NULL;
                UPDATE grdb_cloudkit_control SET applying = 0;
                """
            )
            #expect(
                try await zone.device.store.verify(repairing: true).differences.map(\.kind)
                    == [.unnotedEdit]
            )
            try await zone.device.store.sync()
            #expect(try await zone.device.text("SELECT width FROM Media") == "640")
            #expect(try await zone.device.store.verify().differences == [])
        }
    }

    @Test(
        "What no object of the app can be is quarantined with entity, column and remedy, until it is corrected"
    )
    func impossibleObjects() async throws {
        try await CoreDataZone.run { zone in
            try await zone.device.run(
                """
                INSERT INTO Media (recordName, entity, title) VALUES ('M1', 'Media', 'Any');
                INSERT INTO Media (recordName, entity, width) VALUES ('A1', 'Audio', 100);
                INSERT INTO Media (recordName, entity, seconds) VALUES ('A2', 'Audio', 7);
                """
            )
            try await zone.device.store.sync()
            var reasons = try await Self.reasons(zone.device)
            #expect(reasons.keys.sorted() == ["A1", "M1"])
            #expect(
                reasons["M1"]?.hasSuffix(
                    "the entity 'Media' is abstract, and no object can be of it; set the column 'entity' "
                        + "to one of Audio, Video"
                ) == true,
                "\(reasons)"
            )
            #expect(
                reasons["A1"]?.hasSuffix(
                    "the column 'width' holds a value, but it is of Video, and the row is of the "
                        + "entity 'Audio'; set it to NULL"
                ) == true,
                "\(reasons)"
            )
            try await zone.device.run("UPDATE Media SET entity = 'Video' WHERE recordName = 'A2'")
            try await zone.device.store.sync()
            reasons = try await Self.reasons(zone.device)
            #expect(
                reasons["A2"]?.contains(
                    "the column 'entity' was 'Audio' and is 'Video', but an object keeps its entity; set it to "
                        + "'Audio', or delete the row"
                ) == true,
                "\(reasons)"
            )
            #expect(try await zone.record("A2")["CD_entityName"] == "Audio")
            await #expect(throws: CKError.self) { try await zone.record("M1") }
            try await zone.device.run(
                """
                UPDATE Media SET entity = 'Audio' WHERE recordName = 'A2';
                UPDATE Media SET entity = 'Video' WHERE recordName = 'M1';
                UPDATE Media SET width = NULL WHERE recordName = 'A1';
                """
            )
            try await zone.settle()
            #expect(try await zone.device.store.status.isSettled)
            #expect(await zone.phone.objects["M1"]?.entity == "Video")
            #expect(await zone.phone.objects["A1"]?.entity == "Audio")
            #expect(try await zone.device.store.verify().differences == [])
        }
    }

    @Test("An edit that the app could not read is quarantined, whatever type it has")
    func values() async throws {
        try await CoreDataZone.run { zone in
            let device = try await ModelDevice(
                try await zone.cloud.device(of: zone.user),
                adding: Self.numbers
            )
            try await device.run(
                """
                INSERT INTO Post (recordName) VALUES ('P1'), ('P2'), ('P3'), ('P4'), ('P5'), ('P6'), ('P7');
                INSERT INTO Number (recordName) VALUES ('N1'), ('N2'), ('N3'), ('N4');
                """
            )
            try await device.store.sync()
            try await device.run(
                """
                UPDATE Post SET count = 'many' WHERE recordName = 'P1';
                UPDATE Post SET count = 1.5 WHERE recordName = 'P2';
                UPDATE Post SET done = 'perhaps' WHERE recordName = 'P3';
                UPDATE Post SET done = 2 WHERE recordName = 'P4';
                UPDATE Post SET title = x'FF' WHERE recordName = 'P5';
                UPDATE Post SET link = 'no address' WHERE recordName = 'P6';
                UPDATE Post SET rating = 'good' WHERE recordName = 'P7';
                UPDATE Number SET short = 40000 WHERE recordName = 'N1';
                UPDATE Number SET medium = 3000000000 WHERE recordName = 'N2';
                UPDATE Number SET single = 1e39 WHERE recordName = 'N3';
                UPDATE Number SET short = -32768, medium = 2147483647, single = 1e38
                    WHERE recordName = 'N4';
                """
            )
            try await device.store.sync()
            let reasons = try await Self.reasons(device)
            let expected = [
                "P1": "'count' holds is no value of its type",
                "P2": "'count' holds is no value of its type",
                "P3": "'done' holds is no value of its type",
                "P4": "'done' holds is neither 0 nor 1",
                "P5": "'title' holds is no value of its type", "P6": "'link' holds is no URI",
                "P7": "'rating' holds is no value of its type",
                "N1": "'short' holds is beyond the numbers of 16 bits",
                "N2": "'medium' holds is beyond the numbers of 32 bits",
                "N3": "'single' holds is beyond the numbers of 32 bits",
            ]
            #expect(reasons.count == expected.count, "\(reasons)")
            for (key, part) in expected {
                #expect(reasons[key]?.contains(part) == true, "\(key): \(reasons[key] ?? "sent")")
            }
            #expect(try await zone.record("N4")["CD_short"] == -32_768)
        }
    }

    @Test("A record with a value that no object has is quarantined until it is corrected")
    func valuesOfRecords() async throws {
        let values: [(field: String, set: @Sendable (CKRecord) -> Void, part: String)] = [
            ("CD_count", { $0["CD_count"] = "many" }, "'count'"),
            ("CD_title", { $0["CD_title"] = 7 }, "'title'"),
            ("CD_due", { $0["CD_due"] = "tomorrow" }, "'due'"),
            ("CD_key", { $0["CD_key"] = "no UUID" }, "'CD_key' holds is no UUID"),
            ("CD_price", { $0["CD_price"] = "ten" }, "'CD_price' holds is no number"),
            ("CD_image", { $0["CD_image"] = "text" }, "'image'"),
        ]
        for (field, set, part) in values {
            try await CoreDataZone.run { zone in
                let record = CKRecord(recordType: "CD_Post", recordID: CoreDataZone.id("P1"))
                record["CD_entityName"] = "Post"
                set(record)
                let other = CKRecord(recordType: "CD_Post", recordID: CoreDataZone.id("P2"))
                other["CD_entityName"] = "Post"
                _ = try await zone.database.modifyRecords(saving: [record, other], deleting: [])
                try await zone.device.store.sync()
                let reasons = try await zone.device.store.status.quarantined.map(\.reason)
                #expect(reasons.count == 1, "\(field)")
                #expect(reasons.first?.contains(part) == true, "\(field): \(reasons)")
                #expect(try await zone.device.texts("SELECT recordName FROM Post") == ["P2"])
                let found = try await zone.record("P1")
                found.setObject(nil, forKey: field)
                _ = try await zone.database.modifyRecords(saving: [found], deleting: [])
                try await zone.device.store.sync()
                #expect(try await zone.device.store.status.isSettled)
                #expect(try await zone.device.text("SELECT count(*) FROM Post") == "2")
            }
        }
    }

    @Test(
        "A file that was synced before it had the model's format reads all records again, and says so"
    )
    func readsAgain() async throws {
        try await CoreDataZone.run { zone in
            let post = await zone.phone.insert("Post", ["title": .text("Milk")])
            try await zone.phone.sync()
            try await zone.device.store.sync()
            await zone.device.store.stop()
            // As tables leave it that were declared field by field.
            try await zone.device.run(
                """
                UPDATE grdb_cloudkit_table SET fingerprint = replace(fingerprint, ' =format:1', '');
                UPDATE grdb_cloudkit_control SET applying = 1;
                UPDATE Post SET title = 'misread';
                UPDATE grdb_cloudkit_control SET applying = 0;
                """
            )
            let reasons = Mutex<[String]>([])
            var configuration = Device.configuration
            configuration.onEvent = { event in
                if case .refetchStarted(let reason) = event {
                    reasons.withLock { $0.append(reason) }
                }
            }
            let store = try CloudStore(
                database: zone.device.database,
                container: try await zone.cloud.device(of: zone.user),
                format: .coreData(try PhoneModel.model()),
                configuration: configuration
            )
            try await store.start()
            #expect(reasons.withLock { $0.contains { $0.contains("Post") } })
            try await store.sync()
            #expect(
                try await zone.device.text("SELECT title FROM Post WHERE recordName = '\(post)'")
                    == "Milk"
            )
            #expect(try await store.verify().differences == [])
            await store.stop()
        }
    }
}
