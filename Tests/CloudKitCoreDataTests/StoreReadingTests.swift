import CloudKitCoreData
import Foundation
import GRDB
import Testing

@Suite("Core Data stores: rows")
struct StoreReadingTests {
    private static let item = """
        <entity name="Item"><attribute name="n16" attributeType="Integer 16"/>
        <attribute name="n64" optional="YES" attributeType="Integer 64"/>
        <attribute name="ratio" optional="YES" attributeType="Float"/>
        <attribute name="price" optional="YES" attributeType="Decimal"/>
        <attribute name="done" attributeType="Boolean" defaultValueString="NO"/>
        <attribute name="due" optional="YES" attributeType="Date"/>
        <attribute name="cache" optional="YES" attributeType="String" transient="YES"/></entity>
        """
    private static let itemTable = """
        CREATE TABLE ZITEM (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZDONE INTEGER,
            ZN16 INTEGER, ZN64 INTEGER, ZDUE TIMESTAMP, ZRATIO FLOAT, ZPRICE DECIMAL);
        INSERT INTO ZITEM VALUES (1, 1, 1, 1, 7, 9000000000, 0.0, 2.5, 10.11);
        INSERT INTO ZITEM VALUES (2, 1, 1, 0, NULL, NULL, NULL, NULL, NULL);
        """

    @Test("Numbers, decimals and dates are what the app stored, and nothing stays nothing")
    func scalars() throws {
        try StoreFixture.with([(1, "Item", 0)], Self.itemTable) { fixture in
            let store = try fixture.store(Self.item)
            #expect(store.identifier == "5E3C2B1A-0000-4000-8000-000000000001")
            #expect(store.entities.map(\.name) == ["Item"])
            #expect(store.entities.map(\.rows) == [2])
            #expect(store.mirror == nil)
            let found = try rows(store, "Item")
            #expect(
                found[0].values == [
                    "n16": .integer(7), "n64": .integer(9_000_000_000), "ratio": .double(2.5),
                    "price": .decimal(Decimal(sign: .plus, exponent: -2, significand: 1011)),
                    "done": .boolean(true), "due": .date(Date(timeIntervalSinceReferenceDate: 0)),
                ]
            )
            #expect(found[1].values == ["done": .boolean(false)])
            #expect(found[1].id.description == "Item/p2")
            try fixture.converted(store) { database, report throws in
                #expect(report.rows == ["Item": 2])
                let row = try #require(
                    try Row.fetchOne(database, sql: "SELECT * FROM Item WHERE n16 = 7")
                )
                #expect(row["price"] == "10.11")
                #expect(row["due"] == "2001-01-01 00:00:00.000")
                #expect(
                    try Date.fetchOne(database, sql: "SELECT due FROM Item WHERE n16 = 7")
                        == Date(timeIntervalSinceReferenceDate: 0)
                )
                #expect(row["done"] == true)
                #expect(UUID(uuidString: row["recordName"]) != nil)
            }
        }
    }

    @Test("Text keeps NUL and every character, identifiers are text, bytes are as they were")
    func texts() throws {
        let model = """
            <entity name="Doc"><attribute name="key" optional="YES" attributeType="UUID"/>
            <attribute name="title" optional="YES" attributeType="String"/>
            <attribute name="link" optional="YES" attributeType="URI"/>
            <attribute name="body" optional="YES" attributeType="Binary"/>
            <attribute name="color" optional="YES" attributeType="Transformable"/></entity>
            """
        let sql = """
            CREATE TABLE ZDOC (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZLINK
                VARCHAR,
                ZTITLE VARCHAR, ZKEY BLOB, ZBODY BLOB, ZCOLOR BLOB);
            INSERT INTO ZDOC VALUES (1, 1, 1, 'https://a.b/c', 'a' || char(0) || 'é🎉',
                x'6F9619FF8B8642D011B400C04FC964FF', x'FFD8', x'62706C697374');
            INSERT INTO ZDOC VALUES (2, 1, 1, NULL, '', NULL, x'', NULL);
            """
        try StoreFixture.with([(1, "Doc", 0)], sql) { fixture in
            let store = try fixture.store(model)
            let found = try rows(store, "Doc")
            let key = try #require(UUID(uuidString: "6F9619FF-8B86-42D0-11B4-00C04FC964FF"))
            #expect(
                found[0].values == [
                    "link": .uri("https://a.b/c"), "title": .string("a\0é🎉"), "key": .uuid(key),
                    "body": .bytes(Data([0xFF, 0xD8])), "color": .bytes(Data("bplist".utf8)),
                ]
            )
            #expect(found[1].values == ["title": .string(""), "body": .bytes(Data())])
            try fixture.converted(store) { database, _ throws in
                let row = try #require(
                    try Row.fetchOne(
                        database,
                        sql:
                            "SELECT hex(title) AS title, typeof(title) AS kind, key, body FROM "
                            + "Doc LIMIT 1"
                    )
                )
                #expect(row["title"] == "6100C3A9F09F8E89")
                #expect(row["kind"] == "text")
                #expect(row["key"] == key.uuidString)
                #expect(row["body"] == Data([0xFF, 0xD8]))
            }
        }
    }

    private static let photo = """
        <entity name="Photo"><attribute name="image" optional="YES" attributeType="Binary" \
        allowsExternalBinaryDataStorage="YES"/><attribute name="note" optional="YES" \
        attributeType="String" allowsExternalBinaryDataStorage="YES"/></entity>
        """
    private static let file = "9F0C1D2E-0000-4000-8000-000000000001"
    private static let photoTable = """
        CREATE TABLE ZPHOTO (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZIMAGE BLOB,
            ZNOTE VARCHAR);
        INSERT INTO ZPHOTO VALUES (1, 1, 1, x'01AABB', 'plain');
        INSERT INTO ZPHOTO VALUES (2, 1, 1, CAST(x'02' || '\(file)' || char(0) AS BLOB), x'014869');
        """

    @Test("Large values come from their files; one that is missing is an error, or is skipped")
    func external() throws {
        try StoreFixture.with([(1, "Photo", 0)], Self.photoTable) { fixture in
            try fixture.addExternal(Self.file, Data([1, 2, 3]))
            let store = try fixture.store(Self.photo)
            let found = try rows(store, "Photo")
            #expect(
                found[0].values == ["image": .bytes(Data([0xAA, 0xBB])), "note": .string("plain")]
            )
            #expect(found[1].values == ["image": .bytes(Data([1, 2, 3])), "note": .string("Hi")])
            try FileManager.default.removeItem(
                at: fixture.folder.appendingPathComponent(
                    ".App_SUPPORT/_EXTERNAL_DATA/\(Self.file)"
                )
            )
            var iterator = try store.rows(of: "Photo").makeIterator()
            #expect(throws: CoreDataStoreError.self) { _ = try iterator.next()?.get() }
            #expect(iterator.next() == nil)
            let file = fixture.folder.appendingPathComponent("app.sqlite")
            let error = #expect(throws: CoreDataStoreError.self) { try store.convert(to: file) }
            #expect(error?.code == .missingFile)
            #expect(error?.place == "Photo/p2.image")
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path)
                    .allSatisfy { !$0.contains("app.sqlite") }
            )
            var options = CoreDataConversionOptions()
            options.skipsUnreadableValues = true
            try fixture.converted(store, options) { database, report throws in
                #expect(report.skippedValues == ["Photo.image": 1])
                #expect(try Int.fetchOne(database, sql: "SELECT count(image) FROM Photo") == 1)
            }
        }
    }

    @Test("A store cannot name files outside of its folder")
    func externalNames() throws {
        let sql =
            Self.photoTable
            + "UPDATE ZPHOTO SET ZIMAGE = CAST(x'02' || "
            + "'../../../../../../../.././etc/passwd' AS BLOB);"
        try StoreFixture.with([(1, "Photo", 0)], sql) { fixture in
            try fixture.addExternal(Self.file, Data([1]))
            let store = try fixture.store(Self.photo)
            let error = #expect(throws: CoreDataStoreError.self) { _ = try rows(store, "Photo") }
            #expect(error?.code == .invalidRow)
        }
    }

    // MARK: Hierarchies

    static let media = """
        <entity name="Clip"><relationship name="media" optional="YES" maxCount="1" \
        deletionRule="Nullify" destinationEntity="Media"/></entity>
        <entity name="Media" isAbstract="YES"><attribute name="title" optional="YES"
        attributeType="String"/></entity>
        <entity name="Audio" parentEntity="Media"><attribute name="length" optional="YES"
        attributeType="Double"/>
        <attribute name="note" optional="YES" attributeType="String"/></entity>
        <entity name="Video" parentEntity="Media"><attribute name="length" optional="YES"
        attributeType="Integer 32"/>
        <attribute name="note" optional="YES" attributeType="String"/></entity>
        """
    static let mediaEntities = [(1, "Clip", 0), (2, "Media", 0), (3, "Audio", 2), (4, "Video", 2)]
    static let mediaTables = """
        CREATE TABLE ZCLIP (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZMEDIA INTEGER,
            Z2_MEDIA INTEGER);
        CREATE TABLE ZMEDIA (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTITLE VARCHAR,
            ZLENGTH FLOAT, ZLENGTH1 INTEGER, ZNOTE VARCHAR, ZNOTE1 VARCHAR);
        INSERT INTO ZMEDIA VALUES (6, 3, 1, 'Song', 1.5, NULL, 'a', NULL), (7, 4, 1, 'Film', NULL,
            90, NULL, 'v');
        INSERT INTO ZCLIP VALUES (1, 1, 1, 7, 4), (2, 1, 1, 6, 3), (3, 1, 1, NULL, NULL), (4, 1, 1,
            99, 4);
        """

    @Test("Entities of one table have their own columns behind digits, and rows their own entity")
    func hierarchy() throws {
        try StoreFixture.with(Self.mediaEntities, Self.mediaTables) { fixture in
            let store = try fixture.store(Self.media)
            let found = try rows(store, "Media")
            #expect(found.map(\.entity) == ["Audio", "Video"])
            #expect(
                found[0].values == [
                    "title": .string("Song"), "length": .double(1.5), "note": .string("a"),
                ]
            )
            #expect(
                found[1].values == [
                    "title": .string("Film"), "length": .integer(90), "note": .string("v"),
                ]
            )
            #expect(try rows(store, "Media", includesSubentities: false).isEmpty)
            #expect(try rows(store, "Video").count == 1)
            #expect(try rows(store, "Clip")[0].links["media"]?.description == "Media/p7")
            try fixture.converted(store) { database, report throws in
                let media = try Row.fetchAll(
                    database,
                    sql:
                        "SELECT entity, title, Audio_length, Video_length, note FROM Media ORDER "
                        + "BY entity"
                )
                #expect(lines(media) == ["Audio Song 1.5 - a", "Video Film - 90 v"])
                let titles = try String?.fetchAll(
                    database,
                    sql:
                        "SELECT title FROM Clip LEFT JOIN Media ON Media.recordName = media "
                        + "ORDER BY Clip.rowid"
                )
                #expect(titles == ["Film", "Song", nil, nil])
                #expect(report.danglingLinks == ["Clip.media": 1])
            }
        }
    }

    @Test("Where a migration left columns in another order, the rows say which is whose")
    func migrated() throws {
        let sql =
            Self.mediaTables + """
                UPDATE ZMEDIA SET ZNOTE = NULL, ZNOTE1 = 'a' WHERE Z_ENT = 3;
                UPDATE ZMEDIA SET ZNOTE = 'v', ZNOTE1 = NULL WHERE Z_ENT = 4;
                """
        try StoreFixture.with(Self.mediaEntities, sql) { fixture in
            let found = try rows(fixture.store(Self.media), "Media")
            #expect(found.map { $0.values["note"] } == [.string("a"), .string("v")])
            try fixture.execute("UPDATE ZMEDIA SET ZNOTE1 = 'both'")
            let error = #expect(throws: CoreDataStoreError.self) {
                _ = try fixture.store(Self.media)
            }
            #expect(error?.description.contains("ZNOTE") == true)
        }
    }

    // MARK: Relationships

    @Test("Many-to-many links are found by the names of columns, a self relation's direction too")
    func manyToMany() throws {
        let model = """
            <entity name="Post"><relationship name="tags" optional="YES" toMany="YES"
            deletionRule="Nullify" \
            destinationEntity="Tag" inverseName="posts" inverseEntity="Tag"/></entity>
            <entity name="Tag"><relationship name="posts" optional="YES" toMany="YES"
            deletionRule="Nullify" \
            destinationEntity="Post" inverseName="tags" inverseEntity="Post"/></entity>
            <entity name="User"><relationship name="follows" optional="YES" toMany="YES"
            deletionRule="Nullify" \
            destinationEntity="User" inverseName="followedBy" inverseEntity="User"/>
            <relationship name="followedBy" optional="YES" toMany="YES" deletionRule="Nullify" \
            destinationEntity="User" inverseName="follows" inverseEntity="User"/></entity>
            """
        let sql = """
            CREATE TABLE ZPOST (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER);
            CREATE TABLE ZTAG (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER);
            CREATE TABLE ZUSER (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER);
            CREATE TABLE Z_1TAGS (Z_1POSTS INTEGER, Z_2TAGS INTEGER, PRIMARY KEY (Z_1POSTS,
                Z_2TAGS));
            CREATE TABLE Z_3FOLLOWEDBY (Z_3FOLLOWEDBY INTEGER, Z_3FOLLOWS INTEGER,
                PRIMARY KEY (Z_3FOLLOWEDBY, Z_3FOLLOWS));
            INSERT INTO ZPOST VALUES (4, 1, 1); INSERT INTO ZTAG VALUES (9, 2, 1);
            INSERT INTO ZUSER VALUES (1, 3, 1), (2, 3, 1);
            INSERT INTO Z_1TAGS VALUES (4, 9), (4, 77); INSERT INTO Z_3FOLLOWEDBY VALUES (1, 2);
            """
        try StoreFixture.with([(1, "Post", 0), (2, "Tag", 0), (3, "User", 0)], sql) { fixture in
            let store = try fixture.store(model)
            let tags = try store.links(of: "tags", in: "Post").map { try $0.get() }
            #expect(
                tags.map { "\($0.source) \($0.target)" } == ["Post/p4 Tag/p9", "Post/p4 Tag/p77"]
            )
            let posts = try store.links(of: "posts", in: "Tag").map { try $0.get() }
            #expect(posts[0].source.description == "Tag/p9")
            let follows = try store.links(of: "follows", in: "User").map { try $0.get() }
            #expect(follows.map { "\($0.source.key) \($0.target.key)" } == ["1 2"])
            let followedBy = try store.links(of: "followedBy", in: "User").map { try $0.get() }
            #expect(followedBy.map { "\($0.source.key) \($0.target.key)" } == ["2 1"])
            #expect(throws: CoreDataStoreError.self) { _ = try store.links(of: "none", in: "User") }
            try fixture.converted(store) { database, report throws in
                #expect(report.danglingLinks == ["Post.tags": 1])
                #expect(report.rows["Post_tags"] == 1)
                // The followed user has the greater key.
                let order = try Bool.fetchOne(
                    database,
                    sql: """
                        SELECT a.rowid < b.rowid FROM User_followedBy j
                        JOIN User a ON a.recordName = j.followedBy JOIN User b ON b.recordName =
                            j.follows
                        """
                )
                #expect(order == true)
                #expect(try database.primaryKey("Post_tags").columns == ["recordName"])
            }
        }
    }

    @Test("Numbers beyond the bits of their attributes are converted, and counted in a note")
    func oversized() throws {
        let sql = """
            INSERT INTO ZITEM (Z_PK, Z_ENT, ZN16, ZN64, ZRATIO) VALUES (3, 1, 40000, 3000000000, 1e300),
                (4, 1, -32769, 1, -1e39), (5, 1, 32767, 1, 3.4e38);
            """
        try StoreFixture.with([(1, "Item", 0)], Self.itemTable + sql) { fixture in
            let store = try fixture.store(Self.item)
            try fixture.converted(store) { database, report throws in
                #expect(
                    report.notes.map { $0.prefix { $0 != ";" } } == [
                        "Item.n16: 2 of its values are beyond the bits of its type, which the app could not have saved",
                        "Item.ratio: 2 of its values are beyond the bits of its type, which the app could not have saved",
                    ]
                )
                #expect(
                    try Int.fetchAll(database, sql: "SELECT n16 FROM Item WHERE n16 > 7 ORDER BY 1")
                        == [32767, 40000]
                )
            }
        }
    }

    @Test("A value of another type is named in the error, with the option that passes it over")
    func wrongValues() throws {
        for (column, value, text) in [
            ("ZN16", "'seven'", "\"seven\" is no Integer 16"), ("ZTEXT", "12", "12 is no String"),
            ("ZTEXT", "x'0102'", "of 2 bytes is no String"),
        ] {
            let sql = """
                CREATE TABLE ZNOTE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
                    ZN16 INTEGER, ZTEXT BLOB);
                INSERT INTO ZNOTE (Z_PK, Z_ENT, \(column)) VALUES (1, 1, \(value));
                """
            try StoreFixture.with([(1, "Note", 0)], sql) { fixture in
                let store = try fixture.store(
                    """
                    <entity name="Note"><attribute name="n16" attributeType="Integer 16"/>
                    <attribute name="text" attributeType="String"/></entity>
                    """
                )
                let error = #expect(throws: CoreDataStoreError.self) {
                    try store.convert(to: fixture.folder.appendingPathComponent("app.sqlite"))
                }
                #expect(
                    error?.message.contains("its value \(text)") == true,
                    "\(String(describing: error))"
                )
                #expect(error?.message.contains("--skip-unreadable") == true)
            }
        }
    }

    @Test("A row of an unknown entity is named with its number and those of the table")
    func unknownEntity() throws {
        let sql = "INSERT INTO ZITEM (Z_PK, Z_ENT) VALUES (8, 9), (7, 9);"
        try StoreFixture.with([(1, "Item", 0)], Self.itemTable + sql) { fixture in
            let error = #expect(throws: CoreDataStoreError.self) { try fixture.store(Self.item) }
            #expect(error?.code == .invalidRow)
            #expect(error?.place == "Item/p7")
            #expect(error?.message.contains("Z_ENT, is 9, and ZITEM has rows of 1 Item") == true)
        }
    }

    @Test(
        "Parts of a composite are columns of their own, in a model's file and in SwiftData's stores"
    )
    func composites() throws {
        let model = """
            <composite name="Address"><attribute name="city" optional="YES" attributeType="String"/>
            <attribute name="zip" optional="YES" attributeType="Integer 32"/></composite>
            <entity name="Person"><attribute name="home" optional="YES" attributeType="Composite"
            composite="Address"/>
            <attribute name="work" optional="YES" attributeType="Composite"
            composite="Address"/></entity>
            """
        let sql = """
            CREATE TABLE ZPERSON (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZZIP
                INTEGER,
                ZZIP1 INTEGER, ZCITY VARCHAR, ZCITY1 VARCHAR);
            INSERT INTO ZPERSON VALUES (1, 1, 1, 10, 20, 'Rome', 'Oslo');
            """
        try StoreFixture.with([(1, "Person", 0)], sql) { fixture in
            let store = try fixture.store(model)
            #expect(
                try rows(store, "Person")[0].values == [
                    "home.city": .string("Rome"), "home.zip": .integer(10),
                    "work.city": .string("Oslo"), "work.zip": .integer(20),
                ]
            )
            try fixture.converted(store) { database, _ throws in
                let row = try #require(try Row.fetchOne(database, sql: "SELECT * FROM Person"))
                #expect(row["home_city"] == "Rome")
                #expect(row["work_zip"] == 20)
            }
        }
    }

    @Test("A SwiftData store is read with its own model, and the parts of an enum from its columns")
    func swiftData() throws {
        let cache = try DatabaseQueue(path: Fixture.url("Trips.store").path).read {
            try Data.fetchOne($0, sql: "SELECT Z_CONTENT FROM Z_MODELCACHE")
        }
        let sql = """
            CREATE TABLE ZTRIP (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZGEAR
                INTEGER, ZBEGAN TIMESTAMP,
                ZPRICE DECIMAL, ZNAME VARCHAR, ZCAR VARCHAR, ZSECRET VARCHAR, ZTEXT VARCHAR, ZTAGS
                    BLOB, ZKEY BLOB);
            CREATE TABLE ZSTOP (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTRIP
                INTEGER, Z_FOK_TRIP INTEGER,
                ZWEATHER INTEGER, ZTENTS INTEGER, ZNAME VARCHAR);
            CREATE TABLE ZWEATHER (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZSUNNY
                INTEGER);
            INSERT INTO ZTRIP VALUES (1, 3, 1, NULL, NULL, NULL, '', 'car', NULL, NULL, x'62706C',
                NULL);
            INSERT INTO ZTRIP VALUES (2, 3, 1, 5, NULL, NULL, 'Alps', NULL, NULL, NULL, NULL, NULL);
            INSERT INTO ZSTOP VALUES (1, 2, 1, 2, 2048, NULL, 3, 'Camp');
            """
        let entities = [(1, "Stop", 0), (2, "Camp", 1), (3, "Trip", 0), (4, "Weather", 0)]
        try StoreFixture.with(entities, sql, model: cache) { fixture in
            let store = try CoreDataStore(url: fixture.url)
            let trips = try rows(store, "Trip")
            #expect(
                trips[0].values == [
                    "name": .string(""), "mode.car": .string("car"),
                    "tags": .bytes(Data("bpl".utf8)),
                ]
            )
            #expect(trips[1].values == ["name": .string("Alps"), "mode.gear": .integer(5)])
            #expect(try rows(store, "Stop")[0].positions == ["trip": 2048])
            #expect(store.notes.contains { $0.contains("Trip.mode") })
            try fixture.converted(store) { database, _ throws in
                #expect(
                    try String.fetchOne(database, sql: "SELECT mode_car FROM Trip WHERE name = ''")
                        == "car"
                )
            }
            // A value that begins with 1 may be plain, or not in a file.
            try fixture.execute("UPDATE ZTRIP SET ZTAGS = x'0102' WHERE Z_PK = 1")
            let error = #expect(throws: CoreDataStoreError.self) {
                _ = try CoreDataStore(url: fixture.url)
            }
            #expect(error?.code == .unknownExternalData)
            let inline = try CoreDataStore(url: fixture.url, externalData: ["Trip.tags": false])
            #expect(try rows(inline, "Trip")[0].values["tags"] == .bytes(Data([1, 2])))
            let external = try CoreDataStore(url: fixture.url, externalData: ["Trip.tags": true])
            #expect(try rows(external, "Trip")[0].values["tags"] == .bytes(Data([2])))
        }
    }
}
