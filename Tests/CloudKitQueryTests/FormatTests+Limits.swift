import CloudKit
import Foundation
import Support
import Testing

// Limits of a format's size and depth.
extension FormatTests {
    private static func repeated(_ text: String, _ count: Int) -> String {
        String(repeating: text, count: count)
    }

    @Test("The error about a huge format is short and shows the place")
    func huge() async throws {
        let database = try await database()
        let long = String(repeating: "x", count: 200_000)
        for (format, place) in [
            ("s == '\(long)' AND n == ; AND s == '\(long)'", "AND n == ;"),
            ("n == \(String(repeating: "9", count: 200_000))e", "is not a number"),
            ("\(long).y == 5", "does not support key paths"),
            ("n == \(long)(5)", "does not support the function"),
        ] {
            let text = try await refusal(NSPredicate(format: format), database) ?? "answered"
            #expect(text.contains(place) && text.contains("character "), "\(text.prefix(2000))")
            #expect(text.utf8.count < 2000, "\(text.utf8.count) bytes")
        }
    }

    @Test("200 levels are followed and 201 are not, however they are written")
    func limit() async throws {
        let database = try await database()
        let forms: [(Int) -> NSPredicate] = [
            { NSPredicate(format: Self.repeated("(", $0) + "n == 5" + Self.repeated(")", $0)) },
            { NSPredicate(format: Self.repeated("NOT ", $0) + "n == \($0 % 2 == 0 ? 5 : 6)") },
            {
                NSPredicate(
                    format: Self.repeated("NOT (", $0 / 2) + Self.repeated("!", $0 % 2) + "n == 5"
                        + Self.repeated(")", $0 / 2)
                )
            },
            {
                NSPredicate(format: "n == " + Self.repeated("(", $0) + "5" + Self.repeated(")", $0))
            },
            {
                NSPredicate(format: Self.repeated("(", $0) + "n" + Self.repeated(")", $0) + " == 5")
            },
            { NSPredicate(format: "n > " + Self.repeated("-", $0) + "5") },
        ]
        for (index, form) in forms.enumerated() {
            #expect(try await refusal(form(200), database) == nil, "form \(index)")
            let text = try await refusal(form(201), database)
            #expect(text?.contains("more than 200 levels deep") == true, "form \(index)")
            #expect(text?.contains("character ") == true, "form \(index)")
        }
        func compounds(_ count: Int, around format: String) -> NSPredicate {
            (0..<count).reduce(NSPredicate(format: format)) { part, _ in
                NSCompoundPredicate(andPredicateWithSubpredicates: [part])
            }
        }
        for (compoundCount, format) in [
            (200, "n == 5"), (199, "(n == 5)"), (100, Self.repeated("NOT ", 100) + "n == 5"),
        ] {
            let allowed = compounds(compoundCount, around: format)
            #expect(try await refusal(allowed, database) == nil, "\(format)")
            let text = try await refusal(compounds(compoundCount + 1, around: format), database)
            #expect(text?.contains("more than 200 levels deep") == true, "\(format)")
        }
    }

    @Test("What is nested too deeply is refused and exhausts no stack")
    func depth() async throws {
        let database = try await database()
        let brackets =
            String(repeating: "(", count: 5000) + "n == 1"
            + String(repeating: ")", count: 5000)
        var compound = NSPredicate(format: "n == 5")
        for _ in 0..<1000 {
            compound = NSCompoundPredicate(notPredicateWithSubpredicate: compound)
        }
        for predicate in [
            NSPredicate(format: brackets),
            NSPredicate(format: String(repeating: "NOT ", count: 20_000) + "n == 1"),
            NSPredicate(format: "n IN " + String(repeating: "{", count: 5000)),
            NSPredicate(format: "n == " + String(repeating: "-", count: 20_000) + "1"),
            compound,
        ] {
            let text = try await refusal(predicate, database)
            #expect(text?.contains("levels deep") == true, "\(text ?? "answered")")
        }
        let shallow = String(repeating: "NOT ", count: 100) + "n == 5"
        #expect(try await refusal(NSPredicate(format: shallow), database) == nil)
        #expect(NSPredicate(format: shallow).evaluate(with: Self.record(["n": 5])))
    }
}
