#if PostgreSQL
import CloudKitServerCore

/// A failure of a statement or of a connection.
struct PostgresFailure: Error {
    /// The server's code, such as `40001`; empty if the connection was lost.
    var code: String
    var message: String

    init(code: String, message: String) {
        self.code = code
        self.message = message
    }

    /// Creates the failure of an attempt to connect, for which libpq has a text and no code.
    ///
    /// A code says that another attempt would fail in the same way. A server that speaks another language
    /// than English gets more attempts.
    init(connecting message: String) {
        let codes = [
            (/password authentication failed|no password supplied/, "28P01"),
            (/no pg_hba.conf entry|role ".*" does not exist/, "28000"),
            (/database ".*" does not exist/, "3D000"),
        ]
        let known = codes.first { message.contains($0.0) }
        self.init(code: known?.1 ?? "", message: message)
    }

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
            // An operator can set right who may connect; clients keep their changes until then.
            case "", "55P03", "57014", "28P01", "28000", "3D000": .busy
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
        let remedy =
            switch code {
            case "28P01": "; name the password in PGPASSWORD, or in the file of PGPASSFILE"
            case "42501": "; the user must own the database, or may create in its schema public"
            case "3D000": "; create it with createdb, or correct its name"
            default: ""
            }
        let name = code.isEmpty ? "no connection" : code
        return StorageError(storageCode, "PostgreSQL: \(message) (\(name))\(remedy)")
    }
}
#endif
