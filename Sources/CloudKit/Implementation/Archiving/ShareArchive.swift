import Foundation

/// The parts of a share in a keyed archive, in addition to those of its record.
enum ShareArchive {
    private enum Key {
        static let publicPermission = "PublicPermission"
        static let participants = "Participants"
        static let currentUser = "CurrentUserParticipant"
        static let rootRecordID = "RootRecordID"
        static let shortGUID = "swift-cloudkit.shortGUID"
        static let linkBase = "swift-cloudkit.linkBase"
    }

    static func encode(_ parts: ShareParts, with coder: NSCoder) {
        coder.encode(Int64(parts.publicPermission.rawValue), forKey: Key.publicPermission)
        coder.encode(parts.participants as NSArray, forKey: Key.participants)
        coder.encode(parts.currentUser, forKey: Key.currentUser)
        coder.encode(parts.rootRecordID, forKey: Key.rootRecordID)
        coder.encode(parts.shortGUID as NSString?, forKey: Key.shortGUID)
        coder.encode(parts.linkBase as NSString?, forKey: Key.linkBase)
    }

    /// Reads the parts; missing ones are as in a new share.
    static func decode(_ coder: NSCoder) -> ShareParts {
        var parts = ShareParts()
        if let participants = coder.array(of: CKShareParticipant.self, forKey: Key.participants) {
            parts = ShareParts(
                publicPermission: coder.choice(forKey: Key.publicPermission) ?? .none,
                participants: participants,
                currentUser: coder.object(CKShareParticipant.self, forKey: Key.currentUser)
            )
        }
        parts.rootRecordID = coder.object(CKRecord.ID.self, forKey: Key.rootRecordID)
        parts.shortGUID = coder.string(forKey: Key.shortGUID)
        parts.linkBase = coder.string(forKey: Key.linkBase)
        return parts
    }
}
