import CloudKitServerCore
import CloudKitWire
import HTTPTypes
import Hummingbird
import NIOCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Turns HTTP requests into calls of the service and its answers into responses.
struct HTTPFace: HTTPResponder {
    let service: CloudService
    let policy: OriginPolicy
    let bodyLimit: Int
    let publicURL: String?
    let courierWait: Duration
    let administration: Administration
    let observer: RequestObserver

    func respond(to request: Request, context: FaceContext) async throws -> Response {
        let observation = observer.begin(request)
        var answer = await answer(request)
        observation.end(answer)
        if let origin = request.headers[.origin], policy.allows(origin: origin) {
            allow(origin, in: &answer.response)
        }
        return try await deliver(answer, over: context.channel)
    }

    private func answer(_ request: Request) async -> FaceAnswer {
        if let refusal = refusal(of: request) { return answer(service.refusal(refusal)) }
        let path = request.uri.path
        if request.method == .options {
            return FaceAnswer(response: Response(status: .ok, headers: [.allow: Self.methods]))
        }
        if path == CourierRoute.path { return await wait(request) }
        if path == "/sign-in", policy.isLoopback {
            return FaceAnswer(response: await signIn(request))
        }
        if path == "/metrics" || path.hasPrefix(Administration.prefix) {
            return await administer(request)
        }
        switch AssetRoute(path: path) {
        case .upload(let token): return await upload(request, token)
        case .download(let token): return await download(request, token)
        case nil: return await call(request)
        }
    }

    private static let methods = "GET, POST, OPTIONS"

    /// Why a request is not looked at any further; nil when it is.
    private func refusal(of request: Request) -> RequestError? {
        guard let host = request.head.authority, policy.allows(host: host) else {
            return RequestError(
                .accessDenied,
                reason: "The server does not answer to the name "
                    + "'\(request.head.authority ?? "")'; start it with that name allowed"
            )
        }
        if let origin = request.headers[.origin], !policy.allows(origin: origin) {
            return RequestError(
                .accessDenied,
                reason: "Pages of the origin '\(origin)' may not call the server; start it with "
                    + "that origin allowed"
            )
        }
        if let encoding = request.headers[.contentEncoding], encoding != "identity" {
            return RequestError(
                .badRequest,
                reason: "Content-Encoding \(encoding) is not supported; send the body as it is"
            )
        }
        return nil
    }

    private func call(_ request: Request) async -> FaceAnswer {
        let body: ByteBuffer
        do {
            body = try await request.body.collect(upTo: bodyLimit)
        } catch {
            return answer(
                service.refusal(
                    RequestError(
                        .badRequest,
                        reason: "The body is cut short or has more than the allowed \(bodyLimit) "
                            + "bytes"
                    )
                )
            )
        }
        return answer(
            await service.respond(
                to: ServiceRequest(
                    method: request.method.rawValue,
                    path: request.uri.path,
                    query: request.uri.query,
                    headers: request.headers.map { ($0.name.canonicalName, $0.value) },
                    body: Data(body.readableBytesView),
                    baseURL: baseURL(of: request)
                )
            )
        )
    }

    private func upload(_ request: Request, _ token: String) async -> FaceAnswer {
        guard request.method == .post || request.method == .put else {
            return FaceAnswer(
                response: Response(status: .methodNotAllowed, headers: [.allow: "POST, PUT"])
            )
        }
        let chunks = request.body.map { Data($0.readableBytesView) }
        return answer(await service.receiveAsset(token: token, body: chunks))
    }

    private func download(_ request: Request, _ token: String) async -> FaceAnswer {
        guard request.method == .get || request.method == .head else {
            return FaceAnswer(
                response: Response(status: .methodNotAllowed, headers: [.allow: "GET, HEAD"])
            )
        }
        do {
            let contents = try await service.openAsset(token: token)
            let size = Int(contents.size)
            return FaceAnswer(
                response: Response(
                    status: .ok,
                    headers: [
                        .contentType: "application/octet-stream",
                        .contentDisposition: "attachment",
                        .xContentTypeOptions: "nosniff",
                    ],
                    body: request.method == .head
                        ? ResponseBody(contentLength: size) { try await $0.finish(nil) }
                        : Self.body(contents.chunks, length: size, contents.delivery)
                ),
                delivery: contents.delivery
            )
        } catch {
            return answer(service.refusal(error))
        }
    }

    func answer(_ response: ServiceResponse) -> FaceAnswer {
        FaceAnswer(
            response: self.response(response),
            delivery: response.delivery,
            service: response
        )
    }

    func response(_ answer: ServiceResponse) -> Response {
        var headers = HTTPFields()
        for (name, value) in answer.headers {
            guard let name = HTTPField.Name(name) else { continue }
            headers.append(HTTPField(name: name, value: value))
        }
        return Response(
            status: HTTPResponse.Status(code: answer.status),
            headers: headers,
            body: Self.body(answer.body, answer.delivery)
        )
    }

    private func baseURL(of request: Request) -> String {
        publicURL ?? "http://\(request.head.authority ?? "localhost")"
    }

    /// Lets the page that called read the answer.
    private func allow(_ origin: String, in response: inout Response) {
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.accessControlAllowMethods] = Self.methods
        response.headers[.accessControlAllowHeaders] = "Content-Type"
        response.headers[.accessControlExposeHeaders] =
            "X-Apple-Request-UUID,X-Apple-CloudKit-Web-Auth-Token"
        response.headers[.vary] = "Origin"
    }
}
