public import CloudKitWire
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A notification for a user's devices, as operators see it.
public struct PushEntry: Hashable, Sendable, Codable {
    /// The notification's number, from 1.
    public var number = 0
    /// The time, in milliseconds since 1970-01-01 UTC.
    public var time: Int64
    /// The container.
    public var container: String
    /// Its environment.
    public var environment: ServiceEnvironment
    /// The user whose devices are notified.
    public var userRecordName: String
    /// The subscription.
    public var subscriptionID: String?
    /// The number of devices whose queues received it; 0 if none listens.
    public var devices: Int
    /// The payload of each device, without the number on the app's icon; nil if it is not shown.
    public var payload: String?
}

/// The notifications of a commit, to be announced after it.
struct PushNews: Sendable {
    /// The queues that received items; requests that wait on them are woken.
    var queues: Set<Data> = []
    /// The notifications, for operators.
    var entries: [PushEntry] = []

    mutating func formUnion(_ other: PushNews) {
        queues.formUnion(other.queues)
        entries += other.entries
    }
}

/// The last notifications of a service, in memory, oldest first.
final class PushJournal: Sendable {
    private static let capacity = 200

    private let kept = Mutex<(entries: [PushEntry], last: Int)>(([], 0))

    func add(_ entries: [PushEntry]) {
        guard !entries.isEmpty else { return }
        kept.withLock { kept in
            for var entry in entries {
                kept.last += 1
                entry.number = kept.last
                kept.entries.append(entry)
            }
            kept.entries.removeFirst(max(0, kept.entries.count - Self.capacity))
        }
    }

    func entries(of container: String) -> [PushEntry] {
        kept.withLock { $0.entries.filter { $0.container == container } }
    }
}
