#if S3
package import CloudKitServerCore

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Sends signed requests to a bucket, and repeats those that fail for now.
package struct S3Client: Sendable {
    package let settings: S3Settings
    package let transport: any S3Transport
    package var retrying = S3Retrying()
    private let clock: any ServiceClock
    private let signature: S3Signature

    package init(
        _ settings: S3Settings,
        transport: any S3Transport,
        clock: any ServiceClock,
        retrying: S3Retrying = S3Retrying()
    ) {
        self.settings = settings
        self.transport = transport
        self.clock = clock
        self.retrying = retrying
        signature = S3Signature(credentials: settings.credentials, region: settings.region)
    }

    // MARK: Objects

    /// Stores an object.
    package func put(_ key: String, _ body: S3Body) async throws {
        let request = S3Request(
            method: "PUT",
            key: key,
            headers: Self.contentType,
            body: body,
            purpose: "store"
        )
        _ = try await whole(request)
    }

    /// Returns the description of an object; nil if there is none.
    package func head(_ key: String) async throws -> S3Object? {
        let request = S3Request(method: "HEAD", key: key, purpose: "describe")
        let response = try await run(request, allowsMissing: true) { response in
            _ = try await response.whole()
            return response
        }
        return try object(response, request)
    }

    /// Opens an object; returns nil if there is none.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - place: The first byte to read.
    /// - Returns: The description, whose size is that of the bytes that follow, and the bytes.
    /// - Throws: `StorageError`.
    package func get(
        _ key: String,
        from place: Int64 = 0
    ) async throws -> (object: S3Object, next: @Sendable () async throws -> Data?)? {
        var request = S3Request(method: "GET", key: key, purpose: "read")
        if place > 0 { request.headers.append(("range", "bytes=\(place)-")) }
        let response = try await run(request, allowsMissing: true) { $0 }
        guard let object = try object(response, request) else { return nil }
        guard response.status == (place > 0 ? 206 : 200) else {
            throw error(.unreadable(response.status), request)
        }
        return (object, response.next)
    }

    /// Returns the description of the object of a response; nil if there is none.
    private func object(_ response: S3Response, _ request: S3Request) throws -> S3Object? {
        guard response.status != 404 else { return nil }
        guard let object = S3Object(response.headers) else {
            throw error(.unreadable(response.status), request)
        }
        return object
    }

    /// Removes an object, or one version of it.
    package func delete(_ key: String, version: String? = nil) async throws {
        let query = version.map { [(name: "versionId", value: $0)] } ?? []
        _ = try await whole(
            S3Request(method: "DELETE", key: key, query: query, purpose: "remove"),
            allowsMissing: true
        )
    }

    /// Returns a page of the objects below a prefix.
    package func list(
        _ prefix: String,
        _ next: [(name: String, value: String)] = [],
        limit: Int = 1000
    ) async throws -> S3Page<S3ListedObject> {
        let query = [
            ("list-type", "2"), ("encoding-type", "url"), ("max-keys", String(limit)),
            ("prefix", prefix),
        ]
        let (page, decode) = try await list(query + next, of: "ListBucketResult", "list")
        let token = page["NextContinuationToken"]?.text
        let items = page.all("Contents").compactMap { item -> S3ListedObject? in
            guard let key = item["Key"].flatMap({ decode($0.text) }),
                let date = item["LastModified"].flatMap({ S3Date.milliseconds(iso: $0.text) })
            else { return nil }
            return S3ListedObject(key: key, modified: date + 999)
        }
        let isCut = page["IsTruncated"]?.text == "true"
        return S3Page(
            items: items,
            next: isCut ? token.map { [("continuation-token", $0)] } ?? [] : []
        )
    }

    // MARK: Uploads in parts

    /// Begins an upload in parts; returns its identifier.
    package func beginUpload(_ key: String) async throws -> String {
        let request = S3Request(
            method: "POST",
            key: key,
            query: [("uploads", "")],
            headers: Self.contentType,
            purpose: "begin to store"
        )
        let (status, body) = try await whole(request)
        guard let result = S3XML(body), let id = result["UploadId"]?.text, !id.isEmpty else {
            throw error(.unreadable(status), request)
        }
        return id
    }

    /// Stores a part; returns its entity tag.
    package func putPart(
        _ number: Int,
        of upload: String,
        _ key: String,
        _ body: S3Body
    ) async throws
        -> String
    {
        let request = S3Request(
            method: "PUT",
            key: key,
            query: [("partNumber", String(number)), ("uploadId", upload)],
            body: body,
            purpose: "store part \(number) of"
        )
        let response = try await run(request) { response in
            _ = try await response.whole()
            return response
        }
        guard response.status == 200, let tag = response.headers["etag"], !tag.isEmpty else {
            throw error(.init(status: response.status, body: []), request)
        }
        return tag
    }

    /// Completes an upload; returns false if S3 no longer knows it, as after an attempt whose response was
    /// lost.
    package func completeUpload(
        _ upload: String,
        _ key: String,
        parts: [String]
    ) async throws -> Bool {
        let list = parts.enumerated().map { index, tag in
            "<Part><PartNumber>\(index + 1)</PartNumber><ETag>\(S3XML.escaped(tag))</ETag></Part>"
        }
        let space = "http://s3.amazonaws.com/doc/2006-03-01/"
        let request = S3Request(
            method: "POST",
            key: key,
            query: [("uploadId", upload)],
            headers: [("content-type", "application/xml")],
            body: .bytes(
                Data(
                    ("<CompleteMultipartUpload xmlns=\"\(space)\">" + list.joined()
                        + "</CompleteMultipartUpload>").utf8
                )
            ),
            purpose: "complete"
        )
        return try await run(request, allowsMissing: true) { response in
            if response.status == 404 { return false }
            let body = try await response.whole()
            // The status is sent before the outcome is known.
            guard let result = S3XML(body) else { throw S3Failure.unreadable(response.status) }
            if result.name == "CompleteMultipartUploadResult" { return true }
            throw S3Failure(status: response.status, body: body)
        }
    }

    /// Removes the parts of an upload.
    package func abortUpload(_ upload: String, _ key: String) async throws {
        _ = try await whole(
            S3Request(
                method: "DELETE",
                key: key,
                query: [("uploadId", upload)],
                purpose: "end the upload of"
            ),
            allowsMissing: true
        )
    }

    /// Returns a page of the uploads below a prefix that have not come to their end.
    package func listUploads(
        _ prefix: String,
        _ next: [(name: String, value: String)] = []
    ) async throws -> S3Page<S3ListedUpload> {
        let query = [("uploads", ""), ("encoding-type", "url"), ("prefix", prefix)]
        let (page, decode) = try await list(
            query + next,
            of: "ListMultipartUploadsResult",
            "list the uploads in"
        )
        let items = page.all("Upload").compactMap { item -> S3ListedUpload? in
            guard let key = item["Key"].flatMap({ decode($0.text) }),
                let id = item["UploadId"]?.text,
                let date = item["Initiated"].flatMap({ S3Date.milliseconds(iso: $0.text) })
            else { return nil }
            return S3ListedUpload(key: key, id: id, started: date + 999)
        }
        guard page["IsTruncated"]?.text == "true",
            let key = page["NextKeyMarker"].flatMap({ decode($0.text) }), !key.isEmpty
        else { return S3Page(items: items, next: []) }
        return S3Page(
            items: items,
            next: [
                ("key-marker", key), ("upload-id-marker", page["NextUploadIdMarker"]?.text ?? ""),
            ]
        )
    }

    // MARK: Addresses

    /// Returns a URL with which anyone can read an object for a time.
    package func presignedURL(_ key: String, seconds: Int64) -> String {
        let (host, path) = place(of: key)
        let subject = S3Signature.Subject(
            method: "GET",
            host: host,
            path: path,
            // A browser that opens it shows nothing, so that no page of a user runs at the address.
            query: [
                ("response-content-disposition", "attachment"),
                ("response-content-type", "application/octet-stream"),
            ],
            payload: S3Signature.unsignedPayload
        )
        let date = S3Date.text(clock.milliseconds)
        let query = signature.presignedQuery(of: subject, date: date, seconds: seconds)
        return "\(settings.endpoint.scheme)://\(host)\(path)?\(query)"
    }

    /// Returns the host and the path of an object, or of the bucket.
    private func place(of key: String?) -> (host: String, path: String) {
        let path = "/" + S3Encoding.path(key ?? "")
        let authority = settings.endpoint.authority
        guard settings.isPathStyle else { return ("\(settings.bucket).\(authority)", path) }
        return (authority, "/\(settings.bucket)" + (key == nil ? "" : path))
    }

    private static let contentType = [(name: "content-type", value: "application/octet-stream")]

    // MARK: Requests

    /// Returns the XML of a list, and the function that decodes the keys in it.
    private func list(
        _ query: [(name: String, value: String)],
        of name: String,
        _ purpose: String
    ) async throws -> (S3XML, (String) -> String?) {
        let request = S3Request(method: "GET", query: query, purpose: purpose)
        let (status, body) = try await whole(request)
        guard let page = S3XML(body), page.name == name else {
            throw error(.unreadable(status), request)
        }
        let isEncoded = page["EncodingType"]?.text == "url"
        return (page, { isEncoded ? S3Encoding.decoded($0) : $0 })
    }

    /// Sends a request that must succeed; returns the body of the response.
    private func whole(
        _ request: S3Request,
        allowsMissing: Bool = false
    ) async throws -> (status: Int, body: Data) {
        try await run(request, allowsMissing: allowsMissing) {
            ($0.status, try await $0.whole())
        }
    }

    /// Sends a request until it does not fail for now.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - allowsMissing: A Boolean value that indicates whether a missing object, or upload, is no failure.
    ///   - read: A closure that reads a response of success, or one with the status 404 and without a body.
    /// - Returns: The result of the closure.
    /// - Throws: `StorageError`, or `CancellationError`.
    private func run<Result>(
        _ request: S3Request,
        allowsMissing: Bool = false,
        _ read: (S3Response) async throws -> Result
    ) async throws -> Result {
        do {
            return try await retrying.run {
                do {
                    let response = try await transport.send(signed(request))
                    if response.status < 300 { return try await read(response) }
                    let failure = S3Failure(
                        status: response.status,
                        body: try await response.whole(),
                        headers: response.headers
                    )
                    guard response.status == 404, allowsMissing, failure.code != "NoSuchBucket"
                    else {
                        throw failure
                    }
                    return try await read(
                        S3Response(status: 404, headers: response.headers) { nil }
                    )
                } catch {
                    throw try Self.failure(error)
                }
            }
        } catch let failure as S3Failure {
            throw error(failure, request)
        }
    }

    /// Returns the failure for an error below: what is no response is a lost connection.
    private static func failure(_ error: any Error) throws -> any Error {
        if error is S3Failure || error is StorageError { return error }
        // The client reports a cancelled task in words of its own.
        try Task.checkCancellation()
        return S3Failure.lost(String(describing: error))
    }

    /// Returns the error of a request that failed.
    package func error(_ failure: S3Failure, _ request: S3Request) -> StorageError {
        failure.storageError(request.purpose, request.key, settings)
    }

    private func signed(_ request: S3Request) -> S3SignedRequest {
        let (host, path) = place(of: request.key)
        let subject = S3Signature.Subject(
            method: request.method,
            host: host,
            path: path,
            query: request.query,
            headers: request.headers,
            payload: request.body.checksum
        )
        let query = request.query.isEmpty ? "" : "?" + S3Encoding.query(request.query)
        return S3SignedRequest(
            method: request.method,
            url: "\(settings.endpoint.scheme)://\(host)\(path)\(query)",
            headers: signature.headers(of: subject, date: S3Date.text(clock.milliseconds)),
            body: request.body
        )
    }
}
#endif
