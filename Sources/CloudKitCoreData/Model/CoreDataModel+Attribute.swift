extension CoreDataModel {
    /// An attribute of an entity's objects, or of a composite.
    public struct Attribute: Hashable, Sendable {
        /// The attribute's name.
        public var name: String
        /// The type of its values.
        public var type: AttributeType
        /// A Boolean value that indicates whether the value may be missing.
        public var isOptional = false
        /// A Boolean value that indicates whether values are neither stored nor synced.
        public var isTransient = false
        /// The value of a new object.
        public var defaultValue: CoreDataValue?

        /// The minimum value, or the minimum number of characters of text.
        public var minimum: CoreDataValue?
        /// The maximum value, or the maximum number of characters of text.
        public var maximum: CoreDataValue?
        /// The regular expression that text must match.
        public var regularExpression: String?

        /// A Boolean value that indicates whether SQLite computes the value.
        public var isDerived = false
        /// The expression that computes the value.
        public var derivationExpression: String?
        /// The name of the values' composite type.
        public var compositeName: String?
        /// The transformer of a `Transformable`.
        public var valueTransformerName: String?
        /// The class of a `Transformable`'s values.
        public var className: String?

        /// A Boolean value that indicates whether large values may be stored in separate files.
        public var allowsExternalStorage = false
        /// A Boolean value that indicates whether the model requests an encrypted field in CloudKit.
        public var allowsCloudEncryption = false
        /// A Boolean value that indicates whether the value stays in the history of a deleted object.
        public var isPreservedAfterDeletion = false
        /// A Boolean value that indicates whether the legacy single index was requested.
        public var isIndexed = false
        /// A Boolean value that indicates whether Spotlight indexes the value.
        public var isIndexedBySpotlight = false
        /// A Boolean value that represents the legacy flag for external records.
        public var isStoredInExternalRecord = false
        /// A Boolean value that indicates whether generated code has a scalar type instead of `NSNumber`.
        public var usesScalarType = false
        /// A Boolean value that represents the flag of Sync Services; it does not exclude anything
        /// from CloudKit.
        public var isSyncable = true

        /// The name in previous versions; nil for the same name.
        public var renamingIdentifier: String?
        /// A text that makes this version differ from an otherwise equal one.
        public var versionHashModifier: String?
        /// The app's own information about the attribute.
        public var userInfo: [String: String] = [:]

        /// Creates a required attribute.
        public init(name: String, type: AttributeType) {
            self.name = name
            self.type = type
        }

        /// A Boolean value that indicates whether `userInfo` excludes the attribute from CloudKit.
        public var isIgnoredByCloudKit: Bool {
            UserInfoKey.isSet(UserInfoKey.ignored, in: userInfo)
        }

        /// A Boolean value that indicates whether the field in CloudKit is encrypted, by the flag
        /// or by its previous form in `userInfo`.
        public var isEncryptedInCloudKit: Bool {
            allowsCloudEncryption || UserInfoKey.isSet(UserInfoKey.encrypted, in: userInfo)
        }

        /// A Boolean value that indicates whether CloudKit receives the attribute's values.
        public var isMirrored: Bool { !isTransient && !isDerived && !isIgnoredByCloudKit }
    }

    /// The keys of `userInfo` that affect the mirroring.
    enum UserInfoKey {
        static let ignored = "NSCloudKitMirroringDelegateIgnoredPropertyKey"
        static let encrypted = "NSPersistentCloudKitContainerEncryptedAttributeKey"

        static func isSet(_ key: String, in userInfo: [String: String]) -> Bool {
            userInfo[key].flatMap(CoreDataValue.flag) ?? false
        }
    }
}
