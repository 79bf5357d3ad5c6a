import Testing

@Suite("Examples in the documentation of symbols")
struct ExampleTests {
    /// The documents whose examples need what Apple's framework lacks, or are expressions.
    private static let others = ["Foundation+KeyValueCoding.swift", "NSPredicate+Format.swift"]

    /// Returns the code of each example, without white space.
    private func examples(in file: SourceFile) -> [String] {
        file.text.matches(of: /```swift\n((?:[^`]|`(?!``))*?)\s*\/\/\/ ```/).map { match in
            match.1.split(separator: "\n")
                .map { $0.drop { $0 == " " }.dropFirst(3) }
                .joined()
                .filter { !$0.isWhitespace }
        }
    }

    /// The documents of types in other modules with an example above the type, which SnippetTests compiles.
    private static let types = [
        "CloudKitCodable/Decoder/MissingRecords", "CloudKitCodable/Graph/RecordSize",
        "CloudKitCodable/Representable/CloudKitAssetValue",
        "CloudKitCodable/Representable/CloudKitEnum", "CloudKitStore/Journal/JournalEntry",
        "CloudKitStore/Merging/MergeRule", "CloudKitStore/Reports/CloudStoreError",
        "CloudKitStore/Reports/StoreEvent", "CloudKitStore/Reports/StoreStatus",
        "CloudKitStore/Sync/StoreConfiguration", "CloudKitTesting/InProcessTransport",
        "CloudKitWebClient/Credentials/WebCredentials", "CloudKitWebClient/RetryPolicy",
    ]

    @Test("The examples of types in other modules are compiled as they stand", arguments: types)
    func typesCompiled(file: String) throws {
        let compiled = try #require(
            try Repository.swiftFiles(under: "Tests/SnippetTests")
                .first { $0.path.hasSuffix("/TypeExamples.swift") }
        )
        .text.filter { !$0.isWhitespace }
        let document = try #require(
            try Repository.swiftFiles(under: "Sources")
                .first { $0.path == "Sources/\(file).swift" }
        )
        let example = try #require(examples(in: document).first, "\(file) has no example")
        #expect(compiled.contains(example), "\(file): copy the example into TypeExamples.swift")
    }

    @Test("Every example of the CloudKit module is compiled as it stands")
    func compiled() throws {
        let compiled = try #require(
            try Repository.swiftFiles(under: "Tests/CloudKitSourceCompatTests")
                .first { $0.path.hasSuffix("/ExampleCalls.swift") }
        )
        .text.filter { !$0.isWhitespace }
        let files = try Repository.swiftFiles(under: "Sources/CloudKit/API")
            .filter { file in !Self.others.contains { file.path.hasSuffix($0) } }
        let found = files.flatMap { file in examples(in: file).map { (file.path, $0) } }
        #expect(found.count > 10)
        for (path, example) in found {
            #expect(compiled.contains(example), "\(path): copy the example into ExampleCalls.swift")
        }
    }
}
