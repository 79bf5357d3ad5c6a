import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import HTTPTypes
import Hummingbird
import NIOCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The HTTP adapter: converts HTTP requests into calls of the service and its responses into HTTP
/// responses.
struct HTTPAdapter: HTTPResponder {
    let service: CloudService
    let policy: OriginPolicy
    let bodyLimit: Int
    let publicURL: String?
    let courierWait: Duration
    let connections: Connections
    let memory: MemoryBudget
    let administration: Administration
    let observer: RequestObserver

    func respond(to request: Request, context: AdapterContext) async throws -> Response {
        let observation = observer.begin(request)
        var result = await respond(to: request, context)
        if result.response.headers[.requestID] == nil {
            result.response.headers[.requestID] = SystemRandomness().uuid().lowercased()
        }
        let noteCut = observation.end(result)
        if request.method == .head {
            // A body after it would be read as the next response.
            result.response = result.response.createHeadResponse()
        } else {
            let bytes = result.service?.body.count ?? Self.heldBytes(of: result.response)
            connections.hold(bytes, result.memory, for: context.channel, noteCut: noteCut)
        }
        if let origin = request.headers[.origin], policy.allows(origin: origin) {
            allow(origin, in: &result.response)
        }
        return try await deliver(result, over: context.channel)
    }

    private func respond(to request: Request, _ context: AdapterContext) async -> AdapterResponse {
        if let result = await health(request) { return result }
        let peer = peer(context)
        if let refusal = refusal(of: request, from: peer) {
            return adapt(service.refusal(refusal))
        }
        if publicURL == nil, policy.isForwardedByUntrustedProxy(request, from: peer) {
            observer.warnOfProxy()
        }
        let path = request.uri.path
        if request.method == .options {
            return AdapterResponse(response: Response(status: .ok, headers: [.allow: Self.methods]))
        }
        if path == "/", request.method == .get || request.method == .head {
            return welcomePage(request, context)
        }
        if path == CourierRoute.path { return await wait(request, context) }
        if path == Self.signInPath {
            return AdapterResponse(response: await signIn(request, context))
        }
        if DashboardPage.isPart(path) { return dashboard(request) }
        if path == "/metrics" || path.hasPrefix(Administration.prefix) {
            return await administer(request, context)
        }
        switch AssetRoute(path: path) {
        case .upload(let token): return await upload(request, token)
        case .download(let token): return await download(request, token)
        case nil: return await call(request, from: peer)
        }
    }

    /// Returns the bytes of a response that are in memory at a time: of a download, a piece and what
    /// the connection buffers.
    private static func heldBytes(of response: Response) -> Int {
        min(response.body.contentLength ?? .max, downloadBytes)
    }

    private static let downloadBytes = 128 * 1024
    private static let signInPath = "/sign-in"
    private static let methods = "GET, POST, OPTIONS"

    /// Returns the error of a request that is refused unread; nil if it is accepted.
    private func refusal(of request: Request, from peer: Peer) -> RequestError? {
        // Two readers could trust different ones. `TargetGuard` adds the host of the target, if
        // there is one.
        guard request.headers[values: .host].isEmpty else {
            return RequestError(.badRequest, reason: "The request names more than one Host")
        }
        var names = [request.head.authority ?? ""]
        if peer.isTrusted { names.append(policy.authority(of: request, from: peer) ?? "") }
        if let stranger = names.first(where: { !policy.allows(host: $0) }) {
            return RequestError(
                .accessDenied,
                reason: "The server does not accept the host name '\(stranger)'; its operator can "
                    + "allow the name with --allowed-host"
            )
        }
        if let origin = request.headers[.origin], !policy.allows(origin: origin),
            // Their own pages; those of the dashboard say what the routes behind them refuse.
            !((request.uri.path == Self.signInPath || DashboardPage.isPart(request.uri.path))
                && policy.isOwn(origin: origin, request, from: peer))
        {
            return RequestError(
                .accessDenied,
                reason: "Pages of the origin '\(origin)' may not call the server; its operator "
                    + "can allow the origin with --allowed-origin"
            )
        }
        if let encoding = request.headers[.contentEncoding], encoding != "identity" {
            return RequestError(
                .badRequest,
                reason: "Content-Encoding \(encoding) is not supported; send the body as it is"
            )
        }
        if let coding = request.headers[.transferEncoding], coding.lowercased() != "chunked" {
            return RequestError(
                .badRequest,
                reason:
                    "Transfer-Encoding \(coding) is not supported; send the body as it is, in chunks "
                    + "or with a Content-Length"
            )
        }
        return nil
    }

    private func call(_ request: Request, from peer: Peer) async -> AdapterResponse {
        let isLocal = policy.isLocal(request, from: peer)
        var asked = ServiceRequest(
            method: request.method.rawValue,
            path: request.uri.path,
            query: request.uri.query,
            // A name instead of a credential is accepted from this machine only.
            headers: request.headers.filter { isLocal || $0.name != .cloudKitUser }
                .map { ($0.name.canonicalName, $0.value) },
            baseURL: publicURL ?? policy.baseURL(of: request, from: peer)
        )
        do {
            // An unauthenticated client cannot make the server read a body.
            switch try await service.precheck(asked) {
            case .responded(let early): return adapt(early)
            case .admitted(let admission):
                let share = memory.share(of: policy.client(of: request, from: peer))
                let responseMemory = connections.memory()
                asked.responseMemory = responseMemory
                asked.body = try await WholeBody(request).collect(upTo: bodyLimit, share)
                defer { withExtendedLifetime(share) {} }
                var result = adapt(await service.respond(to: asked, admittedAs: admission))
                result.memory = responseMemory
                result.requestBody = asked.body
                result.path = admission.path
                return result
            }
        } catch {
            return adapt(service.refusal(error))
        }
    }

    /// Returns the peer of a request's connection.
    func peer(_ context: AdapterContext) -> Peer { connections.peer(of: context.channel) }

    private func upload(_ request: Request, _ token: String) async -> AdapterResponse {
        guard request.method == .post || request.method == .put else {
            return AdapterResponse(
                response: Response(status: .methodNotAllowed, headers: [.allow: "POST, PUT"])
            )
        }
        let body = WholeBody(request)
        return adapt(
            await service.receiveAsset(token: token, body: body, length: body.length)
        )
    }

    private func download(_ request: Request, _ token: String) async -> AdapterResponse {
        guard request.method == .get || request.method == .head else {
            return AdapterResponse(
                response: Response(status: .methodNotAllowed, headers: [.allow: "GET, HEAD"])
            )
        }
        do {
            let contents = try await service.asset(token: token)
            let size = Int(contents.size)
            if contents.isKnown(to: request.headers[.ifNoneMatch]) {
                return AdapterResponse(
                    response: Response(
                        status: .notModified,
                        headers: [.eTag: contents.entityTag ?? ""]
                    ),
                    delivery: contents.delivery
                )
            }
            let isOther = request.headers[.ifRange].map { $0 != contents.entityTag } ?? false
            let isWhole = request.method == .head || isOther
            let range = ByteRange(isWhole ? nil : request.headers[.range], of: size)
            if range == .unsatisfiable {
                return AdapterResponse(
                    response: Response(
                        status: .rangeNotSatisfiable,
                        headers: [.contentRange: "bytes */\(size)"]
                    )
                )
            }
            let memory = connections.memory()
            let held = min(size, Self.downloadBytes)
            var hasMemory = request.method == .head || memory.reserve(held)
            if !hasMemory { hasMemory = await memory.waitToReserve(held) }
            guard hasMemory else { throw RequestError.noMemoryForResponse }
            var headers: HTTPFields = [
                .contentType: "application/octet-stream", .contentDisposition: "attachment",
                .xContentTypeOptions: "nosniff", .acceptRanges: "bytes",
            ]
            headers[.eTag] = contents.entityTag
            let body: ResponseBody
            if case .part(let part) = range {
                headers[.contentRange] =
                    "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)"
                let pieces = AssetPart(pieces: contents.chunks, range: part)
                body = Self.body(pieces, length: part.count, contents.delivery) {
                    observer.noteUnreadable($0)
                }
            } else if request.method == .head {
                body = ResponseBody(contentLength: size) { try await $0.finish(nil) }
            } else {
                body = Self.body(contents.chunks, length: size, contents.delivery) {
                    observer.noteUnreadable($0)
                }
            }
            return AdapterResponse(
                response: Response(
                    status: range == .whole ? .ok : .partialContent,
                    headers: headers,
                    body: body
                ),
                delivery: contents.delivery,
                memory: memory
            )
        } catch {
            return adapt(service.refusal(error))
        }
    }

    func adapt(_ response: ServiceResponse) -> AdapterResponse {
        AdapterResponse(
            response: self.response(response),
            delivery: response.delivery,
            service: response
        )
    }

    func response(_ result: ServiceResponse) -> Response {
        var headers = HTTPFields()
        for (name, value) in result.headers {
            guard let name = HTTPField.Name(name) else { continue }
            headers.append(HTTPField(name: name, value: value))
        }
        return Response(
            status: HTTPResponse.Status(code: result.status),
            headers: headers,
            body: Self.body(result.body, result.delivery)
        )
    }

    /// Allows the calling page to read the response.
    private func allow(_ origin: String, in response: inout Response) {
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.accessControlAllowMethods] = Self.methods
        response.headers[.accessControlAllowHeaders] = "Content-Type, X-Apple-CloudKit-Session"
        response.headers[.accessControlExposeHeaders] =
            "X-Apple-Request-UUID,X-Apple-CloudKit-Web-Auth-Token,X-Apple-CloudKit-Session"
        response.headers[.vary] = "Origin"
    }
}

extension HTTPField.Name {
    /// Header fields that the library does not name.
    static let host = Self("Host").unsafelyUnwrapped
    static let requestID = Self("X-Apple-Request-UUID").unsafelyUnwrapped
    /// The header of a request that is carried out once, however often it arrives.
    static let idempotencyKey = Self("Idempotency-Key").unsafelyUnwrapped
    static let cloudKitUser = Self("X-CloudKit-User").unsafelyUnwrapped
}
