import CloudKitWire

/// The operations that a rule of faults can be about.
enum FaultOperation {
    /// All names: the endpoints, and what is no endpoint of the protocol.
    static let names =
        Endpoint.allCases.map(\.rawValue) + ["assets/send", "assets/fetch", "push/wait"]

    /// Whether a name is one, or stands for all that begin so.
    static func isKnown(_ name: String) -> Bool {
        guard name.hasSuffix("*") else { return names.contains(name) }
        return names.contains { $0.hasPrefix(name.dropLast()) }
    }
}
