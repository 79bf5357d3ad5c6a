import CloudKitWire
import Synchronization

/// Which devices a service has seen since it began, and how far each has read its zones.
///
/// It is kept in memory: what operators look at is worth no write, and a device that goes on is seen again.
final class DeviceDirectory: Sendable {
    /// The identity of a device.
    struct Key: Hashable, Sendable {
        var environment: RowID<StoredEnvironment>
        var user: RowID<StoredUser>
        /// The name that the client gives itself; nil for all that give none.
        var client: String?
    }

    /// A device's place in a zone's feed.
    struct Place: Sendable {
        var scope: DatabaseScope
        /// The life of the zone that it read.
        var incarnation: Int64
        /// The last change that it was answered.
        var sequence: Int64
        /// The time of the fetch, in milliseconds since 1970-01-01 UTC.
        var time: Int64
    }

    /// One device.
    struct Device: Sendable {
        var key: Key
        var lastSeen: Int64
        var places: [RowID<StoredZone>: Place] = [:]
    }

    /// Devices that are remembered; of more, the one that was not seen for longest goes.
    static let deviceLimit = 1000
    /// Zones that are remembered of each, in the same way.
    static let zoneLimit = 100
    /// Bytes of a client's name; one with a longer name counts as one without.
    static let nameLimit = 255

    private let known = Mutex<[Key: Device]>([:])

    /// Notes that a device asked for something.
    ///
    /// - Parameters:
    ///   - call: What it asked for.
    ///   - name: The name that it gives itself in the body alone.
    func see(_ call: Call, name: String? = nil) {
        update(call, name: name) { _ in }
    }

    /// Notes how far a device has read a zone.
    func note(_ token: SyncToken, of zone: ZoneView, _ call: Call) {
        // What is read from the newest change down is no device's place.
        guard !token.isReverse else { return }
        update(call, name: nil) { device in
            if device.places[zone.zone.id] == nil, device.places.count >= Self.zoneLimit {
                let oldest = device.places.min { $0.value.time < $1.value.time }?.key
                device.places[oldest ?? zone.zone.id] = nil
            }
            device.places[zone.zone.id] = Place(
                scope: call.path.database,
                incarnation: token.incarnation,
                sequence: token.sequence,
                time: call.now
            )
        }
    }

    /// The devices of some environments, those that were seen last first.
    func devices(of environments: Set<RowID<StoredEnvironment>>) -> [Device] {
        known.withLock { $0.values.filter { environments.contains($0.key.environment) } }
            .sorted {
                ($0.lastSeen, $0.key.client ?? "") > ($1.lastSeen, $1.key.client ?? "")
            }
    }

    private func update(_ call: Call, name: String?, _ change: (inout Device) -> Void) {
        guard let user = call.caller.user else { return }
        let client = (call.clientID ?? name).flatMap {
            (1...Self.nameLimit).contains($0.utf8.count) ? $0 : nil
        }
        let key = Key(environment: call.environment.id, user: user.id, client: client)
        known.withLock { known in
            if known[key] == nil, known.count >= Self.deviceLimit,
                let oldest = known.min(by: { $0.value.lastSeen < $1.value.lastSeen })?.key
            {
                known[oldest] = nil
            }
            var device = known[key] ?? Device(key: key, lastSeen: call.now)
            device.lastSeen = max(device.lastSeen, call.now)
            change(&device)
            known[key] = device
        }
    }
}
