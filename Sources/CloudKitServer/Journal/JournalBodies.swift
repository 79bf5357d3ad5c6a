import CloudKitServerCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The beginnings of a request's body and of its response's body, for readers of the journal.
struct JournalBodies: Sendable {
    /// The number of bytes that are kept of each.
    static let limit = 8 * 1024

    private let request: Data
    private let response: Data
    private let isWhole: Bool

    init(_ result: AdapterResponse) {
        let request = result.requestBody ?? Data()
        let body = result.service?.body ?? Data()
        // Copies, so that they do not keep a large body in memory.
        self.request = Data([UInt8](request.prefix(Self.limit)))
        self.response = Data([UInt8](body.prefix(Self.limit)))
        isWhole = request.count <= Self.limit && body.count <= Self.limit
    }

    /// The bodies, with secrets removed.
    var shown: Shown {
        Shown(request: Self.hide(request), response: Self.hide(response), isWhole: isWhole)
    }

    /// Bodies without secrets.
    struct Shown: Encodable {
        var request: String
        var response: String
        /// `true` when both bodies are complete.
        var isWhole: Bool
    }

    /// Members whose values allow acting as a user or receiving the user's notifications.
    private static let secrets = ["apnsToken", "webcourierURL", "webAuthToken", "ckSession"]

    private static func hide(_ body: Data) -> String {
        var text = String(decoding: body, as: UTF8.self)
        // A truncated body is no longer valid JSON.
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
