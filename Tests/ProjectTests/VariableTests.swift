import Foundation
import Testing

@Suite("Variables of the environment")
struct VariableTests {
    @Test(
        "Every variable that a client reads stands in the tables of the documents",
        arguments: ["Sources/CloudKit/CloudKit.docc/CloudKit.md", "docs/guides/backend.md"]
    )
    func documents(path: String) throws {
        var names: Set<String> = []
        for target in ["CloudKit", "CloudKitWebClient", "CloudKitExtras", "CloudKitFiles"] {
            for file in try Repository.swiftFiles(under: "Sources/\(target)") {
                for match in file.text.matches(
                    of: /"(CLOUDKIT_[A-Z_]+|HTTPS_PROXY|NO_PROXY|SSL_CERT_FILE)"/
                ) {
                    names.insert(String(match.output.1))
                }
            }
        }
        #expect(names.isSuperset(of: ["CLOUDKIT_URL", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE"]))
        let text = try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("|") }
        for name in names.sorted() {
            #expect(rows.contains { $0.contains("`\(name)`") }, "\(name) in \(path)")
        }
    }
}
