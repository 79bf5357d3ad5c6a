import CloudKitWire

extension Call {
    /// Creates the call of a request that the service makes itself for a user, in the private database.
    init(
        of user: StoredUser,
        in environment: StoredEnvironment,
        _ endpoint: Endpoint,
        now: Int64,
        _ work: RequestWork
    ) {
        let path = ServicePath(
            container: environment.container,
            environment: environment.kind,
            database: .private,
            endpoint: endpoint
        )
        self.init(
            request: ServiceRequest(method: "POST", path: path.description, baseURL: ""),
            path: path,
            parameters: QueryParameters(nil),
            caller: Caller(credential: .webToken, user: user),
            environment: environment,
            now: now,
            work: work
        )
    }
}
