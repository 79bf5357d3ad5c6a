import Foundation
import Testing

@Suite("Scripts/apple")
struct AppleTests {
    /// Where the build put the modules: beside the test's own executable.
    private static let build = URL(fileURLWithPath: CommandLine.arguments[0])
        .deletingLastPathComponent().path

    /// Checks one file of a target.
    private func check(_ text: String, target: String = "CloudKitStore") async throws -> Script {
        let folder = try TemporaryFolder()
        try folder.write(text, to: "Sources/\(target)/File.swift")
        return try await Script.run(
            "Scripts/apple",
            "--sources",
            folder.url.appending(path: "Sources").path,
            Self.build
        )
    }

    @Test("No target that claims Apple platforms uses what only our modules have")
    func repository() async throws {
        let run = try await Script.run("Scripts/apple", Self.build)
        #expect(run.status == 0, "\(run.output)")
    }

    @Test("A module of other platforms is found, unless a condition keeps it away")
    func modules() async throws {
        for module in ["Glibc", "Musl", "FoundationNetworking"] {
            let planted = try await check("import Foundation\nimport \(module)\n")
            #expect(planted.status == 1)
            #expect(planted.output.contains("File.swift:2: Apple platforms have no module"))
            let kept = try await check(
                "#if os(Linux) || os(Android)\nimport \(module)\n#else\nimport Darwin\n#endif\n"
            )
            #expect(kept.status == 0, "\(kept.output)")
        }
    }

    @Test("A choice of the C library names all of them")
    func chains() async throws {
        let whole = """
            #if canImport(Glibc)
            import Glibc
            #elseif canImport(Musl)
            import Musl
            #elseif canImport(Android)
            import Android
            #elseif canImport(Darwin)
            import Darwin
            #endif

            """
        #expect(try await check(whole).status == 0)
        for name in ["Musl", "Android", "Darwin"] {
            let planted = try await check(
                whole.replacing("#elseif canImport(\(name))\nimport \(name)\n", with: "")
            )
            #expect(planted.status == 1)
            #expect(planted.output.contains("leaves \(name) out"))
        }
    }

    @Test(
        "A use of what our CloudKit has for this package alone is found",
        arguments: [
            ("let bytes = record.compactSystemFields", "compactSystemFields"),
            ("let token = CKServerChangeToken(text: \"a\")", "CKServerChangeToken(text:)"),
        ]
    )
    func ownNames(_ line: String, _ name: String) async throws {
        let planted = try await check("import CloudKit\n\(line)\n")
        #expect(planted.status == 1)
        #expect(planted.output.contains("\(name) is this package's alone"), "\(planted.output)")
        for condition in ["#if !canImport(Darwin)", "#if !canImport(Darwin) || PORTABLE_CLOUDKIT"] {
            let kept = try await check("import CloudKit\n\(condition)\n\(line)\n#endif\n")
            #expect(kept.status == 0, "\(kept.output)")
        }
        // The stand-ins exist where Apple has none, and Linux reads the other branch.
        #expect(try await check("import CloudKit\n\(line)\n", target: "CloudKit").status == 0)
    }

    @Test("A switch over an enum of CloudKit that names all cases needs @unknown default")
    func switches() async throws {
        func text(_ last: String) -> String {
            """
            import CloudKit
            func loss(_ reason: CKDatabase.DatabaseChange.Deletion.Reason?) -> Int {
                switch reason {
                case .deleted, .purged: 1
                case .encryptedDataReset:
                    [1].map { $0 }.count
                case nil: 2
            \(last)    }
            }

            """
        }
        let planted = try await check(text(""))
        #expect(planted.status == 1)
        #expect(
            planted.output.contains(
                "File.swift:3: the switch over CKDatabase.DatabaseChange.Deletion.Reason has no "
                    + "@unknown default"
            ),
            "\(planted.output)"
        )
        for last in ["    @unknown default: 3\n", "    default: 3\n"] {
            let run = try await check(text(last))
            #expect(run.status == 0, "\(run.output)")
        }
        // An enum of one's own with the same cases is switched over as one likes.
        let own = "enum Loss {\n    case deleted, purged\n    case encryptedDataReset\n}\n"
        #expect(try await check(own + text("")).status == 0)
    }

    @Test("What is built on a target that Apple platforms lack is left out there with it")
    func manifest() throws {
        let text = try String(
            contentsOf: Repository.root.appending(path: "Package.swift"),
            encoding: .utf8
        )
        func names(_ text: Substring) -> Set<Substring> {
            Set(text.matches(of: #/"(\w+)"/#).map(\.output.1))
        }
        let list = try #require(
            text.firstMatch(of: #/let needsOurCloudKit: Set = \[([^\]]+)\]/#)
        )
        let left = names(list.output.1)
        #expect(left.contains("CloudKitTesting"))
        let targets = text.matches(
            of: #/[tT]arget\(\s*name: "(\w+)",\s*dependencies: \[([^\]]+)\]/#
        )
        #expect(targets.count > 20)
        for target in targets where !names(target.output.2).isDisjoint(with: left) {
            #expect(left.contains(target.output.1), "\(target.output.1) is not left out")
        }
    }

    @Test("Enums that Apple's framework may add to are nonexhaustive, and what it closes is closed")
    func declarations() throws {
        let folder = Repository.root.appending(path: "Sources/CloudKit/API")
        var text = ""
        let files = try #require(
            FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        )
        for case let file as URL in files where file.pathExtension == "swift" {
            text += try String(contentsOf: file, encoding: .utf8) + "\n"
        }
        for name in [
            "Event", "ChangeType", "SyncReason", "Scope", "PendingRecordZoneChange",
            "PendingDatabaseChange", "Reason", "ParticipantType", "Code",
        ] {
            let pattern = #"\n *(@nonexhaustive)?\n? *public enum "# + name + ":"
            let all = text.matches(of: try Regex(pattern))
            #expect(!all.isEmpty && all.allSatisfy { $0.output[1].substring != nil }, "\(name)")
        }
        for name in [
            "setObject", "allKeys", "changedKeys", "operationID", "recordType", "subscriptionID",
            "rootRecordDesiredKeys", "fetchSubscriptionCompletionBlock", "subscriptionIDs",
            "modifySubscriptionsCompletionBlock", "subscriptionIDsToDelete", "participantID",
            "alertLocalizationArgs", "titleLocalizationArgs", "subtitleLocalizationArgs",
        ] {
            #expect(text.contains(try Regex(#"public (var|func) "# + name + #"\b"#)), "\(name)")
            #expect(!text.contains(try Regex(#"open (var|func) "# + name + #"\b"#)), "\(name)")
        }
    }
}
