import CloudKitWire

extension Fault {
    /// Returns which items of a request the fault can befall; nil if it cannot affect the request.
    ///
    /// With ``changes(_:of:)`` this is the one place that says which requests each fault can affect,
    /// for every rule. A request that would be the same without the fault does not match the rule,
    /// and uses nothing of it up.
    ///
    /// - Parameters:
    ///   - items: The items of the request that the rule selects.
    ///   - subject: The request.
    /// - Returns: The items, by index.
    func reach(of items: Set<Int>, in subject: FaultSubject) -> Set<Int>? {
        // A wait is decided when it begins, and once more for the notification that ends it.
        guard subject.hasNotification == (self == .lostNotification) else { return nil }
        switch self {
        // Every request has a response, and every caller a bucket.
        case .error, .nativeError, .lostResponse, .resetConnection, .cutResponse, .delay,
            .slowResponse, .throttle:
            return items
        // These two endpoints respond for each record alone.
        case .itemError(_, let item, _), .nativeItemError(_, let item, _):
            guard subject.endpoint == .recordsModify || subject.endpoint == .recordsLookup else {
                return nil
            }
            return Self.any(of: item.map { items.intersection([$0]) } ?? items)
        // Callers with a key, a header or an API token alone have no session that could end.
        case .expiredWebToken: return subject.hasSession ? items : nil
        // The tokens are those of an environment, of which only endpoints know.
        case .expiredChangeTokens: return subject.endpoint == nil ? nil : items
        case .lostNotification: return items
        // Another device is too early only for an operation that compares the tag of its record.
        case .staleTags:
            guard subject.endpoint == .recordsModify else { return nil }
            return Self.any(of: items.filter { subject.items[$0].comparesTag })
        }
    }

    /// Returns whether the client sees the fault in a response, which some faults need to know.
    ///
    /// - Parameters:
    ///   - outcome: The response.
    ///   - items: The items that the fault can befall.
    /// - Returns: `false` if the response would be the same without the fault.
    func changes(_ outcome: FaultOutcome, of items: Set<Int>) -> Bool {
        switch self {
        case .cutResponse(let bytes): outcome.bytes > bytes
        // A request that is refused as a whole, such as one to a missing zone, reports no items.
        case .itemError, .nativeItemError: !items.isDisjoint(with: outcome.items)
        case .expiredWebToken, .expiredChangeTokens, .staleTags: outcome.isCarriedOut
        case .error, .nativeError, .lostResponse, .resetConnection, .delay, .slowResponse,
            .lostNotification, .throttle:
            true
        }
    }

    private static func any(of items: Set<Int>) -> Set<Int>? { items.isEmpty ? nil : items }
}
