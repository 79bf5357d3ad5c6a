import CloudKitCoreData
import Foundation
import Testing

@Suite("Core Data models: hostile files")
struct HostileModelTests {
    @Test(
        "A model that contradicts itself is an error with the place",
        arguments: [
            (#"<entity name="A" parentEntity="B"/><entity name="B" parentEntity="A"/>"#, "cycle"),
            (#"<entity name="A" parentEntity="A"/>"#, "cycle"),
            (#"<entity name="A" parentEntity="X"/>"#, "A: its parent X"),
            (#"<entity name="A"/><entity name="A"/>"#, "called A"),
            (
                #"<entity name="A"><attribute name="x"/><relationship name="x" destinationEntity="A"/></entity>"#,
                "called x"
            ),
            (
                #"<entity name="A"><relationship name="r" destinationEntity="X"/></entity>"#,
                "A.r: its destination X"
            ),
            (
                #"<entity name="A"><relationship name="r" destinationEntity="A" inverseName="s"/></entity>"#,
                "A.r: its inverse A.s"
            ),
            (
                #"<composite name="C"><attribute name="c" attributeType="Composite" composite="C"/></composite>"#,
                "cycle"
            ),
            (
                #"<entity name="A"><attribute name="x" attributeType="Integer 16" defaultValueString="no"/></entity>"#,
                "A.x: defaultValueString is no"
            ),
            (#"<entity name="A"><relationship name="r"/></entity>"#, "A.r: <relationship>"),
            (#"<entity/>"#, "has no name"),
            (#"<configuration name="C"><memberEntity name="X"/></configuration>"#, "entity X"),
        ]
    )
    func contradictions(content: String, message: String) throws {
        let error = try Fixture.failure { _ = try Fixture.model(content) }
        #expect(error.description.contains(message), "\(error)")
    }

    @Test("Entities that expand are refused before anything is expanded")
    func expansion() throws {
        var laughs = "<!DOCTYPE model [<!ENTITY a \"ha\">"
        for (last, next) in zip("abcdefgh", "bcdefghi") {
            laughs += "<!ENTITY \(next) \"" + String(repeating: "&\(last);", count: 10) + "\">"
        }
        let text = "<?xml version=\"1.0\"?>\(laughs)]><model><entity name=\"&i;\"/></model>"
        let error = try Fixture.failure { _ = try Fixture.read(Data(text.utf8)) }
        #expect(error.description.contains("declares no document type"))
        let file =
            "<!DOCTYPE model [<!ENTITY x SYSTEM \"file:///etc/hostname\">]><model>&x;</model>"
        let other = try Fixture.failure { _ = try Fixture.read(Data(file.utf8)) }
        #expect(other.description.contains("declares no document type"))
    }

    @Test("A million attributes in an entity, or in one element, are refused")
    func manyAttributes() throws {
        let attribute = #"<attribute name="a"/>"#
        let many =
            "<entity name=\"A\">" + String(repeating: attribute, count: 1_000_000) + "</entity>"
        let error = try Fixture.failure { _ = try Fixture.model(many) }
        #expect(error.code == .tooLarge)
        let wide = (0..<1_000_000).reduce(into: "<entity") { $0 += " a\($1)=\"\"" } + "/>"
        let other = try Fixture.failure { _ = try Fixture.model(wide) }
        #expect(other.code == .tooLarge)
    }

    @Test("Elements in elements, and a hierarchy, end at a depth")
    func depth() throws {
        let nested = String(repeating: "<x>", count: 100_000)
        #expect(try Fixture.failure { _ = try Fixture.model(nested) }.code == .tooLarge)
        let chain = (0..<5000).reduce(into: "") {
            $0 += "<entity name=\"E\($1)\"" + ($1 > 0 ? " parentEntity=\"E\($1 - 1)\"/>" : "/>")
        }
        #expect(try Fixture.failure { _ = try Fixture.model(chain) }.code == .tooLarge)
    }

    @Test("A file of hundreds of megabytes is refused unread")
    func largeFile() throws {
        try Fixture.inFolder { folder in
            let file = folder.appendingPathComponent("contents")
            _ = FileManager.default.createFile(atPath: file.path, contents: nil)
            let handle = try FileHandle(forWritingTo: file)
            // This takes no space on the disk.
            try handle.truncate(atOffset: 500 << 20)
            try handle.close()
            let error = try Fixture.failure { _ = try CoreDataModelVersions(contentsOf: file) }
            #expect(error.code == .tooLarge)
        }
    }

    @Test("Text around the model and names that are no XML are errors with the line")
    func notWellFormed() throws {
        for (text, line) in [
            ("<model>\n</model>\ngarbage", 3), ("<model/>\n<model/>", 2), ("<model>\n<x>", 2),
            ("<?xml versaon=\"1.0\"?>\n<model/>", 1), ("<model>\n<x a:b=\"1\"/>\n</model>", 2),
            ("<model>\n<x a=\"Note& b=\"c\"/>\n</model>", 2),
        ] {
            let error = try Fixture.failure { _ = try Fixture.read(Data(text.utf8)) }
            #expect(error.code == .malformed, "\(text)")
            #expect(error.message.contains("not well-formed XML"), "\(error)")
            #expect(error.place.contains("line \(line)"), "\(error)")
        }
        let around = "<?xml version=\"1.0\"?>\n<!-- a -->\n<model/>\n<!-- b -->\n"
        #expect(try Fixture.read(Data(around.utf8)).entities.isEmpty)
    }

    @Test("A model of more bytes than the XML parser reads is too large, not malformed")
    func longXML() throws {
        func model(_ count: Int) -> Data {
            let comment = "<!--" + String(repeating: "-a", count: 50) + "-->\n"
            var text = "<model>" + String(repeating: comment, count: count / comment.utf8.count - 1)
            text += String(repeating: " ", count: count - text.utf8.count - 8) + "</model>"
            return Data(text.utf8)
        }
        #expect(try Fixture.read(model(10_000_000)).entities.isEmpty)
        let error = try Fixture.failure { _ = try Fixture.read(model(10_000_001)) }
        #expect(error.code == .tooLarge)
        #expect(error.message.contains("up to 10000000"))
    }

    @Test("Other encodings, broken text and broken XML are errors with the line")
    func encodings() throws {
        let latin = Data("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><model/>".utf8)
        #expect(
            try Fixture.failure { _ = try Fixture.read(latin) }.description.contains("iso-8859-1")
        )
        let wide = "<model/>".data(using: .utf16) ?? Data()
        #expect(try Fixture.failure { _ = try Fixture.read(wide) }.code == .malformed)
        let open = Data("<model>\n<entity name='A'>\n</model>".utf8)
        #expect(try Fixture.failure { _ = try Fixture.read(open) }.description.contains("line 3"))
        #expect(try Fixture.failure { _ = try Fixture.read(Data()) }.code == .malformed)
    }
}
