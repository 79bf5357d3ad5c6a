import Foundation
import Testing

@Suite("The calls that a page names")
struct CallChainTests {
    private func problems(_ page: String, in source: String) -> [String] {
        let chains = CallChain.all(in: "\n## The way\n\(page)\n## Another\n`C.z`", under: "The way")
        let index = FunctionIndex([SourceFile(path: "A.swift", text: source)], for: chains)
        return CallChain.problems(of: chains, in: index)
    }

    private let source = """
        struct A {
            // g() is not called by h.
            func f() { b.g(1) }
            func h() { print("b.g(1)") }
        }
        struct B: P {}
        extension B {
            func g(_ number: Int) { run { } }
            func run(_ body: () -> Void) {}
        }
        protocol P {
            func run(_ body: () -> Void)
        }
        """

    @Test("A save travels as the page on the architecture says")
    func repository() throws {
        let url = Repository.root.appending(path: "docs/internals/architecture.md")
        let page = try String(contentsOf: url, encoding: .utf8)
        let chains = CallChain.all(in: page, under: "How a save travels")
        let functions = chains.flatMap(\.functions)
        #expect(functions.first?.description == "CKDatabase.modifyRecords")
        #expect(functions.contains { $0.description == "GroupCommit.commit" })
        let index = FunctionIndex(try Repository.swiftFiles(under: "Sources"), for: chains)
        #expect(CallChain.problems(of: chains, in: index) == [])
    }

    @Test("A call, and a function that implements a protocol's, are steps")
    func steps() {
        #expect(problems("`A.f` →\n`B.g` → `B.run`, and `P.run` there", in: source).count == 1)
        #expect(problems("`A.f` → `B.g` → `P.run` → `B.run`", in: source) == [])
        #expect(problems("`A.f` → `B.g`. Then `B.g` → `B.run`", in: source) == [])
    }

    @Test("What is not called, does not exist, or hangs in the air is named")
    func wrong() {
        #expect(
            problems("`A.h` → `B.g`", in: source)
                == ["A.h does not call B.g; write what it calls"]
        )
        #expect(
            problems("`A.f` → `B.gone`", in: source) == [
                "A.f does not call B.gone; write what it calls",
                "there is no function B.gone; write its new name",
            ]
        )
        #expect(
            problems("`A.f` → `B.g`, `B.run`", in: source)
                == ["nothing before leads to B.run; begin with a function from above"]
        )
    }
}
