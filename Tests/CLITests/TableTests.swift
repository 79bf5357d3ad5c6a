import CloudKitCLI
import CloudKitWebClient
import Testing

@Suite("What people see")
struct TableTests {
    @Test("Columns are aligned by cells, also where characters take two or none")
    func alignment() {
        var table = Table("name", "text")
        table.add(["東京", "a"])
        table.add(["e\u{301}", "b"])
        table.add(["👩‍🚀x", "c"])
        #expect(
            table.text(columns: nil) == """
                NAME  TEXT
                東京  a
                e\u{301}     b
                👩‍🚀x   c
                """
        )
    }

    @Test("The widest columns give way to the width of the terminal")
    func narrow() {
        var table = Table("id", "text")
        table.add(["1", String(repeating: "x", count: 100)])
        table.add(["2", String(repeating: "東", count: 100)])
        let lines = table.text(columns: 20).split(separator: "\n").map { DisplayText(String($0)) }
        #expect(lines.allSatisfy { $0.width <= 20 })
        #expect(lines.dropFirst().allSatisfy { $0.text.hasSuffix("…") })
    }

    @Test("No text of a record moves the cursor, breaks the line or turns its direction")
    func safe() {
        let text = DisplayText("a\u{1B}[2Jb\r\nc\u{202E}d\te").text
        #expect(text == "a\u{FFFD}[2Jb c\u{FFFD}d e")
    }

    @Test(
        "Conditions are read with their operator and type",
        arguments: [
            ("age >= 18", Comparator.greaterThanOrEquals, WireValue.int64(18)),
            ("age:DOUBLE < 18", .lessThan, .double(18)),
            ("title == Milk and eggs", .equals, .string("Milk and eggs")),
            ("title == \"12\"", .equals, .string("12")),
            ("title begins_with Mi", .beginsWith, .string("Mi")),
            ("title:STRING == [not a list", .equals, .string("[not a list")),
            ("tags:STRING LIST_CONTAINS [1]", .listContains, .string("[1]")),
            ("title:STRING IN [\"[1]\"]", .in, .list([.string("[1]")], of: .string)),
            ("title  == ", .equals, .string("")), ("title ==   a\nb ", .equals, .string("  a\nb ")),
            ("n IN [1,2]", .in, .list([.int64(1), .int64(2)], of: .int64)),
            ("due:TIMESTAMP > 1970-01-01T00:00:01.5Z", .greaterThan, .timestamp(1500)),
            (
                "recordName == r1", .equals,
                .reference(.init(recordName: "r1", action: WireReference.Action.none))
            ),
        ]
    )
    func conditions(text: String, comparator: Comparator, value: WireValue) throws {
        let filter = try FilterExpression(text).filter
        #expect(filter.comparator == comparator)
        #expect(filter.fieldValue?.value == value)
        #expect((filter.systemFieldName != nil) == text.hasPrefix("recordName"))
    }

    @Test("A place is found by its distance")
    func near() throws {
        let filter = try FilterExpression("place NEAR 47.4,8.5 1000").filter
        #expect(filter.distance == 1000)
        #expect(throws: (any Error).self) { try FilterExpression("place NEAR 47.4,8.5") }
    }

    @Test("Settings with unusual characters reach the shell unchanged")
    func quoting() {
        let file = ConnectionFile(["A": "plain+/=", "B": "it's $HOME"])
        #expect(file.text == "export A=plain+/=\nexport B='it'\\''s $HOME'")
    }
}
