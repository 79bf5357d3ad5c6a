/// One request as the journal keeps it: what was asked, what was answered, and what to do about a
/// refusal.
///
/// It names records and zones, so it is for the person who runs the server, never for a log.
public struct JournalEntry: Hashable, Sendable, Codable {
    /// What was wrong, and the remedy.
    public struct Problem: Hashable, Sendable, Codable {
        /// The record, zone or subscription; nil for the request as a whole.
        public var item: String?
        /// CloudKit's error code.
        public var code: String
        /// What was wrong, as the client was told.
        public var reason: String
        /// What to do about it.
        public var remedy: String
    }

    /// The entry's place among all that the journal ever took, from 1.
    public var number = 0
    /// The identifier that the answer carries too.
    public var id: String
    /// When the request came, in milliseconds since 1970-01-01 UTC.
    public var time: Int64
    /// The HTTP method.
    public var method: String
    /// The endpoint, such as `records/modify`; the path for anything that is none.
    public var endpoint: String
    /// The container.
    public var container: String?
    /// The environment and the database, such as `development/private`.
    public var database: String?
    /// The record name of the user whose request it was; nil for nobody's, and where nobody knows.
    public var user: String?
    /// The HTTP status.
    public var status: Int
    /// How long the service worked on it.
    public var milliseconds: Double
    /// Bytes of the answer's body.
    public var bytes: Int
    /// What was wrong.
    public var problems: [Problem]
    /// The rules of the plan of faults that took effect, by place, counted from 0.
    public var faults: [Int]
}

extension JournalEntry: CustomStringConvertible {
    /// The entry for a person: a line, and one more for each problem and its remedy.
    ///
    /// What came with the request cannot change a terminal, or look like another entry.
    public var description: String {
        let tenths = Int((milliseconds * 10).rounded())
        let place = [container, database].compactMap(\.self).joined(separator: " ")
        var lines = [
            [
                Self.clock(time), String(status), method, endpoint, place,
                "\(tenths / 10).\(tenths % 10) ms", "\(bytes) B",
            ].filter { !$0.isEmpty }.map(TerminalText.line).joined(separator: "  ")
        ]
        if !faults.isEmpty {
            let rules = faults.map(String.init).joined(separator: ", ")
            lines.append("    fault on purpose: rule \(rules) of the plan")
        }
        for problem in problems {
            let item = problem.item.map { "'\($0)' " } ?? ""
            lines.append("    " + TerminalText.line("\(item)\(problem.code): \(problem.reason)"))
            lines.append("      -> \(problem.remedy)")
        }
        return lines.joined(separator: "\n")
    }

    /// The time of day in UTC.
    private static func clock(_ milliseconds: Int64) -> String {
        let seconds = milliseconds / 1000
        let parts = [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60]
        return parts.map { ($0 < 10 ? "0" : "") + String($0) }.joined(separator: ":")
    }
}
