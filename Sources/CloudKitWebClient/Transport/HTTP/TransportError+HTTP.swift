import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFileSystem
import NIOHTTPCompression
import NIOPosix
import NIOSSL

#if canImport(Network)
import Network
#endif

extension TransportError {
    /// The app's HTTP client redirected a request to another address.
    static let sentOn = TransportError(
        .refused,
        message: "The HTTP client followed a redirect, and credentials belong to the server that "
            + "was named; set its redirectConfiguration to .disallow"
    )

    /// Converts an error that ended the transfer of a file.
    init(file: URL, _ error: any Error) {
        switch error {
        case let error as TransportError: self = error
        case let error as FileSystemError where !Task.isCancelled: self.init(file: file, error)
        default: self.init(address: "the file's server", error)
        }
    }

    /// Converts an error of the HTTP client; the server is named by scheme, host and port, because
    /// the rest of an address contains tokens.
    ///
    /// Every error in the request of a cancelled task was caused by the cancellation, which affects
    /// files, streams and connections in different ways.
    init(address server: String, _ error: any Error) {
        switch error {
        case let error as TransportError: self = error
        case _ where Task.isCancelled, is CancellationError,
            HTTPClientError.cancelled as HTTPClientError:
            self.init(.cancelled, message: "The request to \(server) was cancelled", cause: error)
        case is IdleWatch.TimedOut:
            self.init(.timedOut, message: "\(server) sent no byte in time")
        case _ where Self.isAboutTrust(error): self = .untrusted(server, error)
        case is NIOConnectionError, is SocketAddressError:
            self = .noServer(at: server, error)
        case let failure as IOError where Self.unconnected.contains(failure.errnoCode):
            self = .noServer(at: server, error)
        case is NIOTooManyBytesError,
            NIOHTTPDecompression.DecompressionError.limit as NIOHTTPDecompression.DecompressionError:
            self.init(
                .oversized,
                message: "\(server) sent more bytes than a response may have",
                cause: error
            )
        case HTTPClientError.proxyAuthenticationRequired as HTTPClientError:
            self.init(
                .refused,
                message: "The proxy on the way to \(server) requires a name and a password; set "
                    + "them with HTTPS_PROXY=http://name:password@host:port",
                cause: error
            )
        case HTTPClientError.alreadyShutdown as HTTPClientError:
            // A retry is pointless, and nothing was sent.
            self.init(
                .refused,
                message: "The program's HTTP client was shut down before the request to \(server)",
                cause: error
            )
        case let error as HTTPClientError where Self.unreachable.contains(error):
            self.init(
                .unreachable,
                message: "\(server) cannot be reached: \(error.shortDescription)",
                cause: error
            )
        case let error as HTTPClientError where Self.late.contains(error):
            self.init(
                .timedOut,
                message: "\(server) did not respond in time",
                cause: error
            )
        case let failure where Self.isUnreachable(failure):
            self = .noServer(at: server, error)
        case let error as HTTPClientError:
            // Its whole description repeats header fields, which contain keys.
            self.init(
                .broken,
                message: "The connection to \(server) broke: \(error.shortDescription)",
                cause: error
            )
        default:
            self.init(
                .broken,
                message: "The connection to \(server) broke: \(error)",
                cause: error
            )
        }
    }

    /// Returns whether a server's certificate was refused, or the server refused ours.
    private static func isAboutTrust(_ error: any Error) -> Bool {
        switch error {
        case let error as NIOSSLExtraError: error == .failedToValidateHostname
        // BoringSSL's errors are distinguished only by their text.
        case NIOSSLError.handshakeFailed(let cause):
            ["CERTIFICATE_VERIFY_FAILED", "CERTIFICATE_REQUIRED", "UNKNOWN_CA", "BAD_CERTIFICATE"]
                .contains { "\(cause)".contains($0) }
        #if canImport(Network)
        case let error as HTTPClient.NWTLSError: certificateStatuses.contains(error.status)
        case NWError.tls(let status): certificateStatuses.contains(status)
        #endif
        default: false
        }
    }

    #if canImport(Network)
    /// Secure Transport's statuses for a refused certificate, and for a missing one.
    private static let certificateStatuses: Set<OSStatus> = [
        -9807, -9808, -9812, -9813, -9814, -9815, -9825, -9826, -9827, -9828, -9829, -9831, -9843,
        -9863,
    ]
    #endif

    private static func untrusted(_ server: String, _ cause: any Error) -> TransportError {
        TransportError(
            .untrusted,
            message: "The certificates of this program and of \(server) do not agree: it is "
                + "expired, made for another name, or of an authority that is not trusted. Name the "
                + "file of the authority's certificate with SSL_CERT_FILE, or give HTTPTransport a "
                + "client with trust roots and, where the server requires one, a certificate",
            cause: cause
        )
    }

    /// Returns whether Network.framework, which carries requests on Apple platforms, found no server.
    ///
    /// AsyncHTTPClient wraps its errors in types of its own.
    private static func isUnreachable(_ error: any Error) -> Bool {
        #if canImport(Network)
        switch error {
        case let error as HTTPClient.NWPOSIXError:
            unconnected.contains(error.errorCode.rawValue)
        case NWError.posix(let code): unconnected.contains(code.rawValue)
        case NWError.dns: true
        default: false
        }
        #else
        false
        #endif
    }

    private static func noServer(at address: String, _ cause: any Error) -> TransportError {
        TransportError(
            .unreachable,
            message: "No server responds at \(address); is it running, and is the address right?",
            cause: cause
        )
    }

    /// The system's errors of a connection that was never established.
    private static let unconnected: Set<CInt> = [
        ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL,
    ]

    private static let unreachable: [HTTPClientError] = [
        .connectTimeout, .invalidURL, .emptyHost, .emptyScheme, .tlsHandshakeTimeout,
        .invalidProxyResponse,
        .getConnectionFromPoolTimeout, .socksHandshakeTimeout, .httpProxyHandshakeTimeout,
    ]

    private static let late: [HTTPClientError] = [.deadlineExceeded, .readTimeout, .writeTimeout]

    /// Returns the error for a file's server that sends more than the file contains.
    static func oversized(_ length: Int64) -> TransportError {
        TransportError(
            .oversized,
            message:
                "The file's server sends more than the \(length) bytes of the file; nothing of "
                + "it was kept"
        )
    }

    /// Converts an error of the file system.
    init(file: URL, _ error: FileSystemError) {
        self.init(
            error.code == .notFound ? .fileNotFound : .fileUnusable,
            message: "The file \(file.path) cannot be used: \(error.message)",
            cause: error
        )
    }
}
