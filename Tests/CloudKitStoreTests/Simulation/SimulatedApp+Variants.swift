import CloudKitStore

extension SimulatedApp {
    static func schema(_ variant: SimulationVariant) -> String {
        switch variant {
        case .plain, .meetings, .assets: plainSchema
        case .unique: uniqueSchema
        case .permissions, .everything: sharedSchema
        case .families: familySchema
        }
    }

    static func tables(_ variant: SimulationVariant, isNew: Bool) -> [SyncedTable] {
        switch variant {
        case .plain, .meetings, .assets: plainTables(isNew: isNew)
        case .unique: [.table("label"), .table("entry"), .table("pin")]
        case .permissions, .everything: [.table("board"), .table("card")]
        case .families: ["board", "card", "link", "pin"].map { .table($0) }
        }
    }

    static func columns(_ variant: SimulationVariant, isNew: Bool) -> [TableColumns] {
        switch variant {
        case .plain, .meetings, .assets: plainColumns + (isNew ? [addedTable] : [])
        case .unique:
            [
                ("label", "id", ["name", "colour", "since"], []),
                ("entry", "id", ["title", "label", "second"], []), ("pin", "id", ["label"], []),
            ]
        case .permissions, .everything:
            [
                ("board", "id", ["name", "parent"], []),
                ("card", "id", ["title", "body", "due", "board"], []),
            ]
        case .families:
            [
                ("board", "id", ["name", "parent"], []),
                ("card", "id", ["title", "body", "due", "board", "related", "origin"], []),
                ("link", "id", ["title", "board", "needed"], []),
                ("pin", "id", ["title", "board", "card"], []),
            ]
        }
    }

    /// Labels with few names, and rows with every kind of reference to them.
    private static let uniqueSchema = """
        CREATE TABLE label (
            id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL UNIQUE, colour TEXT, since DATETIME
        );
        CREATE TABLE entry (
            id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '',
            label TEXT NOT NULL REFERENCES label (id) ON DELETE CASCADE,
            second TEXT REFERENCES label (id) ON DELETE SET NULL
        );
        CREATE TABLE pin (
            id TEXT PRIMARY KEY NOT NULL, label TEXT REFERENCES label (id) ON DELETE RESTRICT
        );
        """

    /// A tree of rows, of which a part is shared.
    private static let sharedSchema = """
        CREATE TABLE board (
            id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL DEFAULT '',
            parent TEXT REFERENCES board (id) ON DELETE CASCADE
        );
        CREATE TABLE card (
            id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '', body TEXT, due DATE,
            board TEXT REFERENCES board (id) ON DELETE CASCADE
        );
        """

    /// Trees of rows, with references from one tree to another.
    private static let familySchema = """
        CREATE TABLE board (
            id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL DEFAULT '',
            parent TEXT REFERENCES board (id) ON DELETE CASCADE
        );
        CREATE TABLE card (
            id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '', body TEXT, due DATE,
            board TEXT REFERENCES board (id) ON DELETE CASCADE,
            related TEXT REFERENCES card (id) ON DELETE SET NULL,
            origin TEXT REFERENCES card (id) ON DELETE CASCADE
        );
        CREATE TABLE link (
            id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '',
            board TEXT REFERENCES board (id) ON DELETE CASCADE,
            needed TEXT NOT NULL REFERENCES card (id) ON DELETE CASCADE
        );
        CREATE TABLE pin (
            id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '',
            board TEXT REFERENCES board (id) ON DELETE CASCADE,
            card TEXT NOT NULL REFERENCES card (id)
        );
        """
}
