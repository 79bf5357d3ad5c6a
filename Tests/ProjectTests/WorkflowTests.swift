import Foundation
import Testing

@Suite("Workflows in the guides")
struct WorkflowTests {
    private func text(_ path: String) throws -> String {
        try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
    }

    /// Returns the packages of a text's `apt-get install`.
    private func packages(_ text: Substring) -> Set<String> {
        let line = text.firstMatch(of: /apt-get install ([^`\n]+)/)?.output.1 ?? ""
        return Set(line.split(separator: " ").map(String.init)).filter { !$0.hasPrefix("-") }
    }

    @Test(
        "They use the container of this package's own, and install the libraries that README.md names"
    )
    func guides() throws {
        let own = try text(".github/workflows/ci.yml")
        let container = try #require(own.firstMatch(of: /container: (\S+)/)).output.1
        let libraries = try packages(text("README.md")[...]).filter {
            $0.hasPrefix("lib") || $0.hasSuffix("-dev")
        }
        #expect(libraries.contains("libsqlite3-dev"))
        var count = 0
        for path in try Repository.paths(under: "docs/guides") where path.hasSuffix(".md") {
            for block in try text(path).matches(of: /```yaml\n([^`]+)```/) {
                let workflow = block.output.1
                guard workflow.contains("container: swift:") else { continue }
                count += 1
                #expect(workflow.contains("container: \(container)\n"), "\(path)")
                #expect(libraries.subtracting(packages(workflow)).sorted() == [], "\(path)")
            }
        }
        #expect(count > 1)
    }

    @Test("A test file of the guides that imports what Apple's platforms lack says so")
    func conditions() throws {
        let guide = try text("docs/guides/store-in-apps.md")
        let manifest = try #require(
            guide.firstMatch(of: /```swift\n(\/\/ swift-tools-version(?:[^`]|`(?!``))+)```/)
        )
        let isConditional = manifest.output.1.contains(
            /name: "CloudKitTesting",\s+package: "swift-cloudkit",\s+condition:/
        )
        #expect(isConditional)
        for block in guide.matches(of: /```swift\n([^`]+)```/)
        where block.output.1.contains("import CloudKitTesting") {
            #expect(block.output.1.hasPrefix("#if canImport(CloudKitTesting)\n"))
        }
    }
}
