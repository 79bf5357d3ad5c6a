import Foundation
import Testing

@Suite("The pages of the documentation as articles")
struct ArticleTests {
    /// Returns the text of each file that the script writes, by name.
    private func written() async throws -> [String: String] {
        let folder = try TemporaryFolder()
        let catalog = folder.url.appending(path: "swift-cloudkit.docc")
        let run = try await Script.run("Scripts/articles", catalog.path)
        #expect(run.status == 0, "\(run.output)")
        return try FileManager.default.contentsOfDirectory(atPath: catalog.path)
            .reduce(into: [:]) { found, name in
                found[name] = try String(
                    contentsOf: catalog.appending(path: name),
                    encoding: .utf8
                )
            }
    }

    @Test("The first page leads to every guide, and to every product of the manifest")
    func firstPage() async throws {
        let articles = try await written()
        let page = try #require(articles["swift-cloudkit.md"])
        for path in try Repository.paths(under: "docs/guides") where path.hasSuffix(".md") {
            let name = try #require(path.split(separator: "/").last)
            #expect(articles[String(name)] != nil, "\(path)")
            #expect(page.contains("- <doc:\(name.dropLast(".md".count))>"), "\(path)")
        }
        let manifest = try String(
            contentsOf: Repository.root.appending(path: "Package.swift"),
            encoding: .utf8
        )
        let products = manifest.matches(of: /\.library\(\s*name: "(\w+)"/).map { $0.output.1 }
        #expect(products.count > 10)
        for product in products {
            let link = "[`\(product)`](/documentation/\(product.lowercased()))"
            #expect(page.contains(link), "the table of products in README.md lacks \(product)")
        }
    }

    @Test("Links lead to articles, to the site or to the web, and comments of snippets are gone")
    func links() async throws {
        let articles = try await written()
        for (name, text) in articles {
            for match in text.matches(of: /\]\(([a-z]+:[^)\s#]*|[^)\s:]*)/) {
                let link = match.output.1
                if link.hasPrefix("doc:") {
                    let article = link.dropFirst("doc:".count) + ".md"
                    #expect(articles[String(article)] != nil, "\(name): \(link)")
                } else {
                    let isWeb = link.hasPrefix("https://")
                    #expect(isWeb || !link.hasSuffix(".md"), "\(name): \(link)")
                }
            }
            #expect(!text.contains("<!-- snippet"), "\(name)")
        }
    }
}
