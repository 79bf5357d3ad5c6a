extension CoreDataModel {
    /// A value that objects of an entity, or of a composite, have.
    public struct Attribute: Hashable, Sendable {
        /// The attribute's name.
        public var name: String
        /// The type of its values.
        public var type: AttributeType
        /// Whether an object may be without a value.
        public var isOptional = false
        /// Whether values are neither stored nor synced.
        public var isTransient = false
        /// The value of a new object.
        public var defaultValue: CoreDataValue?

        /// The least value, or for text the least number of characters.
        public var minimum: CoreDataValue?
        /// The greatest value, or for text the greatest number of characters.
        public var maximum: CoreDataValue?
        /// The expression that text must match.
        public var regularExpression: String?

        /// Whether SQLite computes the value.
        public var isDerived = false
        /// The expression that computes it.
        public var derivationExpression: String?
        /// The composite that the values are of.
        public var compositeName: String?
        /// The transformer of a `Transformable`.
        public var valueTransformerName: String?
        /// The class of a `Transformable`'s values.
        public var className: String?

        /// Whether large values may move to a file of their own.
        public var allowsExternalStorage = false
        /// Whether the model asks for an encrypted field in CloudKit.
        public var allowsCloudEncryption = false
        /// Whether the value stays in the history of a deleted object.
        public var isPreservedAfterDeletion = false
        /// Whether the old single index was asked for.
        public var isIndexed = false
        /// Whether Spotlight indexes the value.
        public var isIndexedBySpotlight = false
        /// The flag of old models for external records.
        public var isStoredInExternalRecord = false
        /// Whether generated code has a number instead of an `NSNumber`.
        public var usesScalarType = false
        /// The flag of Sync Services; it does not keep anything out of CloudKit.
        public var isSyncable = true

        /// The name in former versions; nil for the same name.
        public var renamingIdentifier: String?
        /// A text that makes this version differ from an otherwise equal one.
        public var versionHashModifier: String?
        /// What the app keeps with the attribute.
        public var userInfo: [String: String] = [:]

        /// Makes a required attribute.
        public init(name: String, type: AttributeType) {
            self.name = name
            self.type = type
        }

        /// Whether `userInfo` keeps the attribute out of CloudKit.
        public var isIgnoredByCloudKit: Bool {
            UserInfoKey.isSet(UserInfoKey.ignored, in: userInfo)
        }

        /// Whether the field in CloudKit is encrypted, by the flag or by its former form in `userInfo`.
        public var isEncryptedInCloudKit: Bool {
            allowsCloudEncryption || UserInfoKey.isSet(UserInfoKey.encrypted, in: userInfo)
        }

        /// Whether CloudKit gets the attribute's values.
        public var isMirrored: Bool { !isTransient && !isDerived && !isIgnoredByCloudKit }
    }

    /// The keys of `userInfo` that mean something to the mirroring.
    enum UserInfoKey {
        static let ignored = "NSCloudKitMirroringDelegateIgnoredPropertyKey"
        static let encrypted = "NSPersistentCloudKitContainerEncryptedAttributeKey"

        static func isSet(_ key: String, in userInfo: [String: String]) -> Bool {
            userInfo[key].flatMap(CoreDataValue.flag) ?? false
        }
    }
}
