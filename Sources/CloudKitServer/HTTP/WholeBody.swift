import CloudKitWire
import HTTPTypes
import Hummingbird

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The body of a request, which throws when it is cut short: that is the client's error.
struct WholeBody: AsyncSequence, Sendable {
    typealias Element = Data

    private let body: RequestBody
    /// The announced number of bytes; nil for a chunked body.
    let length: Int?

    init(_ request: Request) {
        body = request.body
        length = request.headers[.contentLength].flatMap { Int($0) }
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var parts: RequestBody.AsyncIterator
        fileprivate let length: Int?
        private var count = 0

        fileprivate init(parts: RequestBody.AsyncIterator, length: Int?) {
            self.parts = parts
            self.length = length
        }

        @concurrent
        mutating func next() async throws -> Data? {
            let part: Data?
            do {
                part = try await parts.next().map { Data($0.readableBytesView) }
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                throw RequestError(.badRequest, reason: "The body is cut short")
            }
            count += part?.count ?? 0
            if part == nil, let length, count < length {
                throw RequestError(
                    .badRequest,
                    reason: "The body is cut short: \(count) of \(length) bytes came"
                )
            }
            return part
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(parts: body.makeAsyncIterator(), length: length)
    }

    /// Returns the bytes in one piece.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of bytes.
    ///   - share: The share that their memory counts toward.
    /// - Returns: All bytes.
    /// - Throws: `RequestError` with `BAD_REQUEST` for more bytes, or fewer than announced, and
    ///   with `TRY_AGAIN_LATER` when there is no memory for them.
    func collect(upTo limit: Int, _ share: MemoryBudget.Share) async throws -> Data {
        let tooLong = RequestError(
            .badRequest,
            reason: "The body has more than the allowed \(limit) bytes",
            nativeErrorCode: .limitExceeded
        )
        if let length, length > limit { throw tooLong }
        var bytes = Data()
        for try await part in self {
            guard bytes.count + part.count <= limit else { throw tooLong }
            guard share.take(part.count) else {
                throw RequestError(
                    .tryAgainLater,
                    reason:
                        "The server has no memory for more bodies just now; nothing was changed",
                    retryAfter: 1
                )
            }
            bytes += part
        }
        return bytes
    }
}
