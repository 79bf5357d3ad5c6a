import CloudKitWire
import Synchronization

/// The devices that sent requests since the service started, with their positions in the feeds of zones.
///
/// It is kept in memory: operators only look at it, and a device that is in use is seen again.
final class DeviceDirectory: Sendable {
    /// The identity of a device.
    struct Key: Hashable, Sendable {
        var environment: RowID<StoredEnvironment>
        var user: RowID<StoredUser>
        /// The name that the client uses for itself; nil for all clients without one.
        var client: String?
    }

    /// A device's position in a zone's feed.
    struct Place: Sendable {
        var scope: DatabaseScope
        /// The incarnation of the zone that it read.
        var incarnation: Int64
        /// The last change that it received.
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

    /// The maximum number of devices; one more replaces the one that was seen least recently.
    static let deviceLimit = 1000
    /// The maximum number of zones of each device, of which the least recently read is replaced.
    static let zoneLimit = 100
    /// The maximum size of a client's name in bytes; a longer one counts as none.
    static let nameLimit = 255

    private let known = Mutex<[Key: Device]>([:])

    /// Records that a device sent a request.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - name: The client's name where only the body has it.
    func see(_ call: Call, name: String? = nil) {
        update(call, name: name) { _ in }
    }

    /// Records a device's new position in a zone's feed.
    func note(_ token: SyncToken, of zone: ZoneView, _ call: Call) {
        // A feed that is read from the newest change down has no position of this kind.
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

    /// Returns the devices of some environments, most recently seen first.
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
