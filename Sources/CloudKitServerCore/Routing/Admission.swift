package import CloudKitWire

/// The parsed head of a request.
package struct Admission: Sendable {
    package let path: ServicePath
    let endpoint: Endpoint
    let credentials: Credentials
    /// The key under which the caller is cached; nil for credentials that must be checked each time.
    let cacheKey: CallerCache.Key?
}

/// The result of checking a request's head.
package enum HeadOutcome: Sendable {
    /// The request takes no body, and this is its response.
    case responded(ServiceResponse)
    /// The request's body is needed; pass both to `respond(to:admittedAs:)`.
    case admitted(Admission)
}
