public import Foundation

/// An error of CloudKit: a code, and what is known besides in `userInfo`.
///
/// ```swift
/// do {
///     try await database.save(record)
/// } catch let error as CKError where error.code == .serverRecordChanged {
///     let newer = error.serverRecord
/// }
/// ```
public struct CKError: CustomNSError, Hashable, @unchecked Sendable {
    // @unchecked Sendable because an NSError cannot change once it is made.

    /// The error as Objective-C knows it.
    public let _nsError: NSError

    /// Takes an error of CloudKit's domain.
    public init(_nsError error: NSError) {
        _nsError = error
    }

    /// Makes an error from its code.
    public init(_ code: CKError.Code, userInfo: [String: Any] = [:]) {
        _nsError = NSError(domain: CKErrorDomain, code: code.rawValue, userInfo: userInfo)
    }

    /// The domain of CloudKit's errors.
    public static var errorDomain: String { CKErrorDomain }

    /// What went wrong; an unknown number counts as `internalError`.
    public var code: CKError.Code { CKError.Code(rawValue: _nsError.code) ?? .internalError }

    /// What went wrong, as a number.
    public var errorCode: Int { _nsError.code }

    /// What is known besides.
    public var userInfo: [String: Any] { _nsError.userInfo }

    /// What is known besides.
    public var errorUserInfo: [String: Any] { _nsError.userInfo }

    /// What went wrong and what to do, for people.
    public var localizedDescription: String { _nsError.localizedDescription }
}

extension CKError {
    /// The errors of the items that failed, by their identifiers.
    public var partialErrorsByItemID: [AnyHashable: any Error]? {
        userInfo[CKPartialErrorsByItemIDKey] as? [AnyHashable: any Error]
    }

    /// The version that the client's changes started from.
    public var ancestorRecord: CKRecord? {
        userInfo[CKRecordChangedErrorAncestorRecordKey] as? CKRecord
    }

    /// The server's version, onto which a merge goes.
    ///
    /// Its assets are not downloaded.
    public var serverRecord: CKRecord? {
        userInfo[CKRecordChangedErrorServerRecordKey] as? CKRecord
    }

    /// The version that could not be saved.
    public var clientRecord: CKRecord? {
        userInfo[CKRecordChangedErrorClientRecordKey] as? CKRecord
    }

    /// Seconds to wait before a retry; nil where a retry makes no sense.
    public var retryAfterSeconds: Double? {
        (userInfo[CKErrorRetryAfterKey] as? NSNumber)?.doubleValue
    }
}

extension CKError: CustomStringConvertible {
    /// The code, the message and what to do, for logs.
    public var description: String { logText }
}
