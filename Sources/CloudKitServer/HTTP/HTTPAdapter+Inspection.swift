import CloudKitServerCore
import CloudKitWire
import HTTPTypes
import Hummingbird

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// What an operator looks at in one container beside its records: devices, notifications, and what differs
// from a snapshot.
extension HTTPAdapter {
    /// The routes that show what a container did, and the one that sends a push.
    static let inspectionRoutes = [
        OperatorRoute("GET", "containers/{id}/devices") { adapter, call in
            let devices = try await adapter.service.devices(container: call.container)
            return try adapter.json(Devices(devices: devices))
        },
        OperatorRoute("GET", "containers/{id}/pushes") { adapter, call in
            try adapter.json(Pushes(pushes: adapter.pushes(of: call.container)))
        },
        OperatorRoute("POST", "containers/{id}/test-pushes", reads: TestPush.self) {
            try await $0.sendTestPush($2, $1)
        },
        OperatorRoute(
            "GET",
            "containers/{id}/snapshots/{name}/differences",
            parameters: ["to"]
        ) { adapter, call in
            try adapter.json(
                try await adapter.service.differences(
                    from: call.parts[3],
                    to: call.query["to"],
                    of: call.container
                )
            )
        },
    ]

    /// Notifications hold users' values, as bodies do.
    private func pushes(of container: String) -> [PushEntry] {
        service.pushes(container: container).map { entry in
            var entry = entry
            if !observer.keepsBodies { entry.payload = nil }
            return entry
        }
    }

    private func sendTestPush(
        _ asked: TestPush,
        _ call: OperatorCall
    ) async throws -> AdapterResponse {
        guard policy.isLocal(call.request, from: peer(call.context)) else {
            throw RequestError(
                .accessDenied,
                reason: "Only requests of the server's own machine send a user something, and only "
                    + "where no other machine reaches the server"
            )
        }
        let devices = try await service.sendTestPush(
            asked.subscriptionID,
            database: asked.database,
            of: try await user(asked.userRecordName, of: call.container),
            environment: asked.environment
        )
        return try json(SentPush(devices: devices))
    }
}

// MARK: Messages

private struct Devices: Encodable {
    var devices: [DeviceReport]
}

private struct Pushes: Encodable {
    var pushes: [PushEntry]
}

private struct TestPush: OperatorMessage {
    var environment: ServiceEnvironment
    var userRecordName: String
    var database: DatabaseScope
    var subscriptionID: String

    enum CodingKeys: CodingKey, CaseIterable {
        case environment, userRecordName, database, subscriptionID
    }
}

private struct SentPush: Encodable {
    var devices: Int
}
