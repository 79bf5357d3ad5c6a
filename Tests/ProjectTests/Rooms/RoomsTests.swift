import Foundation
import Testing

@Suite("The rooms of large targets")
struct RoomsTests {
    private func rooms(_ files: [String: String]) -> Rooms {
        Rooms(
            files.map { SourceFile(path: "Sources/House/\($0.key)", text: $0.value) },
            of: "House"
        )
    }

    private func drawing(_ arrows: String...) throws -> RoomDrawing {
        let page = """
            ## The rooms

            ### `House`

            ```mermaid
            graph TD
            \(arrows.map { "  \($0)" }.joined(separator: "\n"))
            ```

            ## Something else
            """
        return try #require(RoomDrawing.all(in: page).first)
    }

    private let house = [
        "Kitchen/Stove.swift": "struct Stove { let fuel: Wood }",
        "Cellar/Wood.swift": "struct Wood {}",
    ]

    @Test("Rooms use each other only as the page on the architecture draws")
    func repository() throws {
        let url = Repository.root.appending(path: "docs/internals/architecture.md")
        let drawings = RoomDrawing.all(in: try String(contentsOf: url, encoding: .utf8))
        for target in ["CloudKitServerCore", "CloudKitStore", "CloudKitCoreData"] {
            #expect(drawings.contains { $0.target == target })
        }
        for drawing in drawings {
            let files = try Repository.swiftFiles(under: "Sources/\(drawing.target)")
            #expect(drawing.differences(from: Rooms(files, of: drawing.target)) == [])
        }
    }

    @Test("A drawing of what the code does passes, and so does a way through other rooms")
    func conforms() throws {
        #expect(try drawing("Kitchen --> Cellar").differences(from: rooms(house)) == [])
        var house = house
        house["Hall/Door.swift"] = "struct Door { let wood: Wood; let stove: Stove }"
        let drawing = try drawing("Hall --> Kitchen", "Kitchen --> Cellar")
        #expect(drawing.differences(from: rooms(house)) == [])
    }

    @Test("A use that is not drawn is named with its types")
    func undrawn() throws {
        #expect(
            try drawing("Cellar --> Kitchen").differences(from: rooms(house)) == [
                "House: Kitchen uses Wood of Cellar, which the drawing does not show; move what both need "
                    + "into a room below them, or draw the arrow",
                "House: Cellar uses nothing of Kitchen; remove the arrow from the drawing",
            ]
        )
    }

    @Test("Two rooms that use each other need an arrow with two heads")
    func pairs() throws {
        var house = house
        house["Cellar/Flue.swift"] = "extension Wood { func burn(in stove: Stove) {} }"
        let differences = try drawing("Kitchen --> Cellar").differences(from: rooms(house))
        #expect(differences.count == 2)
        #expect(
            differences.first?.contains("Cellar uses Stove of Kitchen, which uses it too") == true
        )
        #expect(try drawing("Kitchen <--> Cellar").differences(from: rooms(house)) == [])
    }

    @Test("A room that is not drawn, and one that is not there, are named")
    func missing() throws {
        var house = house
        house["Attic/Trunk.swift"] = "struct Trunk {}"
        #expect(
            try drawing("Kitchen --> Cellar & Garden").differences(from: rooms(house)) == [
                "House: the room Attic is missing from the drawing; add it",
                "House: there is no room Garden; remove it from the drawing",
                "House: Kitchen uses nothing of Garden; remove the arrow from the drawing",
            ]
        )
    }

    @Test(
        "Comments, text, nested types and names that two files declare are no uses",
        arguments: [
            "// Wood", "/* Wood */", "let text = \"Wood\"",
            "let text = \"\"\"\n    Wood\n    \"\"\"",
            "let text = #\"a \" Wood \\(Wood)\"#", "let part = Split()", "let ash = Ash()",
        ]
    )
    func harmless(line: String) throws {
        var house = house
        house["Kitchen/Stove.swift"] = "struct Stove {}\n\(line)\n"
        house["Cellar/Wood.swift"] =
            "struct Wood {\n    struct Split {}\n}\nprivate struct Ash {}\n"
        house["Attic/Ash.swift"] = "private struct Ash {}\n"
        #expect(rooms(house).uses == [:])
    }

    @Test(
        "Code inside of a text is a use",
        arguments: [
            "let text = \"a \\(Wood.name(\"b\", (1))) c\"",
            "let text = \"\"\"\n    a \\(Wood.name)\n    \"\"\"",
            "let text = #\"\\#(Wood.name)\"#",
            "extension Wood {}",
        ]
    )
    func interpolation(line: String) throws {
        var house = house
        house["Kitchen/Stove.swift"] = "struct Stove {}\n\(line)\n"
        #expect(rooms(house).uses == [.init(from: "Kitchen", to: "Cellar"): ["Wood"]])
    }
}
