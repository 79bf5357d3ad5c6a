public import Foundation

extension CKOperation {
    /// The container of an operation that has no database.
    @available(*, deprecated, message: "Use configuration.container")
    public var container: CKContainer? {
        get { settings.container }
        set { settings.container = newValue }
    }

    /// A Boolean value that indicates whether a metered connection may be used.
    @available(*, deprecated, message: "Use configuration.allowsCellularAccess")
    public var allowsCellularAccess: Bool {
        get { settings.allowsCellularAccess ?? true }
        set { settings.allowsCellularAccess = newValue }
    }

    /// A Boolean value that indicates whether the operation should outlive the process.
    @available(*, deprecated, message: "Use configuration.isLongLived")
    public var isLongLived: Bool {
        get { settings.isLongLived ?? false }
        set { settings.isLongLived = newValue }
    }

    /// The number of seconds to wait for the response to one request.
    @available(*, deprecated, message: "Use configuration.timeoutIntervalForRequest")
    public var timeoutIntervalForRequest: TimeInterval {
        get { settings.requestTimeout ?? RequestSettings.defaultTimeout }
        set { settings.requestTimeout = newValue }
    }

    /// The number of seconds to wait for the whole operation.
    @available(*, deprecated, message: "Use configuration.timeoutIntervalForResource")
    public var timeoutIntervalForResource: TimeInterval {
        get { settings.resourceTimeout ?? OperationSettings.defaultResourceTimeout }
        set { settings.resourceTimeout = newValue }
    }
}
