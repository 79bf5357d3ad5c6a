public import CloudKitWire

// Users and their credentials, for operators and tests. None of these functions is available over the
// service's own protocol.
extension CloudService {
    /// Returns the users of a container, in the order in which they were added.
    public func users(container: String) async throws -> [ServiceUser] {
        try await AccountUsers(context: context).all(in: container)
    }

    /// Creates a user with a private database in both environments, and the container if it is new.
    ///
    /// - Parameters:
    ///   - container: The container's identifier.
    ///   - name: The user's given name, or a given and a family name.
    ///   - emailAddress: The address by which others find the user.
    ///   - password: The password, of 8 characters or more; `nil` for none.
    /// - Returns: The user with its record name.
    /// - Throws: `RequestError` with `BAD_REQUEST` for an invalid address or password, and with
    ///   `EXISTS` if another user has the address, or the same name and a password; no user is
    ///   created then.
    public func addUser(
        container: String,
        name: String,
        emailAddress: String? = nil,
        password: String? = nil
    ) async throws -> ServiceUser {
        try await AccountUsers(context: context).add(
            to: container,
            name: name,
            emailAddress: emailAddress,
            password: password
        )
    }

    /// Creates a user with a web auth token, or neither.
    ///
    /// - Throws: `RequestError` as both do alone: `addUser` and `addWebAuthToken`.
    package func addUser(
        container: String,
        name: String,
        emailAddress: String?,
        apiToken: String,
        environment: ServiceEnvironment
    ) async throws -> (user: ServiceUser, webAuthToken: String) {
        let session = AccountCredentials(context: context)
            .newSession(apiToken: apiToken, environment)
        let user = try await AccountUsers(context: context).add(
            to: container,
            name: name,
            emailAddress: emailAddress,
            session: session
        )
        return (user, session.token.text(try await context.seal()))
    }

    /// Checks that a text can be a user's name.
    ///
    /// - Throws: `RequestError` with `BAD_REQUEST` if it cannot.
    package static func checkUserName(_ text: String) throws(RequestError) {
        try AccountUsers.checkName(text)
    }

    /// Checks that a text has the form of an e-mail address.
    ///
    /// - Throws: `RequestError` with `BAD_REQUEST` if it does not.
    public static func checkEmailAddress(_ text: String) throws(RequestError) {
        try AccountUsers.checkEmailAddress(text)
    }

    /// Deletes a user of a container, in both environments: the private databases with all zones,
    /// records and assets, and so what the user shared; the password, roles, sessions, keys,
    /// subscriptions and tokens for notifications.
    ///
    /// Participants see the shared zones as deleted. What the user saved in the public database and in
    /// other users' zones stays, and shares of others name the user until their owners remove it. A
    /// snapshot does not bring the user's zones back. Another process on the same storage may let the
    /// user read for five more seconds, and writes nothing more for the user.
    ///
    /// - Parameter user: The user.
    /// - Throws: `RequestError` with `NOT_FOUND` for a user who does not exist, or `StorageError`;
    ///   nothing changes then.
    public func deleteUser(_ user: ServiceUser) async throws {
        try await UserDeletion(context: context).delete(user)
    }

    /// Returns the number of bytes that a user's records and assets take.
    ///
    /// - Throws: `RequestError` with `NOT_FOUND` for a user who does not exist.
    public func bytesUsed(
        by user: ServiceUser,
        environment: ServiceEnvironment
    ) async throws -> Int64 {
        try await AccountUsers(context: context).bytesUsed(by: user, environment: environment)
    }

    /// Replaces a user's roles of the schema.
    ///
    /// Roles apply in the public database, in addition to `_world`, `_icloud` and `_creator`, which
    /// need not be assigned.
    ///
    /// - Parameters:
    ///   - roles: Names of roles that the environment's schema defines; an empty set removes all roles.
    ///   - user: The user.
    ///   - environment: The environment of the schema.
    /// - Throws: `RequestError` with `NOT_FOUND` for a user or a role that does not exist.
    public func setRoles(
        _ roles: Set<String>,
        of user: ServiceUser,
        environment: ServiceEnvironment
    ) async throws {
        try await AccountRoles(context: context).set(roles, of: user, environment: environment)
    }

    /// Returns the roles that were assigned to a user.
    ///
    /// - Throws: `RequestError` with `NOT_FOUND` for a user who does not exist.
    public func roles(
        of user: ServiceUser,
        environment: ServiceEnvironment
    ) async throws -> Set<String> {
        try await AccountRoles(context: context).roles(of: user, environment: environment)
    }

    /// The minimum number of characters of a password.
    public static let leastPasswordCharacters = AccountPasswords.leastCharacters

    /// Sets or removes a user's password; existing sessions continue.
    ///
    /// The storage keeps a scrypt hash with its own salt. A user without a password can sign in on
    /// the server's own machine only.
    ///
    /// - Parameters:
    ///   - password: The password, of 8 characters or more; `nil` removes it.
    ///   - user: The user.
    /// - Throws: `RequestError` with `BAD_REQUEST` for a password that is too short or too long,
    ///   and with `EXISTS` if another user with the same name has a password.
    public func setPassword(_ password: String?, of user: ServiceUser) async throws {
        try await AccountPasswords(context: context).set(password, of: user)
    }

    /// Returns the record names of a container's users who have a password.
    public func usersWithPassword(container: String) async throws -> Set<String> {
        try await AccountPasswords(context: context).users(in: container)
    }

    /// Checks that a text can be a password.
    ///
    /// - Throws: `RequestError` with `BAD_REQUEST` if it cannot.
    public static func checkPassword(_ password: String) throws {
        try AccountPasswords.check(password)
    }

    /// Returns the users without a password, whom the sign-in page lists on the server's own
    /// machine; nil for an unknown token.
    package func signInChoices(apiToken: String) async throws -> [ServiceUser]? {
        try await signIns.choices(apiToken: apiToken)
    }

    /// Signs in a user without a password, for the clients of an API token.
    ///
    /// Returns nil if either is unknown or the user has a password.
    package func signIn(apiToken: String, userRecordName: String) async throws -> String? {
        try await signIns.signIn(apiToken: apiToken, userRecordName: userRecordName)
    }

    /// Returns the number of seconds for which sign-ins with a password are refused from an
    /// address; nil if they are not.
    package func signInWait(address: String) -> Int? {
        signIns.wait(address: address)
    }

    /// Signs in a user for the clients of an API token.
    ///
    /// - Parameters:
    ///   - apiToken: The API token.
    ///   - name: The user's full name, e-mail address or record name.
    ///   - password: The entered password.
    ///   - address: The origin of the attempt; failed attempts are counted for it and for the name.
    /// - Returns: The result of the attempt.
    /// - Throws: `StorageError`.
    package func signIn(
        apiToken: String,
        name: String,
        password: String,
        address: String
    ) async throws -> SignInOutcome {
        try await signIns.signIn(
            apiToken: apiToken,
            name: name,
            password: password,
            address: address
        )
    }

    /// Returns the container of an API token; nil for an unknown token.
    package func container(ofAPIToken apiToken: String) async throws -> String? {
        try await signIns.container(ofAPIToken: apiToken)
    }

    /// Creates an API token, and its container if it is new.
    ///
    /// - Returns: The token, 64 hexadecimal digits. The storage keeps only a hash, so it cannot be
    ///   read again.
    public func addAPIToken(
        container: String,
        environment: ServiceEnvironment
    ) async throws -> String {
        try await AccountCredentials(context: context).addAPIToken(to: container, environment)
    }

    /// Adds an API token with a given text, and its container if it is new.
    ///
    /// This is meant for development, where a token in a script should work with a new server too.
    public func addAPIToken(
        _ token: String,
        container: String,
        environment: ServiceEnvironment
    ) async throws {
        try await AccountCredentials(context: context)
            .addAPIToken(token, to: container, environment)
    }

    /// Creates a web auth token, with which a client acts for a user.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - apiToken: The API token that the client uses with it.
    ///   - environment: The environment of the API token.
    /// - Returns: The token; the storage keeps only a hash.
    /// - Throws: `RequestError` with `NOT_FOUND` for an API token or a user of another container.
    public func addWebAuthToken(
        user: ServiceUser,
        apiToken: String,
        environment: ServiceEnvironment
    ) async throws -> String {
        try await AccountCredentials(context: context)
            .addWebAuthToken(for: user, apiToken: apiToken, environment)
    }

    /// Adds a server-to-server key, with which a program signs its requests.
    ///
    /// - Parameters:
    ///   - publicKey: The public half of a P-256 key, as PEM.
    ///   - container: The container's identifier; a new container is created.
    ///   - kind: The environment.
    /// - Returns: The key's identifier, 64 hexadecimal digits.
    /// - Throws: `RequestError` with `BAD_REQUEST` for anything except a public P-256 key.
    public func addServerKey(
        publicKey: String,
        container: String,
        environment kind: ServiceEnvironment
    ) async throws -> String {
        try await AccountCredentials(context: context)
            .addServerKey(publicKey: publicKey, to: container, kind)
    }

    /// Returns the credentials of a container, by environment, kind and identifier.
    ///
    /// - Throws: `RequestError` with `NOT_FOUND` for a container that does not exist.
    public func credentials(container: String) async throws -> [ServiceCredential] {
        try await AccountCredentials(context: context).all(in: container)
    }

    /// Returns the credentials of a container that a text denotes: a token, a key's identifier, or
    /// the first eight or more digits of a credential's identifier.
    ///
    /// - Throws: `RequestError` with `NOT_FOUND` for a container that does not exist.
    public func credentials(
        meantBy text: String,
        container: String
    ) async throws -> [ServiceCredential] {
        try await AccountCredentials(context: context).all(meantBy: text, in: container)
    }

    /// Revokes credentials; requests with them are refused.
    ///
    /// Revoking an API token also ends the sessions that were started with it. Another process on
    /// the same storage may accept a credential for five more seconds.
    ///
    /// - Parameters:
    ///   - ids: The identifiers.
    ///   - container: The credentials' container.
    /// - Returns: The revoked credentials.
    /// - Throws: `RequestError` with `NOT_FOUND` for a container that does not exist.
    @discardableResult
    public func revoke(
        _ ids: Set<String>,
        container: String
    ) async throws -> [ServiceCredential] {
        try await AccountCredentials(context: context).revoke(ids, in: container)
    }

    /// Ends all sessions of a user, in both environments.
    ///
    /// - Returns: The web auth tokens that were revoked.
    /// - Throws: `RequestError` with `NOT_FOUND` for a container that does not exist.
    @discardableResult
    public func endSessions(of user: ServiceUser) async throws -> [ServiceCredential] {
        try await AccountCredentials(context: context).endSessions(of: user)
    }
}
