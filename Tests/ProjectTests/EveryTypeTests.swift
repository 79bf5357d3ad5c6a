import Foundation
import Testing

@Suite("The listing of the store's types")
struct EveryTypeTests {
    @Test("It names each public type, and no other")
    func complete() throws {
        let page = try String(
            contentsOf: Repository.root
                .appending(path: "Sources/CloudKitStore/CloudKitStore.docc/EveryType.md"),
            encoding: .utf8
        )
        let named = page.matches(of: /``([\w\/.-]+)``/).compactMap { match in
            match.output.1.split(separator: "/").last.map { String($0.prefix { $0 != "-" }) }
        }
        // An alias of a type of its own name is not one more type.
        let aliases: Set = ["Configuration"]
        let declared = try Repository.swiftFiles(under: "Sources/CloudKitStore").flatMap { file in
            file.text.matches(
                of:
                    /(?m)^ *public (?:(?:final|indirect) )?(?:struct|enum|class|actor|protocol|typealias) (\w+)/
            )
            .map { String($0.output.1) }
        }
        #expect(declared.count > 30)
        let missing = Set(declared).subtracting(named).subtracting(aliases)
        #expect(missing.sorted() == [], "EveryType.md does not name them")
        #expect(Set(named).subtracting(declared).sorted() == [], "the store has no such types")
    }
}
