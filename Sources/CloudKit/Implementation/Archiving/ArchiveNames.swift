import CoreLocation
import Foundation

/// The names that archives give the module's classes, those of Apple's framework.
///
/// An archive made on an Apple platform names `CKRecord`, which Foundation finds here only when it
/// was told beforehand. Apps read archives before they touch anything else of the module, so that the
/// names are registered when the module is loaded.
enum ArchiveNames {
    private static let classes: [String: any (NSObject & NSCoding).Type] = [
        "CKAllowedSharingOptions": CKAllowedSharingOptions.self,
        "CKAsset": ArchivedAsset.self,
        "CKDatabaseSubscription": CKDatabaseSubscription.self,
        "CKEncryptedRecordValueStore": ArchivedValues.self,
        "CKFetchRecordZoneChangesConfiguration": CKFetchRecordZoneChangesConfiguration.self,
        "CKLocationSortDescriptor": CKLocationSortDescriptor.self,
        "CKNotificationID": CKNotificationID.self,
        "CKNotificationInfo": CKNotificationInfo.self,
        "CKOperationGroup": CKOperationGroup.self,
        "CKQuery": CKQuery.self,
        "CKQueryCursor": CKQueryCursor.self,
        "CKQuerySubscription": CKQuerySubscription.self,
        "CKRecord": CKRecord.self,
        "CKRecordID": CKRecordID.self,
        "CKRecordValueStore": ArchivedValues.self,
        "CKRecordZone": CKRecordZone.self,
        "CKRecordZoneID": CKRecordZoneID.self,
        "CKRecordZoneSubscription": CKRecordZoneSubscription.self,
        "CKReference": CKReference.self,
        "CKServerChangeToken": CKServerChangeToken.self,
        "CKShare": CKShare.self,
        "CKShareMetadata": CKShareMetadata.self,
        "CKShareParticipant": CKShareParticipant.self,
        "CKUserIdentity": CKUserIdentity.self,
        "CKUserIdentityLookupInfo": CKUserIdentityLookupInfo.self,
        "CLLocation": CLLocation.self,
    ]

    /// The classes by the names that archives made here give them, which hold the module's.
    private static let own = Dictionary(
        classes.values.map { (NSStringFromClass($0), $0) },
        uniquingKeysWith: { $1 }
    )

    /// The class that an archive means, which may have been given another name; nil when it is none
    /// of the module's.
    static func type(
        named name: String,
        in unarchiver: NSKeyedUnarchiver
    ) -> (any (NSObject & NSCoding).Type)? {
        let renamed: AnyClass? =
            unarchiver.class(forClassName: name) ?? NSKeyedUnarchiver.class(forClassName: name)
        return own[renamed.map(NSStringFromClass) ?? name]
    }

    /// The classes that may stand in an archive of the module.
    static let readable: [AnyClass] =
        classes.values.map { $0 as AnyClass } + [
            NSArray.self, NSData.self, NSDate.self, NSDictionary.self, NSNumber.self, NSSet.self,
            NSString.self, NSURL.self,
        ]

    static func register() {
        for (name, type) in classes { NSKeyedUnarchiver.setClass(type, forClassName: name) }
    }
}

#if os(Linux) || os(Android)
/// The loader runs what stands in this section.
@section(".init_array") @used
private let registerArchiveNames: @convention(c) () -> Void = { ArchiveNames.register() }
#elseif canImport(Darwin)
/// The loader runs what stands in this section.
@section("__DATA,__mod_init_func") @used
private let registerArchiveNames: @convention(c) () -> Void = { ArchiveNames.register() }
#endif
