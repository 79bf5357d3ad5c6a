import Hummingbird
import NIOCore

/// What the face knows of a request beside the request: the connection that it came over.
struct FaceContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}
