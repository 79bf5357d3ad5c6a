#if Macros
import CloudKitMacroExpansion
import Testing

@Suite("What @CloudKitRecord refuses")
struct DiagnosticTests {
    /// Properties, and a part of the diagnostic; nil when there is none.
    private static let properties: [(String, String?)] = [
        ("var title: String", nil),
        ("var a, b: Int", nil),
        ("var count = 0, ratio = 0.5, flag = true, text = \"\", id = UUID()", nil),
        ("let title: String", nil),
        ("static let shared = make()", nil),
        ("var twice: Int { 2 }", nil),
        ("lazy var later = make()", nil),
        ("var seen: Int = 0 { didSet {} }", nil),
        ("@CloudKitValue var place: CLLocation?", nil),
        ("@CloudKitField(.ignored) var closure: (() -> Void)?", nil),
        ("@CloudKitField(.ignored) let cache = [String: Any]()", nil),
        ("@CloudKitField(\"theParent\") var parent: String", nil),
        ("@CloudKitField(.recordName) var recordName: String", nil),
        // Names.
        ("var fields: [String]", "'fields' is the name of the table"),
        ("@CloudKitField(.encrypted) var fields: [String]", "'fields' is the name of the table"),
        ("static var recordType: String { \"N\" }; var fields2: Int", nil),
        ("var recordID: String", "'recordID' cannot be a field: the name is a property of every"),
        ("var creationDate: Date", "'creationDate' cannot be a field"),
        ("var _hidden: Int", "field names start with a letter"),
        ("var größe: Int", "field names start with a letter"),
        ("@CloudKitField(\"a b\") var name: Int", "'a b' cannot be a field"),
        ("@CloudKitField(.encrypted.named(\"share\")) var name: Int", "'share' cannot be a field"),
        ("@CloudKitField(\"\\(x)\") var name: Int", "must be a text without interpolation"),
        ("@CloudKitField(\"b\") var a: Int; var b: Int", "which is that of 'a'"),
        (
            "@CloudKitField(.asset(above: 9)) var a: Data; var a_asset: Int",
            "stored in the field 'a_asset', which is that of 'a'"
        ),
        // Types.
        ("var action: () -> Void", "a record cannot hold 'action': '() -> Void' is not Codable"),
        ("var action: (@Sendable () -> Void)?", "is not Codable"),
        ("var pair: (Int, Int)", "'(Int, Int)' is not Codable"),
        ("var anything: Any", "'Any' is not Codable"),
        ("var list: [Any]", "'Any' is not Codable"),
        ("var table: [String: any Codable]", "'any Codable' is not Codable"),
        ("var type: Int.Type", "'Int.Type' is not Codable"),
        ("var place: CLLocation", "write '@CloudKitValue var place'"),
        ("var owners: [CKRecord.Reference]?", "write '@CloudKitValue var owners'"),
        (
            "@CloudKitValue @CloudKitField(.encrypted) var file: CKAsset",
            "does not encrypt a CKAsset"
        ),
        (
            "@CloudKitField(.encrypted) var friend: CloudKitReference<Friend>?",
            "does not encrypt a CloudKitReference"
        ),
        ("weak var delegate: Delegate?", "keeps nothing alive"),
        ("@Published var title: String", "knows no wrapper but @CloudKitValue"),
        ("var made = make()", "write the type of 'made'"),
        ("var (x, y) = (1, 2)", "declare each property by itself"),
        // Values.
        ("let version = 1", "it is a constant that has its value already"),
        ("@CloudKitField(.ignored) var cache: Int", "needs a default value"),
        ("@CloudKitField(.ignored) let cache: Int?", "needs a default value"),
        ("@CloudKitField(.recordName) var name: Int", "which is a String or a UUID"),
        (
            "@CloudKitField(.recordName) var a: String; @CloudKitField(.recordName) var b: String",
            "another property is the record's name"
        ),
        ("@CloudKitField(.encrypted) @CloudKitField(\"n\") var a: Int", "has one @CloudKitField"),
        ("#if DEBUG\n    var debug: Int\n    #endif", "move the stored property out of the #if"),
        (
            "@CloudKitField(.json) var a: Int; static var fields: CloudKitFields { [:] }",
            "has a table 'fields' of its own"
        ),
    ]

    /// Declarations, and a part of the diagnostic about the record name; nil when there is none.
    private static let names: [(String, String?)] = [
        ("struct Note { var title: String }", "nothing determines which record a Note is"),
        ("struct Note: Equatable, Sendable {}", "nothing determines which record a Note is"),
        ("struct Note { var id: Int }", "'id' is of type Int"),
        ("struct Note: Identifiable { var id: Int }", "write 'var recordName: String { \"note-"),
        ("struct Note: Identifiable { let id: String? }", "'id' is of type String?"),
        ("struct Note { var id: UUID }", "only where Note is Identifiable"),
        ("struct Note: Identifiable { var id = UUID() }", nil),
        ("struct Note: Identifiable { var id: Foundation.UUID }", nil),
        ("struct Note: Swift.Identifiable { var id: String { text } ; var text: String }", nil),
        ("struct Note: Identifiable { var id: Int; var recordName: String { \"\\(id)\" } }", nil),
        ("struct Note { @CloudKitField(.recordName) var key: String }", nil),
        ("struct Note: Named { var title: String }", nil),
        ("final class Note: Identifiable { let id: Identifier = make() }", "'id' is of type"),
    ]

    @Test("A declaration that says no record name is an error with the remedy", arguments: names)
    func recordName(source: String, message: String?) throws {
        let messages = Expansion("@CloudKitRecord\n\(source)").messages
        if let message {
            #expect(messages.contains { $0.contains(message) })
        } else {
            #expect(messages.isEmpty)
        }
    }

    @Test("A property that a record cannot hold is an error at the property", arguments: properties)
    func property(source: String, message: String?) throws {
        let lines = source.replacing("; ", with: "\n    ")
        let name = source.contains("recordName") ? "" : "var recordName: String { \"n\" }"
        let expansion = Expansion("@CloudKitRecord\nstruct Note {\n    \(name)\n    \(lines)\n}")
        if let message {
            let first = try #require(expansion.messages.first)
            #expect(first.contains(message))
            #expect(!expansion.text.contains("extension Note"))
        } else {
            #expect(expansion.messages.isEmpty)
            #expect(expansion.text.contains("extension Note: CloudKitCodable.CloudKitMappedModel"))
        }
    }

    @Test(
        "A declaration that cannot be a record is an error",
        arguments: [
            ("@CloudKitRecord enum Note { case a }", "is for structs and classes"),
            (
                "@CloudKitRecord struct Note { @CloudKitField(.encrypted) static var a = 1 }",
                "for stored properties"
            ),
            (
                "@CloudKitRecord struct Note { @CloudKitField(.encrypted) var a: Int { 1 } }",
                "for stored properties"
            ),
            ("@CloudKitRecord actor Note {}", "is for structs and classes"),
            ("@CloudKitRecord struct Note<Text> {}", "Note is generic"),
            ("struct Outer<Text> { @CloudKitRecord struct Note {} }", "Note is generic"),
            ("@CloudKitRecord(\"My Note\") struct Note {}", "'My Note' cannot be a record type"),
            ("@CloudKitRecord struct Größe {}", "'Größe' cannot be a record type"),
            ("@CloudKitRecord(\"\\(name)\") struct Note {}", "without interpolation"),
            (
                "@CloudKitRecord(\"N\") struct Note { static var recordType: String { \"M\" } }",
                "stated here and by 'recordType'"
            ),
            ("@CloudKitRecord class Note {}", "write 'class Note: Codable', or make it final"),
            (
                "@CloudKitRecord struct Note { typealias CodingKeys = Keys }",
                "reads coding keys from an enumeration"
            ),
            (
                "struct Note { @CloudKitField(.encrypted) var a: Int }",
                "has no effect in a type without @CloudKitRecord"
            ),
        ]
    )
    func declaration(source: String, message: String) throws {
        let first = try #require(Expansion(source).messages.first)
        #expect(first.contains(message))
    }

    @Test("All problems of a declaration are reported at once")
    func allProblems() {
        let expansion = Expansion(
            """
            @CloudKitRecord
            struct Note: Identifiable {
                var id: String
                var share: String
                var pair: (Int, Int)
                let version = 1
            }
            """
        )
        #expect(expansion.messages.count == 3)
    }

    @Test("A native value comes with the change that wraps it")
    func remedy() {
        let expansion = Expansion(
            "@CloudKitRecord struct Note: Identifiable {\n    var place: CLLocation?\n    var id = \"\"\n}"
        )
        let fixed = expansion.fixed() ?? ""
        #expect(fixed.contains("@CloudKitValue var place: CLLocation?"))
    }

    @Test(
        "It refuses the names that the encoder refuses",
        arguments: [
            "recordID", "recordType", "recordName", "recordChangeTag", "creationDate",
            "creatorUserRecordID", "modificationDate", "lastModifiedUserRecordID", "parent",
            "share", "_a", "1a", "", "a b", "ü", "a.b", String(repeating: "a", count: 256),
        ]
    )
    func refusedNames(name: String) {
        #expect(FieldNameRules.problem(name) != nil)
    }

    @Test(
        "It takes the names that the encoder takes",
        arguments: ["title", "a_1", "recordIDs", "A", String(repeating: "a", count: 255)]
    )
    func takenNames(name: String) {
        #expect(FieldNameRules.problem(name) == nil)
    }
}
#endif
