#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import CloudKitWire

/// Builds the responses of a service, also those for errors.
struct ResponseBuilder: Sendable {
    /// The source of the responses' identifiers.
    let randomness: any ServiceRandomness

    /// Returns a response with status 200.
    func ok(_ body: Data) -> ServiceResponse {
        ServiceResponse(status: 200, headers: headers(id: randomness.uuid()), body: body)
    }

    /// Returns the response for an error.
    func failure(_ failure: any Error) -> ServiceResponse {
        var error = Self.requestError(for: failure)
        let id = randomness.uuid().lowercased()
        error.uuid = id
        var writer = JSONWriter()
        writer.requestError(error)
        var response = ServiceResponse(
            status: error.serverErrorCode.httpStatus,
            headers: headers(id: id),
            body: writer.data
        )
        if let seconds = error.retryAfter, (0...1e9).contains(seconds) {
            response.headers.append(("Retry-After", "\(Int(seconds.rounded(.up)))"))
        }
        response.cause = Self.cause(of: failure)
        return response
    }

    /// Returns the cause of an error for operators, which clients do not receive.
    private static func cause(of error: any Error) -> String? {
        switch error {
        case is RequestError, is CancellationError: nil
        case is StorageError, is MissingAsset: damage(error)
        case let error as UnreadableAsset: damage(error.error)
        default: String(describing: type(of: error))
        }
    }

    /// Returns the cause, for operators, of an error that ended the bytes of an asset; nil if their
    /// reader caused it.
    static func damage(_ error: any Error) -> String? {
        switch error {
        // The damage itself was logged when it was noticed.
        case let error as StorageError where error.code == .damaged: nil
        case let error as StorageError: "\(error.code): \(error.message)"
        case let error as MissingAsset: "corrupt: \(error)"
        default: nil
        }
    }

    private func headers(id: String) -> [(name: String, value: String)] {
        [
            ("Content-Type", "application/json; charset=UTF-8"),
            ("X-Apple-Request-UUID", id),
            ("X-Apple-CloudKit-Version", "1.0"),
            (WireExtensions.header, WireExtensions.value),
        ]
    }

    /// Returns the error that a client receives; details of the storage are only in the log.
    static func requestError(for error: any Error) -> RequestError {
        switch error {
        case let error as RequestError: error
        case let error as MissingAsset: RequestError(.notFound, reason: error.description)
        case is UnreadableAsset:
            RequestError(.internalError, reason: "The server failed to read the asset")
        case let error as StorageError where error.code == .busy:
            RequestError(
                .tryAgainLater,
                reason: "The storage is busy or cannot be reached; nothing was changed",
                retryAfter: 1
            )
        case let error as StorageError where error.code == .full:
            RequestError(
                .tryAgainLater,
                reason: "The server's disk is full; nothing was changed",
                retryAfter: 60
            )
        case let error as StorageError where error.code == .damaged:
            RequestError(
                .tryAgainLater,
                reason: "The server's database is damaged, so nothing is written; its "
                    + "operator runs cloudkit check --repair and starts it again"
            )
        case let error as StorageError where error.code == .unresolved:
            RequestError(
                .internalError,
                reason:
                    "The server lost its database; it is not known whether anything was changed",
                nativeErrorCode: .serverResponseLost
            )
        case is CancellationError:
            RequestError(.tryAgainLater, reason: "The request was cancelled", retryAfter: 1)
        default: RequestError(.internalError, reason: "The server failed; nothing was changed")
        }
    }
}
