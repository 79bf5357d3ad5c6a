package import CloudKitFiles

extension CKContainer {
    /// Calls a closure with a container whose methods and operations use a configuration.
    @discardableResult
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil,
        group: CKOperationGroup? = nil,
        body: (_ configuredContainer: CKContainer) throws -> R
    ) rethrows -> R {
        try body(configured(configuration, group))
    }

    /// Calls a closure with a container whose methods and operations use a configuration.
    @discardableResult
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil,
        group: CKOperationGroup? = nil,
        body: @Sendable (_ configuredContainer: CKContainer) async throws -> R
    ) async rethrows -> R {
        try await body(configured(configuration, group))
    }

    private func configured(
        _ configuration: CKOperation.Configuration?,
        _ group: CKOperationGroup?
    ) -> CKContainer {
        CKContainer(
            self,
            settings: (configuration?.values ?? OperationSettings())
                .filled(from: group?.settings ?? OperationSettings())
                .filled(from: settings)
        )
    }

    /// Returns a container with the same connection whose downloads become other files than the
    /// process's.
    package func downloading(into files: PrivateFiles) -> CKContainer {
        var settings = settings
        settings.files = files
        return CKContainer(self, settings: settings)
    }
}
