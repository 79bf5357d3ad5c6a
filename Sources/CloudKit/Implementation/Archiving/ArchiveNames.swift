import CoreLocation
import Foundation

/// The names of the module's classes in archives, which are those of Apple's framework.
///
/// An archive from an Apple platform names `CKRecord`, which Foundation finds here only if it was
/// registered beforehand. Apps read archives before they use anything else in the module, so the
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

    /// The module's classes by their names in archives created here.
    private static let own = Dictionary(
        classes.values.map { (NSStringFromClass($0), $0) },
        uniquingKeysWith: { $1 }
    )

    /// Finds the class that an archive means; nil if it is none of the module's.
    ///
    /// - Parameters:
    ///   - name: The name in the archive.
    ///   - renamed: The class that the archive's own unarchiver has for the name.
    /// - Returns: The class.
    static func type(
        named name: String,
        renamed: AnyClass?
    ) -> (any (NSObject & NSCoding).Type)? {
        let renamed: AnyClass? = renamed ?? NSKeyedUnarchiver.class(forClassName: name)
        return own[renamed.map(NSStringFromClass) ?? name]
    }

    /// The classes that an archive of the module may contain.
    static let readable: [AnyClass] =
        classes.values.map { $0 as AnyClass } + [
            NSArray.self, NSData.self, NSDate.self, NSDictionary.self, NSNumber.self, NSSet.self,
            NSString.self, NSURL.self,
        ]

    /// Registers the names; does nothing before dictionaries work, and after the first time.
    fileprivate static func register() {
        guard LoadTime.isHashingSettled, !isRegistered else { return }
        isRegistered = true
        for (name, type) in classes { NSKeyedUnarchiver.setClass(type, forClassName: name) }
    }

    // Only the loader reads and changes it, on one thread.
    nonisolated(unsafe) private static var isRegistered = false
}

// The loader runs the functions in these sections. In a program with a static standard library our
// functions come before the standard library's own, unless the linker moves them: LLD moves the second
// to the end of `.init_array`, gold runs `.ctors` after it. GNU ld does neither. Where the second comes
// first, nothing of Swift is ready yet.
#if os(Linux) || os(Android)
@section(".init_array") @used
private let registerArchiveNames: @convention(c) () -> Void = { ArchiveNames.register() }
@section(".init_array.99999") @used
private let registerArchiveNamesLast: @convention(c) () -> Void = {
    if LoadTime.hasSeed { ArchiveNames.register() }
}
@section(".ctors") @used
private let registerArchiveNamesAfterwards: @convention(c) () -> Void = { ArchiveNames.register() }
#elseif canImport(Darwin)
@section("__DATA,__mod_init_func") @used
private let registerArchiveNames: @convention(c) () -> Void = { ArchiveNames.register() }
#endif
