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

    @Test("Drift between a type and a schema file is told field by field")
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
}
