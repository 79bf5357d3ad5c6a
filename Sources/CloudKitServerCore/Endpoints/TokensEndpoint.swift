import CloudKitBasics
import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The endpoints of tokens for notifications: `tokens/…`.
struct TokensEndpoint: Sendable {
    let context: ServiceContext

    /// Handles `tokens/create`: returns a token and the URL at which a client waits for its
    /// notifications.
    ///
    /// A client that names itself gets the same token again.
    func create(_ call: Call) async throws -> Data {
        let request = try call.message(CreateTokenRequest.self)
        let user = try call.user()
        try call.work.check(name: request.clientId)
        let secret: [UInt8]
        if let client = request.clientId {
            var writer = TokenWriter()
            writer.append(call.environment.id.rawValue)
            writer.append(user.id.rawValue)
            writer.append(client)
            secret = try await context.seal().secret(of: writer.bytes, for: .pushToken)
        } else {
            secret = context.randomness.bytes(32)
        }
        let token = Hexadecimal.text(secret)
        try await register(token, for: user, client: request.clientId, call)
        return try WireJSON.encode(
            CreateTokenResponse(
                apnsEnvironment: request.apnsEnvironment,
                apnsToken: token,
                webcourierURL: call.request.baseURL + CourierRoute.target(of: token)
            )
        )
    }

    /// Handles `tokens/register`: makes a token receive the caller's notifications of this container.
    func register(_ call: Call) async throws -> Data {
        let request = try call.message(RegisterTokenRequest.self)
        let user = try call.user()
        try call.work.check(name: request.clientId)
        guard (32...4096).contains(request.apnsToken.utf8.count) else {
            throw RequestError(
                .badRequest,
                reason: "apnsToken has \(request.apnsToken.utf8.count) characters; a token that "
                    + "cannot be guessed has 32 to 4096"
            )
        }
        try await register(request.apnsToken, for: user, client: request.clientId, call)
        return Data("{}".utf8)
    }

    private func register(
        _ token: String,
        for user: StoredUser,
        client: String?,
        _ call: Call
    ) async throws {
        context.devices.see(call, name: client)
        let registration = PushToken.Registration(
            environment: call.environment.id.rawValue,
            user: user.id.rawValue,
            client: (call.clientID ?? client).map(SecretHash.of)
        )
        try await context.write(call, call.ownScope) { writer in
            try PushTokenDirectory()
                .register(SecretHash.of(token), registration, now: call.now, writer)
        }
    }
}

extension Call {
    /// The name that the client sends with every request; nil if it sends none.
    var clientID: String? { parameters["clientId"].flatMap { $0.isEmpty ? nil : $0 } }
}
