/// One request with the answer that it must get, and how we know.
public struct ConformanceRow: Sendable {
    /// How an expected answer is known.
    public enum Source: String, Sendable, CaseIterable {
        /// Apple's documents say so.
        case documented
        /// Somebody saw Apple's service do so.
        case observed
        /// It follows from the rest, or is our choice.
        case inferred
    }

    /// What the row is about, unique in its area.
    public let name: String
    public let source: Source
    /// The page of the documents, or what was observed.
    public let place: String
    /// What happens before.
    let before: [JSON]
    /// The request and its answer.
    let step: JSON

    init(_ row: JSON, area: String) throws {
        guard let name = row.name.text else {
            throw ConformanceTable.Broken(place: area, reason: "a row has no name: \(row)")
        }
        self.name = name
        let words = (row["from"].text ?? "").split(separator: " ", maxSplits: 1)
        guard let source = words.first.flatMap({ Source(rawValue: String($0)) }) else {
            throw ConformanceTable.Broken(place: "\(area): \(name)", reason: "it has no source")
        }
        self.source = source
        place = words.count > 1 ? String(words[1]) : ""
        before = row.before.elements
        step = row
    }

    /// Whether the request, or a part of it, is refused.
    public var isRefusal: Bool { step.status.integer ?? 200 >= 400 || !codes.isEmpty }

    /// The error codes that the answer has, each once, in order.
    public var codes: [String] {
        var found: [String] = []
        Self.collect(step.answer, into: &found)
        if let code = step.code.text { found.append(code) }
        return found.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// The endpoint that is called.
    public var endpoint: String? {
        step.to.text?.split(separator: " ").last.map(String.init)
    }

    private static func collect(_ pattern: JSON, into codes: inout [String]) {
        switch pattern {
        case .array(let elements): for element in elements { collect(element, into: &codes) }
        case .object(let members):
            if let code = members["serverErrorCode"]?.text { codes.append(code) }
            for (_, value) in members.sorted(by: { $0.key < $1.key }) {
                collect(value, into: &codes)
            }
        default: break
        }
    }
}
