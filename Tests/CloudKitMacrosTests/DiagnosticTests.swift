#if Macros
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

    /// Declarations, and a part of the diagnostic.
    private static let declarations: [(String, String)] = [
        ("@CloudKitRecord enum Note { case a }", "is for structs and classes"),
        (
            "@CloudKitRecord struct Note: Named { @CloudKitField(.encrypted) static var a = 1 }",
            "for stored properties"
        ),
        (
            "@CloudKitRecord struct Note: Named { @CloudKitField(.encrypted) var a: Int { 1 } }",
            "for stored properties"
        ),
        ("@CloudKitRecord actor Note {}", "is for structs and classes"),
        ("@CloudKitRecord protocol Note {}", "at their declaration"),
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

    private static let compiledNames = Task {
        try await Compilation(names.map { "@CloudKitRecord\n\($0.0)" })
    }

    @Test(
        "A declaration that says no record name is an error with the remedy",
        arguments: names.indices
    )
    func recordName(number: Int) async throws {
        let messages = try await Self.compiledNames.value.messages(number)
        if let message = Self.names[number].1 {
            #expect(messages.contains { $0.contains(message) })
        } else {
            #expect(messages.isEmpty)
        }
    }

    private static let compiledProperties = Task {
        try await Compilation(
            properties.map { source, _ in
                let lines = source.replacing("; ", with: "\n    ")
                let name = source.contains("recordName") ? "" : "var recordName: String { \"n\" }"
                return "@CloudKitRecord\nstruct Note {\n    \(name)\n    \(lines)\n}"
            }
        )
    }

    @Test(
        "A property that a record cannot hold is an error at the property",
        arguments: properties.indices
    )
    func property(number: Int) async throws {
        let compilation = try await Self.compiledProperties.value
        let isMapped = compilation.output.contains(
            "extension Case\(number).Note: CloudKitCodable.CloudKitMappedModel"
        )
        if let message = Self.properties[number].1 {
            let first = try #require(compilation.messages(number).first)
            #expect(first.contains(message))
            #expect(!isMapped)
        } else {
            #expect(compilation.messages(number).isEmpty)
            #expect(isMapped)
        }
    }

    private static let compiledDeclarations = Task {
        try await Compilation(declarations.map(\.0))
    }

    @Test("A declaration that cannot be a record is an error", arguments: declarations.indices)
    func declaration(number: Int) async throws {
        let refusals = try await Self.compiledDeclarations.value.refusals(number)
        let first = try #require(refusals.first)
        #expect(first.contains(Self.declarations[number].1))
    }

    @Test("All problems of a declaration are reported at once")
    func allProblems() async throws {
        let compilation = try await Compilation([
            """
            @CloudKitRecord
            struct Note: Identifiable {
                var id: String
                var share: String
                var pair: (Int, Int)
                let version = 1
            }
            """
        ])
        #expect(compilation.messages().count == 3)
    }

    @Test("A native value comes with the change that wraps it")
    func remedy() async throws {
        let source =
            "@CloudKitRecord struct Note: Identifiable {\n    var place: CLLocation?\n    var id = \"\"\n}"
        let compilation = try await Compilation([source])
        #expect(compilation.output.contains("note: wrap it in @CloudKitValue"))
        #expect(compilation.output.contains("\n    @CloudKitValue var place: CLLocation?"))
    }

    @Test("It refuses the names of fields that the encoder refuses, and takes those that it takes")
    func fieldNames() async throws {
        let refused = [
            "recordID", "recordType", "recordName", "recordChangeTag", "creationDate",
            "creatorUserRecordID", "modificationDate", "lastModifiedUserRecordID", "parent",
            "share", "_a", "1a", "", "a b", "ü", "a.b", String(repeating: "a", count: 256),
        ]
        let taken = ["title", "a_1", "recordIDs", "A", String(repeating: "a", count: 255)]
        let compilation = try await Compilation(
            (refused + taken).map { name in
                """
                @CloudKitRecord struct Note {
                    var recordName: String { "n" }
                    @CloudKitField("\(name)") var value: Int
                }
                """
            }
        )
        for (number, name) in (refused + taken).enumerated() {
            #expect(compilation.refusals(number).isEmpty == taken.contains(name), "\(name)")
            #expect(compilation.messages(number) == compilation.refusals(number), "\(name)")
        }
    }
}
#endif
