public import Foundation

/// An error that occurs while a value is encoded or decoded.
///
/// Two errors are equal when they have the same kind.
public struct CKCodableError: Error {
    /// The kind of an error.
    public enum ErrorType: String, Sendable {
        /// CloudKit could not perform a request.
        case cloudkitError
        /// A response of CloudKit is inconsistent.
        case cloudkitInconsistence
        /// A record that a reference leads to is missing.
        case recordNotFound
        /// A field, or a value, does not have the required type.
        case typeMismatch
    }

    /// The kind of error.
    public let errorType: ErrorType

    /// A description of the problem, with the record and the path to the value.
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
    /// Returns whether both errors have the same kind.
    public static func == (left: Self, right: Self) -> Bool { left.errorType == right.errorType }
}

extension CKCodableError: CustomStringConvertible, LocalizedError {
    /// A description of the problem, with the record and the path to the value.
    public var errorDescription: String? { description }
}
