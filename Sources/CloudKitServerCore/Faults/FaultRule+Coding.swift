import CloudKitWire

extension FaultRule: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case fault, operation, recordType, zone, user, call, times, probability
        case code, reason, retryAfter, item, bytes, milliseconds, bytesPerSecond
        case profile, burst, perSecond
    }

    /// The names of the faults.
    private enum Name: String, CaseIterable {
        case error, itemError, nativeError, nativeItemError
        case lostResponse, resetConnection, cutResponse, delay, slowResponse
        case expiredWebToken, expiredChangeTokens, lostNotification, staleTags
        case throttle

        /// The keys that are specific to the fault.
        var keys: Set<CodingKeys> {
            switch self {
            case .error, .nativeError: [.code, .reason, .retryAfter]
            case .itemError, .nativeItemError: [.code, .reason, .item]
            case .cutResponse: [.bytes]
            case .delay: [.milliseconds]
            case .slowResponse: [.bytesPerSecond]
            case .throttle: [.profile, .burst, .perSecond]
            case .lostResponse, .resetConnection, .expiredWebToken, .expiredChangeTokens,
                .lostNotification, .staleTags:
                []
            }
        }
    }

    private static let selection: Set<CodingKeys> = [
        .fault, .operation, .recordType, .zone, .user, .call, .times, .probability,
    ]

    /// The largest whole number: milliseconds of a month, which nobody waits for.
    private static let most = 2_678_400_000

    /// A key of the text, known or not.
    struct AnyKey: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }

        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Decodes a rule; a key that the fault does not have is an error.
    public init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let text = try values.decode(String.self, forKey: .fault)
        func mistake(_ key: CodingKeys?, _ message: String) -> DecodingError {
            FaultPlanError.decoding(message, at: decoder.codingPath + (key.map { [$0] } ?? []))
        }
        guard let name = Name(rawValue: text) else {
            let names = Name.allCases.map(\.rawValue)
            throw mistake(
                .fault,
                "'\(text)' is no fault; the faults are \(names.joined(separator: ", "))"
                    + NearestName.advice(for: text, in: names)
            )
        }
        let allowed = Self.selection.union(name.keys)
        for key in keys.sorted() where !allowed.contains(where: { $0.stringValue == key }) {
            let names = allowed.map(\.stringValue).sorted()
            throw mistake(
                nil,
                "'\(key)' means nothing for the fault '\(text)'"
                    + NearestName.advice(for: key, in: names)
            )
        }
        func whole(_ key: CodingKeys, atLeast least: Int) throws -> Int? {
            guard let value = try number(key) else { return nil }
            guard let whole = Int(exactly: value) else {
                throw mistake(key, "\(value) is not a whole number")
            }
            guard whole >= least else { throw mistake(key, "\(whole) is less than \(least)") }
            guard whole <= Self.most else {
                throw mistake(key, "\(whole) is more than \(Self.most)")
            }
            return whole
        }
        func number(_ key: CodingKeys) throws -> Double? {
            try values.decodeIfPresent(Double.self, forKey: key)
        }
        func positive(_ key: CodingKeys) throws -> Int {
            guard let value = try whole(key, atLeast: 0) else {
                throw mistake(nil, "the fault '\(text)' needs '\(key.stringValue)'")
            }
            return value
        }
        func seconds() throws -> Double? {
            let value = try number(.retryAfter)
            if let value, value < 0 { throw mistake(.retryAfter, "\(value) is less than 0") }
            return value
        }
        func native() throws -> NativeErrorCode {
            let text = try values.decode(String.self, forKey: .code)
            guard let code = NativeErrorCode(name: text) else {
                throw mistake(
                    .code,
                    "'\(text)' is no code of CKError, such as userDeletedZone"
                        + NearestName.advice(for: text, in: NativeErrorCode.allCases.map(\.name))
                )
            }
            return code
        }
        func code() throws -> ServerErrorCode {
            let code = try values.decode(ServerErrorCode.self, forKey: .code)
            guard ServerErrorCode.known.contains(code) else {
                let names = ServerErrorCode.known.map(\.rawValue)
                throw mistake(
                    .code,
                    "'\(code.rawValue)' is no code of the service, such as THROTTLED"
                        + NearestName.advice(for: code.rawValue, in: names)
                )
            }
            return code
        }
        let operation = try values.decodeIfPresent(String.self, forKey: .operation)
        if let operation, FaultOperation.matched(by: operation).isEmpty {
            throw mistake(
                .operation,
                "'\(operation)' is no operation, such as records/modify or records/*"
                    + NearestName.advice(for: operation, in: FaultOperation.names)
            )
        }
        let recordType = try values.decodeIfPresent(String.self, forKey: .recordType)
        let zone = try values.decodeIfPresent(String.self, forKey: .zone)
        let fault: Fault
        switch name {
        case .error:
            fault = .error(
                try code(),
                reason: try values.decodeIfPresent(String.self, forKey: .reason),
                retryAfter: try seconds()
            )
        case .itemError:
            fault = .itemError(
                try code(),
                item: try whole(.item, atLeast: 0),
                reason: try values.decodeIfPresent(String.self, forKey: .reason)
            )
        case .nativeError:
            fault = .nativeError(
                try native(),
                reason: try values.decodeIfPresent(String.self, forKey: .reason),
                retryAfter: try seconds()
            )
        case .nativeItemError:
            fault = .nativeItemError(
                try native(),
                item: try whole(.item, atLeast: 0),
                reason: try values.decodeIfPresent(String.self, forKey: .reason)
            )
        case .lostResponse: fault = .lostResponse
        case .resetConnection: fault = .resetConnection
        case .cutResponse: fault = .cutResponse(bytes: try positive(.bytes))
        case .delay: fault = .delay(milliseconds: try positive(.milliseconds))
        case .slowResponse:
            guard let rate = try whole(.bytesPerSecond, atLeast: 1) else {
                throw mistake(nil, "the fault '\(text)' needs 'bytesPerSecond'")
            }
            fault = .slowResponse(bytesPerSecond: rate)
        case .expiredWebToken: fault = .expiredWebToken
        case .expiredChangeTokens: fault = .expiredChangeTokens
        case .lostNotification: fault = .lostNotification
        case .staleTags: fault = .staleTags
        case .throttle:
            if let text = try values.decodeIfPresent(String.self, forKey: .profile) {
                for key in [CodingKeys.burst, .perSecond] where values.contains(key) {
                    throw mistake(key, "it is the profile's; give one or the other")
                }
                guard let profile = ThrottleProfile.named[text] else {
                    let names = ThrottleProfile.named.keys.sorted().joined(separator: ", ")
                    throw mistake(.profile, "'\(text)' is no profile; they are \(names)")
                }
                fault = .throttle(profile)
            } else {
                let burst = try values.decode(Double.self, forKey: .burst)
                let perSecond = try values.decode(Double.self, forKey: .perSecond)
                guard burst >= 1 else { throw mistake(.burst, "\(burst) is less than 1") }
                guard perSecond >= 0 else {
                    throw mistake(.perSecond, "\(perSecond) is less than 0")
                }
                fault = .throttle(ThrottleProfile(burst: burst, perSecond: perSecond))
            }
        }
        if let recordType, let reason = NameRules.identifier(recordType, "it") {
            throw mistake(.recordType, reason)
        }
        for key in [CodingKeys.zone, .user]
        where try values.decodeIfPresent(String.self, forKey: key) == "" {
            throw mistake(key, "it is empty; leave it out for any")
        }
        // A rule that never takes effect would let its author believe that the app handles the fault.
        if let operation {
            let matched = FaultOperation.matched(by: operation)
            if let all = fault.operations, matched.allSatisfy({ !all.contains($0) }) {
                throw mistake(.operation, "the fault '\(text)' never affects '\(operation)'")
            }
            if recordType != nil, matched.allSatisfy({ !FaultOperation.withTypes.contains($0) }) {
                throw mistake(.recordType, "requests of '\(operation)' name no record type")
            }
            if zone != nil, matched.allSatisfy({ Endpoint(rawValue: $0) == nil }) {
                throw mistake(.zone, "requests of '\(operation)' name no zone")
            }
        }
        let probability = try values.decodeIfPresent(Double.self, forKey: .probability)
        if let probability, !(0...1).contains(probability) || probability == 0 {
            throw mistake(.probability, "\(probability) is not above 0 and at most 1")
        }
        self.init(
            fault,
            operation: operation,
            recordType: recordType,
            zone: zone,
            user: try values.decodeIfPresent(String.self, forKey: .user),
            call: try whole(.call, atLeast: 1),
            times: try whole(.times, atLeast: 1),
            probability: probability
        )
    }

    /// Encodes the rule in the form in which it is decoded.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        let name: Name
        switch fault {
        case .error(let code, let reason, let retryAfter):
            name = .error
            try values.encode(code, forKey: .code)
            try values.encodeIfPresent(reason, forKey: .reason)
            try values.encodeIfPresent(retryAfter, forKey: .retryAfter)
        case .itemError(let code, let item, let reason):
            name = .itemError
            try values.encode(code, forKey: .code)
            try values.encodeIfPresent(item, forKey: .item)
            try values.encodeIfPresent(reason, forKey: .reason)
        case .nativeError(let code, let reason, let retryAfter):
            name = .nativeError
            try values.encode(code.name, forKey: .code)
            try values.encodeIfPresent(reason, forKey: .reason)
            try values.encodeIfPresent(retryAfter, forKey: .retryAfter)
        case .nativeItemError(let code, let item, let reason):
            name = .nativeItemError
            try values.encode(code.name, forKey: .code)
            try values.encodeIfPresent(item, forKey: .item)
            try values.encodeIfPresent(reason, forKey: .reason)
        case .lostResponse: name = .lostResponse
        case .resetConnection: name = .resetConnection
        case .cutResponse(let bytes):
            name = .cutResponse
            try values.encode(bytes, forKey: .bytes)
        case .delay(let milliseconds):
            name = .delay
            try values.encode(milliseconds, forKey: .milliseconds)
        case .slowResponse(let bytesPerSecond):
            name = .slowResponse
            try values.encode(bytesPerSecond, forKey: .bytesPerSecond)
        case .expiredWebToken: name = .expiredWebToken
        case .expiredChangeTokens: name = .expiredChangeTokens
        case .lostNotification: name = .lostNotification
        case .staleTags: name = .staleTags
        case .throttle(let profile):
            name = .throttle
            try values.encode(profile.burst, forKey: .burst)
            try values.encode(profile.perSecond, forKey: .perSecond)
        }
        try values.encode(name.rawValue, forKey: .fault)
        try values.encodeIfPresent(operation, forKey: .operation)
        try values.encodeIfPresent(recordType, forKey: .recordType)
        try values.encodeIfPresent(zone, forKey: .zone)
        try values.encodeIfPresent(user, forKey: .user)
        try values.encodeIfPresent(call, forKey: .call)
        try values.encodeIfPresent(times, forKey: .times)
        try values.encodeIfPresent(probability, forKey: .probability)
    }
}

/// The operations that a fault rule can match.
enum FaultOperation {
    /// The request that waits for notifications.
    static let pushWait = "push/wait"

    /// All names: the endpoints, and operations outside the protocol.
    static let names =
        Endpoint.allCases.map(\.rawValue) + ["assets/send", "assets/fetch", pushWait]

    /// The names of those whose requests name the types of records.
    static let withTypes = [
        Endpoint.recordsModify, .recordsQuery, .recordsQueryBatch, .assetsUpload,
    ].map(\.rawValue)

    /// Returns the operations with a name, or all that begin with it where it ends with `*`.
    static func matched(by name: String) -> [String] {
        guard name.hasSuffix("*") else { return names.filter { $0 == name } }
        return names.filter { $0.hasPrefix(name.dropLast()) }
    }
}
