public import Foundation

/// What several operations have in common: a purpose, a size and a configuration.
open class CKOperationGroup: NSObject, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable because apps fill a group in before they hand it over.

    /// About how much a group transfers.
    @nonexhaustive
    public enum TransferSize: Int, Sendable {
        /// Not known.
        case unknown = 0
        /// Some kilobytes.
        case kilobytes
        /// Some megabytes.
        case megabytes
        /// Tens of megabytes.
        case tensOfMegabytes
        /// Hundreds of megabytes.
        case hundredsOfMegabytes
        /// Some gigabytes.
        case gigabytes
        /// Tens of gigabytes.
        case tensOfGigabytes
        /// Hundreds of gigabytes.
        case hundredsOfGigabytes
    }

    /// The group's identity, made by the framework.
    open var operationGroupID: String { identity }

    /// What the operations are for, in words for logs.
    open var name: String?

    /// How many things the user sees done, such as 200 photos.
    open var quantity: Int = 0

    /// About how much is sent.
    open var expectedSendSize: CKOperationGroup.TransferSize = .unknown

    /// About how much is received.
    open var expectedReceiveSize: CKOperationGroup.TransferSize = .unknown

    private var identity: String
    private var ownConfiguration = CKOperationConfiguration()

    /// Makes a group.
    public override init() {
        identity = UUID().uuidString
    }

    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    /// What operations of the group do where their own configuration says nothing; setting nil goes
    /// back to the defaults.
    open var defaultConfiguration: CKOperation.Configuration! {
        get { ownConfiguration }
        set { ownConfiguration = CKOperationConfiguration(newValue?.values ?? OperationSettings()) }
    }

    /// What the group's configuration sets.
    var settings: OperationSettings { ownConfiguration.values }

    /// True: an archived group can be read securely.
    open class var supportsSecureCoding: Bool { true }

    /// Writes identity, name, quantity and sizes; the configuration is not kept.
    open func encode(with coder: NSCoder) {
        coder.encode(identity as NSString, forKey: "OperationGroupID")
        coder.encode(name as NSString?, forKey: "Name")
        coder.encode(Int64(quantity), forKey: "Quantity")
        coder.encode(Int64(expectedSendSize.rawValue), forKey: "ExpectedSendSize")
        coder.encode(Int64(expectedReceiveSize.rawValue), forKey: "ExpectedReceiveSize")
    }

    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    /// Reads a group; nil when its identity is missing.
    public required init!(coder aDecoder: NSCoder) {
        let aDecoder = aDecoder.checked
        guard let identity = aDecoder.string(forKey: "OperationGroupID") else { return nil }
        self.identity = identity
        name = aDecoder.string(forKey: "Name")
        quantity = aDecoder.integer(forKey: "Quantity") ?? 0
        expectedSendSize = aDecoder.choice(forKey: "ExpectedSendSize") ?? .unknown
        expectedReceiveSize = aDecoder.choice(forKey: "ExpectedReceiveSize") ?? .unknown
    }
}
