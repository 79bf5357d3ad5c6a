import Foundation
import Testing

@Suite("docs/reference/errors.md: the kinds of each error type")
struct ErrorPageTests {
    /// An error type whose kinds the page lists below a heading that names it.
    struct Kinds: Sendable, CustomTestStringConvertible {
        var type: String
        var file: String
        /// The type around the cases.
        var declaration: String

        var testDescription: String { type }
    }

    static let all = [
        Kinds(
            type: "TransportError",
            file: "CloudKitWebClient/Transport/TransportError.swift",
            declaration: "struct Code"
        ),
        Kinds(
            type: "CloudStoreError",
            file: "CloudKitStore/Reports/CloudStoreError.swift",
            declaration: "enum Code"
        ),
        Kinds(
            type: "CloudKitGraphError",
            file: "CloudKitCodable/Errors/CloudKitGraphError.swift",
            declaration: "struct Code"
        ),
        Kinds(
            type: "CloudKitRecordEncodingError",
            file: "CloudKitCodable/Errors/CloudKitRecordEncodingError.swift",
            declaration: "enum CloudKitRecordEncodingError"
        ),
        Kinds(
            type: "CKCodableError",
            file: "NestedCloudKitCodable/CKCodableError.swift",
            declaration: "enum ErrorType"
        ),
        Kinds(
            type: "CoreDataModelError",
            file: "CloudKitCoreData/Model/CoreDataModelError.swift",
            declaration: "enum Code"
        ),
        Kinds(
            type: "CoreDataStoreError",
            file: "CloudKitCoreData/Store/CoreDataStoreError.swift",
            declaration: "enum Code"
        ),
        Kinds(
            type: "StorageError",
            file: "CloudKitServerCore/Storage/StorageError.swift",
            declaration: "enum Code"
        ),
    ]

    @Test("The page has a row for each kind, and for no other", arguments: all)
    func kinds(_ kinds: Kinds) throws {
        let page = Repository.root.appending(path: "docs/reference/errors.md")
        let source = Repository.root.appending(path: "Sources/\(kinds.file)")
        let declared = Self.declared(
            in: try String(contentsOf: source, encoding: .utf8),
            kinds.declaration
        )
        #expect(declared.count > 2)
        let listed = Self.listed(in: try String(contentsOf: page, encoding: .utf8), kinds.type)
        #expect(listed == declared)
    }

    @Test("A kind that the page lacks, and a row of a kind that is gone, are seen")
    func planted() {
        let source = """
                public enum Code: String {
                    /// One.
                    case one
                    case two(name: String, size: Int), three
                    init() {
                    }
                    public static let four = Code(description: "four")
                }
                case five
            """
        #expect(Self.declared(in: source, "enum Code") == ["one", "two", "three", "four"])
        let page = """
            ## Others

            | `one` | cause |

            ## Ours: `Error`

            | code | cause |
            |---|---|
            | `two` | as `three` |

            ## More

            | `four` | cause |
            """
        #expect(Self.listed(in: page, "Error") == ["two"])
    }

    /// The cases, or the constants that stand for them, of the first type whose declaration has this text.
    private static func declared(in source: String, _ declaration: String) -> Set<String> {
        let lines = source.split(separator: "\n")
        guard let start = lines.firstIndex(where: { $0.contains(declaration) }) else { return [] }
        let end = String(lines[start].prefix { $0 == " " }) + "}"
        var names: Set<String> = []
        for line in lines[(start + 1)...].prefix(while: { $0 != end }) {
            let text = line.trimmingCharacters(in: .whitespaces)
            if text.hasPrefix("case ") {
                // Without the values that a case carries.
                let cases = text.replacing(/\([^)]*\)/, with: "")
                for match in cases.matches(of: /(?:case |, )(\w+)/) {
                    names.insert(String(match.output.1))
                }
            } else if let match = text.firstMatch(of: /^public static let (\w+) =/) {
                names.insert(String(match.output.1))
            }
        }
        return names
    }

    /// The codes in the first column of the section whose heading names a type.
    private static func listed(in page: String, _ type: String) -> Set<String> {
        let lines = page.split(separator: "\n")
        let heading = lines.firstIndex { $0.hasPrefix("## ") && $0.contains("`\(type)`") }
        guard let start = heading else { return [] }
        let section = lines[(start + 1)...].prefix { !$0.hasPrefix("## ") }
        let names = section.compactMap { line in
            line.firstMatch(of: /^\| `(\w+)` \|/).map { String($0.output.1) }
        }
        return Set(names).subtracting(["errorType"])
    }
}
