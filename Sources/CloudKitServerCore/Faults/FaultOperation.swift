import CloudKitWire

/// The operations that a fault rule can match.
enum FaultOperation {
    /// All names: the endpoints, and operations outside the protocol.
    static let names =
        Endpoint.allCases.map(\.rawValue) + ["assets/send", "assets/fetch", "push/wait"]

    /// Returns whether a name is an operation, or matches all operations that begin with it.
    static func isKnown(_ name: String) -> Bool {
        guard name.hasSuffix("*") else { return names.contains(name) }
        return names.contains { $0.hasPrefix(name.dropLast()) }
    }
}
