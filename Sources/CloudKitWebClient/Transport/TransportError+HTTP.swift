import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFileSystem
import NIOPosix

extension TransportError {
    /// Puts what ended the transfer of a file into the client's terms.
    init(file: URL, address url: String, _ error: any Error) {
        switch error {
        case let error as TransportError: self = error
        case let error as FileSystemError where !Task.isCancelled: self.init(file: file, error)
        default: self.init(address: url, error)
        }
    }

    /// Puts what the HTTP client reports into the client's terms.
    ///
    /// Whatever ends the request of a cancelled task was brought about by the cancellation, which
    /// reaches files, streams and connections each in its own way.
    init(address url: String, _ error: any Error) {
        let address = URLComponents(string: url).map { parts in
            "\(parts.scheme ?? "http")://\(parts.host ?? "?")" + (parts.port.map { ":\($0)" } ?? "")
        }
        let server = address ?? url
        switch error {
        case _ where Task.isCancelled, is CancellationError,
            HTTPClientError.cancelled as HTTPClientError:
            self.init(.cancelled, message: "The request to \(server) was cancelled", cause: error)
        case is NIOConnectionError, is SocketAddressError:
            self = .noServer(at: server, error)
        case let failure as IOError where Self.unconnected.contains(failure.errnoCode):
            self = .noServer(at: server, error)
        case let error as HTTPClientError where Self.unreachable.contains(error):
            self.init(
                .unreachable,
                message: "\(server) cannot be reached: \(error.shortDescription)",
                cause: error
            )
        case let error as HTTPClientError where Self.late.contains(error):
            self.init(
                .timedOut,
                message: "\(server) did not answer in time",
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

    private static func noServer(at address: String, _ cause: any Error) -> TransportError {
        TransportError(
            .unreachable,
            message: "No server answers at \(address); is it running, and is the address right?",
            cause: cause
        )
    }

    /// The system's errors of a connection that was never made.
    private static let unconnected: Set<CInt> = [
        ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL,
    ]

    private static let unreachable: [HTTPClientError] = [
        .connectTimeout, .invalidURL, .emptyHost, .emptyScheme, .tlsHandshakeTimeout,
        .getConnectionFromPoolTimeout, .socksHandshakeTimeout, .httpProxyHandshakeTimeout,
    ]

    private static let late: [HTTPClientError] = [.deadlineExceeded, .readTimeout, .writeTimeout]

    /// Puts what the file system reports into the client's terms.
    init(file: URL, _ error: FileSystemError) {
        self.init(
            error.code == .notFound ? .fileNotFound : .fileUnusable,
            message: "The file \(file.path) cannot be used: \(error.message)",
            cause: error
        )
    }
}
