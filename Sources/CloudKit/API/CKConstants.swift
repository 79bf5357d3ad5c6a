public import Foundation

/// The domain of CloudKit's errors.
public let CKErrorDomain: String = "CKErrorDomain"

/// Under this key a partial failure keeps its items' errors, by item identifier.
public let CKPartialErrorsByItemIDKey: String = "CKPartialErrors"

/// Under this key a conflict keeps the version that the client's changes started from.
public let CKRecordChangedErrorAncestorRecordKey: String = "AncestorRecord"

/// Under this key a conflict keeps the server's version.
public let CKRecordChangedErrorServerRecordKey: String = "ServerRecord"

/// Under this key a conflict keeps the version that could not be saved.
public let CKRecordChangedErrorClientRecordKey: String = "ClientRecord"

/// Under this key a missing zone says that its owner reset the encryption keys.
public let CKErrorUserDidResetEncryptedDataKey: String = "CKUserDidResetEncryptedData"

/// Under this key an error keeps the seconds to wait before a retry.
public let CKErrorRetryAfterKey: String = "CKRetryAfter"

/// The owner name that stands for the current user.
public let CKCurrentUserDefaultName: String = "__defaultOwner__"

/// The owner name that stands for the current user.
@available(*, deprecated, renamed: "CKCurrentUserDefaultName")
public let CKOwnerDefaultName: String = CKCurrentUserDefaultName

/// The record name of a share of a whole zone.
public let CKRecordNameZoneWideShare: String = "cloudkit.zoneshare"

extension NSNotification.Name {
    /// Is posted when a user signs in or out; ask for the account's status then.
    public static let CKAccountChanged = NSNotification.Name("CKAccountChangedNotification")
}
