import CloudKitCLI
import CloudKitWebClient
import Foundation
import Testing

@Suite("Values as people type them")
struct ValueTests {
    @Test(
        "A value means what it looks like",
        arguments: [
            ("s=x y", WireValue.string("x y")), ("s=\"x y\"", .string("x y")),
            (#"s="a\"b\u0041""#, .string("a\"bA")), ("s:STRING=\"x", .string("\"x")),
            ("s:STRING=[1", .string("[1")), ("s=it's \"q\"", .string("it's \"q\"")),
            ("s=", .string("")), ("s=null", .string("null")), ("s=0x10", .string("0x10")),
            ("s=inf", .string("inf")), ("n=-7", .int64(-7)), ("x=1e5", .double(100_000)),
            ("l=[1,2]", .list([.int64(1), .int64(2)], of: .int64)),
            ("l=[1,2.5]", .list([.double(1), .double(2.5)], of: .double)),
            ("l=[2.5,1]", .list([.double(2.5), .double(1)], of: .double)),
            ("l=[\"a\"]", .list([.string("a")], of: .string)), ("l=[]", .list([], of: nil)),
            ("d:TIMESTAMP=2026-01-31T12:00:00Z", .timestamp(1_769_860_800_000)),
            ("d:TIMESTAMP=2026-01-31T14:30:00.0459+02:30", .timestamp(1_769_860_800_045)),
            ("d:TIMESTAMP=1969-12-31T23:59:59.5Z", .timestamp(-500)),
            ("d:TIMESTAMP=-1", .timestamp(-1)),
        ]
    )
    func fields(text: String, value: WireValue) throws {
        #expect(try FieldExpression(text).field.value == value)
    }

    @Test(
        "A date is shown with all of its milliseconds",
        arguments: [
            (1_795_661_029_862, "2026-11-26T02:43:49.862Z"),
            (1_769_860_800_000, "2026-01-31T12:00:00Z"),
            (1_769_860_800_007, "2026-01-31T12:00:00.007Z"), (0, "1970-01-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59.999Z"), (-500, "1969-12-31T23:59:59.500Z"),
            (-1000, "1969-12-31T23:59:59Z"), (951_782_400_000, "2000-02-29T00:00:00Z"),
            // Before the first day that all calendars have in common, too.
            (-12_219_292_800_000, "1582-10-15T00:00:00Z"),
            (-12_219_292_800_001, "1582-10-14T23:59:59.999Z"),
            (-62_135_596_800_000, "0001-01-01T00:00:00Z"),
            (-62_162_121_600_000, "0000-02-29T00:00:00Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        ]
    )
    func shownDates(milliseconds: Int64, text: String) throws {
        #expect(ValueText.date(milliseconds) == text)
        #expect(try FieldExpression("d:TIMESTAMP=\(text)").field.value == .timestamp(milliseconds))
    }

    @Test("A date of any year is shown")
    func farDates() {
        #expect(ValueText.date(253_402_300_800_000) == "10000-01-01T00:00:00Z")
        #expect(ValueText.date(-62_167_219_200_001) == "-0001-12-31T23:59:59.999Z")
        #expect(ValueText.date(.max).hasPrefix("292278994-08-17T07:12:55.807"))
        #expect(ValueText.date(.min).hasPrefix("-292275055-05-16T16:47:04.192"))
    }

    /// The unreadable values, with texts in their errors.
    private static let unreadable = [
        (#"s="x y"#, "character 1, is not closed"), (#"s="x y\""#, "character 1, is not closed"),
        (#"s="x" y"#, "character 3"), (#"s="a"b""#, "character 3"), (#"s="a\q""#, "is not JSON"),
        ("s=\"", "character 1"), ("s=[1,", "is not JSON"), ("s=[1,\"a\"]", "value[1]"),
        ("s=[\"a\",1]", "value[1]"), ("s=[[1]]", "lists do not nest"), ("s=[null]", "value[0]"),
        ("s=[9007199254740993,0.5]", "value[1]"), ("s=[draft] title", "is not JSON"),
        ("s=12345678901234567890", "beyond the whole numbers"), ("s=1e999", "beyond the numbers"),
    ]

    @Test("A value that cannot be read is no text, but an error with its place and the remedy")
    func unreadable() throws {
        for (text, place) in Self.unreadable {
            let error = #expect(throws: (any Error).self) { try FieldExpression(text) }
            let message = error.map { "\($0)" } ?? ""
            #expect(message.hasPrefix("Field s: '"), "\(text): \(message)")
            #expect(message.contains(place), "\(text): \(message)")
            #expect(message.hasSuffix("state the type: s:STRING"), "\(text): \(message)")
            #expect(!message.contains(".;"), "\(message)")
            let condition = "s == " + text.dropFirst(2)
            let refusal = #expect(throws: (any Error).self) { try FilterExpression(condition) }
            let reason = refusal.map { "\($0)" } ?? ""
            #expect(reason.hasPrefix("'\(condition)': "), "\(reason)")
            #expect(reason.hasSuffix("state the type: s:STRING"), "\(reason)")
        }
    }

    @Test(
        "A date that is in no calendar is not moved to another day",
        arguments: [
            "2026-02-30T12:00:00Z", "2026-13-01T12:00:00Z", "2026-01-31T25:00:00Z",
            "2026-01-31T12:60:00Z", "2026-01-31T12:00:00Z and more", "2026-01-31T12:00:00+24:00",
            "2026-01-31", "2026-01-31T12:00:00", "yesterday", "", "1900-02-29T00:00:00Z",
            "2026-00-01T12:00:00Z", "2026-01-00T12:00:00Z", "2026-01-31T12:00:60Z",
        ]
    )
    func dates(text: String) {
        let error = #expect(throws: (any Error).self) {
            try FieldExpression("due:TIMESTAMP=\(text)")
        }
        let message = error.map { "\($0)" } ?? ""
        #expect(message.hasPrefix("Field due: '\(text)' is not a date"), "\(message)")
    }

    @Test("Nothing is saved of a record with a value that cannot be read")
    func command() async throws {
        try await ServedCloud.run { cloud in
            let outcome = try await cloud.run(
                "records",
                "save",
                "--type",
                "Note",
                "--name",
                "n1",
                "--field",
                "title=Milk",
                "--field",
                "body=\"two litres"
            )
            #expect(outcome.status == 2)
            #expect(outcome.errors.contains("Field body: '\"two litres'"), "\(outcome.errors)")
            #expect(outcome.errors.contains("body:STRING"), "\(outcome.errors)")
            let found = try await cloud.run("records", "get", "n1")
            #expect(found.errors.contains("NOT_FOUND"), "\(found.errors)")
        }
    }
}
