import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import NIOCore
import NIOHTTP1

/// The response with which a channel handler refuses what never becomes a request of the library;
/// the connection is closed with it.
struct EarlyRefusal {
    let head: HTTPResponseHead
    let body: ByteBuffer

    /// Creates the response for an error, which gets an identifier of its own.
    init(_ status: HTTPResponseStatus, _ error: RequestError) {
        var error = error
        let id = SystemRandomness().uuid().lowercased()
        error.uuid = id
        var writer = JSONWriter()
        writer.requestError(error)
        body = ByteBuffer(bytes: writer.data)
        var headers: HTTPHeaders = [
            "Content-Type": "application/json; charset=UTF-8",
            "Content-Length": "\(body.readableBytes)", "Connection": "close",
            "X-Apple-Request-UUID": id,
        ]
        if let seconds = error.retryAfter {
            headers.add(name: "Retry-After", value: "\(Int(seconds.rounded(.up)))")
        }
        head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
    }

    /// The response as it is sent, for a handler that no encoder follows.
    var bytes: ByteBuffer {
        let status = "\(head.status.code) \(head.status.reasonPhrase)"
        var bytes = ByteBuffer(string: "HTTP/1.1 \(status)\r\n")
        for (name, value) in head.headers { bytes.writeString("\(name): \(value)\r\n") }
        bytes.writeString("\r\n")
        bytes.writeImmutableBuffer(body)
        return bytes
    }
}
