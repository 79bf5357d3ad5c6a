import Hummingbird
import NIOCore

/// The request context of the adapter: the connection on which the request arrived.
struct AdapterContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}
