#if PostgreSQL
import CPostgres
package import CloudKitServerCore

/// The address of a database as libpq reads it: a URL, or keywords and values.
///
/// The environment has what is missing: `PGHOST`, `PGPASSWORD` and others.
package struct PostgresAddress: Sendable, CustomStringConvertible {
    /// The address as it was given, which may have a password.
    package let text: String
    /// The address as keywords and values, without its passwords.
    package let textWithoutPasswords: String
    /// The database and its hosts, for people.
    package let description: String

    /// Reads an address.
    ///
    /// - Throws: `StorageError` for a text that libpq does not take.
    package init(_ text: String) throws(StorageError) {
        self.text = text
        var reason: UnsafeMutablePointer<CChar>?
        guard !text.isEmpty else {
            throw StorageError(
                .other,
                Self.refusal(of: text, "it is empty; postgres:// takes all from the environment")
            )
        }
        // libpq would take what is behind the first one, which may be a part of a password, for a host.
        guard !Self.hasSecondAt(text) else {
            throw StorageError(.other, Self.refusal(of: text, "it has more than one @"))
        }
        guard !text.utf8.contains(0), let given = PQconninfoParse(text, &reason) else {
            let cause = reason.map { String(cString: $0) } ?? "it cannot be read"
            PQfreemem(reason)
            throw StorageError(.other, Self.refusal(of: text, cause))
        }
        defer { PQconninfoFree(given) }
        let options = Self.options(given)
        textWithoutPasswords = options.map { option in
            option.name + "=" + (option.isSecret ? "…" : Self.quoted(option.value))
        }
        .joined(separator: " ")
        let defaults = PQconndefaults()
        defer { PQconninfoFree(defaults) }
        let values = Dictionary(
            (options + Self.options(defaults)).map { ($0.name, $0.value) },
            uniquingKeysWith: { given, _ in given }
        )
        let name = values["dbname"] ?? values["user"] ?? ""
        description = "\(name) on \(Self.hosts(values))"
    }

    private static func hasSecondAt(_ text: String) -> Bool {
        guard let start = text.firstRange(of: "://") else { return false }
        let authority = text[start.upperBound...].prefix { !"/?#".contains($0) }
        return authority.count { $0 == "@" } > 1
    }

    private struct Option {
        var name: String
        var value: String
        var isSecret: Bool
    }

    /// Returns the options that have a value.
    private static func options(_ first: UnsafeMutablePointer<PQconninfoOption>?) -> [Option] {
        guard var place = first else { return [] }
        var options: [Option] = []
        while let keyword = place.pointee.keyword {
            if let value = place.pointee.val {
                options.append(
                    Option(
                        name: String(cString: keyword),
                        value: String(cString: value),
                        // libpq's mark of what a program must not show.
                        isSecret: place.pointee.dispchar.pointee == CChar(UInt8(ascii: "*"))
                    )
                )
            }
            place += 1
        }
        return options.filter { !$0.value.isEmpty }
    }

    /// Returns the hosts, with the ports that are not PostgreSQL's own.
    private static func hosts(_ values: [String: String]) -> String {
        let hosts = (values["host"] ?? values["hostaddr"] ?? "").split(
            separator: ",",
            omittingEmptySubsequences: false
        )
        let ports = (values["port"] ?? "").split(separator: ",")
        return hosts.enumerated().map { place, host in
            let port = ports.count > 1 ? ports[min(place, ports.count - 1)] : ports.first ?? ""
            let name = host.isEmpty ? "this machine" : String(host)
            return ["", "5432"].contains(port) ? name : "\(name), port \(port)"
        }
        .joined(separator: " or ")
    }

    private static func quoted(_ value: String) -> String {
        guard value.contains(where: { " '\\".contains($0) }) else { return value }
        return "'" + value.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
    }

    /// Returns why an address is refused; libpq's reason may quote a part of a password.
    private static func refusal(of text: String, _ cause: String) -> String {
        let rest = text.split(separator: "://", maxSplits: 1).last ?? ""
        let user = rest.lastIndex(of: "@").map { rest[..<$0] } ?? ""
        let mayHavePassword = user.contains(":") || text.contains("password")
        let reason =
            mayHavePassword
            ? "correct its parts; in a user's name or a password, @ is %40, : is %3A, / is %2F, % is %25"
            : cause.split(separator: "\n").joined(separator: "; ")
        return
            "This is no address of a PostgreSQL database, such as postgres://user@host:5432/name: "
            + reason
    }
}
#endif
