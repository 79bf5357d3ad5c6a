extension CKContainer {
    /// The permissions that an app may request from the user.
    public struct ApplicationPermissions: OptionSet, Sendable {
        /// The options as a bit mask.
        public let rawValue: UInt

        /// Creates permissions from a bit mask.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// The permission to let other users of the app discover the user by address.
        public static var userDiscoverability: CKContainer.ApplicationPermissions {
            CKContainer.ApplicationPermissions(rawValue: 1 << 0)
        }
    }

    /// The status of a permission.
    @nonexhaustive
    public enum ApplicationPermissionStatus: Int, Sendable {
        /// The app has not requested the permission.
        case initialState = 0
        /// The permission could not be requested.
        case couldNotComplete = 1
        /// The user denied the permission.
        case denied = 2
        /// The user granted the permission.
        case granted = 3
    }

    /// A closure that receives the status of a permission.
    public typealias ApplicationPermissionBlock =
        @Sendable (CKContainer.ApplicationPermissionStatus, (any Error)?) -> Void

    /// Earlier names of the permission types.
    @available(*, deprecated, message: "Use the types of CKContainer")
    public enum Application {
        /// The permissions that an app may request from the user.
        public typealias Permissions = CKContainer.ApplicationPermissions
        /// The status of a permission.
        public typealias PermissionStatus = CKContainer.ApplicationPermissionStatus
        /// A closure that receives the status of a permission.
        public typealias PermissionBlock = CKContainer.ApplicationPermissionBlock
    }
}
