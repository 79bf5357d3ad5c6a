import Foundation
import GRDB
import Testing

@Suite("cloudkit core-data")
struct CoreDataCommandTests {
    private static let contents = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="Note"><attribute name="text" optional="YES" attributeType="String"/>
        <relationship name="folder" optional="YES" maxCount="1" deletionRule="Nullify" \
        destinationEntity="Folder" inverseName="notes" inverseEntity="Folder"/></entity>
        <entity name="Folder"><relationship name="notes" optional="YES" toMany="YES"
        deletionRule="Cascade" \
        destinationEntity="Note" inverseName="folder" inverseEntity="Note"/></entity></model>
        """
    private static let tables = """
        CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX
            INTEGER);
        INSERT INTO Z_PRIMARYKEY VALUES (1, 'Folder', 0, 1), (2, 'Note', 0, 2);
        CREATE TABLE ZFOLDER (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER);
        CREATE TABLE ZNOTE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZFOLDER INTEGER,
            ZTEXT VARCHAR);
        INSERT INTO ZFOLDER VALUES (1, 1, 1);
        INSERT INTO ZNOTE VALUES (1, 2, 1, 1, 'Milk'), (2, 2, 1, NULL, 'Bread');
        CREATE TABLE ANSCKRECORDZONEMETADATA (Z_PK INTEGER PRIMARY KEY, ZCKOWNERNAME VARCHAR,
            ZCKRECORDZONENAME VARCHAR);
        INSERT INTO ANSCKRECORDZONEMETADATA VALUES (1, '__defaultOwner__',
            'com.apple.coredata.cloudkit.zone');
        CREATE TABLE ANSCKRECORDMETADATA (Z_PK INTEGER PRIMARY KEY, ZENTITYID INTEGER, ZENTITYPK
            INTEGER,
            ZCKRECORDNAME VARCHAR, ZRECORDZONE INTEGER);
        INSERT INTO ANSCKRECORDMETADATA VALUES (1, 1, 1, 'F1', 1), (2, 2, 1, 'N1', 1);
        """

    private func inFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("CoreDataCommandTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(Self.contents.utf8).write(to: folder.appendingPathComponent("contents"))
        let queue = try DatabaseQueue(path: folder.appendingPathComponent("App.sqlite").path)
        try await queue.write { try $0.execute(sql: Self.tables) }
        try queue.close()
        try await body(folder)
    }

    @Test(
        "A store is looked into, converted when rows may get records, and never replaced"
    )
    func convert() async throws {
        try await inFolder { folder in
            let store = folder.path + "/App.sqlite"
            let model = folder.path + "/contents"
            let target = folder.path + "/app.sqlite"
            func run(_ arguments: String...) async throws -> CommandProcess.Outcome {
                try await CommandProcess.run(["core-data"] + arguments)
            }
            let shown = try await run("inspect", store, "--model", model)
            #expect(shown.status == 0, "\(shown.errors)")
            #expect(shown.output.contains("com.apple.coredata.cloudkit.zone"))
            #expect(shown.output.contains("1 row or link of Note without a record"))
            let object = try #require(
                try await run("inspect", store, "--model", model, "--json").objects().first
            )
            let entities = try #require(object["entities"] as? [[String: Any]])
            #expect(entities.map { $0["rows"] as? Int } == [1, 2])

            let refused = try await run("convert", store, "--model", model, "--to", target)
            #expect(refused.status == 1)
            #expect(refused.errors.contains("--mint-records"))
            let made = try await run(
                "convert",
                store,
                "--model",
                model,
                "--to",
                target,
                "--mint-records"
            )
            #expect(made.status == 0, "\(made.errors)")
            #expect(made.errors.contains("Note: new names: 1"))
            let queue = try DatabaseQueue(path: target)
            let texts = try await queue.read {
                try String.fetchAll(
                    $0,
                    sql: "SELECT text FROM Note WHERE folder = 'F1' AND recordName = 'N1'"
                )
            }
            #expect(texts == ["Milk"])
            try queue.close()
            let again = try await run(
                "convert",
                store,
                "--model",
                model,
                "--to",
                target,
                "--mint-records"
            )
            #expect(again.status == 2)
            #expect(again.errors.contains("--force"))
            let itself = try await run("convert", store, "--model", model, "--to", store, "--force")
            #expect(itself.status == 2)
            let log = target + "x-wal"
            try Data("other".utf8).write(to: URL(fileURLWithPath: log))
            let beside = try await run("convert", store, "--model", model, "--to", target + "x")
            #expect(beside.status == 2)
            #expect(beside.errors.contains("\(log): this log of another database"))
            let nowhere = folder.path + "/nowhere"
            try FileManager.default.createSymbolicLink(
                atPath: nowhere,
                withDestinationPath: folder.path + "/none/app.sqlite"
            )
            let dangling = try await run("convert", store, "--model", model, "--to", nowhere)
            #expect(dangling.status == 2)
            #expect(dangling.errors.contains("is a link to"), "\(dangling.errors)")
            #expect(!dangling.errors.contains("Domain"))
            let other = try await run("inspect", store)
            #expect(other.status == 2)
            #expect(other.errors.contains("give the model's file"))
        }
    }

    @Test("Records without a row are reported, and deleted when that is asked for")
    func withoutRow() async throws {
        try await inFolder { folder in
            let store = folder.path + "/App.sqlite"
            let queue = try DatabaseQueue(path: store)
            try await queue.write { database in
                try database.execute(
                    sql: """
                        DELETE FROM ZNOTE WHERE Z_PK = 2;
                        INSERT INTO ANSCKRECORDMETADATA VALUES (3, 2, 3, 'N3', 1);
                        """
                )
            }
            try queue.close()
            let model = folder.path + "/contents"
            let shown = try await CommandProcess.run([
                "core-data", "inspect", store, "--model", model,
            ])
            #expect(shown.output.contains("1 record of Note without a row"), "\(shown.output)")
            #expect(shown.output.contains("--delete-without-row"))
            for (flags, text, states) in [
                ([], "the first sync brings back", [] as [String]),
                (["--delete-without-row"], "the first sync deletes", ["deleted"]),
            ] {
                let target = folder.path + "/app\(flags.count).sqlite"
                let made = try await CommandProcess.run(
                    ["core-data", "convert", store, "--model", model, "--to", target] + flags
                )
                #expect(made.status == 0, "\(made.errors)")
                #expect(made.errors.contains("Note: records without a row, which \(text)"))
                let converted = try DatabaseQueue(path: target)
                let found = try await converted.read {
                    try String.fetchAll(
                        $0,
                        sql: "SELECT state FROM coreDataRecord WHERE recordName = 'N3'"
                    )
                }
                #expect(found == states)
                try converted.close()
            }
        }
    }
}
