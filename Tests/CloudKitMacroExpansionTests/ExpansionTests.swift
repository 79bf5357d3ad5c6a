#if Macros
import Testing

@Suite("What @CloudKitRecord writes")
struct ExpansionTests {
    @Test("A struct gets its keys, and an extension with everything else")
    func structure() {
        let expansion = Expansion(
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
        )
        #expect(expansion.messages.isEmpty)
        #expect(
            expansion.text == """
                public struct Note {
                    public var id: UUID
                    public var title: String
                    var count = 0
                    private var secret: String?
                    var cache = 1
                    @CloudKitValue var place: CLLocation?

                    enum CodingKeys: String, CodingKey {
                        case id
                        case title
                        case count
                        case secret
                        case place
                    }
                }

                extension Note: CloudKitCodable.CloudKitMappedModel {
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
                        public static let id = CloudKitCodable.CloudKitFieldKey(\\Note.id, CodingKeys.id)
                        public static let title = CloudKitCodable.CloudKitFieldKey(\\Note.title, CodingKeys.title)
                    }
                }
                """
        )
    }
}
#endif
