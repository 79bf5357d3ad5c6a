/// A user in the responses of `users/caller` and of sharing.
public struct UserIdentity: Hashable, Sendable, Codable {
    /// The parts of a person's name.
    public struct NameComponents: Hashable, Sendable, Codable {
        /// The given name.
        public var givenName: String?
        /// The family name.
        public var familyName: String?

        /// Creates a name.
        public init(givenName: String? = nil, familyName: String? = nil) {
            self.givenName = givenName
            self.familyName = familyName
        }
    }

    /// The key to look a user up by.
    public struct LookupInfo: Hashable, Sendable, Codable {
        /// An email address.
        public var emailAddress: String?
        /// A phone number.
        public var phoneNumber: String?
        /// A user record name.
        public var userRecordName: String?

        /// Creates a lookup key.
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
    /// The user's name, if the user has made it known.
    public var nameComponents: NameComponents?
    /// The key that the user was looked up by.
    public var lookupInfo: LookupInfo?

    /// Creates an identity.
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

/// The body of `users/discover`.
public struct DiscoverUsersRequest: Hashable, Sendable, Codable {
    /// The keys to look users up by.
    public var lookupInfos: [UserIdentity.LookupInfo]

    /// Creates a request.
    public init(lookupInfos: [UserIdentity.LookupInfo]) {
        self.lookupInfos = lookupInfos
    }
}

/// The response of `users/discover`: the users that were found, in any order.
public struct DiscoverUsersResponse: Hashable, Sendable, Codable {
    /// The users that were found.
    public var users: [UserIdentity]

    /// Creates a response.
    public init(users: [UserIdentity]) {
        self.users = users
    }
}
