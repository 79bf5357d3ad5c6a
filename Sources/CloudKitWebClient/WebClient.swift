public import CloudKitWire
import Foundation

/// An async client for CloudKit Web Services: one container in one environment, as one user.
///
/// ```swift
/// let client = WebClient(
///     url: "http://127.0.0.1:8080", container: "iCloud.com.example.app",
///     environment: .development, credentials: WebCredentials(apiToken: apiToken))
/// let records = try await client.queryRecords(
///     QueryRecordsRequest(query: WireQuery(recordType: "Note")), in: .public)
/// ```
///
/// Each call is one request and throws `WebClientError`; splitting and paging are in
/// `WebClient+Batches.swift`. A call for one user sends nothing for another: when someone else signs
/// in, it fails with `TransportError.Code.userChanged`.
public struct WebClient: Sendable {
    /// The address of Apple's service.
    public static let appleURL = "https://api.apple-cloudkit.com"

    /// The server's address, without a slash at the end.
    public let url: String
    /// The container, such as `iCloud.com.example.app`.
    public let container: String
    /// The environment: development or production.
    public let environment: ServiceEnvironment
    /// The credentials that the client sends to the service.
    public let credentials: WebCredentials
    /// The transport that sends the requests.
    public var transport: any Transport
    /// Seconds without any byte after which a request in flight is abandoned, whatever the value;
    /// waiting for a connection does not count.
    public var timeout: Double = 60
    /// The retry policy for failed requests.
    public var retryPolicy = RetryPolicy.never
    /// The name by which the service recognizes this client, so that it does not notify it of its own
    /// changes; sent with a user's requests, unless it is nil.
    public var clientID: String? = UUID().uuidString
    /// The clock that waits between retries.
    public var clock: any Clock<Duration> = DeadlineClock()
    /// The sign-in of all requests; nil for the one at each call's start.
    package var signIn: Int?
    /// The reason why nothing can be sent to the address.
    private let problem: String?

    /// Creates a client.
    ///
    /// With an address to which nothing can be sent, each call fails with `badAddress`.
    public init(
        url: String = WebClient.appleURL,
        container: String,
        environment: ServiceEnvironment,
        credentials: WebCredentials,
        transport: any Transport = HTTPTransport()
    ) {
        self.url = url.hasSuffix("/") ? String(url.dropLast()) : url
        self.container = container
        self.environment = environment
        self.credentials = credentials
        self.transport = transport
        problem = ServerAddress.problem(ofServer: url)
    }

    /// Returns the same client for one piece of work, which ends with the current sign-in.
    package func begun() -> WebClient {
        var client = self
        client.signIn = signIn ?? credentials.signInCount
        return client
    }

    /// Checks that the address is usable.
    func checkAddress() throws(WebClientError) {
        if let problem { throw .transport(.badAddress(problem)) }
    }
}
