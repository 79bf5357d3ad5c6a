extension CKOperation {
    /// What the operation's container can be asked, under the operation's configuration.
    var containerRequests: ContainerRequests {
        let container = effectiveSettings.container ?? CKContainer.default()
        return ContainerRequests(
            connection: container.connection,
            settings: effectiveSettings.filled(from: container.settings).requests,
            signIn: signIn
        )
    }
}
