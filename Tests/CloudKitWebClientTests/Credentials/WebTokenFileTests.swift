import CloudKitWebClient
import Foundation
import Support
import Testing

@Suite("The file of a token")
struct WebTokenFileTests {
    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    private func permissions(_ file: URL) throws -> Int? {
        let facts = try FileManager.default.attributesOfItem(atPath: file.path)
        return (facts[.posixPermissions] as? NSNumber)?.intValue
    }

    @Test("A token takes the place of the one that is there, and only its owner reads it")
    func replacing() async throws {
        try await withFolder { folder in
            let file = WebTokenFile(folder.appendingPathComponent("token"))
            for token in ["first", "second", "third"] {
                try file.store(token)
                #expect(file.token == token)
                #expect(try permissions(file.url) == 0o600)
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["token"])
            try file.store(nil)
            #expect(file.token == nil)
            try file.store(nil)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        }
    }

    @Test("Whoever reads while tokens are written finds one, and a whole one")
    func reading() async throws {
        try await withFolder { folder in
            let file = WebTokenFile(folder.appendingPathComponent("token"))
            let token = String(repeating: "t", count: 10_000)
            try file.store(token)
            let writer = Task.detached {
                for _ in 0..<200 { try file.store(token) }
            }
            for _ in 0..<2_000 {
                #expect(file.token == token)
                await Task.yield()
            }
            try await writer.value
        }
    }

    #if os(Linux)
    @Test("The new file takes the place of the old one, which is never missing and never rewritten")
    func oneStep() async throws {
        try await withFolder { folder in
            let file = WebTokenFile(folder.appendingPathComponent("token"))
            try file.store("first")
            let old = try FileHandle(forReadingFrom: file.url)
            defer { try? old.close() }
            let watch = try FolderWatch(folder)
            for round in 1...20 { try file.store("token \(round)") }
            let events = try watch.events().filter { $0.name == "token" }
            #expect(events.count == 20)
            #expect(events.allSatisfy { $0.kind == UInt32(IN_MOVED_TO) }, "\(events)")
            // A process that has opened the old file reads the old token to its end.
            #expect(try old.readToEnd() == Data("first".utf8))
        }
    }

    /// The system's events about the names in a folder: creations, deletions and writes.
    private final class FolderWatch {
        struct Event {
            let kind: UInt32
            let name: String
        }

        private let descriptor: Int32

        init(_ folder: URL) throws {
            descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
            let kinds = IN_CREATE | IN_DELETE | IN_MODIFY | IN_MOVED_FROM | IN_MOVED_TO
            try #require(inotify_add_watch(descriptor, folder.path, UInt32(kinds)) >= 0)
        }

        deinit { close(descriptor) }

        /// Returns the events so far.
        func events() throws -> [Event] {
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            let count = read(descriptor, &bytes, bytes.count)
            try #require(count > 0)
            var events: [Event] = []
            var place = 0
            let headerBytes = 16
            while place + headerBytes <= count {
                func number(_ offset: Int) -> UInt32 {
                    bytes.withUnsafeBytes {
                        $0.loadUnaligned(fromByteOffset: place + offset, as: UInt32.self)
                    }
                }
                let start = place + headerBytes
                let name = bytes[start..<(start + Int(number(12)))].prefix { $0 != 0 }
                events.append(
                    Event(kind: number(4), name: String(decoding: name, as: UTF8.self))
                )
                place = start + Int(number(12))
            }
            return events
        }
    }
    #endif

    @Test("A link goes on to lead to the file")
    func link() async throws {
        try await withFolder { folder in
            let (file, link) = (
                folder.appendingPathComponent("f"), folder.appendingPathComponent("l")
            )
            try Data("old".utf8).write(to: file)
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
            try WebTokenFile(link).store("new")
            #expect(try String(contentsOf: file, encoding: .utf8) == "new")
            let target = try FileManager.default.destinationOfSymbolicLink(atPath: link.path)
            #expect(target == file.path)
        }
    }

    @Test("Where nothing can be written the old token stays, and the error names the place")
    func unwritable() async throws {
        try await withFolder { folder in
            // A folder in the place of the file cannot be replaced by any user.
            let place = folder.appendingPathComponent("token")
            try FileManager.default.createDirectory(
                at: place.appendingPathComponent("inside"),
                withIntermediateDirectories: true
            )
            let error = #expect(throws: WebTokenFile.Unwritable.self) {
                try WebTokenFile(place).store("new")
            }
            #expect(error?.description.contains(place.path) == true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["token"])
        }
    }

    @Test("An existing file survives every way in which its token changes")
    func everyPath() async throws {
        try await withFolder { folder in
            let place = folder.appendingPathComponent("token")
            try Data("kept\n".utf8).write(to: place)
            let file = WebTokenFile(place)
            let credentials = WebCredentials(apiToken: "a", webAuthToken: "older", file: file)
            #expect(credentials.webAuthToken == "kept")
            let body =
                #"{"userRecordName":"_1","webcourierURL":"http://cloud.invalid/p","#
                + #""apnsToken":"t","apnsEnvironment":"development","records":[],"zones":[]}"#
            let client = WebClient(
                url: "http://cloud.invalid",
                container: "c",
                environment: .development,
                credentials: credentials,
                transport: ScriptedTransport { _, index in
                    TransportResponse(
                        status: index == 1 ? 500 : 200,
                        headers: ["x-apple-cloudkit-web-auth-token": "renewed-\(index)"],
                        body: Data(body.utf8)
                    )
                }
            )
            _ = try await client.caller()
            #expect(file.token == "renewed-0")
            // Errors carry tokens, too.
            await #expect(throws: WebClientError.self) { try await client.caller() }
            #expect(file.token == "renewed-1")
            _ = try await client.createToken(clientID: "x")
            #expect(file.token == "renewed-2")
            _ = try await client.nextNotification(at: "http://cloud.invalid/p")
            #expect(file.token == "renewed-3")
            credentials.signIn(webAuthToken: "bob")
            #expect(file.token == "bob")
            _ = try await client.listZones(in: .private)
            #expect(file.token == "renewed-4")
            #expect(try permissions(place) == 0o600)
            credentials.signIn(webAuthToken: nil)
            #expect(file.token == nil)
        }
    }
}
