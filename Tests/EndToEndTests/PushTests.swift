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
    @Test("Notifications come one after the other, through empty answers and lost connections")
    func sequence() async throws {
        let courier = Courier(answers: [
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
        // A lost connection asks for a new place to wait at.
        #expect(courier.tokens == 2)
    }

    @Test("A service that refuses to push ends the sequence with its error")
    func refusal() async throws {
        let courier = Courier(answers: [], refuses: true)
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
    /// A zone, and a subscription to what is new in it.
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
        "A device is told what another changes, as Apple's class for it tells it",
        arguments: CloudFixture.allCases
    )
    func query(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser()
            let phone = try await cloud.device(of: ada)
            let laptop = try await cloud.device(of: ada).privateCloudDatabase
            let zoneID = try await subscribe(laptop)
            let (started, start) = AsyncStream<Void>.makeStream()
            let heard = Task {
                var notifications: [CKNotification] = []
                let waiting = Waiting { start.yield() }
                let listener = CKContainer(client: try waiting.client(phone))
                for try await notification in listener.notifications() {
                    notifications.append(notification)
                    if notifications.count == 2 { break }
                }
                return notifications
            }
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

    @Test(
        "A lost connection is made again, and what was pushed meanwhile still comes",
        arguments: CloudFixture.allCases
    )
    func interruption(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser()
            let phone = try await cloud.device(of: ada)
            let laptop = try await cloud.device(of: ada).privateCloudDatabase
            let zoneID = try await subscribe(laptop)
            let waiting = Waiting(losses: 3) {}
            let listener = CKContainer(client: try waiting.client(phone))
            var iterator = listener.notifications().makeAsyncIterator()
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
            var clients: [WebClient] = []
            for _ in 1...20 { clients.append(try waiting.client(try await cloud.device(of: ada))) }
            try await withThrowingTaskGroup(of: String?.self) { group in
                for client in clients {
                    group.addTask {
                        for try await heard in CKContainer(client: client).notifications() {
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
            let phone = try await cloud.device(of: try await cloud.addUser())
            let (started, start) = AsyncStream<Void>.makeStream()
            let waiting = Waiting { start.yield() }
            let client = try waiting.client(phone)
            let task = Task {
                for try await _ in CKContainer(client: client).notifications() {}
                return true
            }
            for await _ in started { break }
            task.cancel()
            #expect(try await task.value)
        }
    }
}

/// A way into a cloud that notes, and may cut, the requests that wait for a push.
private final class Waiting: Sendable {
    private let state: Mutex<(count: Int, losses: Int)>
    private let onWait: @Sendable () -> Void

    init(losses: Int = 0, onWait: @escaping @Sendable () -> Void) {
        state = Mutex((0, losses))
        self.onWait = onWait
    }

    /// Requests that have waited, lost ones among them.
    var count: Int { state.withLock { $0.count } }

    /// The client of a device, with this on its way.
    func client(_ container: CKContainer) throws -> WebClient {
        let client = try container.connection.client
        return WebClient(
            url: client.url,
            container: client.container,
            environment: client.environment,
            credentials: client.credentials,
            transport: WaitingTransport(base: client.transport, waiting: self)
        )
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
    enum Answer {
        case push(String)
        case empty
        case lost
        case noise
    }

    let transport: ScriptedTransport

    init(answers: [Answer], refuses: Bool = false) {
        let answers = Mutex(answers)
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
            switch answers.withLock({ $0.isEmpty ? .empty : $0.removeFirst() }) {
            case .push(let name): return .ok(#"{"ck":{"met":{"sid":"\#(name)","dbs":2}}}"#)
            case .empty: return .ok()
            case .noise: return .ok("?")
            case .lost: throw TransportError(.broken, message: "lost")
            }
        }
    }

    /// How often a place to wait at was asked for.
    var tokens: Int { transport.requests(about: "tokens/create").count }
}
