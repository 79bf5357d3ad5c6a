#if !canImport(Darwin) || PORTABLE_CLOUDKIT
public import CloudKit
public import CloudKitWebClient

extension CKContainer {
    /// Creates a container that connects to its service through a client, with its address,
    /// environment, credentials and transport.
    ///
    /// ```swift
    /// let container = CKContainer(
    ///     client: WebClient(
    ///         url: "http://127.0.0.1:8080", container: "iCloud.com.example.app",
    ///         environment: .development,
    ///         credentials: WebCredentials(apiToken: apiToken, webAuthToken: userToken)))
    /// ```
    ///
    /// Several containers in one process may have different clients, as two devices would.
    public convenience init(client: WebClient) {
        self.init(identifier: client.container, connection: CloudConnection(client: client))
    }
}
#endif
