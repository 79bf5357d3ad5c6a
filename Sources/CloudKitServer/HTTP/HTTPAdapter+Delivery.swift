import CloudKitServerCore
import Hummingbird
import NIOCore
import ServiceLifecycle

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#elseif canImport(Darwin)
import Darwin
#endif

// Responses that a fault plan delays, slows down, cuts off or drops.
extension HTTPAdapter {
    /// Sends a response as its delivery requires.
    func deliver(_ result: AdapterResponse, over channel: any Channel) async throws -> Response {
        let delivery = result.delivery
        if delivery.delayMilliseconds > 0 {
            // A server that stops sends at once what it has; another cancellation is thrown below.
            await cancelWhenGracefulShutdown {
                try? await Task.sleep(for: .milliseconds(delivery.delayMilliseconds))
            }
            try Task.checkCancellation()
        }
        if delivery.end == .lost {
            // Without lingering, the connection is reset rather than closed.
            let options = channel as? any SocketOptionProvider
            try? await options?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
            try? await channel.close()
        }
        return result.response
    }

    /// Returns a body of one piece that is sent as its delivery requires.
    static func body(_ bytes: Data, _ delivery: ServiceResponse.Delivery) -> ResponseBody {
        guard delivery.bytesPerSecond != nil || delivery.end != .whole else {
            return ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
        }
        let pieces = AsyncStream<Data> { stream in
            stream.yield(bytes)
            stream.finish()
        }
        return body(pieces, length: bytes.count, delivery) { _ in }
    }

    /// Returns a body that is read while it is sent, as its delivery requires.
    ///
    /// - Parameters:
    ///   - pieces: The bytes.
    ///   - length: The number of bytes.
    ///   - delivery: The way in which they are sent.
    ///   - noteFailure: A closure that receives the error if they cannot all be sent.
    /// - Returns: The body.
    static func body<Pieces: AsyncSequence & Sendable>(
        _ pieces: Pieces,
        length: Int,
        _ delivery: ServiceResponse.Delivery,
        noteFailure: @escaping @Sendable (any Error) -> Void
    ) -> ResponseBody where Pieces.Element == Data {
        ResponseBody(contentLength: length) { writer in
            var left = Int.max
            if case .cut(let bytes) = delivery.end, bytes < length { left = bytes }
            // Ten steps a second are smooth enough.
            let step = delivery.bytesPerSecond.map { max(1, $0 / 10) }
            do {
                for try await piece in pieces {
                    var rest = ByteBuffer(bytes: piece)
                    while rest.readableBytes > 0 {
                        guard left > 0 else { throw ResponseCut() }
                        let count = min(rest.readableBytes, left, step ?? .max)
                        guard let part = rest.readSlice(length: count) else { break }
                        try await writer.write(part)
                        left -= count
                        guard step != nil, !Task.isShuttingDownGracefully else { continue }
                        try await Task.sleep(for: .milliseconds(100))
                    }
                }
            } catch {
                noteFailure(error)
                throw error
            }
            try await writer.finish(nil)
        }
    }
}

/// An error thrown from a body to end its connection.
private struct ResponseCut: Error {}
