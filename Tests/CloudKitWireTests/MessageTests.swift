import CloudKitWire
import Foundation
import Testing

/// Each message is described once: its properties, and its keys for coders, readers and writers.
@Suite("The messages")
struct MessageTests {
    @Test("What is written is read, whatever is in the message", arguments: SampleMessage.all)
    func roundTrip(sample: SampleMessage) throws {
        try sample.check()
    }

    @Test("The samples leave no property empty", arguments: SampleMessage.all)
    func fullness(sample: SampleMessage) {
        #expect(Contents(of: sample.message).empty == [])
    }

    @Test(
        "A value of another kind is refused in the words of JSON, with its place",
        arguments: [
            (#"{"records":[{"recordName":3}]}"#, "records[0].recordName: Expected a string"),
            (#"{"records":[{"recordName":null}]}"#, "records[0].recordName: Expected a string"),
            (#"{"records":{}}"#, "records: Expected a list"),
            (#"{"records":[1]}"#, "records[0]: Expected an object"),
            (#"{"zoneID":"Notes","records":[]}"#, "zoneID: Expected an object"),
        ]
    )
    func kinds(json: String, text: String) throws {
        let error = try #require(throws: DecodingError.self) {
            try WireJSON.decode(LookupRecordsRequest.self, from: Data(json.utf8))
        }
        #expect(WireJSON.place(of: error) == text)
    }

    @Test("Every message has a sample")
    func completeness() throws {
        let seen = SampleMessage.all.reduce(into: Set<String>()) { types, sample in
            types.formUnion(Contents(of: sample.message).types)
        }
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/CloudKitWire")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".swift") }
        let declaration = /^ *(?:public struct (\w+): .*Codable.*|extension (\w+): Codable) \{$/
            .anchorsMatchLineEndings()
        var declared: Set<String> = []
        for path in paths {
            let text = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
            for match in text.matches(of: declaration) {
                guard let name = match.output.1 ?? match.output.2 else { continue }
                declared.insert(String(name))
            }
        }
        #expect(declared.count > 40)
        #expect(declared.subtracting(seen).sorted() == [])
    }

    @Test("The direct readers pass over nothing that the coders read")
    func readers() throws {
        var sent = Sample.plainRecord
        (sent.created, sent.modified, sent.share, sent.shortGUID) = (nil, nil, nil, nil)
        let modify = ModifyRecordsRequest(
            operations: [RecordOperation(.update, sent, desiredKeys: ["a"])],
            zoneID: Sample.zoneID,
            atomic: true,
            desiredKeys: ["b"],
            numbersAsStrings: true
        )
        #expect(try ModifyRecordsRequest(common: WireJSON.encode(modify)) == modify)
        let lookup = Sample.lookup
        #expect(try LookupRecordsRequest(common: WireJSON.encode(lookup)) == lookup)
        // `decode` takes the direct reader if it can; JSONDecoder is the judge of what it returns.
        let records = Sample.records([.success(Sample.plainRecord)])
        let zones = ZoneChangesResponse(zones: [.success(Sample.zoneChanges(records.records))])
        #expect(try decoded(records) == records)
        #expect(try decoded(zones) == zones)
    }

    private func decoded<Message: Codable & Equatable>(_ message: Message) throws -> Message {
        let data = try WireJSON.encode(message)
        #expect(try JSONDecoder().decode(Message.self, from: data) == message)
        return try WireJSON.decode(Message.self, from: data)
    }

    @Test("The direct writer writes what the coders write")
    func writer() throws {
        var fields = Sample.plainRecord.fields
        fields["location"] = WireField(.location(Sample.location))
        fields["asset"] = WireField(.asset(Sample.asset))
        fields["reference"] = WireField(.reference(Sample.reference))
        #expect(try written { $0.fields(fields) } == coded(fields))
        #expect(try written { $0.zoneID(Sample.zoneID) } == coded(Sample.zoneID))
        #expect(try written { $0.itemError(Sample.itemError) } == coded(Sample.itemError))
        #expect(try written { $0.requestError(Sample.requestError) } == coded(Sample.requestError))
    }

    private func written(_ write: (inout JSONWriter) -> Void) throws -> NSDictionary? {
        var writer = JSONWriter()
        write(&writer)
        return try JSONSerialization.jsonObject(with: writer.data) as? NSDictionary
    }

    private func coded(_ message: some Encodable) throws -> NSDictionary? {
        try JSONSerialization.jsonObject(with: WireJSON.encode(message)) as? NSDictionary
    }
}

/// A message in which every property has a value.
struct SampleMessage: Sendable, CustomTestStringConvertible {
    let message: any Sendable
    let testDescription: String
    private let coded: @Sendable () throws -> Void

    init<Message: Codable & Equatable & Sendable>(_ message: Message) {
        self.message = message
        testDescription = "\(Message.self)"
        coded = {
            let data = try WireJSON.encode(message)
            #expect(try WireJSON.decode(Message.self, from: data) == message)
        }
    }

    func check() throws { try coded() }

    static let all: [SampleMessage] = [
        .init(Sample.modify), .init(Sample.lookup), .init(Sample.query),
        .init(Sample.records([.success(Sample.record), .failure(Sample.itemError)])),
        .init(Sample.uploads),
        .init(UploadAssetsResponse(tokens: [.init(recordName: "r", fieldName: "f", url: "u")])),
        .init(AssetUploadReceipt(singleFile: Sample.asset)),
        .init(Sample.shares), .init(SharesResponse(results: [.success(Sample.metadata)])),
        .init(LookupZonesRequest(zones: [Sample.zoneID])),
        .init(Sample.zoneDeletion),
        .init(ZonesResponse(zones: [.success(Sample.zone), .failure(Sample.itemError)])),
        .init(DatabaseChangesRequest(syncToken: "t", resultsLimit: 2)),
        .init(DatabaseChangesResponse(zones: [Sample.zone], syncToken: "t", moreComing: true)),
        .init(Sample.changes),
        .init(
            ZoneChangesResponse(zones: [
                .success(Sample.zoneChanges([.success(Sample.record)])),
                .failure(Sample.itemError),
            ])
        ),
        .init(LookupSubscriptionsRequest(subscriptions: [.init(subscriptionID: "s")])),
        .init(ModifySubscriptionsRequest(operations: [.init(.create, Sample.subscription)])),
        .init(SubscriptionsResponse(subscriptions: [.success(Sample.subscription)])),
        .init(DiscoverUsersRequest(lookupInfos: [Sample.lookupInfo])),
        .init(DiscoverUsersResponse(users: [Sample.user])),
        .init(CreateTokenRequest(apnsEnvironment: .production, clientId: "c")),
        .init(
            CreateTokenResponse(apnsEnvironment: .production, apnsToken: "t", webcourierURL: "u")
        ),
        .init(RegisterTokenRequest(apnsEnvironment: .production, apnsToken: "t", clientId: "c")),
        .init(Sample.requestError),
    ]
}

/// Values for every property of the messages.
private enum Sample {
    static let zoneID = WireZoneID(zoneName: "Z", ownerRecordName: "_o", zoneType: "REGULAR")
    static let reference = WireReference(recordName: "r", zoneID: zoneID, action: .validate)
    static let asset = WireAsset(
        fileChecksum: "f",
        size: 1,
        receipt: "r",
        wrappingKey: "w",
        referenceChecksum: "c",
        downloadURL: "u"
    )
    static let location = WireLocation(
        latitude: 1,
        longitude: 2,
        horizontalAccuracy: 3,
        verticalAccuracy: 4,
        altitude: 5,
        speed: 6,
        course: 7,
        timestamp: 8
    )
    static let lookupInfo = UserIdentity.LookupInfo(
        emailAddress: "e",
        phoneNumber: "p",
        userRecordName: "_u"
    )
    static let name = UserIdentity.NameComponents(givenName: "g", familyName: "f")
    static let user = UserIdentity(
        userRecordName: "_u",
        nameComponents: name,
        lookupInfo: lookupInfo
    )
    static let identity = ParticipantIdentity(
        userRecordName: "_u",
        nameComponents: name,
        lookupInfo: lookupInfo
    )
    static let participant = WireParticipant(
        participantId: "i",
        type: .user,
        permission: .readOnly,
        acceptanceStatus: .accepted,
        userIdentity: identity
    )

    static func field(_ value: WireValue) -> WireField {
        var field = WireField(value, isEncrypted: true)
        field.exactDates = [0.5]
        return field
    }

    /// A record that is no share.
    static let plainRecord: WireRecord = {
        var record = WireRecord(
            recordName: "r",
            recordType: "T",
            recordChangeTag: "1",
            zoneID: zoneID
        )
        record.fields = ["dates": field(.list([.timestamp(1)], of: .timestamp))]
        record.created = .init(timestamp: 1, userRecordName: "_u", deviceID: "d")
        record.modified = .init(timestamp: 2, userRecordName: "_u", deviceID: "d")
        record.deleted = false
        record.parent = reference
        record.removesParent = true
        record.share = reference
        record.shortGUID = "g"
        return record
    }()
    static let record: WireRecord = {
        var record = plainRecord
        record.recordType = WireRecord.shareType
        record.createShortGUID = true
        record.shareParts = WireShare(
            forRecord: .init(recordName: "r", recordChangeTag: "1"),
            publicPermission: .readOnly,
            participants: [participant],
            owner: participant,
            currentUserParticipant: participant
        )
        return record
    }()

    static let modify = ModifyRecordsRequest(
        operations: [RecordOperation(.update, record, desiredKeys: ["a"])],
        zoneID: zoneID,
        atomic: true,
        desiredKeys: ["b"],
        numbersAsStrings: true
    )
    static let lookup = LookupRecordsRequest(
        records: [.init(recordName: "r", desiredKeys: ["a"])],
        zoneID: zoneID,
        desiredKeys: ["b"],
        numbersAsStrings: true
    )

    static func records(_ records: [ItemResult<WireRecord>]) -> RecordsResponse {
        RecordsResponse(records: records, continuationMarker: "m", syncToken: "t")
    }

    static let uploads = UploadAssetsRequest(
        zoneID: zoneID,
        tokens: [.init(recordName: "r", recordType: "T", fieldName: "f")]
    )
    static let shares = SharesRequest(shortGUIDs: [
        .init(value: "g", shouldFetchRootRecord: true, rootRecordDesiredKeys: ["a"])
    ])
    static let metadata: ShareMetadata = {
        var metadata = ShareMetadata(containerIdentifier: "c", zoneID: zoneID, share: record)
        metadata.shortGUID = shares.shortGUIDs[0]
        metadata.environment = .production
        metadata.databaseScope = "SHARED"
        metadata.rootRecordName = "r"
        metadata.rootRecord = record
        metadata.participantType = .user
        metadata.participantStatus = .accepted
        metadata.participantPermission = .readWrite
        metadata.ownerIdentity = identity
        return metadata
    }()

    static let zone = WireZone(
        zoneID: zoneID,
        syncToken: "t",
        atomic: true,
        deleted: true,
        deletionReason: .purged,
        share: reference
    )
    static let zoneDeletion: ModifyZonesRequest = {
        var request = ModifyZonesRequest(operations: [.init(.delete, zoneID)])
        request.operations[0].zone = zone
        return request
    }()
    static let changes: ZoneChangesRequest = {
        var zone = ZoneChangesRequest.Zone(
            zoneID: zoneID,
            syncToken: "t",
            resultsLimit: 2,
            desiredKeys: ["a"]
        )
        zone.desiredRecordTypes = ["T"]
        zone.reverse = true
        zone.numbersAsStrings = true
        var request = ZoneChangesRequest(zones: [zone])
        request.resultsLimit = 2
        request.desiredKeys = ["a"]
        request.desiredRecordTypes = ["T"]
        request.reverse = true
        request.numbersAsStrings = true
        request.numberAsStrings = true
        return request
    }()

    static func zoneChanges(_ records: [ItemResult<WireRecord>]) -> ZoneChangesResponse.Zone {
        ZoneChangesResponse.Zone(
            zoneID: zoneID,
            records: records,
            syncToken: "t",
            moreComing: true
        )
    }

    static let query: QueryRecordsRequest = {
        var filter = WireFilter("f", .near, .location(location), distance: 2)
        filter.fieldValue = field(.location(location))
        filter.systemFieldName = "s"
        var sort = WireSort("f", ascending: false)
        sort.systemFieldName = "s"
        sort.relativeLocation = field(.location(location))
        var request = QueryRecordsRequest(
            query: WireQuery(recordType: "T", filterBy: [filter], sortBy: [sort]),
            zoneID: zoneID,
            zoneWide: true,
            resultsLimit: 2,
            desiredKeys: ["a"],
            continuationMarker: "m"
        )
        request.numbersAsStrings = true
        return request
    }()
    static let subscription: WireSubscription = {
        var info = WireNotificationInfo()
        info.alertBody = "a"
        info.alertLocalizationKey = "b"
        info.alertLocalizationArgs = ["c"]
        info.alertActionLocalizationKey = "d"
        info.alertLaunchImage = "e"
        info.soundName = "f"
        info.shouldBadge = true
        info.shouldSendContentAvailable = true
        info.category = "g"
        info.additionalFields = ["h"]
        info.title = "i"
        info.titleLocalizationKey = "j"
        info.titleLocalizationArgs = ["k"]
        info.subtitle = "l"
        info.subtitleLocalizationKey = "m"
        info.subtitleLocalizationArgs = ["n"]
        info.shouldSendMutableContent = true
        info.collapseIDKey = "o"
        var subscription = WireSubscription(
            subscriptionID: "s",
            subscriptionType: .query,
            query: query.query,
            firesOn: [.create],
            firesOnce: true,
            zoneID: zoneID,
            notificationInfo: info
        )
        subscription.zoneWide = true
        return subscription
    }()

    static let requestError = RequestError(
        .zoneNotFound,
        reason: "r",
        retryAfter: 1,
        redirectURL: "u",
        uuid: "i",
        nativeErrorCode: .userDeletedZone,
        deletionReason: .purged
    )
    static let itemError: ItemError = {
        var error = ItemError(requestError, zoneID: zoneID)
        error.recordName = "r"
        error.subscriptionID = "s"
        return error
    }()
}

/// The types in a value, and the paths to its properties that hold nothing.
private struct Contents {
    private(set) var types: Set<String> = []
    private(set) var empty: [String] = []

    init(of value: Any) { visit(value, at: "") }

    private mutating func visit(_ value: Any, at path: String) {
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .struct { types.insert("\(type(of: value))") }
        switch mirror.displayStyle {
        case .optional, .collection, .dictionary:
            if mirror.children.isEmpty { empty.append(path) }
        default: break
        }
        for (index, child) in mirror.children.enumerated() {
            visit(child.value, at: "\(path).\(child.label ?? "\(index)")")
        }
    }
}
