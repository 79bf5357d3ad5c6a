#if PostgreSQL
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#elseif canImport(Darwin)
import Darwin
#endif

/// The options with which libpq connects.
enum ConnectionOptions {
    /// The maximum number of seconds for a connection to one host.
    static let timeout = 5

    /// Returns the options of an address, which come after the engine's own and win.
    ///
    /// A connection whose other end is gone silently is noticed in about ten seconds, whether it is
    /// idle or waits for a result: other hosts may have taken over by then.
    ///
    /// - Parameters:
    ///   - address: A URL or the keywords of libpq.
    ///   - seconds: The maximum time for a connection to one host.
    /// - Returns: The options, by name.
    static func all(_ address: String, timeout seconds: Int) -> [(String, String)] {
        let defaults: [(key: String, variable: String?, value: String)] = [
            ("connect_timeout", "PGCONNECT_TIMEOUT", String(seconds)),
            // A standby refuses writes, so that it is passed over.
            ("target_session_attrs", "PGTARGETSESSIONATTRS", "read-write"),
            ("fallback_application_name", nil, "cloudkit"),
            ("keepalives_idle", nil, "5"), ("keepalives_interval", nil, "2"),
            ("keepalives_count", nil, "3"), ("tcp_user_timeout", nil, "10000"),
        ]
        return defaults.filter { $0.variable.map { getenv($0) == nil } ?? true }
            .map { ($0.key, $0.value) } + [("dbname", address)]
    }
}
#endif
