import CloudKitCoreData
import Foundation
import GRDB
import Testing

@Suite("Core Data stores: orders")
struct StoreOrderTests {
    @Test("Orders come over as positions, of one-to-many and of many-to-many relationships")
    func ordered() throws {
        let model = """
            <entity name="Album"><relationship name="assets" optional="YES" toMany="YES"
            ordered="YES" \
            deletionRule="Nullify" destinationEntity="Asset" inverseName="albums"
                inverseEntity="Asset"/></entity>
            <entity name="Asset"><relationship name="albums" optional="YES" toMany="YES"
            deletionRule="Nullify" \
            destinationEntity="Album" inverseName="assets" inverseEntity="Album"/></entity>
            <entity name="Item"><relationship name="list" optional="YES" maxCount="1"
            deletionRule="Nullify" \
            destinationEntity="List" inverseName="items" inverseEntity="List"/></entity>
            <entity name="List"><relationship name="items" optional="YES" toMany="YES" ordered="YES"
            \
            deletionRule="Cascade" destinationEntity="Item" inverseName="list"
                inverseEntity="Item"/></entity>
            """
        let sql = """
            CREATE TABLE ZALBUM (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER);
            CREATE TABLE ZASSET (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER);
            CREATE TABLE ZITEM (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZLIST
                INTEGER, Z_FOK_LIST INTEGER);
            CREATE TABLE ZLIST (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER);
            CREATE TABLE Z_26ASSETS (Z_26ALBUMS INTEGER, Z_3ASSETS INTEGER, Z_FOK_3ASSETS INTEGER,
                PRIMARY KEY (Z_26ALBUMS, Z_3ASSETS));
            INSERT INTO ZALBUM VALUES (1, 26, 1); INSERT INTO ZASSET VALUES (1, 3, 1), (2, 3, 1);
            INSERT INTO ZLIST VALUES (1, 28, 1);
            INSERT INTO ZITEM VALUES (1, 27, 1, 1, 4096), (2, 27, 1, 1, 2048), (3, 27, 1, NULL,
                NULL);
            INSERT INTO Z_26ASSETS VALUES (1, 1, 3072), (1, 2, 2048);
            """
        let entities = [(26, "Album", 0), (3, "Asset", 0), (27, "Item", 0), (28, "List", 0)]
        try StoreFixture.with(entities, sql) { fixture in
            let store = try fixture.store(model)
            #expect(try rows(store, "Item").map { $0.positions["list"] } == [4096, 2048, nil])
            let assets = try store.links(of: "assets", in: "Album").map { try $0.get() }
            #expect(assets.map(\.position) == [3072, 2048])
            try fixture.converted(store) { database, _ throws in
                #expect(
                    try Int?.fetchAll(
                        database,
                        sql: "SELECT list_position FROM Item ORDER BY rowid"
                    )
                        == [4096, 2048, nil]
                )
                #expect(
                    try Int.fetchAll(
                        database,
                        sql:
                            "SELECT a.rowid FROM Album_assets j JOIN Asset a ON a.recordName = "
                            + "assets ORDER BY assets_position"
                    ) == [2, 1]
                )
            }
        }
    }

    private static let orders = """
        <entity name="Item"><relationship name="list" optional="YES" maxCount="1" \
        destinationEntity="List" inverseName="items" inverseEntity="List"/>
        <relationship name="tags" optional="YES" toMany="YES" ordered="YES" \
        destinationEntity="Tag" inverseName="items" inverseEntity="Tag"/></entity>
        <entity name="List"><relationship name="items" optional="YES" toMany="YES" ordered="YES" \
        destinationEntity="Item" inverseName="list" inverseEntity="Item"/></entity>
        <entity name="Tag"><relationship name="items" optional="YES" toMany="YES" \
        destinationEntity="Item" inverseName="tags" inverseEntity="Item"/></entity>
        """

    /// Runs a test with two items in a list, and a link of each to a tag.
    ///
    /// - Parameters:
    ///   - first: The position of the first item, with the name of its column; nil for a store without orders.
    ///   - body: The test.
    private func withOrders(_ first: String?, _ body: (StoreFixture) throws -> Void) throws {
        let sql = """
            CREATE TABLE ZITEM (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZLIST
                INTEGER\(first == nil ? "" : ", Z_FOK_LIST INTEGER"));
            CREATE TABLE ZLIST (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER);
            CREATE TABLE ZTAG (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER);
            CREATE TABLE Z_1TAGS (Z_1ITEMS INTEGER,
                Z_3TAGS INTEGER\(first == nil ? "" : ", Z_FOK_3TAGS INTEGER"));
            INSERT INTO ZLIST VALUES (1, 2, 1); INSERT INTO ZTAG VALUES (1, 3, 1);
            INSERT INTO ZITEM VALUES (1, 1, 1, 1\(first.map { ", \($0)" } ?? ""));
            INSERT INTO Z_1TAGS VALUES (1, 1\(first.map { ", \($0)" } ?? ""));
            """
        try StoreFixture.with([(1, "Item", 0), (2, "List", 0), (3, "Tag", 0)], sql, body)
    }

    private func positions(_ database: Database) throws -> [Int?] {
        try Int?.fetchAll(
            database,
            sql: "SELECT list_position FROM Item UNION ALL SELECT tags_position FROM Item_tags"
        )
    }

    @Test("An order that the store does not have is noted, and no positions are made up")
    func missingOrders() throws {
        try withOrders(nil) { fixture in
            let store = try fixture.store(Self.orders)
            for place in ["List.items", "Item.tags"] {
                let note =
                    "\(place): the model says that it is ordered, and the store has no column"
                #expect(store.notes.count { $0.hasPrefix(note) } == 1, "\(store.notes)")
            }
            try fixture.converted(store) { database, _ throws in
                #expect(try positions(database) == [nil, nil])
            }
        }
    }

    @Test("An order that the model does not have is noted")
    func unknownOrders() throws {
        try withOrders("2048") { fixture in
            #expect(try fixture.store(Self.orders).notes == [])
            let store = try fixture.store(Self.orders.replacing("ordered=\"YES\"", with: ""))
            for (place, column) in [("List.items", "Z_FOK_LIST"), ("Item.tags", "Z_FOK_3TAGS")] {
                #expect(
                    store.notes.count {
                        $0.hasPrefix("\(place): the model says that it is not ordered")
                            && $0.contains(column)
                    } == 1,
                    "\(store.notes)"
                )
            }
        }
    }

    @Test("A position that is no integer ends the conversion, or is NULL and counted on request")
    func wrongPositions() throws {
        try withOrders("'first'") { fixture in
            let store = try fixture.store(Self.orders)
            let error = #expect(throws: CoreDataStoreError.self) {
                try store.convert(to: fixture.folder.appendingPathComponent("app.sqlite"))
            }
            #expect(error?.place == "Item/p1.list_position")
            #expect(error?.message.contains("\"first\" is no integer") == true)
            #expect(error?.message.contains("--skip-unreadable") == true)
            #expect(throws: CoreDataStoreError.self) { _ = try rows(store, "Item") }
            #expect(throws: CoreDataStoreError.self) {
                _ = try store.links(of: "tags", in: "Item").map { try $0.get() }
            }
            var options = CoreDataConversionOptions()
            options.skipsUnreadableValues = true
            try fixture.converted(store, options) { database, report throws in
                #expect(try positions(database) == [nil, nil])
                #expect(
                    report.skippedValues == ["Item.list_position": 1, "Item.tags_position": 1]
                )
            }
        }
    }
}
