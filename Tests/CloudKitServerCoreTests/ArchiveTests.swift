import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

@Suite("Archives of records' files")
struct ArchiveTests {
    let cloud: FixtureCloud
    let ada: FixtureCloud.User

    init() async throws {
        cloud = try await FixtureCloud()
        ada = try await cloud.addUser()
        try await cloud.addZone("Notes", as: ada)
    }

    private func add(_ name: String, _ files: [String: String] = ["photo": "bytes"]) async throws {
        var fields: [String: JSON] = ["title": ["value": .string(name)]]
        for (field, text) in files {
            fields[field] = try await cloud.upload(Data(text.utf8), for: name, field, as: ada)
        }
        let response = try await cloud.modify(
            as: ada,
            [FixtureCloud.note("forceReplace", name, .object(fields))]
        )
        try #require(response.records[0].serverErrorCode == nil)
    }

    private func prepare(
        _ more: [String: JSON] = [:],
        as user: FixtureCloud.User? = nil
    ) async throws -> FixtureCloud.Response {
        var body = more
        body["zoneID"] = body["zoneID"] ?? FixtureCloud.zone("Notes")
        body["pluginFields"] = [:]
        return try await cloud.call("records/zip/prepare", as: user ?? ada, .object(body))
    }

    private func archive(_ more: [String: JSON] = [:]) async throws -> ZipReader {
        try ZipReader(try await cloud.download(try await prepare(more).body.downloadURL))
    }

    private func manifest(_ archive: ZipReader) throws -> JSON {
        try JSON(try #require(archive.files["manifest.json"]))
    }

    @Test("An archive has the files of all records, and a manifest that says whose they are")
    func contents() async throws {
        try await add("a", ["photo": "of a", "sound": "of a too"])
        try await add("b", ["photo": ""])
        try await add("c", [:])
        let archive = try await archive()
        #expect(archive.paths.first == "manifest.json")
        let records = try manifest(archive).records
        #expect(records.elements.map(\.recordName) == ["a", "b", "c"])
        #expect(records[0].files == ["photo": ["assets/a/photo"], "sound": ["assets/a/sound"]])
        #expect(records[2].files == [:])
        #expect(records[0].fields.title.value == "a")
        #expect(archive.files["assets/a/photo"] == Data("of a".utf8))
        #expect(archive.files["assets/a/sound"] == Data("of a too".utf8))
        #expect(archive.files["assets/b/photo"] == Data())
        #expect(archive.files.count == 4)
    }

    @Test("Common programs read the archive", .enabled(if: Unpacking.isPossible))
    func programs() async throws {
        let long = String(repeating: "long ", count: 40_000)
        try await add("a", ["photo": long])
        try await add("../../b/c", ["photo": "outside?"])
        let data = try await cloud.download(try await prepare().body.downloadURL)
        let found = try Unpacking.unpack(data)
        #expect(found["assets/a/photo"] == Data(long.utf8))
        #expect(found.count == 3)
    }

    @Test("Desired keys choose fields; lists of files are numbered")
    func keys() async throws {
        let files = try await ["one", "two"].asyncMap { text in
            try await cloud.upload(Data(text.utf8), for: "a", "photos", as: ada).value
        }
        let photos: JSON = ["value": .array(files), "type": "ASSETID_LIST"]
        let other = try await cloud.upload(Data([1]), for: "a", "other", as: ada)
        let saved = try await cloud.modify(
            as: ada,
            [FixtureCloud.note("create", "a", ["photos": photos, "other": other])]
        )
        try #require(saved.records[0].serverErrorCode == nil, "\(saved)")
        let archive = try await archive(["desiredKeys": ["photos"]])
        #expect(
            try manifest(archive).records[0].files
                == ["photos": ["assets/a/photos-1", "assets/a/photos-2"]]
        )
        #expect(try manifest(archive).records[0].fields.keys == ["photos"])
        #expect(archive.files["assets/a/photos-2"] == Data("two".utf8))
        #expect(archive.files.count == 3)
    }

    @Test("Records are chosen by name, plain or as objects, or left out by name")
    func selection() async throws {
        for name in ["a", "b", "c"] { try await add(name) }
        func names(_ more: [String: JSON]) async throws -> [JSON] {
            try manifest(try await archive(more)).records.elements.map(\.recordName)
        }
        #expect(try await names(["includeRecords": ["c", ["recordName": "a"]]]) == ["c", "a"])
        #expect(try await names(["excludeRecords": ["a", "zz"]]) == ["b", "c"])
        #expect(try await names(["includeRecords": []]) == [])
    }

    @Test("No name leaves the folder into which an archive is unpacked, or hides another")
    func names() async throws {
        let names = [
            "../../etc/passwd", "..", "/absolute", "C:\\windows", "a/b", "a_b", "A_B", ".hidden",
            "end.", "manifest.json", "u:/~",
        ]
        for name in names { try await add(name, ["photo": name]) }
        let archive = try await archive()
        #expect(archive.files.count == names.count + 1)
        for path in archive.paths.dropFirst() {
            let parts = path.split(separator: "/", omittingEmptySubsequences: false)
            #expect(parts.count == 3 && parts[0] == "assets", "\(path)")
            for part in parts {
                #expect(!part.hasPrefix(".") && !part.hasSuffix("."), "\(path)")
                #expect(part.wholeMatch(of: /[A-Za-z0-9._-]+/) != nil, "\(path)")
            }
        }
        #expect(Set(archive.paths.map { $0.lowercased() }).count == archive.paths.count)
        for record in try manifest(archive).records.elements {
            let path = try #require(record.files.photo[0].text)
            #expect(archive.files[path] == Data((record.recordName.text ?? "").utf8))
        }
        let named = try await prepare(["archiveName": "../my holiday"])
        #expect(named.body.downloadURL.text?.hasSuffix("/_._my_holiday.zip") == true)
        let whole = try await prepare(["archiveName": "a.zip"])
        #expect(whole.body.downloadURL.text?.hasSuffix("/a.zip") == true)
    }

    @Test("The archive is of the moment at which it was asked for, and its files are kept for it")
    func moment() async throws {
        try await add("a", ["photo": "first"])
        cloud.outliveFiles()
        let user = try await cloud.again(ada)
        let url = try await prepare(as: user).body.downloadURL
        _ = try await cloud.modify(as: user, [FixtureCloud.note("forceDelete", "a")])
        try await cloud.service.clean()
        let archive = try ZipReader(try await cloud.download(url))
        #expect(archive.files["assets/a/photo"] == Data("first".utf8))
        cloud.clock.advance(seconds: 24 * 60 * 60)
        await #expect(throws: RequestError.self) { _ = try await cloud.download(url) }
        try await cloud.service.clean()
        let checksum = try #require(
            try manifest(archive).records[0].fields.photo.value.fileChecksum.text
        )
        let bytes = try #require(Data(base64Encoded: checksum))
        #expect(try await cloud.assets.open(Array(bytes)) == nil)
    }

    @Test("A ninth archive ends the oldest")
    func count() async throws {
        var urls: [JSON] = []
        for _ in 1...9 {
            cloud.clock.advance(seconds: 1)
            urls.append(try await prepare().body.downloadURL)
        }
        await #expect(throws: RequestError.self) { _ = try await cloud.download(urls[0]) }
        for url in urls.dropFirst() { _ = try await cloud.download(url) }
    }

    @Test("An archive that the format cannot hold is refused, and one just below is not")
    func size() async throws {
        let bytes = Data(count: Limits.assetBytes)
        let file = try await cloud.upload(bytes, for: "a", "files", as: ada).value
        for (count, status) in [(81, 200), (82, 400)] {
            let files = JSON.array(Array(repeating: file, count: count))
            let saved = try await cloud.modify(
                as: ada,
                [
                    FixtureCloud.note(
                        "forceReplace",
                        "a",
                        ["files": ["value": files, "type": "ASSETID_LIST"]]
                    )
                ]
            )
            try #require(saved.records[0].serverErrorCode == nil, "\(saved)")
            let response = try await prepare()
            #expect(response.status == status)
            if status == 400 { #expect(response.reason.contains("4294967295 bytes")) }
        }
    }

    @Test("A user who takes part in a share gets what the share opens, and nobody else does")
    func permissions() async throws {
        let bob = try await cloud.addUser("Bob")
        for name in ["root", "private"] { try await add(name) }
        let participant: JSON = [
            "type": "USER", "permission": "READ_ONLY",
            "userIdentity": ["lookupInfo": ["userRecordName": .string(bob.name)]],
        ]
        let share: JSON = [
            "operationType": "create",
            "record": [
                "recordName": "share", "recordType": "cloudkit.share",
                "forRecord": ["recordName": "root"], "participants": [participant],
            ],
        ]
        let guid = try await cloud.modify(as: ada, [share]).records[0].shortGUID
        let zone: JSON = ["zoneName": "Notes", "ownerRecordName": .string(ada.name)]
        let body: JSON = ["zoneID": zone, "pluginFields": [:]]
        let before = try await cloud.call("records/zip/prepare", .shared, as: bob, body)
        #expect(before.code == "ZONE_NOT_FOUND")
        _ = try await cloud.call(
            "records/accept",
            .public,
            as: bob,
            ["shortGUIDs": [["value": guid]]]
        )
        let url = try await cloud.call("records/zip/prepare", .shared, as: bob, body).body
            .downloadURL
        let archive = try ZipReader(try await cloud.download(url))
        #expect(try manifest(archive).records.elements.map(\.recordName) == ["root"])
        let named = try await cloud.call(
            "records/zip/prepare",
            .shared,
            as: bob,
            ["zoneID": zone, "pluginFields": [:], "includeRecords": ["private"]]
        )
        #expect(named.code == "NOT_FOUND")
        // The owner names the share.
        let owned = try await self.archive(["shareName": "share"])
        #expect(try manifest(owned).records.elements.map(\.recordName) == ["root"])
    }
}

/// Unpacks archives with a program that the machine has.
private enum Unpacking {
    private static let python = "/usr/bin/python3"
    static var isPossible: Bool { FileManager.default.isExecutableFile(atPath: python) }

    /// Returns the files of an archive, by path.
    static func unpack(_ archive: Data) throws -> [String: Data] {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("ArchiveTests-\(UUID().uuidString)")
        let target = folder.appendingPathComponent("target")
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("a.zip")
        try archive.write(to: file)
        for arguments in [["-t", file.path], ["-e", file.path, target.path]] {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: python)
            process.arguments = ["-m", "zipfile"] + arguments
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
        }
        var found: [String: Data] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: target.path) {
            var isFolder: ObjCBool = false
            let url = target.appendingPathComponent(path)
            _ = FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
            if !isFolder.boolValue { found[path] = try Data(contentsOf: url) }
        }
        // The archive and the folder into which it was unpacked, and nothing else.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
        return found
    }
}

extension Array {
    fileprivate func asyncMap<Value>(
        _ transform: (Element) async throws -> Value
    ) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
