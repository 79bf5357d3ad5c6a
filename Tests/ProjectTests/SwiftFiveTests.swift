import Foundation
import Testing

@Suite("Scripts/swift5")
struct SwiftFiveTests {
    /// The folder of the build, which contains the test's own executable.
    private static let build = URL(fileURLWithPath: CommandLine.arguments[0])
        .deletingLastPathComponent().path

    @Test("What users write compiles in Swift 5 mode and in another package, without a warning")
    func compatibility() async throws {
        let run = try await Script.run("Scripts/swift5", Self.build)
        #expect(run.status == 0, "\(run.output)")
    }

    /// Code that must not compile without a warning.
    private static let failing = [
        "func save(_ database: CKDatabase) { database.saveAll([]) }",
        "func name(_ record: CKRecord) { let name = record.recordID.recordName }",
        "func connection(_ container: CKContainer) { _ = container.connection }",
        // Declarations that Apple's framework lacks, or refuses.
        "func text() -> String? { CKError(.unknownItem).errorDescription }",
        "func copy(_ group: CKOperationGroup) -> Any { group.copy(with: nil) }",
        "let predicate = NSPredicate(format: \"a == %@\", Optional(\"x\"))",
        "func copy(_ all: CKOperation.Configuration) -> Any { all.copy(with: nil) }",
        "func text(_ type: CKSyncEngine.Event.AccountChange.ChangeType) { _ = type.description }",
        """
        @available(*, deprecated)
        func options(_ all: CKFetchRecordZoneChangesOperation.ZoneConfiguration)
            -> CKFetchRecordZoneChangesOperation.ZoneOptions
        { all }
        """,
        "final class Note: CKRecord { override func allKeys() -> [String] { [] } }",
        "final class Step: CKOperation { override var operationID: String { \"a\" } }",
        """
        func number(_ why: CKSyncEngine.SyncReason) -> Int {
            switch why { case .scheduled: 1; case .manual: 2 }
        }
        """,
    ]

    @Test("What does not compile fails, and so does what compiles with a warning")
    func failing() async throws {
        let folder = try TemporaryFolder()
        let files = try Self.failing.enumerated().map { number, text in
            try folder.write(
                "import CloudKit\n\nstruct Case\(number) {\n\(text)\n}\n",
                to: "Case\(number).swift"
            )
        }
        let run = try await Script.run("Scripts/swift5", arguments: [Self.build] + files)
        #expect(run.status == 1)
        for (number, text) in Self.failing.enumerated() {
            let error = try Regex("Case\(number)\\.swift:[4-7]:\\d+: error:")
            #expect(run.output.contains(error), "\(text)")
        }
    }

    @Test("A build without the module is refused")
    func noBuild() async throws {
        let folder = try TemporaryFolder()
        let run = try await Script.run("Scripts/swift5", folder.url.path)
        #expect(run.status == 2)
        #expect(
            run.output.hasSuffix("holds no module CloudKit; run swift build --target CloudKit\n")
        )
    }
}
