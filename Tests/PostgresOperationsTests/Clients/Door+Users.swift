import CloudKitServerCore
import CloudKitWire
import ServerFixtures

extension CloudService {
    /// Adds users; returns each one's way in through some nodes.
    func doors(users: Int, nodes: [any ConformanceConnection]) async throws -> [Door] {
        let token = try await addAPIToken(container: Door.container, environment: .development)
        var doors: [Door] = []
        for number in 0..<users {
            let user = try await addUser(container: Door.container, name: "Ada \(number)")
            doors.append(
                Door(
                    nodes: nodes,
                    apiToken: token,
                    webToken: try await addWebAuthToken(
                        user: user,
                        apiToken: token,
                        environment: .development
                    ),
                    problems: Problems()
                )
            )
        }
        return doors
    }
}
