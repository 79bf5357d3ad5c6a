import CloudKitWire

/// Puts answers into the order of what was asked, by the names in them.
///
/// The service was observed to answer in that order. An answer about something else must never be
/// taken for the answer to what was asked, whatever the place at which it stands.
struct AnswerOrder<Name: Equatable> {
    /// What an item is, in an error.
    let item: String
    /// What was asked for; nil where the service makes the name.
    let names: [Name?]
    /// Whether an answer's name may be that of a request, which left a part of it out.
    var completes: (_ asked: Name, _ answered: Name) -> Bool = { _, _ in false }

    /// The answers in the order of the names.
    ///
    /// An answer without a name, as errors may be, is about what was asked at its place.
    ///
    /// - Throws: When there are more or fewer answers than names, or one is about something else.
    func sort<Answer>(
        _ answers: [Answer],
        by name: (Answer) -> Name?
    ) throws(WebClientError) -> [Answer] {
        guard answers.count == names.count else {
            throw .misplaced("\(answers.count) answers about \(names.count) \(item)s")
        }
        let found = answers.map(name)
        let isInOrder = zip(names, found).allSatisfy { asked, found in
            guard let asked, let found else { return true }
            return asked == found || completes(asked, found)
        }
        if isInOrder, !mixesUp(found) { return answers }
        return try places(of: found).map { answers[$0] }
    }

    /// Whether what has no name of its own was answered with another's, or twice with the same.
    private func mixesUp(_ found: [Name?]) -> Bool {
        guard names.contains(where: { $0 == nil }) else { return false }
        return zip(names, found.indices).contains { asked, place in
            asked == nil && !isNew(found, place)
        }
    }

    /// Whether an answer has a name that nobody asked for, and no other answer has.
    private func isNew(_ found: [Name?], _ place: Int) -> Bool {
        guard let name = found[place] else { return true }
        return !names.contains(name)
            && !found.indices.contains { $0 != place && found[$0] == name }
    }

    /// The place of each name's answer.
    private func places(of found: [Name?]) throws(WebClientError) -> [Int] {
        var places = [Int?](repeating: nil, count: names.count)
        var rest = Set(found.indices)
        func take(_ place: Int?, for index: Int) {
            guard let place else { return }
            places[index] = place
            rest.remove(place)
        }
        // The name itself, then what it is a part of, then the answer without a name at its place.
        let passes: [(Name, Name) -> Bool] = [{ $0 == $1 }, completes]
        for isSame in passes {
            for (index, name) in names.enumerated() where places[index] == nil {
                guard let name else { continue }
                let place = found.indices.first { place in
                    rest.contains(place) && found[place].map { isSame(name, $0) } ?? false
                }
                take(place, for: index)
            }
        }
        for index in names.indices where names[index] != nil && places[index] == nil {
            take(found[index] == nil && rest.contains(index) ? index : nil, for: index)
        }
        // What has no name takes what is left, in its order.
        for index in names.indices where names[index] == nil {
            take(rest.sorted().first { isNew(found, $0) }, for: index)
        }
        let missing = names.indices.first { places[$0] == nil }
        guard let missing else { return places.compactMap(\.self) }
        let name = names[missing].map { "'\($0)'" } ?? "without a name"
        throw .misplaced(
            "No answer is about the \(item) \(name), and \(rest.count) are about what was not "
                + "asked, or came twice"
        )
    }
}

extension WebClientError {
    fileprivate static func misplaced(_ message: String) -> WebClientError {
        .unexpectedAnswer(status: 200, message: message)
    }
}

/// What a zone is known by: its owner may be left out where it is the caller.
private struct ZoneName: Equatable, CustomStringConvertible {
    let zone: String
    let owner: String?

    init(_ zoneID: WireZoneID) {
        zone = zoneID.zoneName
        owner = zoneID.ownerRecordName.flatMap {
            $0.isEmpty || WireZoneID.currentUserNames.contains($0) ? nil : $0
        }
    }

    func isCompleted(by answer: ZoneName) -> Bool {
        zone == answer.zone && (owner == nil || answer.owner == nil)
    }

    var description: String { owner.map { "\(zone) of \($0)" } ?? zone }
}

/// What an upload token is known by: the service may make the record's name.
private struct FieldName: Equatable, CustomStringConvertible {
    let record: String?
    let field: String

    func isCompleted(by answer: FieldName) -> Bool {
        field == answer.field && record == nil
    }

    var description: String { "\(field) of \(record ?? "a new record")" }
}

extension RecordsResponse {
    /// The answer in the order of what was asked.
    func sorted(as names: [String?]) throws(WebClientError) -> RecordsResponse {
        var response = self
        response.records = try AnswerOrder(item: "record", names: names).sort(records) {
            switch $0 {
            case .success(let record): record.recordName
            case .failure(let error): error.recordName
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
        try AnswerOrder(
            item: "zone",
            names: zones.map(ZoneName.init),
            completes: { $0.isCompleted(by: $1) }
        ).sort(self) {
            switch $0 {
            case .success(let answer): ZoneName(zoneID(answer))
            case .failure(let error): error.zoneID.map(ZoneName.init)
            }
        }
    }
}

extension SubscriptionsResponse {
    /// The answer in the order of what was asked.
    func sorted(as names: [String?]) throws(WebClientError) -> SubscriptionsResponse {
        SubscriptionsResponse(
            subscriptions: try AnswerOrder(item: "subscription", names: names)
                .sort(subscriptions) {
                    switch $0 {
                    case .success(let subscription): subscription.subscriptionID
                    case .failure(let error): error.subscriptionID
                    }
                }
        )
    }
}

extension UploadAssetsResponse {
    /// The answer in the order of what was asked.
    func sorted(as wanted: [UploadAssetsRequest.Token]) throws(WebClientError) -> Self {
        let order = AnswerOrder(
            item: "file",
            names: wanted.map { FieldName(record: $0.recordName, field: $0.fieldName) },
            completes: { $0.isCompleted(by: $1) }
        )
        return Self(
            tokens: try order.sort(tokens) {
                FieldName(record: $0.recordName, field: $0.fieldName)
            }
        )
    }
}

extension SharesResponse {
    /// The answer in the order of what was asked; errors have no name.
    func sorted(as shares: [SharesRequest.ShortGUID]) throws(WebClientError) -> SharesResponse {
        SharesResponse(
            results: try AnswerOrder(item: "share", names: shares.map(\.value))
                .sort(results) { (try? $0.get())?.shortGUID?.value }
        )
    }
}
