public import Foundation

/// An error of encoding or decoding.
///
/// Two errors are equal when they are of the same kind.
public struct CKCodableError: Error {
    /// What kind of error it is.
    public enum ErrorType: String, Sendable {
        /// CloudKit could not do what it was asked for.
        case cloudkitError
        /// What CloudKit answered does not fit together.
        case cloudkitInconsistence
        /// A record that is referred to is not there.
        case recordNotFound
        /// A field, or a value, is not of the type that is needed.
        case typeMismatch
    }

    /// What kind of error it is.
    public let errorType: ErrorType

    /// What went wrong, with the record and the path to the value.
    public let description: String

    /// The error that caused this one.
    public let underlyingError: (any Error)?

    init(_ errorType: ErrorType, _ description: String, _ underlyingError: (any Error)? = nil) {
        self.errorType = errorType
        self.description = description
        self.underlyingError = underlyingError
    }
}

extension CKCodableError: Equatable {
    /// Whether both are of the same kind.
    public static func == (left: Self, right: Self) -> Bool { left.errorType == right.errorType }
}

extension CKCodableError: CustomStringConvertible, LocalizedError {
    /// What went wrong, with the record and the path to the value.
    public var errorDescription: String? { description }
}
