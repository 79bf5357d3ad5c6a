import Foundation
import Testing

@Suite("Messages on a terminal")
struct MessageTests {
    @Test("Nothing in a record or in an error changes the terminal")
    func terminal() async throws {
        try await ServedCloud.run { cloud in
            let evil = "x\u{1B}]0;pwned\u{7}\u{1B}[2J\n09:00:00  200  GET  forged\u{9B}2J"
            try await cloud.objects("zones", "create", "Notes")
            try await cloud.objects(
                "records",
                "save",
                "--zone",
                "Notes",
                "--type",
                "Note",
                "--name",
                "n1",
                "--field",
                "title=\(evil)"
            )
            let outcomes = [
                try await cloud.run("records", "query", "Note", "--zone", "Notes"),
                try await cloud.run("records", "get", "--zone", "Notes", "n1"),
                try await cloud.run("records", "get", "--zone", "Notes", evil),
                try await cloud.run("records", "query", "Note", "--zone", evil),
                try await cloud.run("records", "query", evil, "--zone", "Notes"),
                try await cloud.run("records", "query", "Note", "--\(evil)"),
            ]
            #expect(outcomes.map(\.status) == [0, 0, 1, 1, 1, 2])
            for (place, outcome) in outcomes.enumerated() {
                let text = outcome.output + outcome.errors
                let controls = text.unicodeScalars.filter {
                    $0.properties.generalCategory == .control && $0 != "\n" && $0 != "\t"
                }
                #expect(controls.isEmpty, "\(place): \(text)")
            }
            for outcome in outcomes[..<5] {
                let lines = (outcome.output + outcome.errors).split(separator: "\n")
                #expect(!lines.contains { $0.hasPrefix("09:00:00") })
            }
        }
    }
}
