public import Foundation

/// The settings of an operation: its container, urgency and time limits.
///
/// Apps write `CKOperation.Configuration`. An unset value falls back to the operation's group, and
/// then to the default.
open class CKOperationConfiguration: NSObject, @unchecked Sendable {
    // @unchecked Sendable because operations take a copy, and apps fill in a configuration before
    // they hand it over.

    /// The values that were set; others are nil.
    var values = OperationSettings()

    /// Creates a configuration with nothing set.
    public override init() {}

    init(_ values: OperationSettings) {
        self.values = values
    }

    /// The container of operations without a database; nil stands for the default container.
    open var container: CKContainer? {
        get { values.container }
        set { values.container = newValue }
    }

    /// The operation's quality of service.
    open var qualityOfService: QualityOfService {
        get { values.qualityOfService ?? .default }
        set { values.qualityOfService = newValue }
    }

    /// A Boolean value that indicates whether a metered connection may be used; has no effect here.
    open var allowsCellularAccess: Bool {
        get { values.allowsCellularAccess ?? true }
        set { values.allowsCellularAccess = newValue }
    }

    /// A Boolean value that indicates whether the operation should outlive the process.
    ///
    /// - Important: No operation outlives the process here, whatever the value.
    open var isLongLived: Bool {
        get { values.isLongLived ?? false }
        set { values.isLongLived = newValue }
    }

    /// The number of seconds without any byte after which a request fails; 60 if unset, zero,
    /// negative or not a number.
    open var timeoutIntervalForRequest: TimeInterval {
        get { values.requestTimeout ?? RequestSettings.defaultTimeout }
        set { values.requestTimeout = newValue }
    }

    /// The number of seconds to wait for the whole operation, retries included.
    ///
    /// If unset, zero, negative or not a number: a week, and no limit for urgent operations.
    open var timeoutIntervalForResource: TimeInterval {
        get { values.resourceTimeout ?? OperationSettings.defaultResourceTimeout }
        set { values.resourceTimeout = newValue }
    }
}
