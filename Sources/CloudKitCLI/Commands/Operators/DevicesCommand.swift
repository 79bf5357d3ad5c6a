import ArgumentParser
import CloudKitServerCore
import CloudKitWire

/// A command that shows the devices of a running server's users.
struct DevicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "Show the devices that a running server has seen.",
        subcommands: [List.self]
    )

    /// Lists devices.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the devices, and how many changes each is behind the zones it reads.",
            discussion: """
                A device is recognized by the name that it gives itself; all clients of a user \
                without a name count as one. Up to 1,000 are known, until the server stops.
                """
        )

        @OptionGroup(title: "Server")
        var place: ContainerOptions

        @OptionGroup
        var output: OutputOptions

        private struct Devices: Decodable {
            var devices: [DeviceReport]
        }

        func run() async throws {
            let response: Devices = try await place.selected().call("GET", "devices")
            try output.write(
                response.devices,
                header: "device",
                "user",
                "environment",
                "seen",
                "zone",
                "fetched",
                "behind"
            ) { device in
                let head = [
                    device.clientID ?? "(no name)", device.userRecordName,
                    device.environment.rawValue, ValueText.date(device.lastSeen),
                ]
                guard !device.zones.isEmpty else { return [head + ["", "", ""]] }
                return device.zones.map { zone in
                    head + [
                        zone.database == .shared
                            ? "\(zone.zoneName) of \(zone.ownerRecordName)" : zone.zoneName,
                        ValueText.date(zone.lastFetch),
                        zone.isExpired ? "token expired" : String(zone.behind),
                    ]
                }
            }
        }
    }
}
