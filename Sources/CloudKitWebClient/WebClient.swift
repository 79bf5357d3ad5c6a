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
/// `WebClient+Batches.swift`.
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
    /// Seconds to wait for the answer to a request; files have their own limits.
    public var timeout: Double = 60
    /// Which failed requests are sent again.
    public var repetition = Repetition.never
    /// The name by which the service knows this client again, so that it does not push to it what
    /// it changed itself; sent with a user's requests, and nil sends none.
    public var clientID: String? = UUID().uuidString
    /// What waits between repetitions.
    public var clock: any Clock<Duration> = ContinuousClock()

    /// Makes a client.
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
    }

    /// Sends one request; the answer's type follows from the use.
    ///
    /// `query` asks for what only this package's server knows.
    func call<Response: Decodable>(
        _ endpoint: Endpoint,
        in database: DatabaseScope,
        _ body: (some Encodable)?,
        query: String = ""
    ) async throws(WebClientError) -> Response {
        let path = ServicePath(
            container: container,
            environment: environment,
            database: database,
            endpoint: endpoint
        )
        return try await call(
            path: "\(path)",
            body,
            query: query,
            mayRepeat: !endpoint.changesData
        )
    }

    /// Sends one request to a path; one that may not repeat is sent again only when it did not
    /// reach the server.
    func call<Response: Decodable>(
        path: String,
        _ body: (some Encodable)?,
        query: String = "",
        mayRepeat: Bool = true
    ) async throws(WebClientError) -> Response {
        let body = try body.map { body throws(WebClientError) in try Self.write(body) }
        var attempt = 1
        while true {
            do {
                let request = request(to: path, body, query: query)
                return try Self.read(Response.self, from: try await send(request))
            } catch {
                guard let delay = repetition.delay(after: attempt, error, mayRepeat) else {
                    throw error
                }
                attempt += 1
                try await wait(delay)
            }
        }
    }

    /// A request with the credentials of this moment: a repeated one needs the newest.
    private func request(to path: String, _ body: Data?, query: String) -> TransportRequest {
        // Apple's service knows none of this package's extensions.
        let extensions = url == Self.appleURL ? "" : query
        let parameters = [credentials.query, name, extensions].filter { !$0.isEmpty }
            .joined(separator: "&")
        let target = parameters.isEmpty ? path : "\(path)?\(parameters)"
        var request = TransportRequest(
            method: body == nil ? "GET" : "POST",
            url: url + target,
            headers: credentials.headers(target: target, body: body ?? Data()),
            body: body,
            timeout: timeout
        )
        if body != nil { request.headers["Content-Type"] = "application/json; charset=utf-8" }
        return request
    }

    /// The client's name as a parameter, empty where there is none to send.
    private var name: String {
        guard let clientID, credentials.webAuthToken != nil else { return "" }
        return "clientId=" + WebCredentials.escaped(clientID)
    }

    private func wait(_ delay: Duration) async throws(WebClientError) {
        do {
            try await clock.sleep(for: delay)
        } catch {
            throw .transport(
                TransportError(.cancelled, message: "The request to \(url) was cancelled")
            )
        }
    }

    func send(
        _ request: TransportRequest
    ) async throws(WebClientError) -> TransportResponse {
        do {
            // Nothing new is begun for who has given up: over HTTP it would still be carried out.
            try Task.checkCancellation()
            let response = try await transport.send(request)
            // On error answers too, as observed on the service.
            if let token = response.headers["x-apple-cloudkit-web-auth-token"] {
                credentials.renew(token)
            }
            return response
        } catch {
            throw WebClientError(thrown: error)
        }
    }

    private static func write(_ body: some Encodable) throws(WebClientError) -> Data {
        do {
            return try WireJSON.encode(body)
        } catch EncodingError.invalidValue(let value, let context) {
            let path = context.codingPath.map(\.stringValue).joined(separator: ".")
            throw .unwritable(message: "\(path): \(value) cannot be sent; numbers must be finite")
        } catch {
            throw .unwritable(message: "\(error)")
        }
    }

    static func read<Response: Decodable>(
        _ type: Response.Type,
        from response: TransportResponse
    ) throws(WebClientError) -> Response {
        guard (200..<300).contains(response.status) else {
            if let error = try? WireJSON.decode(RequestError.self, from: response.body) {
                throw .refused(error, status: response.status)
            }
            throw .unexpectedAnswer(status: response.status, message: Self.excerpt(response.body))
        }
        do {
            return try WireJSON.decode(type, from: response.body)
        } catch {
            // Of JSON the place is enough, and says nothing of what users keep.
            let place = (error as? DecodingError).map(WireJSON.place) ?? "\(error)"
            let isForeign = response.body.first != UInt8(ascii: "{")
            throw .unexpectedAnswer(
                status: response.status,
                message: isForeign ? Self.excerpt(response.body) : place
            )
        }
    }

    /// Enough of a foreign answer to recognise what sent it.
    private static func excerpt(_ body: Data) -> String {
        let text = String(decoding: body.prefix(200), as: UTF8.self)
        return text.isEmpty ? "no body" : text
    }
}
