import Foundation
import Testing

@Suite("Scripts/apple")
struct AppleTests {
    /// The folder of the build, which contains the test's own executable.
    private static let build = URL(fileURLWithPath: CommandLine.arguments[0])
        .deletingLastPathComponent().path

    /// The check of the repository, and the file in which it leaves the module's symbols for the others:
    /// reading them from the module takes the longest.
    private static let first = Task {
        let symbols = URL(filePath: build).appending(path: "apple-symbols.json")
        if FileManager.default.fileExists(atPath: symbols.path) {
            // Those of an earlier build.
            try FileManager.default.removeItem(at: symbols)
        }
        let run = try await Script.run("Scripts/apple", "--symbols", symbols.path, build)
        return (run: run, symbols: symbols.path)
    }

    /// Checks one file of a target.
    private func check(_ text: String, target: String = "CloudKitStore") async throws -> Script {
        let folder = try TemporaryFolder()
        try folder.write(text, to: "Sources/\(target)/File.swift")
        return try await Script.run(
            "Scripts/apple",
            "--sources",
            folder.url.appending(path: "Sources").path,
            "--symbols",
            try await Self.first.value.symbols,
            Self.build
        )
    }

    @Test("No target that claims Apple platforms uses what only our modules have")
    func repository() async throws {
        let run = try await Self.first.value.run
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
            ("let name: CKRecordID? = nil", "CKRecordID"),
            ("struct Maker: _CKContainerMaking {}", "_CKContainerMaking"),
            ("let role: CKShare.ParticipantRole = .administrator", "ParticipantRole.administrator"),
            ("let code: CKError.Code = .participantAlreadyInvited", "participantAlreadyInvited"),
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
        // The stand-ins exist where Apple has no counterpart, and Linux reads the other branch.
        #expect(try await check("import CloudKit\n\(line)\n", target: "CloudKit").status == 0)
    }

    @Test(
        "A function or constant of the C library that Linux has alone is found",
        arguments: ["let synced = fdatasync(file)", "let flags = O_RDWR | O_TMPFILE"]
    )
    func linuxNames(_ line: String) async throws {
        let planted = try await check("import Foundation\n\(line)\n")
        #expect(planted.status == 1)
        #expect(planted.output.contains("File.swift:2: Apple's C library has no"))
        let kept = [
            "#if canImport(Darwin)\nlet synced = fsync(file)\n#else\n\(line)\n#endif\n",
            // A member with the name of such a function is not one.
            "let other = album.fdatasync(file)\nlet text = \"O_TMPFILE\"\n",
        ]
        for text in kept {
            let run = try await check("import Foundation\n" + text)
            #expect(run.status == 0, "\(run.output)")
        }
    }

    @Test("A switch over a tuple with an enum of CloudKit needs a default where it names all cases")
    func tuples() async throws {
        func text(_ last: String) -> String {
            """
            import CloudKit
            func number(_ status: CKAccountStatus, _ isNew: Bool) -> Int {
                switch (status, isNew) {
                case (.available, _), (CKAccountStatus.noAccount, true): 1
                case (.restricted, let isNew),
                    (.couldNotDetermine, let isNew): isNew ? 2 : 3
                case (.temporarilyUnavailable, _): 4
                \(last): 5
                }
            }

            """
        }
        let planted = try await check(text("case (.noAccount, false)"))
        #expect(planted.status == 1)
        #expect(
            planted.output.contains("File.swift:3: the switch over CKAccountStatus has no"),
            "\(planted.output)"
        )
        for last in ["case (_, false)", "case (let other, false)", "@unknown default"] {
            let run = try await check(text(last))
            #expect(run.status == 0, "\(run.output)")
        }
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
        // A switch over an app's own enum with the same cases is not restricted.
        let own = "enum Loss {\n    case deleted, purged\n    case encryptedDataReset\n}\n"
        #expect(try await check(own + text("")).status == 0)
    }

    /// A manifest as SwiftPM reads it.
    private struct Manifest: Decodable {
        struct Target: Decodable {
            let name: String
            let dependencies: [Dependency]
        }
        struct Product: Decodable {
            let name: String
            let targets: [String]
        }
        /// A dependency on another target, and the platforms on which it holds; none means all.
        struct Dependency: Decodable {
            private struct Condition: Decodable { let platformNames: [String]? }
            private enum Kind: String, CodingKey { case byName, target, product }

            var name: String?
            var platforms: [String] = []

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Kind.self)
                guard let kind = container.allKeys.first, kind != .product else { return }
                var parts = try container.nestedUnkeyedContainer(forKey: kind)
                name = try parts.decode(String.self)
                platforms = try parts.decodeIfPresent(Condition.self)?.platformNames ?? []
            }

            var holdsOnAMac: Bool { platforms.isEmpty || platforms.contains("macos") }
        }

        let products: [Product]
        let targets: [Target]

        /// The targets of the package that `swift build` builds: all except those that another one
        /// names under a condition that does not hold, with their dependencies.
        var madeOnAMac: Set<String> {
            let edges = Dictionary(uniqueKeysWithValues: targets.map { ($0.name, $0.dependencies) })
            let left = edges.values.joined().filter { !$0.holdsOnAMac }.compactMap(\.name)
            var made = Set(edges.keys).subtracting(left)
            var rest = Array(made)
            while let name = rest.popLast() {
                for edge in edges[name] ?? [] where edge.holdsOnAMac {
                    if let target = edge.name, made.insert(target).inserted { rest.append(target) }
                }
            }
            return made
        }
    }

    @Test("A Mac's build makes nothing that hides Apple's framework, and every product is there")
    func manifest() async throws {
        let folder = try TemporaryFolder()
        let text = try String(
            contentsOf: Repository.root.appending(path: "Package.swift"),
            encoding: .utf8
        )
        #expect(text.contains("#if os(macOS)"))
        // The manifest as SwiftPM on a Mac reads it.
        try folder.write(
            text.replacing("#if os(macOS)", with: "#if os(Linux)"),
            to: "Package.swift"
        )
        let manifest = try await manifest(Manifest.self, in: folder.url)
        let ours = ["CloudKit", "CoreLocation", "UniformTypeIdentifiers", "CloudKitTesting"]
        #expect(manifest.madeOnAMac.isDisjoint(with: ours))
        #expect(
            manifest.madeOnAMac.isSuperset(
                of: ["CloudKitCodable", "CloudKitStore", "CloudKitTool", "CloudKitServerTests"]
            )
        )
        // A package whose products are named under a condition is not loaded when they are missing.
        let names = Set(manifest.targets.map(\.name))
        #expect(manifest.products.allSatisfy { names.isSuperset(of: $0.targets) })
        #expect(Set(manifest.products.map(\.name)).isSuperset(of: ["CloudKit", "CloudKitTesting"]))
    }

    /// Returns the manifest of the package in a folder, as SwiftPM reads it.
    private func manifest<Contents: Decodable>(
        _ type: Contents.Type,
        in folder: URL
    ) async throws -> Contents {
        let dump = try await Script.run(
            "/usr/bin/env",
            "swift",
            "package",
            "--package-path",
            folder.path,
            "dump-package"
        )
        let json = try #require(dump.output.firstIndex(of: "{").map { dump.output[$0...] })
        return try JSONDecoder().decode(type, from: Data(json.utf8))
    }

    /// The dependencies of an example's targets on other packages.
    private struct ExampleManifest: Decodable {
        struct Target: Decodable { let dependencies: [Product] }
        /// A product, and the platforms on which it is required; none means all.
        struct Product: Decodable {
            private struct Condition: Decodable { let platformNames: [String] }
            private enum Kind: String, CodingKey { case product }

            var name: String?
            var platforms: [String] = []

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Kind.self)
                guard container.contains(.product) else { return }
                var parts = try container.nestedUnkeyedContainer(forKey: .product)
                name = try parts.decode(String.self)
                // Its package, and its module aliases.
                _ = try parts.decode(String.self)
                _ = try parts.decodeIfPresent([String: String].self)
                platforms = try parts.decodeIfPresent(Condition.self)?.platformNames ?? []
            }
        }

        let targets: [Target]
    }

    @Test("Examples take Apple's framework where there is one, without tests of a whole cloud")
    func examples() async throws {
        let folder = Repository.root.appending(path: "Examples")
        let files = FileManager.default
        let examples = try files.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { files.fileExists(atPath: $0.appending(path: "Tests").path) }
        #expect(examples.count >= 4)
        for example in examples {
            let manifest = try await manifest(ExampleManifest.self, in: example)
            let products = manifest.targets.flatMap(\.dependencies)
                .filter { $0.name == "CloudKit" || $0.name == "CloudKitTesting" }
            #expect(Set(products.compactMap(\.name)) == ["CloudKit", "CloudKitTesting"])
            #expect(products.allSatisfy { $0.platforms == ["linux", "android"] })
            let tests = try #require(
                files.enumerator(
                    at: example.appending(path: "Tests"),
                    includingPropertiesForKeys: nil
                )
            )
            for case let file as URL in tests where file.pathExtension == "swift" {
                let text = try String(contentsOf: file, encoding: .utf8)
                #expect(text.hasPrefix("#if canImport(CloudKitTesting)\n"), "\(file.path)")
            }
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
            "object",
        ] {
            #expect(text.contains(try Regex(#"public (var|func) "# + name + #"\b"#)), "\(name)")
            #expect(!text.contains(try Regex(#"open (var|func) "# + name + #"\b"#)), "\(name)")
        }
        // Open in deprecated declarations, which are Objective-C's alone on Apple platforms.
        for (file, name) in [
            ("Operations/CKFetchRecordZoneChangesOperation", "recordWithIDWasDeletedBlock"),
            ("Operations/CKFetchRecordsOperation", "desiredKeys"),
            ("Operations/CKQueryOperation", "desiredKeys"),
            ("Subscriptions/CKNotificationInfo", "desiredKeys"),
        ] {
            let text = try String(
                contentsOf: folder.appending(path: file + ".swift"),
                encoding: .utf8
            )
            #expect(text.contains("public var \(name):"), "\(file).\(name)")
            #expect(!text.contains("open var \(name)"), "\(file).\(name)")
        }
    }
}
