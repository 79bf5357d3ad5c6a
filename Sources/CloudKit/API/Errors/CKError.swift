public import Foundation

/// An error of CloudKit, with a code and further details in `userInfo`.
///
/// ```swift
/// do {
///     try await database.save(record)
/// } catch let error as CKError where error.code == .serverRecordChanged {
///     print("newer:", error.serverRecord as Any)
/// }
/// ```
public struct CKError: CustomNSError, Hashable, @unchecked Sendable {
    // @unchecked Sendable because an NSError is immutable.

    /// The underlying Objective-C error.
    public let _nsError: NSError

    /// Creates an error from an `NSError` of CloudKit's domain.
    public init(_nsError error: NSError) {
        _nsError = error
    }

    /// Creates an error with a code.
    public init(_ code: CKError.Code, userInfo: [String: Any] = [:]) {
        _nsError = NSError(domain: CKErrorDomain, code: code.rawValue, userInfo: userInfo)
    }

    /// The domain of CloudKit's errors.
    public static var errorDomain: String { CKErrorDomain }

    /// The error's code; an unknown number becomes `internalError`.
    public var code: CKError.Code { CKError.Code(rawValue: _nsError.code) ?? .internalError }

    /// The error's code as a number.
    public var errorCode: Int { _nsError.code }

    /// The details of the error.
    public var userInfo: [String: Any] { _nsError.userInfo }

    /// The details of the error.
    public var errorUserInfo: [String: Any] { _nsError.userInfo }

    /// A description of the error and its remedy, for users.
    public var localizedDescription: String { _nsError.localizedDescription }
}

extension CKError {
    /// The errors of the failed items, by item ID.
    public var partialErrorsByItemID: [AnyHashable: any Error]? {
        userInfo[CKPartialErrorsByItemIDKey] as? [AnyHashable: any Error]
    }

    /// In a conflict, the version that the local changes started from.
    public var ancestorRecord: CKRecord? {
        userInfo[CKRecordChangedErrorAncestorRecordKey] as? CKRecord
    }

    /// In a conflict, the server's version, into which to merge the local changes.
    ///
    /// Its assets are not downloaded.
    public var serverRecord: CKRecord? {
        userInfo[CKRecordChangedErrorServerRecordKey] as? CKRecord
    }

    /// In a conflict, the version that could not be saved.
    public var clientRecord: CKRecord? {
        userInfo[CKRecordChangedErrorClientRecordKey] as? CKRecord
    }

    /// The number of seconds to wait before a retry; nil when a retry is pointless.
    public var retryAfterSeconds: Double? {
        (userInfo[CKErrorRetryAfterKey] as? NSNumber)?.doubleValue
    }
}

extension CKError: CustomStringConvertible {
    /// A textual representation with the code, the message and the remedy, for logs.
    public var description: String { logText }
}
