import CloudKitWire
import Foundation

extension WebClient {
    /// Sends one request; the type of the response follows from the use.
    ///
    /// `query` requests extensions of this package's server.
    func call<Response: Decodable>(
        _ endpoint: Endpoint,
        in database: DatabaseScope,
        _ body: (some Encodable)?,
        query: String = ""
    ) async throws(WebClientError) -> Response {
        let path = ServicePath(
            container: containerComponent,
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

    /// Sends one request to a path; one that may not be repeated is retried only when it did not
    /// reach the server.
    func call<Response: Decodable>(
        path: String,
        _ body: (some Encodable)?,
        query: String = "",
        mayRepeat: Bool = true
    ) async throws(WebClientError) -> Response {
        try checkAddress()
        // Retries are for the user of the first attempt.
        let signIn = signIn ?? credentials.signInCount
        let body = try body.map { body throws(WebClientError) in try Self.write(body) }
        var attempt = 1
        while true {
            let request = try request(to: path, body, query: query, under: signIn)
            do {
                let response = try await send(request, under: signIn)
                let errors = Redaction.errors { Redaction(request, credentials, response) }
                return try Self.read(Response.self, from: response, errors)
            } catch {
                guard let delay = retryPolicy.delay(after: attempt, error, mayRepeat) else {
                    throw Redaction(request, credentials).clean(error)
                }
                attempt += 1
                try await wait(delay)
            }
        }
    }

    /// Returns a request with the current credentials, because a retry needs the newest.
    private func request(
        to path: String,
        _ body: Data?,
        query: String,
        under signIn: Int
    ) throws(WebClientError) -> TransportRequest {
        // Apple's service supports none of this package's extensions.
        let extensions = url == Self.appleURL ? "" : query
        let parameters = [try credentials.query(under: signIn), name, extensions]
            .filter { !$0.isEmpty }.joined(separator: "&")
        let target = parameters.isEmpty ? path : "\(path)?\(parameters)"
        var request = TransportRequest(
            method: body == nil ? "GET" : "POST",
            url: url + target,
            headers: credentials.headers(target: target, body: body ?? Data()),
            body: body,
            timeout: timeout
        )
        if url != Self.appleURL { request.headers[WireExtensions.header] = WireExtensions.value }
        if body != nil { request.headers["Content-Type"] = "application/json; charset=utf-8" }
        return request
    }

    /// The container as one component of a path, whatever characters it contains.
    var containerComponent: String { WebCredentials.escaped(container) }

    /// The client's name as a parameter, empty if none is to be sent.
    private var name: String {
        guard let clientID, credentials.webAuthToken != nil else { return "" }
        return "clientId=" + WebCredentials.escaped(clientID)
    }

    private func wait(_ delay: Duration) async throws(WebClientError) {
        do {
            try await clock.sleep(for: delay)
        } catch {
            throw .transport(TransportError(.cancelled, message: "The request was cancelled"))
        }
    }

    func send(
        _ request: TransportRequest,
        under signIn: Int
    ) async throws(WebClientError) -> TransportResponse {
        do {
            // Nothing new is sent after a cancellation: over HTTP it would still be performed.
            try Task.checkCancellation()
            let response = try await transport.send(request)
            credentials.noteExtensions(
                response.headers[WireExtensions.header.lowercased()] != nil
            )
            // On error responses too, as observed on the service.
            if let token = response.headers[Redaction.tokenHeader] {
                credentials.renew(token, under: signIn)
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

    /// Decodes a response; `errors` cleans a server's texts in its errors.
    static func read<Response: Decodable>(
        _ type: Response.Type,
        from response: TransportResponse,
        _ errors: ErrorText
    ) throws(WebClientError) -> Response {
        guard (200..<300).contains(response.status) else {
            let body = response.body
            // For a body that is not an error of the service, such as a proxy's page, only the status
            // remains.
            if var error = try? WireJSON.decode(RequestError.self, from: body, errors: errors) {
                error.retryAfter = error.retryAfter ?? response.retryAfter()
                throw .refused(error, status: response.status)
            }
            throw .unexpectedResponse(
                status: response.status,
                message: kind(of: response),
                retryAfter: response.retryAfter()
            )
        }
        do {
            return try WireJSON.decode(type, from: response.body, errors: errors)
        } catch {
            // For JSON, the path is enough, and reveals no user data.
            let place = (error as? DecodingError).map(WireJSON.place) ?? "\(error)"
            let isForeign = response.body.first != UInt8(ascii: "{")
            throw .unexpectedResponse(
                status: response.status,
                message: isForeign ? kind(of: response) : place
            )
        }
    }

    /// Returns the kind of a foreign response, and none of its contents: it may repeat the request's
    /// tokens, in any form and cut anywhere.
    private static func kind(of response: TransportResponse) -> String {
        guard !response.body.isEmpty else { return "no body" }
        let name = (response.headers["content-type"] ?? "").prefix { $0 != ";" }
        let known = ["application/json", "application/xml", "text/html", "text/plain", "text/xml"]
        let type = known.first { $0 == name.lowercased() } ?? "an unknown type"
        return "\(response.body.count) bytes of \(type)"
    }
}

extension TransportResponse {
    /// Returns the seconds after which to retry, from the response's `Retry-After`: a number or a
    /// date.
    func retryAfter(now: Date = Date()) -> Double? {
        guard let text = headers["retry-after"]?.trimmingCharacters(in: .whitespaces) else {
            return nil
        }
        let seconds = Double(text) ?? Self.date(text)?.timeIntervalSince(now)
        // A time in the past, which differing clocks cause, is meaningless.
        guard let seconds, seconds > 0 else { return nil }
        return RetryAfter.seconds(seconds)
    }

    /// Parses a date in HTTP's format (RFC 9110, 5.6.7).
    private static func date(_ text: String) -> Date? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.date(from: text)
    }
}
