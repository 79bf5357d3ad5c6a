/// A request in the journal: its endpoint, its response, and the remedies if it was refused.
///
/// It names records and zones, so it is meant for the operator of the server, never for a log.
public struct JournalEntry: Hashable, Sendable, Codable {
    /// An error and its remedy.
    public struct Problem: Hashable, Sendable, Codable {
        /// The record, zone or subscription; nil for the request as a whole.
        public var item: String?
        /// CloudKit's error code.
        public var code: String
        /// The reason that the client received.
        public var reason: String
        /// The recommended remedy.
        public var remedy: String
    }

    /// A way in which a fault kept a response from its client.
    public enum Loss: String, Hashable, Sendable, Codable {
        /// The client received nothing.
        case lost
        /// The client received the beginning alone.
        case cut
    }

    /// The number of the entry, counted from 1 over all entries that the journal has ever had.
    public var number = 0
    /// The request's identifier, which is also in the response.
    public var id: String
    /// The time at which the request arrived, in milliseconds since 1970-01-01 UTC.
    public var time: Int64
    /// The HTTP method.
    public var method: String
    /// The endpoint, such as `records/modify`; the path for a request without an endpoint.
    public var endpoint: String
    /// The container.
    public var container: String?
    /// The environment and the database, such as `development/private`.
    public var database: String?
    /// The record name of the user who sent the request; nil if there is none, or it is unknown.
    public var user: String?
    /// The HTTP status, also of a response that was lost.
    public var status: Int
    /// The loss of the response, on purpose; nil for one that was sent as a whole.
    public var loss: Loss?
    /// The time that the service worked on the request, in milliseconds.
    public var milliseconds: Double
    /// The size of the response's body in bytes.
    public var bytes: Int
    /// The errors in the response.
    public var problems: [Problem]
    /// The rules of the fault plan that took effect, by index, counted from 0.
    public var faults: [Int]
}

extension JournalEntry: CustomStringConvertible {
    /// The entry as readable text: one line, and another for each problem and its remedy.
    ///
    /// Text from the request cannot control a terminal or imitate another entry.
    public var description: String {
        let outcome = [String(status), loss?.rawValue].compactMap(\.self).joined(separator: " ")
        let tenths = Int((milliseconds * 10).rounded())
        let place = [container, database].compactMap(\.self).joined(separator: " ")
        var lines = [
            [
                Self.clock(time), outcome, method, endpoint, place,
                "\(tenths / 10).\(tenths % 10) ms", "\(bytes) B",
            ].filter { !$0.isEmpty }.map(TerminalText.line).joined(separator: "  ")
        ]
        if !faults.isEmpty {
            let rules = faults.map { String($0 + 1) }.joined(separator: ", ")
            lines.append("    fault on purpose: rule \(rules) of the plan")
        }
        for problem in problems {
            let item = problem.item.map { "'\($0)' " } ?? ""
            lines.append("    " + TerminalText.line("\(item)\(problem.code): \(problem.reason)"))
            lines.append("      -> \(problem.remedy)")
        }
        return lines.joined(separator: "\n")
    }

    /// Returns the time of day in UTC.
    private static func clock(_ milliseconds: Int64) -> String {
        let seconds = milliseconds / 1000
        let parts = [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60]
        return parts.map { ($0 < 10 ? "0" : "") + String($0) }.joined(separator: ":")
    }
}
