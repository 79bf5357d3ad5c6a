/// The body of `tokens/create`: asks for a place to wait for notifications at.
public struct CreateTokenRequest: Hashable, Sendable, Codable {
    /// The push environment, `development` or `production`.
    public var apnsEnvironment: ServiceEnvironment
    /// A name of the client's, under which the same token is given again.
    public var clientId: String?

    /// Makes a request.
    public init(apnsEnvironment: ServiceEnvironment, clientId: String? = nil) {
        self.apnsEnvironment = apnsEnvironment
        self.clientId = clientId
    }
}

/// The answer of `tokens/create`.
public struct CreateTokenResponse: Hashable, Sendable, Codable {
    /// The push environment.
    public var apnsEnvironment: ServiceEnvironment
    /// The token.
    public var apnsToken: String
    /// Where a GET waits for the next notification.
    public var webcourierURL: String

    /// Makes an answer.
    public init(apnsEnvironment: ServiceEnvironment, apnsToken: String, webcourierURL: String) {
        self.apnsEnvironment = apnsEnvironment
        self.apnsToken = apnsToken
        self.webcourierURL = webcourierURL
    }
}

/// The body of `tokens/register`: lets a token receive the container's notifications.
public struct RegisterTokenRequest: Hashable, Sendable, Codable {
    /// The push environment.
    public var apnsEnvironment: ServiceEnvironment
    /// The token.
    public var apnsToken: String
    /// A name of the client's.
    public var clientId: String?

    /// Makes a request.
    public init(apnsEnvironment: ServiceEnvironment, apnsToken: String, clientId: String? = nil) {
        self.apnsEnvironment = apnsEnvironment
        self.apnsToken = apnsToken
        self.clientId = clientId
    }
}
