/// One request with the expected response, and the source of this expectation.
public struct ConformanceRow: Sendable {
    /// The source of an expected response.
    public enum Source: String, Sendable, CaseIterable {
        /// Apple's documents specify it.
        case documented
        /// Somebody observed it on Apple's service.
        case observed
        /// It follows from the rest, or is our choice.
        case inferred
    }

    /// The subject of the row, unique in its area.
    public let name: String
    public let source: Source
    /// The page of the documents, or the observation.
    public let place: String
    /// The steps before the request.
    let before: [JSON]
    /// The request and its response.
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

    /// `true` when the request, or a part of it, is refused.
    public var isRefusal: Bool { step.status.integer ?? 200 >= 400 || !codes.isEmpty }

    /// The error codes in the response, each once, in order.
    public var codes: [String] {
        var found: [String] = []
        Self.collect(step.response, into: &found)
        if let code = step.code.text { found.append(code) }
        return found.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// The endpoint of the request.
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
