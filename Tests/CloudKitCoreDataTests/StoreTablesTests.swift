import CloudKitCoreData
import Foundation
import GRDB
import Testing

@Suite("Core Data stores: the tables that a model makes")
struct StoreTablesTests {
    private func database(_ model: String) throws -> (DatabaseQueue, CoreDataTables) {
        let tables = CoreDataTables(model: try Fixture.model(model))
        let queue = try DatabaseQueue()
        try queue.write { try tables.create(in: $0) }
        return (queue, tables)
    }

    @Test("Names keep their spelling; those that SQLite takes for one get digits")
    func names() throws {
        let (queue, tables) = try database(
            """
            <entity name="Order"><attribute name="recordName" optional="YES"
            attributeType="String"/>
            <attribute name="userID" optional="YES" attributeType="UUID"/>
            <attribute name="userId" optional="YES" attributeType="Integer 64"/></entity>
            <entity name="order"/>
            <entity name="sqlite_master"/>
            """
        )
        #expect(tables.tables.map(\.name) == ["Order", "order1", "_sqlite_master"])
        try queue.read { database in
            let columns = try database.columns(in: "Order")
            #expect(columns.map(\.name) == ["recordName", "recordName1", "userID", "userId1"])
            #expect(columns.map(\.type) == ["TEXT", "TEXT", "TEXT", "INTEGER"])
            #expect(try database.primaryKey("Order").columns == ["recordName"])
        }
    }

    @Test("Required values with a default are NOT NULL, and defaults are the model's")
    func defaults() throws {
        let (queue, _) = try database(
            """
            <entity name="Item"><attribute name="title" attributeType="String"
            defaultValueString="it's"/>
            <attribute name="count" attributeType="Integer 16" defaultValueString="3"/>
            <attribute name="price" optional="YES" attributeType="Decimal"
            defaultValueString="0.10"/>
            <attribute name="done" attributeType="Boolean" defaultValueString="YES"/>
            <attribute name="due" attributeType="Date" defaultDateTimeInterval="60"/>
            <attribute name="body" attributeType="Binary"/></entity>
            """
        )
        try queue.write { database in
            try database.execute(sql: "INSERT INTO Item (recordName) VALUES ('a')")
            let row = try #require(try Row.fetchOne(database, sql: "SELECT * FROM Item"))
            #expect(row["title"] == "it's")
            #expect(row["count"] == 3)
            #expect(row["price"] == "0.1")
            #expect(row["done"] == true)
            #expect(row["due"] == "2001-01-01 00:01:00.000")
            let required = try database.columns(in: "Item").filter(\.isNotNull).map(\.name)
            #expect(required == ["recordName", "count", "done", "due", "title"])
        }
    }

    @Test(
        "A foreign key does what the inverse's rule says when the other row is deleted",
        arguments: [
            ("Cascade", "CASCADE"), ("Nullify", "SET NULL"), ("Deny", "RESTRICT"),
            ("No Action", "NO ACTION"),
        ]
    )
    func rules(_ rule: String, _ action: String) throws {
        let (queue, tables) = try database(
            """
            <entity name="Post"><relationship name="comments" optional="YES" toMany="YES"
            deletionRule="\(rule)" \
            destinationEntity="Comment" inverseName="post" inverseEntity="Comment"/></entity>
            <entity name="Comment"><relationship name="post" optional="YES" maxCount="1"
            deletionRule="Cascade" \
            destinationEntity="Post" inverseName="comments" inverseEntity="Post"/>
            <relationship name="author" optional="YES" maxCount="1" deletionRule="Nullify" \
            destinationEntity="Comment"/></entity>
            """
        )
        try queue.read { database in
            let keys = try Row.fetchAll(
                database,
                sql: "SELECT * FROM pragma_foreign_key_list('Comment')"
            )
            let actions = Dictionary(
                uniqueKeysWithValues: keys.map { ($0["from"] as String, $0["on_delete"] as String) }
            )
            #expect(actions == ["post": action, "author": "SET NULL"])
            #expect(try database.indexes(on: "Comment").map(\.columns).contains(["post"]))
        }
        // No foreign key deletes a parent with its child.
        #expect(tables.notes.contains { $0.contains("Comment.post") && $0.contains("Cascade") })
    }

    @Test("Both ends of a one-to-one relationship are columns, each with the other's rule")
    func oneToOne() throws {
        let (queue, tables) = try database(
            """
            <entity name="Attachment"><relationship name="data" optional="YES" maxCount="1"
            deletionRule="Cascade" \
            destinationEntity="ImageData" inverseName="owner" inverseEntity="ImageData"/></entity>
            <entity name="ImageData"><relationship name="owner" optional="YES" maxCount="1"
            deletionRule="Nullify" \
            destinationEntity="Attachment" inverseName="data" inverseEntity="Attachment"/></entity>
            """
        )
        #expect(tables.notes.isEmpty)
        try queue.write { database in
            try database.execute(
                sql: """
                    INSERT INTO Attachment (recordName, data) VALUES ('a', 'd');
                    INSERT INTO ImageData (recordName, owner) VALUES ('d', 'a');
                    DELETE FROM Attachment;
                    """
            )
            #expect(try Int.fetchOne(database, sql: "SELECT count(*) FROM ImageData") == 0)
        }
    }

    @Test("Indexes and constraints come over; those of a sub-entity hold for its rows alone")
    func indexes() throws {
        let (queue, tables) = try database(
            """
            <entity name="Media"><attribute name="title" optional="YES" attributeType="String"/>
            <fetchIndex name="byTitle"><fetchIndexElement property="title" type="Binary"
            order="descending"/></fetchIndex>
            <fetchIndex name="byLength"><fetchIndexElement expression="title.length" type="Binary"
            order="ascending"/></fetchIndex>
            </entity>
            <entity name="Song" parentEntity="Media"><attribute name="code" optional="YES"
            attributeType="String"/>
            <uniquenessConstraints><uniquenessConstraint><constraint value="code"/><constraint
            value="title"/>
            </uniquenessConstraint></uniquenessConstraints></entity>
            """
        )
        #expect(tables.notes.contains { $0.contains("byLength") })
        try queue.write { database in
            let sql = try String.fetchAll(
                database,
                sql: "SELECT sql FROM sqlite_master WHERE type = 'index' AND sql NOTNULL"
            )
            #expect(
                sql.contains { $0.contains(#""Media_byTitle""#) && $0.contains(#""title" DESC"#) }
            )
            try database.execute(
                sql: """
                    INSERT INTO Media (recordName, entity, title, code) VALUES
                        ('a', 'Media', 't', 'c'), ('b', 'Media', 't', 'c'), ('c', 'Song', 't', 'c')
                    """
            )
            #expect(throws: DatabaseError.self) {
                try database.execute(
                    sql:
                        "INSERT INTO Media (recordName, entity, title, code) VALUES ('d', "
                        + "'Song', 't', 'c')"
                )
            }
        }
    }

    @Test(
        "Missing required values are the default, and constraints hold for what comes over"
    )
    func filled() throws {
        let model = """
            <entity name="Item"><attribute name="title" attributeType="String"
            defaultValueString="new"/>
            <uniquenessConstraints><uniquenessConstraint><constraint
            value="title"/></uniquenessConstraint>
            </uniquenessConstraints></entity>
            """
        let sql = """
            CREATE TABLE ZITEM (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTITLE
                VARCHAR);
            INSERT INTO ZITEM VALUES (1, 1, 1, NULL), (2, 1, 1, 'a');
            """
        try StoreFixture.with([(1, "Item", 0)], sql) { fixture in
            try fixture.converted(fixture.store(model)) { database, report throws in
                #expect(report.filledValues == ["Item.title": 1])
                #expect(
                    try String.fetchAll(database, sql: "SELECT title FROM Item ORDER BY 1") == [
                        "a", "new",
                    ]
                )
            }
            try fixture.execute("INSERT INTO ZITEM VALUES (3, 1, 1, 'a')")
            let store = try fixture.store(model)
            let error = #expect(throws: CoreDataStoreError.self) {
                try store.convert(to: fixture.folder.appendingPathComponent("app.sqlite"))
            }
            #expect(error?.place == "App.sqlite, Item.title")
            #expect(error?.message.contains("2 rows have the same value 'a'") == true)
            #expect(error?.message.contains("change or delete all but one in the app") == true)
        }
    }

    @Test("Dates are written as GRDB writes them, in every year that it reads again")
    func dates() throws {
        let model = """
            <entity name="Day"><attribute name="at" optional="YES" attributeType="Date"/></entity>
            """
        var numbers = SystemRandomNumberGenerator()
        var seconds = (0..<1000).map { _ in
            Double.random(in: -13_000_000_000...10_000_000_000, using: &numbers)
        }
        seconds += (0..<200).map { _ in
            Double.random(in: -62_000_000_000...250_000_000_000, using: &numbers)
        }
        seconds += [
            0, -0.0005, 0.9996, 713_500_000.123, Date.distantPast.timeIntervalSinceReferenceDate,
        ]
        seconds += [
            Date.distantFuture.timeIntervalSinceReferenceDate, -978_307_200, -978_307_200.001,
        ]
        let sql = """
            CREATE TABLE ZDAY (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAT
                TIMESTAMP);
            """
        try StoreFixture.with([(1, "Day", 0)], sql) { fixture in
            try fixture.write { database in
                for (place, second) in seconds.enumerated() {
                    try database.execute(
                        sql: "INSERT INTO ZDAY VALUES (?, 1, 1, ?)",
                        arguments: [place + 1, second]
                    )
                }
            }
            try fixture.converted(fixture.store(model)) { database, _ throws in
                let texts = try String.fetchAll(database, sql: "SELECT at FROM Day ORDER BY rowid")
                for (text, second) in zip(texts, seconds) {
                    let date = Date(timeIntervalSinceReferenceDate: second)
                    #expect(text.databaseValue == date.databaseValue, "\(second)")
                }
            }
            try fixture.execute("INSERT INTO ZDAY VALUES (5000, 1, 1, 9e15)")
            let store = try fixture.store(model)
            let error = #expect(throws: CoreDataStoreError.self) {
                try store.convert(to: fixture.folder.appendingPathComponent("app.sqlite"))
            }
            #expect(error?.place == "Day/p5000.at")
        }
    }
}
