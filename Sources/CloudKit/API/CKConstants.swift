public import Foundation

/// The domain of CloudKit's errors.
public let CKErrorDomain: String = "CKErrorDomain"

/// The `userInfo` key of a partial failure's errors, by item ID.
public let CKPartialErrorsByItemIDKey: String = "CKPartialErrors"

/// The `userInfo` key of the version that a conflict's local changes started from.
public let CKRecordChangedErrorAncestorRecordKey: String = "AncestorRecord"

/// The `userInfo` key of the server's version in a conflict.
public let CKRecordChangedErrorServerRecordKey: String = "ServerRecord"

/// The `userInfo` key of the version in a conflict that could not be saved.
public let CKRecordChangedErrorClientRecordKey: String = "ClientRecord"

/// The `userInfo` key that marks a missing zone whose owner reset the encryption keys.
public let CKErrorUserDidResetEncryptedDataKey: String = "CKUserDidResetEncryptedData"

/// The `userInfo` key of the seconds to wait before a retry.
public let CKErrorRetryAfterKey: String = "CKRetryAfter"

/// The owner name that stands for the current user.
public let CKCurrentUserDefaultName: String = "__defaultOwner__"

/// The owner name that stands for the current user.
@available(*, deprecated, renamed: "CKCurrentUserDefaultName")
public let CKOwnerDefaultName: String = CKCurrentUserDefaultName

/// The record name of a share of a whole zone.
public let CKRecordNameZoneWideShare: String = "cloudkit.zoneshare"

extension NSNotification.Name {
    /// The notification that is posted when a user signs in or out; fetch the account status then.
    public static let CKAccountChanged = NSNotification.Name("CKAccountChangedNotification")
}
