#if PostgreSQL
import CloudKitServerCore

/// A failure of a statement or of a connection.
struct PostgresFailure: Error {
    /// The server's code, such as `40001`; empty if the connection was lost, or there was none.
    var code: String
    var message: String
    /// `true` when another attempt fails in the same way until somebody changes something.
    var isFinal = false

    /// Returns the failure of a connection that was there.
    ///
    /// - Parameter words: The reason, which may be libpq's.
    /// - Returns: The failure.
    static func lost(_ words: String) -> Self {
        let reason = Self.line(words)
        return Self(
            code: "",
            message: "The connection to PostgreSQL was lost" + (reason.isEmpty ? "" : ": \(reason)")
        )
    }

    /// `true` when the connection cannot be used any more.
    var isLost: Bool {
        // An administrator or a pooler, or the server's end or start, has ended it, or it is with a
        // server that has become a standby.
        code.isEmpty || ["57P01", "57P02", "57P03", "25006"].contains(code) || code.hasPrefix("08")
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
            case "": .busy
            case "25006", "55P03", "57014": .busy
            case "53100": .full
            case "XX001", "XX002": .corrupt
            case _ where ["08", "40", "53", "57"].contains(code.prefix(2)): .busy
            case _ where code.hasPrefix("58"): .inputOutput
            default: .other
            }
        guard !code.isEmpty else { return StorageError(storageCode, message) }
        let advice = Self.advice[code].map { ": " + $0 } ?? ""
        return StorageError(storageCode, "PostgreSQL: \(message) (\(code))" + advice)
    }

    /// The error of a storage that is being opened: nobody should try again what stays wrong.
    ///
    /// While a storage is in use, somebody will correct it, and clients do try again.
    var openingError: StorageError {
        isFinal ? StorageError(.other, storageError.message) : storageError
    }

    /// The remedies for some of the server's codes.
    private static let advice = [
        "25006":
            "it is a standby; add target_session_attrs=read-write to the address, and all hosts",
        "26000": transactionPooling, "42P05": transactionPooling,
        "42501": "the user must own the tables, or be allowed to create them in the schema",
        "53100": "its disk is full",
        "55P03":
            "another server or an operator's command holds the lock; it works once that has ended",
    ]

    /// The remedy for a pooler that gives each transaction another connection.
    static let transactionPooling = """
        between this server and PostgreSQL is a pooler that gives each transaction another session, \
        such as PgBouncer with pool_mode=transaction, and prepared statements, settings and LISTEN need \
        one that stays: set pool_mode=session for this database, or connect to PostgreSQL itself
        """
}

// MARK: Connecting

extension PostgresFailure {
    /// An explanation of libpq's words, or of those of a server that refuses a connection.
    private struct Explanation {
        /// Parts of the words.
        var words: [String]
        var remedy: String
        /// `true` when another attempt fails in the same way.
        var isFinal = true
    }

    /// Returns the failure of an attempt to connect.
    ///
    /// - Parameter words: libpq's words, which have no code and no password, but in what they say
    ///   about an address that cannot be read, parts of it.
    /// - Returns: The failure.
    static func connecting(_ words: String) -> Self {
        guard words.contains("connection to server ") || words.contains("translate host name")
        else {
            return Self(
                code: "",
                message: "The address of PostgreSQL cannot be used: \(withoutValues(line(words)))",
                isFinal: true
            )
        }
        // Each host has a line, and another attempt helps if it helps with one of them.
        let attempts = words.split(separator: "\n").filter { $0.contains("connection to server ") }
        let found = attempts.map { line in explanations.first { $0.words.allSatisfy(line.contains) }
        }
        let isFinal = !found.isEmpty && found.allSatisfy { $0?.isFinal ?? false }
        var remedies: [String] = []
        for explanation in found.compactMap(\.self) where !remedies.contains(explanation.remedy) {
            remedies.append(explanation.remedy)
        }
        return Self(
            code: "",
            message: (["There is no connection to PostgreSQL: " + line(words)] + remedies)
                .joined(separator: "; "),
            isFinal: isFinal
        )
    }

    private static let explanations = [
        Explanation(
            words: ["root certificate file"],
            remedy: "name the file of the authority that signed the server's certificate with "
                + "sslrootcert"
        ),
        Explanation(
            words: ["no password supplied"],
            remedy: "give the password in PGPASSWORD or in the file of PGPASSFILE"
        ),
        Explanation(
            words: ["authentication failed"],
            remedy: "check the user and the password, which may come from PGPASSWORD or PGPASSFILE"
        ),
        Explanation(
            words: ["role ", "does not exist"],
            remedy: "create the user, for example with `createuser`, or name another one"
        ),
        Explanation(
            words: ["no pg_hba.conf entry"],
            remedy: "allow this user, database, and host in PostgreSQL's pg_hba.conf"
        ),
        Explanation(
            words: ["database ", "does not exist"],
            remedy: "create the database, for example with `createdb`, or name another one"
        ),
        Explanation(
            words: ["does not match host name"],
            remedy: "sslmode=verify-full needs the host's name as the certificate has it"
        ),
        Explanation(
            words: ["certificate verify failed"],
            remedy: "name the file of the authority that signed the server's certificate with "
                + "sslrootcert"
        ),
        Explanation(
            words: ["server does not support SSL"],
            remedy:
                "switch ssl on in postgresql.conf; sslmode=disable does without, on a network that "
                + "nobody else can read"
        ),
        Explanation(
            words: ["too many c"],
            remedy: tooMany,
            isFinal: false
        ),
        Explanation(words: ["connection slots are reserved"], remedy: tooMany, isFinal: false),
        Explanation(
            words: ["session is read-only"],
            remedy:
                "it is a standby, or its role may only read (default_transaction_read_only); name the hosts "
                + "of all servers, and it goes on when one takes writes",
            isFinal: false
        ),
    ]

    private static let tooMany =
        "let PostgreSQL have more (max_connections), or each server of cloudkit fewer"

    /// Returns words of several lines in one.
    private static func line(_ words: String) -> String {
        words.split(separator: "\n").map { $0.drop { $0 == " " || $0 == "\t" } }
            .joined(separator: "; ")
    }

    /// Returns words without what they quote from an address, but for names of options.
    ///
    /// A value may be a password, or a part of one.
    private static func withoutValues(_ words: String) -> String {
        let parts = words.split(separator: "\"", omittingEmptySubsequences: false)
        return parts.enumerated().map { place, part in
            guard place % 2 == 1 else { return String(part) }
            let before = parts[place - 1]
            let isName = before.hasSuffix(" option ") || before.hasSuffix("query parameter: ")
            return isName ? "\"\(part)\"" : "…"
        }.joined()
    }
}
#endif
