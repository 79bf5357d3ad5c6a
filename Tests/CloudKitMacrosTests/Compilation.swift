#if Macros
import Foundation
import ProcessFixtures

/// The compiler's view of sources with macros, which it compiles side by side as one module.
struct Compilation {
    /// The code that the macros wrote, and all diagnostics with the lines that they are about.
    let output: String
    private let errors: [String: [String]]

    /// Compiles sources, each of which stands in a file and a scope of its own.
    init(_ sources: [String]) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "macros-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Self.helpers.write(
            to: folder.appending(path: "Helpers.swift"),
            atomically: false,
            encoding: .utf8
        )
        for (number, source) in sources.enumerated() {
            let text = "\(Self.imports)\nenum Case\(number) {\n\(source)\n}\n"
            let file = folder.appending(path: "Case\(number).swift")
            try text.write(to: file, atomically: false, encoding: .utf8)
        }
        output = try await Self.compile(folder)
        errors = output.split(separator: "\n").reduce(into: [:]) { errors, line in
            if let match = line.firstMatch(of: /(\w+)\.swift:\d+:\d+: error: (.*)$/) {
                errors[String(match.1), default: []].append(String(match.2))
            }
        }
    }

    /// The errors in a source, in order.
    func messages(_ number: Int = 0) -> [String] { errors["Case\(number)"] ?? [] }

    /// The errors that the macros report in a source, in order.
    func refusals(_ number: Int) -> [String] {
        messages(number).filter { $0.contains("(from macro '") }
    }

    private static let imports = """
        import CloudKit
        import CloudKitCodable
        import CoreLocation
        import Foundation
        """

    /// Declarations that the sources name.
    private static let helpers = """
        let name = "N"
        func make() -> Int { 1 }
        protocol Named {}
        extension Named { var recordName: String { "n" } }
        struct Words: Codable {}
        """

    private static func compile(_ folder: URL) async throws -> String {
        let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let build = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        let process = Process()
        process.executableURL = repository.appending(path: "Scripts/typecheck")
        process.currentDirectoryURL = folder
        process.arguments =
            [build.path, "-swift-version", "6", "-module-name", "Cases"]
            + ["-diagnostic-style", "llvm", "-Xfrontend", "-dump-macro-expansions"] + files
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        return try await output.text()
    }
}
#endif
