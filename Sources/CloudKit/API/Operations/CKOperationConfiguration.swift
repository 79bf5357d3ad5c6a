public import Foundation

/// How an operation runs: where, how urgently and for how long.
///
/// Apps write `CKOperation.Configuration`. A value that was never set leaves the choice to the
/// operation's group, and then to the default.
open class CKOperationConfiguration: NSObject, @unchecked Sendable {
    // @unchecked Sendable because operations take a copy, and apps fill one in before they hand it
    // over.

    /// What was set; nil members were not.
    var values = OperationSettings()

    /// Makes a configuration in which nothing is set.
    public override init() {}

    init(_ values: OperationSettings) {
        self.values = values
    }

    /// The container of operations that have no database; nil stands for the default container.
    open var container: CKContainer? {
        get { values.container }
        set { values.container = newValue }
    }

    /// How urgent the operation is.
    open var qualityOfService: QualityOfService {
        get { values.qualityOfService ?? .default }
        set { values.qualityOfService = newValue }
    }

    /// Whether a metered connection may be used; kept for apps that read it, without effect here.
    open var allowsCellularAccess: Bool {
        get { values.allowsCellularAccess ?? true }
        set { values.allowsCellularAccess = newValue }
    }

    /// Whether the operation should outlive the process.
    ///
    /// - Important: Operations live as long as the process here, whatever this says.
    open var isLongLived: Bool {
        get { values.isLongLived ?? false }
        set { values.isLongLived = newValue }
    }

    /// Seconds without any byte after which a request is given up, 60 where nothing is set; 0, less
    /// than that, and what is no number stand for those 60.
    open var timeoutIntervalForRequest: TimeInterval {
        get { values.requestTimeout ?? OperationSettings.defaultRequestTimeout }
        set { values.requestTimeout = newValue }
    }

    /// Seconds to wait for the whole operation, repeated requests included: a week where nothing is
    /// set, and no end for urgent operations; 0, less than that, and what is no number stand for that.
    open var timeoutIntervalForResource: TimeInterval {
        get { values.resourceTimeout ?? OperationSettings.defaultResourceTimeout }
        set { values.resourceTimeout = newValue }
    }
}
