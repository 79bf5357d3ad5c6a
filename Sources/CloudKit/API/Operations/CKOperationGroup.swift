public import Foundation

/// The common purpose, size and configuration of several operations.
open class CKOperationGroup: NSObject, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable because apps fill in a group before they hand it over.

    /// The approximate amount of data that a group transfers.
    @nonexhaustive
    public enum TransferSize: Int, Sendable {
        /// An unknown amount.
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

    /// The group's ID, which the framework creates.
    open var operationGroupID: String { identity }

    /// The purpose of the operations, for logs.
    open var name: String?

    /// The number of items that the user sees, such as 200 photos.
    open var quantity: Int = 0

    /// The approximate amount of data to send.
    open var expectedSendSize: CKOperationGroup.TransferSize = .unknown

    /// The approximate amount of data to receive.
    open var expectedReceiveSize: CKOperationGroup.TransferSize = .unknown

    private var identity: String
    private var ownConfiguration = CKOperationConfiguration()

    /// Creates a group.
    public override init() {
        identity = UUID().uuidString
    }

    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    /// The default configuration of the group's operations; setting nil restores the defaults.
    open var defaultConfiguration: CKOperation.Configuration! {
        get { ownConfiguration }
        set { ownConfiguration = CKOperationConfiguration(newValue?.values ?? OperationSettings()) }
    }

    /// The settings of the group's configuration.
    var settings: OperationSettings { ownConfiguration.values }

    /// A Boolean value that indicates whether the class supports secure coding; always `true`.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes ID, name, quantity and sizes, but not the configuration.
    open func encode(with coder: NSCoder) {
        coder.encode(identity as NSString, forKey: "OperationGroupID")
        coder.encode(name as NSString?, forKey: "Name")
        coder.encode(Int64(quantity), forKey: "Quantity")
        coder.encode(Int64(expectedSendSize.rawValue), forKey: "ExpectedSendSize")
        coder.encode(Int64(expectedReceiveSize.rawValue), forKey: "ExpectedReceiveSize")
    }

    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    /// Creates a group from an archive; nil when its ID is missing.
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
