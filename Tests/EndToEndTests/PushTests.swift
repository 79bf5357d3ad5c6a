import CloudKit
import CloudKitExtras
import CloudKitTesting
import CloudKitWebClient
import Foundation
import Support
import Synchronization
import Testing

@Suite("Push")
struct PushTests {
    @Test("Notifications come one after the other, through empty responses and lost connections")
    func sequence() async throws {
        let courier = Courier(responses: [
            .push("a"), .empty, .lost, .push("b"), .noise, .push("c"),
        ])
        let container = CKContainer(
            client: WebClient(
                url: "http://cloud.invalid",
                container: "iCloud.test",
                environment: .development,
                credentials: WebCredentials(apiToken: "a", webAuthToken: "u"),
                transport: courier.transport
            )
        )
        var names: [String] = []
        for try await notification in container.notifications(clientID: "test") {
            names.append(notification.subscriptionID ?? "")
            if names.count == 3 { break }
        }
        #expect(names == ["a", "b", "c"])
        // After a lost connection, the client requests a new URL to wait at.
        #expect(courier.tokens == 2)
    }

    @Test("Listening is retried after growing waits, as long as a busy service requests, ten times")
    func waits() async throws {
        let clock = JumpingClock()
        let busy = TransportResponse.refusal(
            503,
            #"{"serverErrorCode":"TRY_AGAIN_LATER","reason":"r","uuid":"u","retryAfter":7}"#
        )
        var client = WebClient(
            url: "http://cloud.invalid",
            container: "iCloud.test",
            environment: .development,
            credentials: WebCredentials(apiToken: "a", webAuthToken: "u"),
            transport: ScriptedTransport { _, index in
                guard index == 2 else { throw TransportError(.broken, message: "cut") }
                return busy
            }
        )
        client.clock = clock
        let container = CKContainer(client: client)
        await expectCKError(.networkFailure) {
            for try await _ in container.notifications() {}
        }
        let seconds = [0.02, 0.04, 7, 0.16, 0.32, 0.64, 1, 1, 1]
        #expect(clock.jumps == seconds.map { .seconds($0) })
    }

    @Test("A service that refuses to push ends the sequence with its error")
    func refusal() async throws {
        let courier = Courier(responses: [], refuses: true)
        let container = CKContainer(
            client: WebClient(
                url: "http://cloud.invalid",
                container: "iCloud.test",
                environment: .development,
                credentials: WebCredentials(apiToken: "a", webAuthToken: "u"),
                transport: courier.transport
            )
        )
        await expectCKError(.permissionFailure) {
            for try await _ in container.notifications() {}
        }
    }
}

@Suite("Push from a service", .timeLimit(.minutes(10)))
struct ServicePushTests {
    /// Returns a zone, with a subscription to new records in it.
    private func subscribe(_ database: CKDatabase) async throws -> CKRecordZone.ID {
        let zone = CKRecordZone(zoneName: "Notes")
        try await database.save(zone)
        let subscription = CKQuerySubscription(
            recordType: "Note",
            predicate: NSPredicate(format: "stars > 2"),
            subscriptionID: "stars",
            options: [.firesOnRecordCreation, .firesOnRecordDeletion]
        )
        subscription.notificationInfo = CKSubscription.NotificationInfo(
            alertLocalizationKey: "NEW",
            alertLocalizationArgs: ["title"],
            desiredKeys: ["title", "stars"],
            shouldBadge: true
        )
        try await database.save(subscription)
        return zone.zoneID
    }

    /// Returns the next notifications of a device, up to a number.
    private func hear(_ count: Int, on device: CKContainer) async throws -> [CKNotification] {
        var notifications: [CKNotification] = []
        for try await notification in device.notifications() {
            notifications.append(notification)
            if notifications.count == count { break }
        }
        return notifications
    }

    private func note(_ name: String, _ stars: Int, in zoneID: CKRecordZone.ID) -> CKRecord {
        let note = CKRecord(
            recordType: "Note",
            recordID: CKRecord.ID(recordName: name, zoneID: zoneID)
        )
        note["title"] = name
        note["stars"] = stars
        return note
    }

    @Test(
        "A device is notified of what another changes, as Apple's class for it describes",
        arguments: CloudFixture.allCases
    )
    func query(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser()
            let (started, start) = AsyncStream<Void>.makeStream()
            let waiting = Waiting { start.yield() }
            let phone = try await cloud.device(of: ada, transport: waiting.over)
            let laptop = try await cloud.device(of: ada).privateCloudDatabase
            let zoneID = try await subscribe(laptop)
            let heard = Task { try await hear(2, on: phone) }
            for await _ in started { break }
            try await laptop.save(note("dull", 1, in: zoneID))
            try await laptop.save(note("good", 3, in: zoneID))
            try await laptop.deleteRecord(withID: note("good", 3, in: zoneID).recordID)
            let notifications = try await heard.value
            let first = try #require(notifications.first as? CKQueryNotification)
            #expect(first.queryNotificationReason == .recordCreated)
            #expect(first.recordID == note("good", 3, in: zoneID).recordID)
            #expect(first.databaseScope == .private)
            #expect(first.subscriptionID == "stars")
            #expect(first.containerIdentifier == phone.containerIdentifier)
            #expect(first.recordFields?["title"] as? String == "good")
            #expect((first.recordFields?["stars"] as? NSNumber)?.intValue == 3)
            #expect(first.alertLocalizationKey == "NEW")
            #expect(first.alertLocalizationArgs == ["good"])
            #expect(first.badge == 1)
            let second = try #require(notifications.last as? CKQueryNotification)
            #expect(second.queryNotificationReason == .recordDeleted)
            #expect(second.badge == 2)
        }
    }

    /// Saves a subscription with silent notifications.
    private func save(_ subscription: CKSubscription, to database: CKDatabase) async throws {
        subscription.notificationInfo = .init(shouldSendContentAvailable: true)
        try await database.save(subscription)
    }

    @Test(
        "A subscription to a zone notifies a device that another changed it, and of no other zone",
        arguments: CloudFixture.allCases
    )
    func zone(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser()
            let (started, start) = AsyncStream<Void>.makeStream()
            let waiting = Waiting { start.yield() }
            let phone = try await cloud.device(of: ada, transport: waiting.over)
            let laptop = try await cloud.device(of: ada).privateCloudDatabase
            let notes = try await laptop.save(CKRecordZone(zoneName: "Notes")).zoneID
            let lists = try await laptop.save(CKRecordZone(zoneName: "Lists")).zoneID
            try await save(
                CKRecordZoneSubscription(zoneID: notes, subscriptionID: "notes"),
                to: phone.privateCloudDatabase
            )
            let heard = Task { try await hear(2, on: phone) }
            for await _ in started { break }
            try await laptop.save(note("elsewhere", 1, in: lists))
            try await laptop.save(note("here", 1, in: notes))
            // The next one waits until the first was received: two may arrive as one.
            for await _ in started { break }
            try await laptop.deleteRecord(withID: note("here", 1, in: notes).recordID)
            for notification in try await heard.value {
                let notification = try #require(notification as? CKRecordZoneNotification)
                #expect(notification.notificationType == .recordZone)
                #expect(notification.recordZoneID == notes)
                #expect(notification.databaseScope == .private)
                #expect(notification.subscriptionID == "notes")
                #expect(notification.containerIdentifier == phone.containerIdentifier)
            }
        }
    }

    @Test(
        "A subscription to a database notifies of its custom zones, and not of the default zone",
        arguments: CloudFixture.allCases
    )
    func database(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser()
            let (started, start) = AsyncStream<Void>.makeStream()
            let waiting = Waiting { start.yield() }
            let phone = try await cloud.device(of: ada, transport: waiting.over)
            let laptop = try await cloud.device(of: ada).privateCloudDatabase
            let notes = try await laptop.save(CKRecordZone(zoneName: "Notes")).zoneID
            try await save(
                CKDatabaseSubscription(subscriptionID: "all"),
                to: phone.privateCloudDatabase
            )
            // Changes in the default zone cause notifications through a query only.
            let query = CKQuerySubscription(
                recordType: "Note",
                predicate: NSPredicate(value: true),
                subscriptionID: "default",
                options: .firesOnRecordCreation
            )
            query.zoneID = .default
            try await save(query, to: phone.privateCloudDatabase)
            let heard = Task { try await hear(2, on: phone) }
            for await _ in started { break }
            try await laptop.save(note("a", 1, in: .default))
            try await laptop.save(note("b", 1, in: notes))
            let notifications = try await heard.value
            #expect(notifications.map(\.subscriptionID) == ["default", "all"])
            let last = try #require(notifications.last as? CKDatabaseNotification)
            #expect(last.notificationType == .database)
            #expect(last.databaseScope == .private)
            #expect(last.containerIdentifier == phone.containerIdentifier)
        }
    }

    @Test(
        "A subscription to the shared database notifies a participant of the owner's changes",
        arguments: CloudFixture.allCases
    )
    func sharedDatabase(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let bob = try await cloud.addUser("Bob")
            let (started, start) = AsyncStream<Void>.makeStream()
            let waiting = Waiting { start.yield() }
            let phone = try await cloud.device(of: bob, transport: waiting.over)
            let list = try await SharedList(in: cloud, inviting: [bob])
            _ = try await list.admit(phone)
            try await save(
                CKDatabaseSubscription(subscriptionID: "shared"),
                to: phone.sharedCloudDatabase
            )
            let heard = Task { try await hear(1, on: phone) }
            for await _ in started { break }
            list.item["count"] = 2
            try await list.database.save(list.item)
            let notification = try #require(
                try await heard.value.first as? CKDatabaseNotification
            )
            #expect(notification.databaseScope == .shared)
            #expect(notification.subscriptionID == "shared")
        }
    }

    @Test("A device is not notified of what it changed itself", arguments: CloudFixture.allCases)
    func ownChanges(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser()
            let (started, start) = AsyncStream<Void>.makeStream()
            let waiting = Waiting { start.yield() }
            let phone = try await cloud.device(of: ada, transport: waiting.over)
            let laptop = try await cloud.device(of: ada).privateCloudDatabase
            let zoneID = try await subscribe(laptop)
            let heard = Task { try await hear(1, on: phone) }
            for await _ in started { break }
            try await phone.privateCloudDatabase.save(note("own", 5, in: zoneID))
            try await laptop.save(note("other", 5, in: zoneID))
            let notification = try await heard.value.first as? CKQueryNotification
            #expect(notification?.recordID?.recordName == "other")
        }
    }

    @Test(
        "A lost connection is made again, and what was pushed meanwhile still comes",
        arguments: CloudFixture.allCases
    )
    func interruption(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser()
            let waiting = Waiting(losses: 3) {}
            let phone = try await cloud.device(of: ada, transport: waiting.over)
            let laptop = try await cloud.device(of: ada).privateCloudDatabase
            let zoneID = try await subscribe(laptop)
            var iterator = phone.notifications().makeAsyncIterator()
            async let saved: Void = {
                // The third connection is lost before anything is pushed.
                while waiting.count < 3 { await Task.yield() }
                for name in ["a", "b"] { try await laptop.save(note(name, 5, in: zoneID)) }
            }()
            let names = [
                (try await iterator.next() as? CKQueryNotification)?.recordID?.recordName,
                (try await iterator.next() as? CKQueryNotification)?.recordID?.recordName,
            ]
            try await saved
            #expect(names == ["a", "b"])
            #expect(waiting.count >= 4)
        }
    }

    @Test("However many listen, other requests get through", arguments: CloudFixture.allCases)
    func crowd(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser()
            let laptop = try await cloud.device(of: ada).privateCloudDatabase
            let zoneID = try await subscribe(laptop)
            let waiting = Waiting {}
            var devices: [CKContainer] = []
            for _ in 1...20 {
                devices.append(try await cloud.device(of: ada, transport: waiting.over))
            }
            try await withThrowingTaskGroup(of: String?.self) { group in
                for device in devices {
                    group.addTask {
                        for try await heard in device.notifications() {
                            return (heard as? CKQueryNotification)?.recordID?.recordName
                        }
                        return nil
                    }
                }
                while waiting.count < 20 { await Task.yield() }
                try await laptop.save(note("a", 5, in: zoneID))
                for try await name in group { #expect(name == "a") }
            }
        }
    }

    @Test("Listening ends with the task", arguments: CloudFixture.allCases)
    func cancellation(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (started, start) = AsyncStream<Void>.makeStream()
            let waiting = Waiting { start.yield() }
            let phone = try await cloud.device(
                of: try await cloud.addUser(),
                transport: waiting.over
            )
            let task = Task {
                for try await _ in phone.notifications() {}
                return true
            }
            for await _ in started { break }
            task.cancel()
            #expect(try await task.value)
        }
    }
}

/// A part of a transport that records, and may cut, the requests that wait for a push.
private final class Waiting: Sendable {
    private let state: Mutex<(count: Int, losses: Int)>
    private let onWait: @Sendable () -> Void

    init(losses: Int = 0, onWait: @escaping @Sendable () -> Void) {
        state = Mutex((0, losses))
        self.onWait = onWait
    }

    /// The number of requests that have waited, including lost ones.
    var count: Int { state.withLock { $0.count } }

    /// Returns a transport with this part.
    func over(_ base: any Transport) -> any Transport {
        WaitingTransport(base: base, waiting: self)
    }

    fileprivate func begin() throws {
        let isLost = state.withLock { state in
            state.count += 1
            defer { state.losses = max(state.losses - 1, 0) }
            return state.losses > 0
        }
        if isLost { throw TransportError(.broken, message: "lost") }
        onWait()
    }
}

private struct WaitingTransport: PassingTransport {
    let base: any Transport
    let waiting: Waiting

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        if request.url.contains("/aps?") { try waiting.begin() }
        return try await base.send(request)
    }
}

/// A web courier with a script.
private struct Courier {
    enum Response {
        case push(String)
        case empty
        case lost
        case noise
    }

    let transport: ScriptedTransport

    init(responses: [Response], refuses: Bool = false) {
        let responses = Mutex(responses)
        transport = ScriptedTransport { request, _ in
            if refuses {
                return .refusal(403, #"{"serverErrorCode":"ACCESS_DENIED","reason":"no"}"#)
            }
            if request.isAbout("tokens/create") {
                return .ok(
                    """
                    {"apnsEnvironment":"development","apnsToken":"t",\
                    "webcourierURL":"http://cloud.invalid/courier"}
                    """
                )
            }
            switch responses.withLock({ $0.isEmpty ? .empty : $0.removeFirst() }) {
            case .push(let name): return .ok(#"{"ck":{"met":{"sid":"\#(name)","dbs":2}}}"#)
            case .empty: return .ok()
            case .noise: return .ok("?")
            case .lost: throw TransportError(.broken, message: "lost")
            }
        }
    }

    /// The number of times that a URL to wait at was requested.
    var tokens: Int { transport.requests(about: "tokens/create").count }
}
