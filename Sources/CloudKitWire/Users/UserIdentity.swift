/// A user as `users/caller` and sharing describe one.
public struct UserIdentity: Hashable, Sendable, Codable {
    /// The parts of a person's name.
    public struct NameComponents: Hashable, Sendable, Codable {
        /// Given name.
        public var givenName: String?
        /// Family name.
        public var familyName: String?

        /// Makes a name.
        public init(givenName: String? = nil, familyName: String? = nil) {
            self.givenName = givenName
            self.familyName = familyName
        }
    }

    /// What a user can be found by.
    public struct LookupInfo: Hashable, Sendable, Codable {
        /// An e-mail address.
        public var emailAddress: String?
        /// A telephone number.
        public var phoneNumber: String?
        /// A user record name.
        public var userRecordName: String?

        /// Makes a way to find a user.
        public init(
            emailAddress: String? = nil,
            phoneNumber: String? = nil,
            userRecordName: String? = nil
        ) {
            self.emailAddress = emailAddress
            self.phoneNumber = phoneNumber
            self.userRecordName = userRecordName
        }
    }

    /// The name of the user's record: `_` and 32 hexadecimal digits.
    public var userRecordName: String
    /// The user's name, where the user made it known.
    public var nameComponents: NameComponents?
    /// What the user was found by.
    public var lookupInfo: LookupInfo?

    /// Makes an identity.
    public init(
        userRecordName: String,
        nameComponents: NameComponents? = nil,
        lookupInfo: LookupInfo? = nil
    ) {
        self.userRecordName = userRecordName
        self.nameComponents = nameComponents
        self.lookupInfo = lookupInfo
    }
}
