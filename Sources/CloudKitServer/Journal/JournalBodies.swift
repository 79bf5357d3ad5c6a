import CloudKitServerCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The beginnings of the bodies of a request and of its answer, for who looks into the journal.
struct JournalBodies: Sendable {
    /// Bytes that are kept of each.
    static let limit = 8 * 1024

    private let request: Data
    private let answer: Data
    private let isWhole: Bool

    init(_ answer: FaceAnswer) {
        let request = answer.requestBody ?? Data()
        let body = answer.service?.body ?? Data()
        // Copies, so that a large body does not stay in memory with them.
        self.request = Data([UInt8](request.prefix(Self.limit)))
        self.answer = Data([UInt8](body.prefix(Self.limit)))
        isWhole = request.count <= Self.limit && body.count <= Self.limit
    }

    /// The bodies as a person may see them.
    var shown: Shown {
        Shown(request: Self.hide(request), answer: Self.hide(answer), isWhole: isWhole)
    }

    /// Bodies without what opens anything.
    struct Shown: Encodable {
        var request: String
        var answer: String
        /// Whether both are there to their ends.
        var isWhole: Bool
    }

    /// Members whose values let somebody act for a user, or hear what the user is told.
    private static let secrets = ["apnsToken", "webcourierURL", "webAuthToken", "ckSession"]

    private static func hide(_ body: Data) -> String {
        var text = String(decoding: body, as: UTF8.self)
        // A body that was cut is no JSON any more.
        for name in secrets {
            var rest = text[...]
            var shown = ""
            while let member = rest.firstRange(of: "\"\(name)\"") {
                shown += rest[..<member.upperBound]
                rest = rest[member.upperBound...]
                guard let start = rest.firstIndex(of: "\"") else { break }
                let value = rest[rest.index(after: start)...]
                shown += rest[...start] + "…"
                rest = value.firstIndex(of: "\"").map { value[$0...] } ?? ""
            }
            text = shown + rest
        }
        return text
    }
}
