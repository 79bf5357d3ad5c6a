import CloudKit
import CloudKitExtras
import CloudKitWebClient
import Foundation
import NIOCore
import NIOHTTP1
import Testing

/// Servers that repeat the tokens of a request in their errors, in another form.
extension SecrecyTests {
    /// A form in which a server repeats a secret.
    struct Form: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let make: @Sendable (String) -> String

        init(_ name: String, _ make: @escaping @Sendable (String) -> String) {
            testDescription = name
            self.make = make
        }

        static let all = [
            Form("as it is") { $0 },
            Form("for addresses", percent),
            Form("for addresses, with small digits") { percent($0).lowercased() },
            Form("for addresses twice") { percent(percent($0)) },
            Form("for addresses, every byte") { bytes($0) { "%" + hex($0).uppercased() } },
            Form("for addresses twice, every byte") { bytes($0) { "%25" + hex($0) } },
            Form("for addresses in JSON in HTML") {
                bytes($0) { "&#92;u0025" + hex($0).uppercased() }
            },
            Form("for JSON, every character") { bytes($0) { "\\u00" + hex($0) } },
            Form("for JSON in JSON", json),
            Form("for HTML, by numbers") { bytes($0) { "&#\($0);" } },
            Form("for HTML, by hexadecimal numbers") { bytes($0) { "&#x" + hex($0) + ";" } },
            Form("for HTML, by names", html),
            Form("for addresses in HTML") { html(percent("&" + $0)) },
            Form("in hexadecimal digits") { bytes($0, hex) },
            Form("in large hexadecimal digits") { bytes($0, hex).uppercased() },
            Form("in small letters") { $0.lowercased() },
            Form("in large letters") { $0.uppercased() },
            Form("in base64") { Data($0.utf8).base64EncodedString() },
            Form("in base64, after another byte") { Data("=\($0)&".utf8).base64EncodedString() },
            Form("in base64, after two bytes") { Data("k=\($0)&x".utf8).base64EncodedString() },
            Form("in base64, for addresses") {
                Data(percent($0).utf8).base64EncodedString().replacing("+", with: "-")
                    .replacing("/", with: "_").replacing("=", with: "")
            },
            Form("in base64, twice") { base64(base64($0)) },
            Form("in base64, three times, after other bytes") {
                base64("a" + base64("bc" + base64("d" + $0)))
            },
            Form("in base64, in short lines") { spaced(base64($0), by: "\r\n") },
            Form("in base64, in hexadecimal digits") { bytes(base64($0), hex) },
            Form("for addresses, in base64") { base64(percent(percent($0))) },
            Form("in hexadecimal digits with spaces") { list($0, by: " ", hex) },
            Form("in hexadecimal digits with colons") { list($0, by: ":", hex).uppercased() },
            Form("in hexadecimal numbers") { list($0, by: ", ") { "0x" + hex($0) } },
            Form("in decimal numbers") { list($0, by: ", ") { "\($0)" } },
            Form("in octal numbers") { list($0, by: " ") { "0o" + String($0, radix: 8) } },
            Form("in binary numbers") { list($0, by: " ") { String($0, radix: 2) } },
            Form("as numbers of characters") { list($0, by: " ") { "U+00" + hex($0) } },
            Form("with spaces between letters") { spaced($0, by: " ") },
            Form("with what nobody sees between letters") { spaced($0, by: "\u{200b}") },
            Form("in full-width letters", wide),
            Form("in full-width letters, for JSON") { text in
                wide(text).unicodeScalars.map { "\\u" + String($0.value, radix: 16) }.joined()
            },
            Form("cut") { String($0.prefix(15)) },
        ]

        private static func base64(_ text: String) -> String {
            Data(text.utf8).base64EncodedString()
        }

        private static func list(
            _ text: String,
            by separator: String,
            _ form: (UInt8) -> String
        ) -> String {
            text.utf8.map(form).joined(separator: separator)
        }

        private static func spaced(_ text: String, by separator: String) -> String {
            text.map { String($0) }.joined(separator: separator)
        }

        private static func wide(_ text: String) -> String {
            bytes(text) { byte in
                Unicode.Scalar(0xfee0 + UInt32(byte)).map { String($0) } ?? ""
            }
        }

        private static func bytes(_ text: String, _ form: (UInt8) -> String) -> String {
            text.utf8.map(form).joined()
        }

        private static func hex(_ byte: UInt8) -> String {
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }

        private static func percent(_ text: String) -> String {
            bytes(text) { byte in
                let character = Character(Unicode.Scalar(byte))
                return character.isLetter || character.isNumber
                    ? String(character) : "%" + hex(byte).uppercased()
            }
        }

        private static func json(_ text: String) -> String {
            bytes(text) { byte in
                let character = Character(Unicode.Scalar(byte))
                return character.isLetter || character.isNumber
                    ? String(character) : character == "/" ? "\\/" : "\\u00" + hex(byte)
            }
        }

        private static func html(_ text: String) -> String {
            text.replacing("&", with: "&amp;").replacing("+", with: "&plus;")
                .replacing("/", with: "&sol;").replacing("=", with: "&equals;")
        }
    }

    /// An error of the service, or of one item, that repeats both tokens in each of its strings.
    private static func repeating(_ form: Form, _ names: [String: Any] = [:]) -> [String: Any] {
        let text = "sent <\(form.make(Secret.api))> and <\(form.make(Secret.user))>."
        return [
            "serverErrorCode": "CODE \(text)", "reason": text, "uuid": text, "redirectURL": text,
            "recordName": text, "subscriptionID": text,
            "zoneID": ["zoneName": text, "ownerRecordName": text],
        ].merging(names) { $1 }
    }

    /// Responds with an error for each item of a request.
    private static func items(_ form: Form, _ request: ReplyServer.Request) throws -> String {
        let path = request.head.uri.prefix { $0 != "?" }
        if path.hasSuffix("users/caller") { return #"{"userRecordName":"_u1"}"# }
        guard request.head.method == .POST else {
            let member = path.contains("zone") ? "zones" : "subscriptions"
            let response = try JSONSerialization.data(withJSONObject: [member: [repeating(form)]])
            return String(decoding: response, as: UTF8.self)
        }
        let body = try JSONSerialization.jsonObject(with: Data(request.body.readableBytesView))
        let errors = asked(body as? [String: Any] ?? [:]).map { repeating(form, names(of: $0)) }
        let member =
            switch true {
            case path.contains("zone"): "zones"
            case path.contains("subscriptions"): "subscriptions"
            case path.hasSuffix("resolve") || path.hasSuffix("accept"): "results"
            default: "records"
            }
        let response = try JSONSerialization.data(withJSONObject: [member: errors])
        return String(decoding: response, as: UTF8.self)
    }

    /// Returns the items of a request; one without a name if it lists everything.
    private static func asked(_ body: [String: Any]) -> [[String: Any]] {
        for member in ["operations", "records", "zones", "subscriptions", "shortGUIDs"] {
            if let items = body[member] as? [[String: Any]] { return items }
        }
        return [[:]]
    }

    /// Returns the names of an item, which its error has to repeat.
    private static func names(of item: [String: Any]) -> [String: Any] {
        for member in ["record", "zone", "subscription"] {
            if let inner = item[member] as? [String: Any] { return names(of: inner) }
        }
        var names = item.filter { ["recordName", "zoneID", "subscriptionID"].contains($0.key) }
        if let zone = item["zoneName"] { names["zoneID"] = ["zoneName": zone] }
        return names
    }

    /// Checks the remains of both tokens in a text: none, in any form.
    private static func expectSilence(
        _ form: Form,
        of text: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expectSilence(of: text, sourceLocation: sourceLocation)
        for secret in [Secret.api, Secret.user] {
            // A mark replaces everything but the ends, which base64 shares with its neighbours.
            let told = form.make(secret)
            let middle = told.dropFirst(told.count / 3).prefix(max(6, told.count / 4))
            #expect(
                !text.contains(told) && !text.contains(middle),
                "\(told) in \(text.prefix(1000))",
                sourceLocation: sourceLocation
            )
        }
    }

    /// Performs all calls that return results item by item.
    private func callEverything(_ client: WebClient) async throws -> [Any] {
        let zone = WireZoneID(zoneName: "Z")
        let record = WireRecord(recordName: "a", recordType: "T")
        let subscription = WireSubscription(subscriptionID: "s", subscriptionType: .database)
        let shares = SharesRequest(shortGUIDs: [.init(value: "g")])
        return [
            try await client.lookupRecords(.init(records: [.init(recordName: "a")]), in: .private),
            try await client.modifyRecords(
                .init(operations: [.init(.create, record)]),
                in: .private
            ),
            try await client.queryRecords(.init(query: WireQuery(recordType: "T")), in: .private),
            try await client.listZones(in: .private),
            try await client.lookupZones(.init(zones: [zone]), in: .private),
            try await client.modifyZones(.init(operations: [.init(.create, zone)]), in: .private),
            try await client.zoneChanges(.init(zones: [.init(zoneID: zone)]), in: .private),
            try await client.listSubscriptions(in: .private),
            try await client.lookupSubscriptions(
                .init(subscriptions: [.init(subscriptionID: "s")]),
                in: .private
            ),
            try await client.modifySubscriptions(
                .init(operations: [.init(.create, subscription)]),
                in: .private
            ),
            try await client.resolveShares(shares), try await client.acceptShares(shares),
        ]
    }

    @Test("An error of one item reveals no secret, in any of its strings and of any call")
    func itemErrors() async throws {
        // Each performs all calls; a refusal is checked in every form.
        let few: Set = ["as it is", "for addresses twice", "in base64, twice", "cut"]
        for form in Form.all where few.contains(form.testDescription) {
            try await ReplyServer.run {
                .response(200, (try? Self.items(form, $0)) ?? "{}")
            } _: { port, server in
                var client = client("http://127.0.0.1:\(port)")
                client.timeout = 60
                let responses = try await callEverything(client)
                for response in responses {
                    let text = Self.texts(of: response)
                    #expect(text.contains("[secret]"), "\(form.testDescription): \(text)")
                    Self.expectSilence(form, of: text)
                }
                #expect(server.requests.count == responses.count)
                try await expectSilence(form, of: CKContainer(client: client))
            }
        }
    }

    /// Checks the same through an app's operations.
    private func expectSilence(_ form: Form, of container: CKContainer) async throws {
        let database = container.privateCloudDatabase
        let zoneID = CKRecordZone.ID(zoneName: "Z")
        let recordID = CKRecord.ID(recordName: "a", zoneID: zoneID)
        let calls: [() async throws -> Void] = [
            { _ = try await database.record(for: recordID) },
            { _ = try await database.save(CKRecord(recordType: "T", recordID: recordID)) },
            { _ = try await database.deleteRecord(withID: recordID) },
            { _ = try await database.recordZone(for: zoneID) },
            { _ = try await database.allRecordZones() },
            { _ = try await database.save(CKRecordZone(zoneID: zoneID)) },
            { _ = try await database.subscription(for: "s") },
            { _ = try await database.allSubscriptions() },
            { _ = try await database.recordZoneChanges(inZoneWith: zoneID, since: nil) },
        ]
        for (index, call) in calls.enumerated() {
            do {
                try await call()
                Issue.record("call \(index) has no error")
            } catch {
                Self.expectSilence(form, of: Self.texts(of: error))
            }
        }
    }

    @Test("A refusal reveals no secret, whatever the form in which it has it")
    func refusals() async throws {
        for form in Form.all {
            let json = try JSONSerialization.data(withJSONObject: Self.repeating(form))
            let text = String(decoding: json, as: UTF8.self)
            try await ReplyServer.run {
                _ in
                .response(400, text)
            } _: { port, _ in
                var client = client("http://127.0.0.1:\(port)")
                client.timeout = 60
                let error = await #expect(throws: WebClientError.self) {
                    _ = try await client.caller()
                }
                Self.expectSilence(form, of: error.map { Self.texts(of: $0) } ?? "")
                guard case .refused(let refusal, 400) = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                // The sign-in page needs the app's token, and no user's.
                let page = try #require(refusal.redirectURL)
                #expect(page.contains(form.make(Secret.api)))
                #expect(!page.contains(form.make(Secret.user)))
            }
        }
    }

    @Test("An error about the app's own file names it, whatever the secret address of the asset is")
    func file() async throws {
        try await ReplyServer.run {
            _ in
            .response(200, "bytes")
        } _: { port, _ in
            let folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("cloudkit-no-folder-\(UUID().uuidString)")
            let file = folder.appendingPathComponent("holidayPhotograph0123")
            let link = "http://127.0.0.1:\(port)/\(Secret.download)/${f}?s=\(Secret.download)"
            var client = client("http://127.0.0.1:\(port)")
            client.timeout = 60
            let error = await #expect(throws: WebClientError.self) {
                try await client.download(WireAsset(size: 5, downloadURL: link), to: file)
            }
            let text = error.map { Self.texts(of: $0) } ?? ""
            #expect(text.contains("holidayPhotograph0123"))
            Self.expectSilence(of: text)
        }
    }

    @Test("What is no secret stays as it is, and so do names that the app gave")
    func innocence() async throws {
        let reason = "50% of 100%25 &amp; \\u0041 – é; api0123456 user+token"
        try await ReplyServer.run { request in
            let name = String(buffer: request.body).contains("lookup") ? "x" : Secret.api
            let json = try? JSONSerialization.data(withJSONObject: [
                "records": [
                    ["serverErrorCode": "NOT_FOUND", "reason": reason, "recordName": name]
                ]
            ])
            return .response(200, String(decoding: json ?? Data(), as: UTF8.self))
        } _: { port, _ in
            var client = client("http://127.0.0.1:\(port)")
            client.timeout = 60
            let found = try await client.lookup([Secret.api], zoneID: .defaultZone, in: .private)
            guard case .failure(let error) = found.first else {
                Issue.record("\(found)")
                return
            }
            #expect(error.recordName == Secret.api)
            #expect(error.reason == reason)
        }
    }
}
