import CloudKitServerCore
import CloudKitWire
public import Foundation

extension FixtureCloud {
    /// An error for a result that a test expected of the service and did not get.
    struct Unexpected: Error, CustomStringConvertible {
        var description: String
    }

    /// Uploads bytes for a field; returns the field's value.
    public func upload(
        _ bytes: Data,
        for record: String,
        _ field: String = "photo",
        in zone: String = "Notes",
        as user: User
    ) async throws -> JSON {
        let token: JSON = [
            "recordName": .string(record), "recordType": "Note", "fieldName": .string(field),
        ]
        let places = try await call(
            "assets/upload",
            as: user,
            ["zoneID": Self.zone(zone), "tokens": [token]]
        )
        let response = try await send(bytes, to: places.body.tokens[0].url)
        guard response.status == 200 else { throw Unexpected(description: "\(response)") }
        return ["value": response.body.singleFile, "type": "ASSETID"]
    }

    /// Sends bytes to an upload address.
    public func send(_ bytes: Data, to url: JSON) async throws -> Response {
        try await door.send(
            ConformanceRequest(
                method: "POST",
                path: String((url.text ?? "").dropFirst("http://cloud.test".count)),
                query: "",
                body: bytes
            )
        )
    }

    /// Returns the bytes behind a download URL.
    ///
    /// - Throws: `RequestError` when there are none.
    public func download(_ url: JSON) async throws -> Data {
        let path = (url.text ?? "").dropFirst("http://cloud.test".count)
        guard case .download(let token)? = AssetRoute(path: path) else {
            throw Unexpected(description: "\(url) is no download")
        }
        let contents = try await service.openAsset(token: token)
        var data = Data()
        for try await chunk in contents.chunks { data += chunk }
        guard data.count == contents.size else {
            throw Unexpected(description: "\(data.count) bytes instead of \(contents.size)")
        }
        return data
    }

    /// Advances the clock so far that cleaning removes every file that nothing needs: files have the
    /// system's time.
    public func outliveFiles() {
        let ahead = Date().timeIntervalSince1970 * 1000 - Double(clock.milliseconds)
        clock.advance(seconds: Int64(ahead / 1000) + 3 * 86_400)
    }

    /// Returns a user with a new token, after the clock has passed the expiration of the old one.
    public func again(_ user: User) async throws -> User {
        try await User(
            user: user.user,
            token: service.addWebAuthToken(
                user: user.user,
                apiToken: apiToken,
                environment: environment
            )
        )
    }
}
