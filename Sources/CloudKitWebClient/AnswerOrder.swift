import CloudKitWire

/// Puts answers into the order of what was asked, by the names in them.
///
/// The service was observed to answer in that order. An answer about something else must never be
/// taken for the answer to what was asked, whatever the place at which it stands.
struct AnswerOrder {
    /// What an item is, in an error.
    let item: String
    /// What was asked for; nil where the service makes the name.
    let names: [AnswerName?]

    /// The answers in the order of the names.
    ///
    /// An answer without a name, as errors may be, is about what was asked at its place.
    ///
    /// - Throws: When there are more or fewer answers than names, or one is about something else.
    func sort<Answer>(
        _ answers: [Answer],
        by name: (Answer) -> AnswerName?
    ) throws(WebClientError) -> [Answer] {
        guard answers.count == names.count else {
            throw .misplaced("\(answers.count) answers about \(names.count) \(item)s")
        }
        var match = AnswerMatch(names, answers.map(name))
        match.findEqual()
        match.findAgreeing(byPlace: false)
        match.findAgreeing(byPlace: true)
        match.findNameless()
        match.findNew()
        let missing = names.indices.first { match.places[$0] == nil }
        guard let missing else { return match.places.compactMap { $0.map { answers[$0] } } }
        let name = names[missing].map { "'\($0)'" } ?? "without a name"
        throw .misplaced(
            "No answer is about the \(item) \(name), and \(match.restCount) are about what was not "
                + "asked, or came twice"
        )
    }
}

/// What an item is known by.
struct AnswerName: Hashable, CustomStringConvertible {
    /// The item's own name.
    let name: String
    /// What it belongs to, from the inside out; nil where that is not said.
    let owners: [String?]

    init(_ name: String, of owners: String?...) {
        self.name = name
        self.owners = owners
    }

    /// A record, by the zone that it or else its request names.
    init(record name: String, in zoneID: WireZoneID?) {
        self.init(name, of: zoneID?.zoneName, zoneID?.foreignOwner)
    }

    /// A zone; its owner may be left out where it is the caller.
    init(zone zoneID: WireZoneID) {
        self.init(zoneID.zoneName, of: zoneID.foreignOwner)
    }

    /// Whether both may be about one item.
    func agrees(with other: AnswerName) -> Bool {
        name == other.name
            && zip(owners, other.owners).allSatisfy { $0 == nil || $1 == nil || $0 == $1 }
    }

    var description: String { ([name] + owners.compactMap(\.self)).joined(separator: " of ") }
}

extension WireZoneID {
    /// The owner, unless it is the caller under a name that is not the user's own.
    fileprivate var foreignOwner: String? {
        ownerRecordName.flatMap {
            $0.isEmpty || WireZoneID.currentUserNames.contains($0) ? nil : $0
        }
    }
}

/// Finds the answer to each question, by steps from what is certain to what is left.
private struct AnswerMatch {
    private let asked: [AnswerName?]
    private let found: [AnswerName?]
    private var isFree: [Bool]
    /// The place of each question's answer; nil while it is not found.
    private(set) var places: [Int?]

    init(_ asked: [AnswerName?], _ found: [AnswerName?]) {
        self.asked = asked
        self.found = found
        isFree = Array(repeating: true, count: found.count)
        places = Array(repeating: nil, count: asked.count)
    }

    /// How many answers are about nothing that was asked.
    var restCount: Int { isFree.count { $0 } }

    private mutating func take(_ place: Int, for index: Int) {
        places[index] = place
        isFree[place] = false
    }

    /// Gives questions the answers that are said to be about them, in their order.
    private mutating func pair(_ questions: [AnswerName?]) {
        var waiting: [AnswerName: ArraySlice<Int>] = [:]
        for (place, question) in questions.enumerated() where isFree[place] {
            if let question { waiting[question, default: []].append(place) }
        }
        for (index, name) in asked.enumerated() where places[index] == nil {
            if let name, let place = waiting[name]?.popFirst() { take(place, for: index) }
        }
    }

    /// Takes answers that name what was asked.
    mutating func findEqual() { pair(found) }

    /// Takes answers that say more or less of it, where they may be about nothing else; of what may
    /// be about several questions the place decides, or nothing does.
    mutating func findAgreeing(byPlace: Bool) {
        var left: [String: Set<AnswerName>] = [:]
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

    /// Takes an answer without a name for what was asked at its place.
    mutating func findNameless() {
        for index in asked.indices where asked[index] != nil && places[index] == nil {
            if found[index] == nil, isFree[index] { take(index, for: index) }
        }
    }

    /// Takes what is left for what has no name, in its order, unless the name is none of its own:
    /// somebody asked for it, or another answer has it.
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
        .unexpectedAnswer(status: 200, message: message)
    }
}

extension RecordsResponse {
    /// The answer in the order of what was asked.
    func sorted(as names: [AnswerName?]) throws(WebClientError) -> RecordsResponse {
        var response = self
        response.records = try AnswerOrder(item: "record", names: names).sort(records) {
            switch $0 {
            case .success(let record):
                record.recordName.map { AnswerName(record: $0, in: record.zoneID) }
            case .failure(let error):
                error.recordName.map { AnswerName(record: $0, in: error.zoneID) }
            }
        }
        return response
    }
}

extension Array {
    /// Answers about zones in the order of what was asked.
    func sorted<Success>(
        as zones: [WireZoneID],
        by zoneID: (Success) -> WireZoneID
    ) throws(WebClientError) -> [ItemResult<Success>] where Element == ItemResult<Success> {
        try AnswerOrder(item: "zone", names: zones.map(AnswerName.init(zone:))).sort(self) {
            switch $0 {
            case .success(let answer): AnswerName(zone: zoneID(answer))
            case .failure(let error): error.zoneID.map(AnswerName.init(zone:))
            }
        }
    }
}

extension SubscriptionsResponse {
    /// The answer in the order of what was asked.
    func sorted(as names: [String?]) throws(WebClientError) -> SubscriptionsResponse {
        let order = AnswerOrder(
            item: "subscription",
            names: names.map { $0.map { AnswerName($0) } }
        )
        return SubscriptionsResponse(
            subscriptions: try order.sort(subscriptions) {
                switch $0 {
                case .success(let subscription): subscription.subscriptionID.map { AnswerName($0) }
                case .failure(let error): error.subscriptionID.map { AnswerName($0) }
                }
            }
        )
    }
}

extension UploadAssetsResponse {
    /// The answer in the order of what was asked; the service may make a record's name.
    func sorted(as wanted: [UploadAssetsRequest.Token]) throws(WebClientError) -> Self {
        let names = wanted.map { AnswerName($0.fieldName, of: $0.recordName) }
        return Self(
            tokens: try AnswerOrder(item: "file", names: names).sort(tokens) {
                AnswerName($0.fieldName, of: $0.recordName)
            }
        )
    }
}

extension SharesResponse {
    /// The answer in the order of what was asked; errors have no name.
    func sorted(as shares: [SharesRequest.ShortGUID]) throws(WebClientError) -> SharesResponse {
        SharesResponse(
            results: try AnswerOrder(item: "share", names: shares.map { AnswerName($0.value) })
                // A failure has no name of its own, and takes the place that is left.
                .sort(results) { (try? $0.get())?.shortGUID.map { AnswerName($0.value) } }
        )
    }
}
