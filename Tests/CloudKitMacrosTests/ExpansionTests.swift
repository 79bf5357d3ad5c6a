#if Macros
import Testing

@Suite("What @CloudKitRecord writes")
struct ExpansionTests {
    @Test("A struct gets its keys, and an extension with everything else")
    func structure() async throws {
        let compilation = try await Compilation([
            """
            @CloudKitRecord("Note")
            public struct Note {
                @CloudKitField(.recordName) public var id: UUID
                public var title: String
                @CloudKitField("amount") var count = 0
                @CloudKitField("text", .encrypted) private var secret: String?
                @CloudKitField(.ignored) var cache = 1
                @CloudKitValue var place: CLLocation?
            }
            """
        ])
        #expect(compilation.messages().isEmpty)
        #expect(
            compilation.output.contains(
                """
                ------------------------------
                enum CodingKeys: String, CodingKey {
                    case id
                    case title
                    case count
                    case secret
                    case place
                }
                ------------------------------

                """
            )
        )
        #expect(
            compilation.output.contains(
                """
                ------------------------------
                extension Case0.Note: CloudKitCodable.CloudKitMappedModel {
                    public static var recordType: String {
                        "Note"
                    }

                    public static let fields: CloudKitCodable.CloudKitFields = [
                        CodingKeys.id: .recordName,
                        CodingKeys.count: .named("amount"),
                        CodingKeys.secret: .encrypted.named("text"),
                    ]

                    public var recordName: String {
                        CloudKitCodable.CloudKitFieldWriter.recordName(of: id)
                    }

                    public enum Fields {
                        public static let id = CloudKitCodable.CloudKitFieldKey(\\Case0.Note.id, CodingKeys.id)
                        public static let title = CloudKitCodable.CloudKitFieldKey(\\Case0.Note.title, CodingKeys.title)
                        static let count = CloudKitCodable.CloudKitFieldKey(\\Case0.Note.count, CodingKeys.count)
                        fileprivate static let secret = CloudKitCodable.CloudKitFieldKey(\\Case0.Note.secret, CodingKeys.secret)
                        static let place = CloudKitCodable.CloudKitFieldKey(\\Case0.Note.place, CodingKeys.place)
                    }

                    public static func codingKey(of property: AnyKeyPath) -> (any CodingKey)? {
                        switch property {
                        case \\Case0.Note.id:
                            CodingKeys.id
                        case \\Case0.Note.title:
                            CodingKeys.title
                        case \\Case0.Note.count:
                            CodingKeys.count
                        case \\Case0.Note.secret:
                            CodingKeys.secret
                        case \\Case0.Note.place:
                            CodingKeys.place
                        default:
                            nil
                        }
                    }

                    public static func listProperties(in list: inout CloudKitCodable.CloudKitPropertyList) {
                        list.add(UUID.self, CodingKeys.id)
                        list.add(String.self, CodingKeys.title)
                        list.add(Int.self, CodingKeys.count)
                        list.add(String?.self, CodingKeys.secret)
                        list.add(CloudKitCodable.CloudKitValue<CLLocation?>.self, CodingKeys.place)
                    }

                    public init(fields: inout CloudKitCodable.CloudKitFieldReader) throws {
                        self.id = try fields.recordName(CodingKeys.id)
                        self.title = try fields.read(String.self, "title", CodingKeys.title)
                        if let value = try fields.readIfPresent(Int.self, "amount", CodingKeys.count) {
                            self.count = value
                        }
                        self.secret = try fields.decode(String?.self, forKey: CodingKeys.secret)
                        self._place = try fields.read(CloudKitCodable.CloudKitValue<CLLocation?>.self, "place", CodingKeys.place)
                    }

                    public func writeFields(to fields: inout CloudKitCodable.CloudKitFieldWriter) throws {
                        try fields.recordName(self.id, CodingKeys.id)
                        try fields.write(self.title, "title", CodingKeys.title)
                        try fields.write(self.count, "amount", CodingKeys.count)
                        try fields.encode(self.secret, forKey: CodingKeys.secret)
                        try fields.write(self._place, "place", CodingKeys.place)
                    }
                }
                ------------------------------

                """
            )
        )
    }

    @Test("A declaration's own coding is said to be used, and optionals have no default")
    func codedByHand() async throws {
        let compilation = try await Compilation([
            """
            @CloudKitRecord
            struct Note: Identifiable {
                var id: String
                var count: Int? = 1
                var words = Words()
                init(from decoder: any Decoder) throws {}
            }
            """
        ])
        #expect(compilation.messages().isEmpty)
        #expect(compilation.output.contains("static var _isCodedByHand: Bool {"))
        #expect(compilation.output.contains("self.count = try fields.read(Int?.self"))
        #expect(compilation.output.contains("fields.readIfPresent(Words.self"))
        let plain = try await Compilation([
            "@CloudKitRecord struct Note: Identifiable { var id: String }"
        ])
        #expect(plain.output.contains("CloudKitMappedModel {"))
        #expect(!plain.output.contains("_isCodedByHand"))
    }
}
#endif
