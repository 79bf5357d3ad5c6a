/// The body of `tokens/create`, which requests an address to wait for notifications at.
public struct CreateTokenRequest: Hashable, Sendable, Codable {
    /// The push environment, `development` or `production`.
    public var apnsEnvironment: ServiceEnvironment
    /// A name that the client chooses, for which the service returns the same token again.
    public var clientId: String?

    /// Creates a request.
    public init(apnsEnvironment: ServiceEnvironment, clientId: String? = nil) {
        self.apnsEnvironment = apnsEnvironment
        self.clientId = clientId
    }
}

/// The response of `tokens/create`.
public struct CreateTokenResponse: Hashable, Sendable, Codable {
    /// The push environment.
    public var apnsEnvironment: ServiceEnvironment
    /// The token.
    public var apnsToken: String
    /// The address at which a GET waits for the next notification.
    public var webcourierURL: String

    /// Creates a response.
    public init(apnsEnvironment: ServiceEnvironment, apnsToken: String, webcourierURL: String) {
        self.apnsEnvironment = apnsEnvironment
        self.apnsToken = apnsToken
        self.webcourierURL = webcourierURL
    }
}

/// The body of `tokens/register`, which registers a token to receive the container's notifications.
public struct RegisterTokenRequest: Hashable, Sendable, Codable {
    /// The push environment.
    public var apnsEnvironment: ServiceEnvironment
    /// The token.
    public var apnsToken: String
    /// A name that the client chooses.
    public var clientId: String?

    /// Creates a request.
    public init(apnsEnvironment: ServiceEnvironment, apnsToken: String, clientId: String? = nil) {
        self.apnsEnvironment = apnsEnvironment
        self.apnsToken = apnsToken
        self.clientId = clientId
    }
}
