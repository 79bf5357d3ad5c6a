import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One authenticated request on its way through the service.
struct Call: Sendable {
    /// What the client sent.
    let request: ServiceRequest
    /// The request's path, taken apart.
    var path: ServicePath
    /// The request's query.
    let parameters: QueryParameters
    /// Who asks.
    let caller: Caller
    /// The container's environment.
    let environment: StoredEnvironment
    /// When the request came.
    let now: Int64
    /// What it has cost so far.
    let work: RequestWork
    /// How values are read that it sends without a type.
    var untagged = UntaggedValues.asObserved
    /// What goes wrong with it on purpose.
    var faults = FaultDecision()

    /// Decodes the body.
    ///
    /// - Parameters:
    ///   - type: The type of the body.
    ///   - common: Reads the forms that come most often, faster; nil leaves it to the decoder.
    /// - Returns: The body.
    /// - Throws: `RequestError` with `BAD_REQUEST` that names the place.
    func message<Message: Decodable>(
        _ type: Message.Type,
        common: (Data) -> Message? = { _ in nil }
    ) throws(RequestError) -> Message {
        guard let depth = JSONBounds.depth(of: request.body) else {
            throw RequestError(
                .badRequest,
                reason: "The body has a zero byte; JSON comes in UTF-8, where \\u0000 stands for it"
            )
        }
        guard depth <= Limits.requestDepth else {
            throw RequestError(
                .badRequest,
                reason: "The body nests deeper than \(Limits.requestDepth) arrays and objects"
            )
        }
        if let message = common(request.body) { return message }
        do {
            return try WireJSON.decode(type, from: request.body)
        } catch let error as DecodingError {
            // It may name what came, which may be all of the body.
            let place = WireJSON.place(of: error).prefix(1000)
            throw RequestError(
                .badRequest,
                reason: "BadRequestException: unexpected input at \(place)"
            )
        } catch {
            throw RequestError(.badRequest, reason: "BadRequestException: unexpected input")
        }
    }

    /// The user.
    ///
    /// - Throws: `RequestError` with `AUTHENTICATION_REQUIRED` for an API token alone.
    func user() throws(RequestError) -> StoredUser {
        guard let user = caller.user else {
            throw RequestError(
                .authenticationRequired,
                reason: "request needs authorization",
                redirectURL: SignInAddress.url(for: request, apiToken: parameters["ckAPIToken"])
            )
        }
        return user
    }
}
