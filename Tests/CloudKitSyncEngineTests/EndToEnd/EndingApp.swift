import CloudKit
import CloudKitExtras
import Support
import Synchronization

/// An app whose process ends at an event, and its stored data at that time.
struct EndingApp: Sendable {
    /// The way in which the process ends.
    enum Death: CaseIterable {
        /// The server receives nothing more.
        case atOnce
        /// The server still receives the requests in flight, but the app no longer gets their
        /// responses.
        case withRequestsUnderWay
    }

    /// The data that a process had stored when it ended.
    final class Testament: Sendable {
        private let contents = Mutex<Contacts.Contents?>(nil)
        private let isDue: Mutex<Bool>

        init(isDue: Bool) {
            self.isDue = Mutex(isDue)
        }

        /// The app's stored data when its process ended; nil when it did not end.
        var kept: Contacts.Contents? { contents.withLock { $0 } }

        /// Allows the process to end from now on.
        func fallDue() { isDue.withLock { $0 = true } }

        /// Stores the data, once; returns whether this call did.
        func write(_ kept: Contacts.Contents) -> Bool {
            guard isDue.withLock({ $0 }) else { return false }
            return contents.withLock { contents in
                guard contents == nil else { return false }
                contents = kept
                return true
            }
        }
    }

    let container: CKContainer
    let app: Contacts
    let testament: Testament

    /// Starts an app from the stored data of a former process, to end at an event, counted from 0, or
    /// at the first one after it was allowed to.
    init(
        _ container: CKContainer,
        _ cut: Cut,
        contents: Contacts.Contents = .init(),
        endsAt boundary: Int,
        _ death: Death,
        isDue: Bool = true,
        handling hook: @escaping @Sendable (Contacts, CKSyncEngine.Event) -> Void = { _, _ in }
    ) {
        self.container = container
        testament = Testament(isDue: isDue)
        var contents = contents
        contents.engine = nil
        contents.story = []
        app = Contacts(
            container.privateCloudDatabase,
            contents: contents
        ) { [testament] app, event, _ in
            hook(app, event)
            guard app.story.count > boundary, testament.write(app.kept) else { return }
            if death == .atOnce { cut.make() }
        }
    }

    /// The contents for another process, after this one.
    var kept: Contacts.Contents {
        var contents = testament.kept ?? app.kept
        contents.engine = nil
        return contents
    }
}
