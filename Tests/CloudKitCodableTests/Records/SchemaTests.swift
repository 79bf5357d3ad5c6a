import CloudKit
import CloudKitCodable
import Testing

@Suite("Schemas")
struct SchemaTests {
    static let album = Album(id: "a", title: "t", photos: [Photo(id: "p")])

    @Test("The schema of a graph is found from samples of it")
    func text() throws {
        let schema = try CloudKitSchema(describing: [Atlas.sample(), Self.album])
        let expected = """
            DEFINE SCHEMA

            RECORD TYPE Atlas (
                edition   STRING,
                countries LIST<REFERENCE>,
                source    ASSET,
                GRANT WRITE TO "_creator",
                GRANT CREATE TO "_icloud",
                GRANT READ TO "_world"
            );

            RECORD TYPE Country (
                code      STRING,
                name      STRING,
                timeZones LIST<REFERENCE>,
                GRANT WRITE TO "_creator",
                GRANT CREATE TO "_icloud",
                GRANT READ TO "_world"
            );

            RECORD TYPE TimeZoneEntry (
                name       STRING,
                comments   STRING,
                coordinate LOCATION,
                GRANT WRITE TO "_creator",
                GRANT CREATE TO "_icloud",
                GRANT READ TO "_world"
            );

            RECORD TYPE Album (
                id    STRING,
                title STRING,
                GRANT WRITE TO "_creator",
                GRANT CREATE TO "_icloud",
                GRANT READ TO "_world"
            );

            RECORD TYPE Photo (
                id             STRING,
                album          REFERENCE QUERYABLE,
                album_position INT64,
                GRANT WRITE TO "_creator",
                GRANT CREATE TO "_icloud",
                GRANT READ TO "_world"
            );

            """
        #expect(schema.text == expected)
        #expect(try CloudKitSchema(parsing: schema.text) == schema)
    }

    @Test("The schema says of every field what encoding writes")
    func agreement() throws {
        let record = try #require(
            try CloudKitGraphEncoder(zoneID: .default).encode(Everything()).records.first
        )
        let schema = try CloudKitSchema(describing: [Everything()])
        let fields = try #require(schema.recordTypes.first?.fields)
        for key in record.allKeys() {
            let type = try #require(fields.first { $0.name == key }?.type, "\(key) is missing")
            let found: String =
                switch record.object(forKey: key) {
                case is String: "STRING"
                case is Data: "BYTES"
                case is Date: "TIMESTAMP"
                case is CKRecord.Reference: "REFERENCE"
                case is CKAsset: "ASSET"
                case is CLLocation: "LOCATION"
                case is [Any]: "LIST"
                default: "number"
                }
            if found == "number" {
                #expect(type == "INT64" || type == "DOUBLE", "\(key)")
            } else {
                #expect(type.hasPrefix(found), "\(key) is \(found), the schema says \(type)")
            }
        }
        #expect(fields.first { $0.name == "secret" }?.type == "ENCRYPTED STRING")
    }

    @Test("Drift between a type and a schema file is reported field by field")
    func drift() throws {
        let deployed = try CloudKitSchema(
            parsing: """
                DEFINE SCHEMA
                // what is deployed
                CREATE ROLE editors;
                RECORD TYPE Photo (
                    "___recordID" REFERENCE QUERYABLE,
                    id INT64, extra LIST<STRING>, /* more */ album REFERENCE,
                    GRANT READ, WRITE TO editors
                );
                """
        )
        let differences = try CloudKitSchema(describing: [Self.album])
            .differences(from: deployed)
        #expect(
            differences == [
                .missingType("Album"),
                .otherType("id", needed: "STRING", deployed: "INT64", recordType: "Photo"),
                .missingIndex("QUERYABLE", field: "album", recordType: "Photo"),
                .missingField("album_position", type: "INT64", recordType: "Photo"),
            ]
        )
        #expect(throws: CloudKitSchemaError.self) {
            try CloudKitSchema(parsing: "DEFINE SCHEMA RECORD TYPE A ( a STRING")
        }
    }

    @Test(
        "A schema is read as the server reads it, and a mistake has its place",
        arguments: [
            ("DEFINE SCHEMA;", "line 1, column 14: Encountered \";\""),
            ("DEFINE SCHEMA\nRECORD TYPE A (a STRING)", "line 2, column 25"),
            ("DEFINE SCHEMA\nRECORD TYPE A (a STRING SORTED);", "line 2, column 25"),
            ("DEFINE SCHEMA\nRECORD TYPE A (\"a STRING);", "line 2, column 16"),
            ("DEFINE SCHEMA /* a", "never closed"),
        ]
    )
    func mistakes(text: String, message: String) {
        let error = #expect(throws: CloudKitSchemaError.self) {
            try CloudKitSchema(parsing: text)
        }
        #expect(error?.description.contains(message) == true)
    }

    @Test("Every form of a field's type is read, numbers made just in time among them")
    func types() throws {
        let schema = try CloudKitSchema(
            parsing: """
                define schema
                RECORD TYPE A (
                    "a" list<string> queryable searchable, b ENCRYPTED INT64,
                    c NUMBER PREFERRED AS INT64 SORTABLE, -- d
                    e NUMBER
                );
                """
        )
        let fields = schema.recordTypes.first?.fields
        #expect(
            fields == [
                .init(name: "a", type: "LIST<STRING>", indexes: ["QUERYABLE", "SEARCHABLE"]),
                .init(name: "b", type: "ENCRYPTED INT64"),
                .init(
                    name: "c",
                    type: "NUMBER",
                    indexes: ["PREFERRED", "AS", "INT64", "SORTABLE"]
                ),
                .init(name: "e", type: "NUMBER"),
            ]
        )
        #expect(try CloudKitSchema(parsing: schema.text) == schema)
    }

    struct Shelf: CloudKitModel {
        var name: String
        var mood: Theme?
        var books: [Volume]
        var recordName: String { "shelf" }
    }

    struct Volume: CloudKitModel {
        var title: String
        var pages: Int?
        var length: Meters?
        var recordName: String { title }
    }

    @Test("What samples do not show is an error with every place, and more samples show it")
    func samples() throws {
        let empty = Shelf(name: "s", mood: nil, books: [])
        let error = #expect(throws: CloudKitSchemaError.self) {
            try CloudKitSchema(describing: [empty])
        }
        let text = error?.description ?? ""
        #expect(text.contains("Shelf.mood: the form of a Theme"))
        #expect(text.contains("Shelf.books has no Volume in any sample"))
        #expect(text.contains("describing"))
        #expect(throws: CloudKitSchemaError.self) { try CloudKitSchema(of: Shelf.self) }

        let book = Volume(title: "b", pages: nil, length: Meters(2))
        let full = Shelf(name: "s", mood: Theme(name: "dark", shade: 1), books: [])
        let schema = try CloudKitSchema(describing: [empty, full, book])
        let fields = schema.recordTypes.map { type in
            [type.name] + type.fields.map { "\($0.name) \($0.type)" }
        }
        #expect(
            fields == [
                ["Shelf", "name STRING", "mood BYTES", "books LIST<REFERENCE>"],
                ["Volume", "title STRING", "pages INT64", "length DOUBLE"],
            ]
        )
    }

    struct Named: CloudKitModel {
        var id: String
        var secret: Int?
        var photos: [Photo]
        var recordName: String { id }

        static var fields: CloudKitFields {
            [
                CodingKeys.id: .recordName.of(String.self),
                CodingKeys.secret: .encrypted.of(Int?.self),
                CodingKeys.photos: .children(via: "named").of([Photo].self),
            ]
        }
    }

    @Test("A table that names the types is a schema without a sample")
    func named() throws {
        let photo = Photo(id: "p")
        let schema = try CloudKitSchema(of: Named.self, describing: [photo])
        let fields = schema.recordTypes.first { $0.name == "Named" }?.fields.map(\.type)
        #expect(fields == ["ENCRYPTED INT64"])
        let sample = Named(id: "n", secret: 1, photos: [photo])
        let described = try CloudKitSchema(describing: [sample])
        for type in described.recordTypes { #expect(schema.recordTypes.contains(type)) }
    }

    @Test("Two samples with two types of one field are an error")
    func contrary() {
        struct Place: CloudKitModel {
            var page: URL
            var recordName: String { "r" }
        }
        let error = #expect(throws: CloudKitSchemaError.self) {
            try CloudKitSchema(
                describing: [
                    Place(page: URL(string: "https://example.com")!),
                    Place(page: URL(filePath: "/nowhere/page")),
                ]
            )
        }
        #expect(error?.description.contains("Place.page is STRING in one sample and ASSET") == true)
    }
}
