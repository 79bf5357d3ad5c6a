import Foundation
import Testing

@Suite("Rules about the sources")
struct SourceRulesTests {
    private func violations(of rule: SourceRule, in text: String) -> [String] {
        rule.violations(SourceFile(path: "File.swift", text: text))
    }

    @Test("No source file and no test file breaks a rule")
    func repository() throws {
        let rules: [SourceRule] = [
            .length, .uncheckedSendable, .access, .lockedResumes,
            .machinePaths(root: Repository.root.path),
        ]
        let sources = try Repository.swiftFiles(under: "Sources")
        let tests = try Repository.swiftFiles(under: "Tests")
            // These files name what they forbid.
            .filter { !$0.path.hasPrefix("Tests/ProjectTests/") }
        #expect(sources.count > 40)
        let found = (sources + tests).flatMap { file in rules.flatMap { $0.violations(file) } }
        #expect(found == [])
    }

    @Test("No source file swallows an error without saying why")
    func swallowedErrors() throws {
        let found = try Repository.swiftFiles(under: "Sources")
            .flatMap(SourceRule.swallowedErrors.violations)
        #expect(found == [])
    }

    @Test("No function has more parameters than a reader keeps in mind")
    func parameters() throws {
        let found = try Repository.swiftFiles(under: "Sources")
            .flatMap(SourceRule.parameters.violations)
        #expect(found == [])
    }

    @Test("Every file is named after a type in it")
    func fileNames() throws {
        let found = try Repository.swiftFiles(under: "Sources")
            .flatMap(SourceRule.fileName.violations)
        #expect(found == [])
    }

    @Test("A name of another type fails, and so does one that extends nothing")
    func otherFileNames() {
        func isAllowed(_ name: String, _ text: String) -> Bool {
            SourceRule.fileName.violations(SourceFile(path: "A/\(name).swift", text: text)).isEmpty
        }
        let two = "public struct Note {}\nfinal class Box: Note {\n    enum Kind {}\n}\n"
        for name in ["Note", "Box", "BoxKind"] { #expect(isAllowed(name, two), "\(name)") }
        for name in ["Notes", "Kinds", "Note+Kind"] { #expect(!isAllowed(name, two), "\(name)") }
        #expect(isAllowed("Things", two + "enum Third {}\n"))
        #expect(isAllowed("Helpers", "func f() {}\n"))
        let extensions = "import GRDB\nextension Note.Kind {\n    struct Color {}\n}\n"
        for name in ["Note+Colors", "NoteKind+Colors", "GRDB+Colors", "NoteKindColor"] {
            #expect(isAllowed(name, extensions), "\(name)")
        }
        #expect(!isAllowed("Box+Colors", extensions))
        #expect(!isAllowed("Old", "extension Note {}\nprivate enum Other {}\n"))
    }

    @Test("More than five parameters without a label fail, and more than eight with one")
    func parameterCounts() {
        func lines(_ count: Int, _ parameter: String) -> String {
            "    func f(\n" + String(repeating: "        \(parameter),\n", count: count)
                + "    ) {\n"
        }
        for text in [
            lines(5, "_ a: Int"), lines(8, "a: Int"), lines(20, "a: Int = 1"),
            lines(5, "_ a: (\n            Int, Int, Int\n        )"),
            "func f(_ a: (Int, Int), _ b: [Int: Int], _ c: Int, _ d: Int, _ e: Int) {}\n",
            lines(9, "a: Int").replacing("func f(", with: "public init("),
        ] {
            #expect(violations(of: .parameters, in: text) == [], "\(text)")
        }
        for text in [
            lines(6, "_ a: Int"), lines(9, "a: Int"),
            "private static func f(_ a: A, _ b: B, _ c: C, _ d: D, _ e: E, _ f: F) {}\n",
            lines(6, "_ a: Int").replacing("func f(", with: "init("),
        ] {
            #expect(violations(of: .parameters, in: text).count == 1, "\(text)")
        }
    }

    @Test("A task that is resumed inside a lock fails, and one that is resumed after it passes")
    func lockedResumes() {
        for text in [
            "state.withLock { $0.call?.resume() }\n",
            "let x = state.withLock { state in\n    if a {\n        call.resume(returning: 1)\n    }\n}\n",
        ] {
            #expect(violations(of: .lockedResumes, in: text).count == 1, "\(text)")
        }
        for text in [
            "let call = state.withLock { $0.call }\ncall?.resume()\n",
            "state.withLock {\n    $0 = 1\n}\ncall.resume()\n",
            "if let x = state.withLock({ $0 }) {\n    call.resume()\n}\n",
        ] {
            #expect(violations(of: .lockedResumes, in: text) == [], "\(text)")
        }
    }

    @Test("A try? without a reason on its line or just above fails")
    func reasons() {
        let reason = "// A file that stays is temporary.\n"
        let line = "try? remove(file)\n"
        for text in [
            reason + line,
            reason + line + line,
            reason + "for file in files {\n    \(line)}\n",
            "try? remove(file)  // A file that stays is temporary.\n",
            "let entries: [Entry?] = []\n",
            "// Says try? in a comment only.\n",
        ] {
            #expect(violations(of: .swallowedErrors, in: text) == [], "\(text)")
        }
        for text in [
            line, reason + "\n\n" + line, "/" + reason + line,
            "guard let x = try? f() else { return }\n",
        ] {
            #expect(violations(of: .swallowedErrors, in: text).count == 1, "\(text)")
        }
    }

    @Test("A file of 500 lines passes and one of 501 fails")
    func length() {
        let line = "let x = 1\n"
        #expect(violations(of: .length, in: String(repeating: line, count: 500)) == [])
        #expect(
            violations(of: .length, in: String(repeating: line, count: 501))
                == ["File.swift has 501 lines; split it by topic"]
        )
    }

    @Test("@unchecked Sendable without its reason beside it fails")
    func uncheckedSendable() {
        let declaration = "final class Box: @unchecked Sendable {}\n"
        let reason = "// @unchecked Sendable because the lock guards every access.\n"
        for text in [
            reason + declaration,
            reason + "// The lock is never held across a call.\n@frozen\n" + declaration,
            "final class Box: @unchecked Sendable {\n    \(reason)}\n",
            "final class Box: NSObject,\n    @unchecked Sendable\n{\n    \(reason)}\n",
            "// Says @unchecked Sendable in a comment only.\n",
        ] {
            #expect(violations(of: .uncheckedSendable, in: text) == [])
        }
        for text in [
            declaration,
            reason + "\n" + declaration,
            "/// A box.\n" + declaration,
            reason + declaration + declaration,
            "final class Box: @unchecked Sendable {\n    let x = 1\n    \(reason)}\n",
        ] {
            #expect(violations(of: .uncheckedSendable, in: text).count == 1)
        }
    }

    @Test("Home folders and the checkout's own path fail; system paths do not")
    func machinePaths() {
        let rule = SourceRule.machinePaths(root: "/srv/checkout")
        #expect(violations(of: rule, in: "let table = \"/usr/share/zoneinfo\"\n") == [])
        for path in ["/home/someone/key", "/Users/someone/key", "/root/key", "/srv/checkout/key"] {
            #expect(violations(of: rule, in: "\nlet key = \"\(path)\"\n").count == 1)
        }
    }

    @Test("@testable and @_spi fail")
    func access() {
        #expect(violations(of: .access, in: "@testable import CloudKit\n").count == 1)
        #expect(violations(of: .access, in: "@_spi(Inner) public func f() {}\n").count == 1)
        #expect(violations(of: .access, in: "// @_spi(Inner)\nimport CloudKit\n") == [])
        #expect(violations(of: .access, in: "@_spi(Reflection) import Swift\n") == [])
        #expect(violations(of: .access, in: "@_spi(Reflection) import Server\n").count == 1)
    }
}
