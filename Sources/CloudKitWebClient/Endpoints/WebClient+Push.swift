public import CloudKitWire
public import Foundation

extension WebClient {
    /// Requests a courier URL at which to wait for notifications.
    ///
    /// - Parameter clientID: A name under which the service returns the same URL again; nil requests a
    ///   new one.
    /// - Returns: The token and its URL.
    /// - Throws: When the service refuses the request or cannot be reached.
    public func createToken(
        clientID: String? = nil
    ) async throws(WebClientError) -> CreateTokenResponse {
        try await call(
            path: "/device/1/\(containerComponent)/\(environment.rawValue)/tokens/create",
            CreateTokenRequest(apnsEnvironment: environment, clientId: clientID)
        )
    }

    /// Registers a token from here or elsewhere for the user's notifications of this container.
    public func registerToken(
        _ apnsToken: String,
        clientID: String? = nil
    ) async throws(WebClientError) {
        let request = RegisterTokenRequest(
            apnsEnvironment: environment,
            apnsToken: apnsToken,
            clientId: clientID
        )
        let _: Empty = try await call(
            path: "/device/1/\(containerComponent)/\(environment.rawValue)/tokens/register",
            request
        )
    }

    private struct Empty: Decodable {}

    /// Waits at the courier URL from `createToken` for the next notification.
    ///
    /// - Returns: The notification's JSON; nil when none arrived in time: wait again.
    public func nextNotification(
        at webcourierURL: String
    ) async throws(WebClientError) -> Data? {
        var request = TransportRequest(
            method: "GET",
            url: webcourierURL,
            timeout: Self.courierTimeout
        )
        request.waits = true
        // One user's notifications are not delivered to the next one.
        let signIn = signIn ?? credentials.signInCount
        _ = try credentials.webAuthToken(under: signIn)
        let response: TransportResponse
        do {
            response = try await send(request, under: signIn)
        } catch {
            throw Redaction(link: webcourierURL, credentials).clean(error)
        }
        _ = try credentials.webAuthToken(under: signIn)
        guard (200..<300).contains(response.status) else {
            throw .unexpectedResponse(
                status: response.status,
                message: "The web courier refused",
                retryAfter: response.retryAfter()
            )
        }
        return response.body.isEmpty ? nil : response.body
    }

    /// Seconds to wait for a notification; servers return an empty response earlier, to keep
    /// connections alive.
    private static let courierTimeout = 600.0
}
