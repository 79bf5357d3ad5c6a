import Foundation
import Testing

#if os(Linux)
@Suite("What the loader runs")
struct LoadTimeTests {
    private static let archiving = Repository.root
        .appending(path: "Sources/CloudKit/Implementation/Archiving")

    /// Counts names that a dictionary has and finds.
    private static let names = """
        enum ArchiveNames {
            nonisolated(unsafe) static var names: [String: Int] = [:]
            static func register() {
                guard LoadTime.isHashingSettled, names.isEmpty else { return }
                for number in 0..<100 { names["name \\(number)"] = number }
            }
        }
        """
    private static let main = """
        var found = 0
        for number in 0..<100 where ArchiveNames.names["name \\(number)"] != nil { found += 1 }
        print(ArchiveNames.names.count, found)
        """

    @Test(
        "Names are registered after the seed of hash values, also with a static standard library",
        arguments: [[], ["-static-stdlib"]],
        ["-use-ld=gold", "-use-ld=lld"]
    )
    func registration(_ library: [String], _ linker: String) async throws {
        let source = try String(
            contentsOf: Self.archiving.appending(path: "ArchiveNames.swift"),
            encoding: .utf8
        )
        let start = try #require(source.range(of: "@section"))
        let end = try #require(
            source.range(of: "#elseif", range: start.upperBound..<source.endIndex)
        )
        let folder = try TemporaryFolder()
        let files = try [
            folder.write(
                "\(Self.names)\n\(source[start.lowerBound..<end.lowerBound])",
                to: "Names.swift"
            ),
            folder.write(Self.main, to: "main.swift"),
            Self.archiving.appending(path: "LoadTime.swift").path,
        ]
        let program = folder.url.appending(path: "program").path
        let build = try await Script.run(
            "/usr/bin/env",
            arguments: ["swiftc", "-swift-version", "6", "-o", program, linker] + library + files
        )
        #expect(build.status == 0, "\(build.output)")
        let variable = "SWIFT_DETERMINISTIC_HASHING"
        for arguments in [["-u", variable], ["\(variable)=1"]] {
            let run = try await Script.run("/usr/bin/env", arguments: arguments + [program])
            #expect(run.output == "100 100\n", "\(arguments)")
        }
    }
}
#endif
