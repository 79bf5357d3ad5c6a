extension CKDatabase {
    /// Calls a closure with a database whose methods and operations use a configuration.
    @discardableResult
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil,
        group: CKOperationGroup? = nil,
        body: (_ configuredDatabase: CKDatabase) throws -> R
    ) rethrows -> R {
        try body(configured(configuration, group))
    }

    /// Calls a closure with a database whose methods and operations use a configuration.
    @discardableResult
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil,
        group: CKOperationGroup? = nil,
        body: @Sendable (_ configuredDatabase: CKDatabase) async throws -> R
    ) async rethrows -> R {
        try await body(configured(configuration, group))
    }

    private func configured(
        _ configuration: CKOperation.Configuration?,
        _ group: CKOperationGroup?
    ) -> CKDatabase {
        CKDatabase(
            scope: databaseScope,
            connection: requests.connection,
            container: container,
            settings: (configuration?.values ?? OperationSettings())
                .filled(from: group?.settings ?? OperationSettings())
                .filled(from: settings)
        )
    }
}
