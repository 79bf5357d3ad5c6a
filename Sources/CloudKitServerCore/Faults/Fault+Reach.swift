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
        guard subject.hasNotification == (self == .lostNotification),
            operations?.contains(subject.operation) ?? true
        else { return nil }
        switch self {
        // Every request has a response, and every caller a bucket.
        case .error, .nativeError, .lostResponse, .resetConnection, .cutResponse, .delay,
            .slowResponse, .throttle, .expiredChangeTokens, .lostNotification:
            return items
        case .itemError(_, let item, _), .nativeItemError(_, let item, _):
            return Self.any(of: item.map { items.intersection([$0]) } ?? items)
        // Callers with a key, a header or an API token alone have no session that could end.
        case .expiredWebToken: return subject.hasSession ? items : nil
        // Another device is too early only for an operation that compares the tag of its record.
        case .staleTags: return Self.any(of: items.filter { subject.items[$0].comparesTag })
        }
    }

    /// The operations that the fault can affect; nil for all.
    var operations: [String]? {
        switch self {
        case .error, .nativeError, .lostResponse, .resetConnection, .cutResponse, .delay,
            .slowResponse, .throttle:
            nil
        // These two endpoints respond for each record alone.
        case .itemError, .nativeItemError:
            [Endpoint.recordsModify.rawValue, Endpoint.recordsLookup.rawValue]
        // The tokens are those of an environment and a caller, of which only endpoints know.
        case .expiredWebToken, .expiredChangeTokens: Endpoint.allCases.map(\.rawValue)
        case .lostNotification: [FaultOperation.pushWait]
        case .staleTags: [Endpoint.recordsModify.rawValue]
        }
    }

    /// The place of the fault among several of one request: those that hide others have lower numbers,
    /// and of two limits the narrower one.
    var turn: Int {
        switch self {
        case .delay, .resetConnection: 0
        case .lostResponse: 1
        case .error, .nativeError, .throttle: 2
        case .expiredChangeTokens, .expiredWebToken, .lostNotification: 3
        case .itemError, .nativeItemError: 4
        case .staleTags: 5
        case .cutResponse(let limit), .slowResponse(let limit): 6 + limit
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
