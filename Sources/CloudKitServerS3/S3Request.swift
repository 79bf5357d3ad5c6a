#if S3
import CloudKitBasics
import Crypto

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A request to S3, before it is signed.
package struct S3Request: Sendable {
    package var method: String
    /// The key of an object; nil for the bucket itself.
    package var key: String?
    package var query: [(name: String, value: String)] = []
    package var headers: [(name: String, value: String)] = []
    package var body = S3Body.bytes(Data())
    /// The purpose, as errors name it: "store", "read" and so on.
    package var purpose: String
}

/// The body of a request, which can be sent again.
package enum S3Body: Sendable {
    case bytes(Data)
    /// A part of a file; its checksum is known.
    case file(SpoolFile, Range<Int64>, checksum: String)

    package var count: Int64 {
        switch self {
        case .bytes(let data): Int64(data.count)
        case .file(_, let range, _): Int64(range.count)
        }
    }

    /// SHA-256 of the bytes in hexadecimal digits, which the signature covers: S3 refuses others.
    package var checksum: String {
        switch self {
        case .bytes(let data): Hexadecimal.text(SHA256.hash(data: data))
        case .file(_, _, let checksum): checksum
        }
    }
}

/// A signed request on its way.
package struct S3SignedRequest: Sendable {
    package var method: String
    package var url: String
    package var headers: [(name: String, value: String)]
    package var body: S3Body
}

/// A response of S3, whose body is read when it is requested.
package struct S3Response: Sendable {
    package var status: Int
    /// The header fields, by their names in lower case.
    package var headers: [String: String]
    /// Returns the next bytes; nil at the end.
    package var next: @Sendable () async throws -> Data?

    /// Creates a response.
    package init(
        status: Int,
        headers: [String: String],
        next: @escaping @Sendable () async throws -> Data?
    ) {
        self.status = status
        self.headers = headers
        self.next = next
    }

    /// Returns the whole body.
    ///
    /// - Throws: `S3Failure` for more bytes than a response of S3 to a request without a body has.
    package func whole() async throws -> Data {
        var data = Data()
        while let piece = try await next() {
            data += piece
            guard data.count <= S3XML.maxBytes else { throw S3Failure.unreadable(status) }
        }
        return data
    }
}

/// The seam to HTTP.
package protocol S3Transport: Sendable {
    /// Sends a request, and returns the response when its head has arrived.
    func send(_ request: S3SignedRequest) async throws -> S3Response
}
#endif
