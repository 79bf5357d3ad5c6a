#if PostgreSQL
import CloudKitServerCore

/// A failure of a statement or of a connection.
struct PostgresFailure: Error {
    /// The server's code, such as `40001`; empty if the connection was lost.
    var code: String
    var message: String

    /// `true` when the connection cannot be used any more.
    var isLost: Bool {
        // An administrator, or the server's end or start, has ended it.
        code.isEmpty || ["57P01", "57P02", "57P03"].contains(code)
    }

    /// `true` when the same transaction may succeed if it runs again.
    var isConflict: Bool {
        // A unique key that another transaction has added meanwhile is one of them.
        ["40001", "40P01", "23505"].contains(code)
    }

    /// The error of the storage.
    var storageError: StorageError {
        let storageCode: StorageError.Code =
            switch code {
            case "", "55P03", "57014": .busy
            case "53100": .full
            case "XX001", "XX002": .corrupt
            case _ where code.hasPrefix("53") || code.hasPrefix("57"): .busy
            case _ where code.hasPrefix("40"): .busy
            case _ where code.hasPrefix("58"): .inputOutput
            default: .other
            }
        if code == "26000" || code == "42P05" {
            return StorageError(
                storageCode,
                "A pooler between this server and PostgreSQL loses prepared statements: connect to "
                    + "PostgreSQL itself, or set max_prepared_statements of PgBouncer 1.21 or later"
            )
        }
        let name = code.isEmpty ? "no connection" : code
        return StorageError(storageCode, "PostgreSQL: \(message) (\(name))")
    }
}
#endif
