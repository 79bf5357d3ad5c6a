public import CloudKitWire
import Foundation

/// CloudKit Web Services as async Swift: one container in one environment, as one user.
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
/// `WebClient+Batches.swift`. A call that was begun for one user sends nothing for another: when
/// someone else signs in, it fails with `TransportError.Code.userChanged`.
public struct WebClient: Sendable {
    /// Where Apple's service is.
    public static let appleURL = "https://api.apple-cloudkit.com"

    /// The server's address, without a slash at the end.
    public let url: String
    /// The container, such as `iCloud.com.example.app`.
    public let container: String
    /// Development or production.
    public let environment: ServiceEnvironment
    /// What the client shows to the service.
    public let credentials: WebCredentials
    /// What carries the requests.
    public var transport: any Transport
    /// Seconds without any byte after which a request that is on its way is given up, whatever the
    /// value; waiting for a connection does not count.
    public var timeout: Double = 60
    /// Which failed requests are sent again.
    public var repetition = Repetition.never
    /// The name by which the service knows this client again, so that it does not push to it what
    /// it changed itself; sent with a user's requests, and nil sends none.
    public var clientID: String? = UUID().uuidString
    /// What waits between repetitions.
    public var clock: any Clock<Duration> = DeadlineClock()
    /// The sign-in for which all requests are; nil for that of each call's begin.
    package var signIn: Int?
    /// Why nothing can be sent to the address.
    private let problem: String?

    /// Makes a client.
    ///
    /// An address to which nothing can be sent fails each call with `badAddress`.
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

    /// The same client for one piece of work, which ends with the sign-in that it begins under.
    package func begun() -> WebClient {
        var client = self
        client.signIn = signIn ?? credentials.signInCount
        return client
    }

    /// Checks that something can be sent at all.
    func checkAddress() throws(WebClientError) {
        if let problem { throw .transport(.badAddress(problem)) }
    }
}
