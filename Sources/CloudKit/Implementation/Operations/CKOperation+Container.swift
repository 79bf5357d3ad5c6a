extension CKOperation {
    /// The container's requests, with the operation's settings.
    var containerRequests: ContainerRequests {
        let container = effectiveSettings.container ?? CKContainer.default()
        return ContainerRequests(
            connection: container.connection,
            settings: effectiveSettings.filled(from: container.settings).requests,
            signIn: signIn
        )
    }
}
