public import CloudKitWire
public import Foundation

extension WebClient {
    /// Asks for a place to wait for notifications at.
    ///
    /// - Parameter clientID: A name under which the same place is given again; nil asks for a new
    ///   one.
    /// - Returns: The token and its place.
    /// - Throws: When the service refuses or cannot be reached.
    public func createToken(
        clientID: String? = nil
    ) async throws(WebClientError) -> CreateTokenResponse {
        try await call(
            path: "/device/1/\(containerComponent)/\(environment.rawValue)/tokens/create",
            CreateTokenRequest(apnsEnvironment: environment, clientId: clientID)
        )
    }

    /// Lets a token, made here or elsewhere, receive the user's notifications of this container.
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

    /// Waits at a place of `createToken` for the next notification.
    ///
    /// - Returns: The notification's JSON; nil when none came in time: wait again.
    public func nextNotification(
        at webcourierURL: String
    ) async throws(WebClientError) -> Data? {
        var request = TransportRequest(
            method: "GET",
            url: webcourierURL,
            timeout: Self.courierTimeout
        )
        request.waits = true
        // What was pushed to one user is not told to the next one.
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
            throw .unexpectedAnswer(
                status: response.status,
                message: "The web courier refused",
                retryAfter: response.retryAfter()
            )
        }
        return response.body.isEmpty ? nil : response.body
    }

    /// Seconds to wait for a notification; servers answer empty before, to keep connections alive.
    private static let courierTimeout = 600.0
}
