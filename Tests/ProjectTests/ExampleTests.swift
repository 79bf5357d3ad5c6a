import Testing

@Suite("Examples in the documentation of the CloudKit module")
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

    @Test("Every example is compiled as it stands")
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
