extension CKContainer {
    /// What an app may ask the user for.
    public struct ApplicationPermissions: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt

        /// Makes permissions from their bits.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// Other users of the app may find the user by address.
        public static var userDiscoverability: CKContainer.ApplicationPermissions {
            CKContainer.ApplicationPermissions(rawValue: 1 << 0)
        }
    }

    /// What the user said to a permission.
    @nonexhaustive
    public enum ApplicationPermissionStatus: Int, Sendable {
        /// The user was not asked.
        case initialState = 0
        /// The user could not be asked.
        case couldNotComplete = 1
        /// The user said no.
        case denied = 2
        /// The user said yes.
        case granted = 3
    }

    /// Takes the status of a permission.
    public typealias ApplicationPermissionBlock =
        @Sendable (CKContainer.ApplicationPermissionStatus, (any Error)?) -> Void

    /// Other names of the types of permissions.
    @available(*, deprecated, message: "Use the types of CKContainer")
    public enum Application {
        /// What an app may ask the user for.
        public typealias Permissions = CKContainer.ApplicationPermissions
        /// What the user said to a permission.
        public typealias PermissionStatus = CKContainer.ApplicationPermissionStatus
        /// Takes the status of a permission.
        public typealias PermissionBlock = CKContainer.ApplicationPermissionBlock
    }
}
