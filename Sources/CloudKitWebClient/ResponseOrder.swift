import CloudKitWire

/// Sorts the items of a response into the order of the request, by their names.
///
/// The service was observed to keep that order. An item about something else must never be taken for
/// the requested one, whatever its position.
struct ResponseOrder {
    /// The kind of item, for errors.
    let item: String
    /// The requested names; nil where the service creates the name.
    let names: [ResponseItemName?]

    /// Returns the items of the response in the order of the names.
    ///
    /// An item without a name, as errors may be, belongs to the request at its position.
    ///
    /// - Throws: When there are more or fewer items than names, or one is about something else.
    func sort<Item>(
        _ results: [Item],
        by name: (Item) -> ResponseItemName?
    ) throws(WebClientError) -> [Item] {
        guard results.count == names.count else {
            throw .misplaced("\(results.count) results for \(names.count) \(item)s")
        }
        var match = ResponseMatch(names, results.map(name))
        match.findEqual()
        match.findAgreeing(byPlace: false)
        match.findAgreeing(byPlace: true)
        match.findNameless()
        match.findNew()
        let missing = names.indices.first { match.places[$0] == nil }
        guard let missing else { return match.places.compactMap { $0.map { results[$0] } } }
        let name = names[missing].map { "'\($0)'" } ?? "without a name"
        throw .misplaced(
            "No result is about the \(item) \(name), and \(match.restCount) are about something "
                + "else or duplicates"
        )
    }
}

/// The name of an item.
struct ResponseItemName: Hashable, CustomStringConvertible {
    /// The item's own name.
    let name: String
    /// The containers of the item, from the inside out; nil where they are not given.
    let owners: [String?]

    init(_ name: String, of owners: String?...) {
        self.name = name
        self.owners = owners
    }

    /// Creates the name of a record in its own zone or else in that of its request.
    init(record name: String, in zoneID: WireZoneID?) {
        self.init(name, of: zoneID?.zoneName, zoneID?.foreignOwner)
    }

    /// Creates the name of a zone; its owner may be left out if it is the caller.
    init(zone zoneID: WireZoneID) {
        self.init(zoneID.zoneName, of: zoneID.foreignOwner)
    }

    /// Returns whether both names may denote one item.
    func agrees(with other: ResponseItemName) -> Bool {
        name == other.name
            && zip(owners, other.owners).allSatisfy { $0 == nil || $1 == nil || $0 == $1 }
    }

    var description: String { ([name] + owners.compactMap(\.self)).joined(separator: " of ") }
}

extension WireZoneID {
    /// The owner, unless it is the caller under a name other than the user's own.
    fileprivate var foreignOwner: String? {
        ownerRecordName.flatMap {
            $0.isEmpty || WireZoneID.currentUserNames.contains($0) ? nil : $0
        }
    }
}

/// Matches items of a response to the request, in steps from the certain to the remaining ones.
private struct ResponseMatch {
    private let asked: [ResponseItemName?]
    private let found: [ResponseItemName?]
    private var isFree: [Bool]
    /// The position of each requested item in the response; nil until it is found.
    private(set) var places: [Int?]

    init(_ asked: [ResponseItemName?], _ found: [ResponseItemName?]) {
        self.asked = asked
        self.found = found
        isFree = Array(repeating: true, count: found.count)
        places = Array(repeating: nil, count: asked.count)
    }

    /// The number of items that match no request.
    var restCount: Int { isFree.count { $0 } }

    private mutating func take(_ place: Int, for index: Int) {
        places[index] = place
        isFree[place] = false
    }

    /// Matches requests to the items that are known to belong to them, in their order.
    private mutating func pair(_ questions: [ResponseItemName?]) {
        var waiting: [ResponseItemName: ArraySlice<Int>] = [:]
        for (place, question) in questions.enumerated() where isFree[place] {
            if let question { waiting[question, default: []].append(place) }
        }
        for (index, name) in asked.enumerated() where places[index] == nil {
            if let name, let place = waiting[name]?.popFirst() { take(place, for: index) }
        }
    }

    /// Matches items with the requested names.
    mutating func findEqual() { pair(found) }

    /// Matches items whose names have more or fewer parts, if they match no other request; among
    /// several possible requests, the position decides, or nothing.
    mutating func findAgreeing(byPlace: Bool) {
        var left: [String: Set<ResponseItemName>] = [:]
        for (index, name) in asked.enumerated() where places[index] == nil {
            if let name { left[name.name, default: []].insert(name) }
        }
        pair(
            zip(asked, found).map { asked, found in
                guard let found else { return nil }
                let questions = left[found.name, default: []].filter { $0.agrees(with: found) }
                guard questions.count > 1 else { return questions.first }
                return byPlace ? asked.flatMap { questions.contains($0) ? $0 : nil } : nil
            }
        )
    }

    /// Matches items without a name to the request at their position.
    mutating func findNameless() {
        for index in asked.indices where asked[index] != nil && places[index] == nil {
            if found[index] == nil, isFree[index] { take(index, for: index) }
        }
    }

    /// Matches the remaining items to requests without a name, in their order, unless an item's name
    /// was requested or belongs to another item.
    mutating func findNew() {
        let old = Set(asked.compactMap { $0?.name })
        let counts = Dictionary(
            found.lazy.compactMap { $0.map { ($0.name, 1) } },
            uniquingKeysWith: +
        )
        var new = found.indices.filter { place in
            guard isFree[place], let name = found[place]?.name else { return isFree[place] }
            return !old.contains(name) && counts[name] == 1
        }[...]
        for index in asked.indices where asked[index] == nil {
            if let place = new.popFirst() { take(place, for: index) }
        }
    }
}

extension WebClientError {
    fileprivate static func misplaced(_ message: String) -> WebClientError {
        .unexpectedResponse(status: 200, message: message)
    }
}

extension RecordsResponse {
    /// Returns the response in the order of the request.
    func sorted(as names: [ResponseItemName?]) throws(WebClientError) -> RecordsResponse {
        var response = self
        response.records = try ResponseOrder(item: "record", names: names).sort(records) {
            switch $0 {
            case .success(let record):
                record.recordName.map { ResponseItemName(record: $0, in: record.zoneID) }
            case .failure(let error):
                error.recordName.map { ResponseItemName(record: $0, in: error.zoneID) }
            }
        }
        return response
    }
}

extension Array {
    /// Returns results of zones in the order of the request.
    func sorted<Success>(
        as zones: [WireZoneID],
        by zoneID: (Success) -> WireZoneID
    ) throws(WebClientError) -> [ItemResult<Success>] where Element == ItemResult<Success> {
        try ResponseOrder(item: "zone", names: zones.map(ResponseItemName.init(zone:))).sort(self) {
            switch $0 {
            case .success(let item): ResponseItemName(zone: zoneID(item))
            case .failure(let error): error.zoneID.map(ResponseItemName.init(zone:))
            }
        }
    }
}

extension SubscriptionsResponse {
    /// Returns the response in the order of the request.
    func sorted(as names: [String?]) throws(WebClientError) -> SubscriptionsResponse {
        let order = ResponseOrder(
            item: "subscription",
            names: names.map { $0.map { ResponseItemName($0) } }
        )
        return SubscriptionsResponse(
            subscriptions: try order.sort(subscriptions) {
                switch $0 {
                case .success(let subscription):
                    subscription.subscriptionID.map { ResponseItemName($0) }
                case .failure(let error): error.subscriptionID.map { ResponseItemName($0) }
                }
            }
        )
    }
}

extension UploadAssetsResponse {
    /// Returns the response in the order of the request; the service may create a record's name.
    func sorted(as wanted: [UploadAssetsRequest.Token]) throws(WebClientError) -> Self {
        let names = wanted.map { ResponseItemName($0.fieldName, of: $0.recordName) }
        return Self(
            tokens: try ResponseOrder(item: "file", names: names).sort(tokens) {
                ResponseItemName($0.fieldName, of: $0.recordName)
            }
        )
    }
}

extension SharesResponse {
    /// Returns the response in the order of the request; errors have no name.
    func sorted(as shares: [SharesRequest.ShortGUID]) throws(WebClientError) -> SharesResponse {
        SharesResponse(
            results: try ResponseOrder(
                item: "share",
                names: shares.map { ResponseItemName($0.value) }
            )
            // A failure has no name of its own, and takes the remaining position.
            .sort(results) { (try? $0.get())?.shortGUID.map { ResponseItemName($0.value) } }
        )
    }
}
